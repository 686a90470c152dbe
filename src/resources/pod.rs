//! A client's pod: `install` copies the bench out of our image, `bench` runs it in the Ceph image, and in the conductor's pod `report`
//! prints what was measured.
//!
//! RADOS and network tests run under the restricted profile. A file test needs a host path and the right to write where only root may, and
//! so runs as root without any capability. A device test needs a privileged pod: nothing less may open devices.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, ConfigMapVolumeSource, Container, EmptyDirVolumeSource, HostPathVolumeSource, KeyToPath,
    LocalObjectReference, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec,
    PodTemplateSpec, SecretVolumeSource, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::ceph_client::user_name;
use super::containers::{bench, install, report, sweep};
use super::names::{BENCHMARK_NAME, CLIENT, Role};
use super::run_context::RunContext;
use super::security::pod_security;
use super::task_config_map::TASK_KEY;
use super::token_secret::TOKEN_KEY;
use crate::contract::CLEANUP_GRACE_SECONDS;
use crate::plan::PlannedKind;

pub(super) const BIN: &str = "/run/cephbench/bin";
pub(super) const WORK: &str = "/run/cephbench/work";
pub(super) const TASK: &str = "/run/cephbench/task";
pub(super) const TOKEN: &str = "/run/cephbench/token";
pub(super) const KEY: &str = "/run/cephbench/key";
/// The user's key alone, mounted from the Secret that Rook made.
pub(super) const KEY_FILE: &str = "/run/cephbench/key/userKey";
const KEY_IN_SECRET: &str = "userKey";
/// The node's directories stand below this, so that none hides a part of the image.
const HOST: &str = "/host";

/// Where a directory of the node is seen in the pod.
pub(super) fn host_mount(directory: &str) -> String {
    format!("{HOST}{directory}")
}

pub(super) fn build_pod_template(
    context: &RunContext,
    test: usize,
    client: u32,
    conductor: Option<&str>,
) -> PodTemplateSpec {
    let mut containers = vec![bench(context, test, conductor)];
    if client == 0 {
        containers.push(report(context, test));
    }
    template(context, test, client, Role::Client, containers)
}

pub(super) fn build_sweeper_template(context: &RunContext, test: usize, client: u32) -> PodTemplateSpec {
    template(context, test, client, Role::Sweeper, vec![sweep(context, test)])
}

fn template(context: &RunContext, test: usize, client: u32, role: Role, containers: Vec<Container>) -> PodTemplateSpec {
    let (planned, prepared) = context.test(test);
    let mut labels = context.owner.test_labels(context.frozen.number, role, test, &planned.name);
    labels.insert(CLIENT.into(), client.to_string());
    // Istio reads it as a label, too.
    labels.insert("sidecar.istio.io/inject".into(), "false".into());
    let metadata = ObjectMeta {
        labels: Some(labels),
        annotations: Some(annotations(context, &prepared.network_annotations)),
        ..ObjectMeta::default()
    };
    PodTemplateSpec { metadata: Some(metadata), spec: Some(spec(context, test, client, containers)) }
}

