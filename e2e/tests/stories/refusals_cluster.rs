//! No Ceph cluster to measure, or too many; a pool that is not there; namespaces that refuse pods.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::story::{NAMESPACE, NAMESPACE_WITH_TWO, NAMESPACE_WITHOUT, Story, reason_of, tell};
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::json;

const NETWORK: &str = "clients: {nodes: {names: [node1, node2]}}, defaults: {rampUp: 0s, duration: 1s, rounds: 1}, tests: [{name: t, network: {}}]";

#[tokio::test]
async fn no_ceph_cluster() -> Result<()> {
    tell("no-cluster", async |story| {
        let message = story.refusal(NAMESPACE_WITHOUT, "", &format!("{{{NETWORK}}}"), 20).await?;
        ensure!(message.contains("no CephCluster") && message.contains(NAMESPACE_WITHOUT), "{message}");
        let named = story.refusal(NAMESPACE, "other", &format!("{{cephCluster: other, {NETWORK}}}"), 20).await?;
        ensure!(
            named.contains("spec.cephCluster") && named.contains("other") && named.contains("rook-ceph"),
            "{named}"
        );
        Ok(())
    })
    .await
}

#[tokio::test]
async fn two_ceph_clusters() -> Result<()> {
    tell("two-clusters", async |story| {
        make_up_cluster(story, "first").await?;
        make_up_cluster(story, "second").await?;
        let message = story.refusal(NAMESPACE_WITH_TWO, "", &format!("{{{NETWORK}}}"), 20).await?;
        for word in ["spec.cephCluster", "first", "second"] {
            ensure!(message.contains(word), "{message}");
        }
        // Without OSDs in Kubernetes there is no default for the clients' nodes: never a run of no clients that passes.
        let spec = "{cephCluster: first, tests: [{name: t, network: {}}]}";
        let nowhere = story.refusal(NAMESPACE_WITH_TWO, "nowhere", spec, 20).await?;
        ensure!(nowhere.contains("clients.nodes"), "{nowhere}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_pool_that_does_not_exist() -> Result<()> {
    tell("no-pool", async |story| {
        let spec = "{clients: {nodes: {names: [node1]}}, defaults: {rampUp: 0s, duration: 1s, rounds: 1}, tests: [
            {name: t, rados: {pool: {name: nowhere}, objectSize: [1Mi]}, workload: {bytes: 8Mi}}]}";
        let message = story.refusal(NAMESPACE, "", spec, 120).await?;
        ensure!(message.contains("nowhere"), "the message does not name the pool: {message}");
        Ok(())
    })
    .await
}

/// A quota that lets no pod be made, and a profile that refuses host paths: each ends the test with what the server said of the pod.
#[tokio::test]
async fn pods_that_are_never_made() -> Result<()> {
    tell("no-pods", async |story| {
        make_up_cluster(story, "first").await?;
        let namespace = NAMESPACE_WITH_TWO;
        let begun = std::time::Instant::now();
        story.repair_by(&["kubectl", "-n", namespace, "delete", "resourcequota", "story", "--ignore-not-found"]);
        story.cluster.kubectl(&["-n", namespace, "create", "quota", "story", "--hard=pods=0"]).await?;
        let spec = format!("{{cephCluster: first, {NETWORK}}}");
        let message = story.refusal(namespace, "quota", &spec, 120).await?;
        ensure!(message.contains("exceeded quota"), "not what the server said: {message}");
        story.cluster.kubectl(&["-n", namespace, "delete", "resourcequota", "story"]).await?;

        restrict(story).await?;
        let spec =
            "{cephCluster: first, clients: {nodes: {names: [node1]}}, defaults: {rampUp: 0s, duration: 1s, rounds: 1},
            tests: [{name: t, disk: {file: {directory: /var/tmp, size: 16Mi}}}]}";
        let message = story.refusal(namespace, "profile", spec, 120).await?;
        ensure!(message.contains("PodSecurity") && message.contains("hostPath"), "not what the server said: {message}");
        ensure!(begun.elapsed() < Duration::from_secs(240), "each within two minutes: {:?}", begun.elapsed());
        Ok(())
    })
    .await
}

/// Pod-network tests are admitted and run under the restricted profile, with a quota on requests and limits of every container.
#[tokio::test]
async fn restricted_is_enough_for_the_pod_network() -> Result<()> {
    tell("restricted", async |story| {
        make_up_cluster(story, "first").await?;
        restrict(story).await?;
        let namespace = NAMESPACE_WITH_TWO;
        story.repair_by(&["kubectl", "-n", namespace, "delete", "resourcequota", "story", "--ignore-not-found"]);
        let hard = "--hard=requests.cpu=20,requests.memory=20Gi,limits.memory=20Gi";
        story.cluster.kubectl(&["-n", namespace, "create", "quota", "story", hard]).await?;
        let benchmark = story.apply_in(namespace, "", &format!("{{cephCluster: first, {NETWORK}}}")).await?;
        let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(90)).await?;
        e2e::story::require_completed(&status)?;
        ensure!(status.tests[0].points.len() == 2, "{:?}", status.tests);
        ensure!(reason_of(&status)? == "Passed", "{:?}", status.conditions);
        Ok(())
    })
    .await
}

async fn restrict(story: &Story) -> Result<()> {
    let label = "pod-security.kubernetes.io/enforce";
    story.repair_by(&["kubectl", "label", "namespace", NAMESPACE_WITH_TWO, &format!("{label}-")]);
    story
        .cluster
        .kubectl(&["label", "--overwrite", "namespace", NAMESPACE_WITH_TWO, &format!("{label}=restricted")])
        .await
        .map(drop)
}

/// A CephCluster that no operator serves, with the image of the real one and the status of a healthy cluster.
pub(crate) async fn make_up_cluster(story: &Story, name: &str) -> Result<()> {
    let kind = e2e::standin::rook_kind("CephCluster");
    let real: Api<DynamicObject> = Api::namespaced_with(story.cluster.client.clone(), NAMESPACE, &kind);
    let mut data = real.get("rook-ceph").await?.data;
    let fsid = format!("{:08x}-0000-4000-8000-{:012x}", name.len(), name.bytes().map(u64::from).sum::<u64>());
    *data.pointer_mut("/status/ceph/fsid").context("the real cluster has an fsid")? = json!(fsid);

    let namespace = NAMESPACE_WITH_TWO;
    story.remove_by(&[
        "kubectl",
        "-n",
        namespace,
        "delete",
        "cephcluster",
        name,
        "--ignore-not-found",
        "--timeout=30s",
    ]);
    let made_up: Api<DynamicObject> = Api::namespaced_with(story.cluster.client.clone(), namespace, &kind);
    let object = |part: &str| {
        let metadata = json!({"name": name, "namespace": namespace});
        json!({"apiVersion": "ceph.rook.io/v1", "kind": "CephCluster", "metadata": metadata, part: data[part]})
    };
    let parameters = PatchParams::apply("story").force();
    made_up.patch(name, &parameters, &Patch::Apply(object("spec"))).await?;
    made_up.patch_status(name, &parameters, &Patch::Apply(object("status"))).await?;
    Ok(())
}
