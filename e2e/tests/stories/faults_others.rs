//! What other tools put into every pod, as agents and meshes do through webhooks: here the API server itself puts it in, by a policy.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use cephbench::api::Phase;
use e2e::story::{
    NAMESPACE, NAMESPACE_WITH_TWO, Story, eventually, require_completed, require_conditions, tell, test_of,
};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::refusals_cluster::{make_up_cluster, restrict};

const NAME: &str = "cephbench-story";
/// The one image that is surely on the nodes; it waits for ever.
const IMAGE: &str = "localhost/cephbench/pause:1";

/// From now on each pod of a client in this namespace gets a container that is not ours.
async fn inject(story: &Story, namespace: &str, list: &str, container: &str) -> Result<()> {
    for kind in ["mutatingadmissionpolicybinding", "mutatingadmissionpolicy"] {
        story.repair_by(&["kubectl", "delete", kind, NAME, "--ignore-not-found"]);
    }
    let expression =
        format!("[JSONPatch{{op: 'add', path: '/spec/{list}/-', value: Object.spec.{list}{{{container}}}}}]");
    let policy = json!({
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "objectSelector": {"matchExpressions": [{"key": "cephbench.io/client", "operator": "Exists"}]},
            "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        },
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}],
    });
    apply(story, "MutatingAdmissionPolicy", policy).await?;
    apply(story, "MutatingAdmissionPolicyBinding", json!({"policyName": NAME})).await?;
    let probe = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": NAME, "namespace": namespace, "labels": {"cephbench.io/client": "probe"}},
        "spec": {
            "initContainers": [{"name": "first", "image": IMAGE}],
            "containers": [{"name": "only", "image": IMAGE}],
        },
    });
    let pods: Api<Pod> = Api::namespaced(story.cluster.client.clone(), namespace);
    let dry = PatchParams { dry_run: true, ..PatchParams::apply("story") };
    eventually(Duration::from_secs(60), "the server injects the container", async || {
        Ok(match pods.patch(NAME, &dry, &Patch::Apply(&probe)).await {
            Ok(pod) => {
                let spec = serde_json::to_value(pod.spec)?;
                let count = spec[list].as_array().map_or(0, Vec::len);
                if count == 2 { Ok(()) } else { Err(format!("{count} in {list}")) }
            }
            // Pod security refuses the probe, and names the container once it is there.
            Err(kube::Error::Api(refused)) if refused.message.contains("install-oneagent") => Ok(()),
            Err(error) => Err(error.to_string()),
        })
    })
    .await
}

async fn apply(story: &Story, kind: &str, spec: Value) -> Result<()> {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("admissionregistration.k8s.io", "v1beta1", kind));
    let api: Api<DynamicObject> = Api::all_with(story.cluster.client.clone(), &kind);
    let object = json!({"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": NAME}, "spec": spec});
    api.patch(NAME, &PatchParams::apply("story").force(), &Patch::Apply(object)).await?;
    Ok(())
}

/// Case C3: a proxy that never exits. The run goes on once bench and report have ended, and the Job goes with the proxy in it.
#[tokio::test]
async fn a_sidecar_that_never_exits() -> Result<()> {
    tell("sidecar", async |story| {
        let container = format!("name: 'istio-proxy', image: '{IMAGE}', imagePullPolicy: 'Never'");
        inject(story, NAMESPACE, "containers", &container).await?;
        let spec =
            "{clients: {nodes: {names: [node1, node2]}}, defaults: {rampUp: 0s, duration: 3s, rounds: 1}, tests: [
            {name: first, disk: {file: {directory: /var/tmp, size: 16Mi}}},
            {name: second, network: {}}]}";
        let begun = Instant::now();
        let benchmark = story.apply("", spec).await?;
        let pods: Api<Pod> = Api::namespaced(story.cluster.client.clone(), NAMESPACE);
        eventually(Duration::from_secs(60), "the proxy runs beside the bench", async || {
            let found = pods.list(&ListParams::default().labels("cephbench.io/client=0")).await?;
            let statuses = found.items.into_iter().filter_map(|pod| pod.status?.container_statuses).flatten();
            let running = statuses.filter(|status| status.state.as_ref().is_some_and(|state| state.running.is_some()));
            let names: Vec<String> = running.map(|status| status.name).collect();
            Ok(if names.iter().any(|name| name == "istio-proxy") { Ok(()) } else { Err(format!("{names:?}")) })
        })
        .await?;
        let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(120)).await?;
        require_completed(&status)?;
        require_conditions(&status, Phase::Passed)?;
        ensure!(test_of(&status, "second")?.points.len() == 2, "{:?}", status.tests);
        ensure!(begun.elapsed() < Duration::from_secs(100), "the proxy was waited for: {:?}", begun.elapsed());
        Ok(())
    })
    .await
}

/// Case C2 (1): an init container that the restricted profile refuses. No pod ever is; the Event's text ends the test, and says whose it is.
#[tokio::test]
async fn an_init_container_that_is_refused() -> Result<()> {
    tell("agent", async |story| {
        make_up_cluster(story, "first").await?;
        restrict(story).await?;
        let container = format!("name: 'install-oneagent', image: '{IMAGE}'");
        inject(story, NAMESPACE_WITH_TWO, "initContainers", &container).await?;
        let spec = "{cephCluster: first, clients: {nodes: {names: [node1, node2]}}, defaults: {rampUp: 0s, duration: 1s, rounds: 1},
            tests: [{name: t, network: {}}]}";
        let begun = Instant::now();
        let message = story.refusal(NAMESPACE_WITH_TWO, "", spec, 120).await?;
        for word in ["PodSecurity", "install-oneagent", "is not cephbench's"] {
            ensure!(message.contains(word), "no {word} in {message}");
        }
        ensure!(begun.elapsed() < Duration::from_secs(120), "within two minutes: {:?}", begun.elapsed());
        Ok(())
    })
    .await
}