/// Nothing is to be put into these pods, and nobody is to move them: either would spoil what they measure.
fn annotations(context: &RunContext, networks: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = [
        ("sidecar.istio.io/inject", "false"),
        ("linkerd.io/inject", "disabled"),
        ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
        ("karpenter.sh/do-not-disrupt", "true"),
        ("kubectl.kubernetes.io/default-container", "bench"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into();
    all.insert(BENCHMARK_NAME.into(), context.owner.name.clone());
    all.extend(networks.clone());
    all
}

fn spec(context: &RunContext, test: usize, client: u32, containers: Vec<Container>) -> PodSpec {
    let (planned, prepared) = context.test(test);
    let secrets = prepared.pull_secrets.iter().map(|secret| LocalObjectReference { name: secret.name.clone() });
    let secrets: Vec<LocalObjectReference> = secrets.collect();
    PodSpec {
        affinity: prepared.nodes.get(client as usize).map(|node| on_node(node)),
        automount_service_account_token: Some(false),
        containers,
        dns_policy: prepared.host_network.then(|| "ClusterFirstWithHostNet".into()),
        enable_service_links: Some(false),
        host_network: prepared.host_network.then_some(true),
        image_pull_secrets: (!secrets.is_empty()).then_some(secrets),
        init_containers: Some(vec![install(context)]),
        priority_class_name: prepared.priority_class.clone(),
        restart_policy: Some("Never".into()),
        security_context: Some(pod_security(&planned.kind, context.platform)),
        termination_grace_period_seconds: Some(CLEANUP_GRACE_SECONDS as i64 + 10),
        tolerations: (!prepared.tolerations.is_empty()).then(|| prepared.tolerations.clone()),
        volumes: Some(volumes(context, test, client)),
        ..PodSpec::default()
    }
}

/// By affinity, so that the scheduler has its say: a pod with a node's name in it would be refused by the kubelet instead of waiting.
fn on_node(node: &str) -> Affinity {
    let field =
        NodeSelectorRequirement { key: "metadata.name".into(), operator: "In".into(), values: Some(vec![node.into()]) };
    let term = NodeSelectorTerm { match_expressions: None, match_fields: Some(vec![field]) };
    Affinity {
        node_affinity: Some(NodeAffinity {
            required_during_scheduling_ignored_during_execution: Some(NodeSelector { node_selector_terms: vec![term] }),
            ..NodeAffinity::default()
        }),
        ..Affinity::default()
    }
}

fn volumes(context: &RunContext, test: usize, client: u32) -> Vec<Volume> {
    let (planned, prepared) = context.test(test);
    let names = context.names();
    let mut volumes = vec![
        empty("bin", "512Mi"),
        empty("work", "64Mi"),
        empty("tmp", "64Mi"),
        Volume {
            name: "task".into(),
            config_map: Some(ConfigMapVolumeSource {
                name: names.client(&planned.name, client),
                items: Some(vec![same_name(TASK_KEY)]),
                ..ConfigMapVolumeSource::default()
            }),
            ..Volume::default()
        },
        secret("token", names.token(), TOKEN_KEY),
    ];
    match &planned.kind {
        PlannedKind::File { .. } => {
            volumes.extend(prepared.host_mount.clone().map(|path| host("target", path, "Directory")));
        }
        PlannedKind::Device { .. } => {
            volumes.extend(prepared.host_mount.clone().map(|path| host("devices", path, "Directory")));
        }
        PlannedKind::Network => {}
        PlannedKind::Rados(_) => {
            let name = format!("rook-ceph-client-{}", user_name(context, test));
            volumes.push(secret("key", name, KEY_IN_SECRET));
        }
    }
    volumes
}

/// What the bench mounts beside what every container does.
pub(super) fn bench_mounts(context: &RunContext, test: usize) -> Vec<VolumeMount> {
    let mut mounts = vec![
        mount("bin", BIN, true),
        mount("work", WORK, false),
        mount("tmp", "/tmp", false),
        mount("task", TASK, true),
        mount("token", TOKEN, true),
    ];
    let (planned, prepared) = context.test(test);
    match &planned.kind {
        PlannedKind::File { .. } => {
            mounts.extend(prepared.host_mount.iter().map(|path| mount("target", &host_mount(path), false)));
        }
        PlannedKind::Device { .. } => {
            mounts.extend(prepared.host_mount.iter().map(|path| mount("devices", path, false)));
        }
        PlannedKind::Network => {}
        PlannedKind::Rados(_) => mounts.push(mount("key", KEY, true)),
    }
    mounts
}

pub(super) fn mount(name: &str, path: &str, read_only: bool) -> VolumeMount {
    VolumeMount {
        name: name.into(),
        mount_path: path.into(),
        read_only: read_only.then_some(true),
        ..VolumeMount::default()
    }
}

fn empty(name: &str, limit: &str) -> Volume {
    Volume {
        name: name.into(),
        empty_dir: Some(EmptyDirVolumeSource { medium: None, size_limit: Some(Quantity(limit.into())) }),
        ..Volume::default()
    }
}

fn secret(name: &str, secret: String, key: &str) -> Volume {
    Volume {
        name: name.into(),
        secret: Some(SecretVolumeSource {
            secret_name: Some(secret),
            items: Some(vec![same_name(key)]),
            ..SecretVolumeSource::default()
        }),
        ..Volume::default()
    }
}

fn host(name: &str, path: String, kind: &str) -> Volume {
    Volume {
        name: name.into(),
        host_path: Some(HostPathVolumeSource { path, type_: Some(kind.into()) }),
        ..Volume::default()
    }
}

fn same_name(key: &str) -> KeyToPath {
    KeyToPath { key: key.into(), path: key.into(), mode: None }
}
