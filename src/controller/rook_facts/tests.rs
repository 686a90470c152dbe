//! Facts from Rook's own objects, unmodified, and from nodes.

use k8s_openapi::api::core::v1::Toleration;
use serde_json::{Value, json};

use super::*;
use crate::plan::preflight::mon_host;

fn documents(file: &str) -> Vec<Value> {
    let path = format!("{}/e2e/rook/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the fixture is there");
    serde_yaml_ng::Deserializer::from_str(&text)
        .map(|document| serde::Deserialize::deserialize(document).expect("YAML"))
        .collect()
}

fn of_kind<T: serde::de::DeserializeOwned>(file: &str, kind: &str, name: &str) -> Vec<T> {
    let fits = |value: &Value| {
        value["kind"] == kind && value["metadata"]["name"].as_str().is_some_and(|found| found.starts_with(name))
    };
    let read = |value: Value| serde_json::from_value(value).expect("the type fits what was captured");
    documents(file).into_iter().filter(fits).map(read).collect()
}

#[test]
fn rooks_osds_run_where_their_pods_do() {
    let deployments: Vec<Deployment> = of_kind("daemons.yaml", "Deployment", "rook-ceph-osd-");
    let pods: Vec<Pod> = of_kind("daemons.yaml", "Pod", "rook-ceph-osd-");
    let osds = osd_facts(&deployments, &pods);
    let nodes: Vec<Option<&str>> = osds.iter().map(|osd| osd.node.as_deref()).collect();
    assert_eq!(nodes, [Some("node1"), Some("node3"), Some("node2"), Some("node1")]);
    let hosts: Vec<Option<&str>> = osds.iter().map(|osd| osd.host.as_deref()).collect();
    assert_eq!(hosts, [Some("node1"), Some("node3"), Some("node2"), Some("node1")]);
    assert!(osds.iter().all(|osd| osd.tolerations.iter().all(|toleration| toleration.toleration_seconds.is_some())));
}

#[test]
fn an_osd_whose_pod_has_no_node_yet_has_none() {
    let deployments: Vec<Deployment> = of_kind("daemons.yaml", "Deployment", "rook-ceph-osd-0");
    let mut pods: Vec<Pod> = of_kind("daemons.yaml", "Pod", "rook-ceph-osd-0");
    if let Some(spec) = &mut pods[0].spec {
        spec.node_name = None;
    }
    assert_eq!(osd_facts(&deployments, &pods)[0].node, None);
    assert_eq!(osd_facts(&deployments, &[])[0].node, None);
}

#[test]
fn rooks_cluster_pools_and_monitors() {
    let cluster = &of_kind::<CephCluster>("cephcluster.yaml", "CephCluster", "rook-ceph")[0];
    let facts = cluster_facts(cluster);
    assert_eq!(facts.fsid.as_deref(), Some("7436e88c-597d-421e-96ed-608998d422d2"));
    assert_eq!(facts.image.as_deref(), Some("quay.io/ceph/ceph:v20.2.4"));
    assert_eq!(facts.version.as_deref(), Some("20.2.4-0"));
    assert_eq!(facts.capacity, Some((25_769_803_776, 202_690_560)));
    assert_eq!((facts.external, &facts.network), (false, &ClusterNetwork::Pod));
    assert_eq!(facts.health_details.len(), 4);

    let pool = &of_kind::<CephBlockPool>("cephblockpools.yaml", "CephBlockPool", "bench")[0];
    assert_eq!(pool_facts(pool), PoolFacts { name: "bench".into(), copies: 2.0, size: Some(2), quota: None });

    let endpoints = of_kind::<ConfigMap>("configmaps.yaml", "ConfigMap", "rook-ceph-mon-endpoints");
    let monitors = monitors(endpoints.first());
    let data = monitors.data.expect("monitors");
    let written = mon_host(&data, &monitors.out_of_quorum).expect("one in quorum");
    // The same that Rook itself keeps for clients.
    let secret =
        documents("secrets-with-fake-keys.yaml").into_iter().find(|s| s["metadata"]["name"] == "rook-ceph-config");
    let kept: k8s_openapi::ByteString =
        serde_json::from_value(secret.expect("Rook's own")["data"]["mon_host"].clone()).expect("base64");
    assert_eq!(written.as_bytes(), kept.0);
}

fn cluster(spec: Value) -> ClusterFacts {
    cluster_facts(&serde_json::from_value(json!({"metadata": {"name": "c"}, "spec": spec})).expect("a CephCluster"))
}

#[test]
fn networks_old_and_new() {
    assert_eq!(cluster(json!({})).network, ClusterNetwork::Pod);
    assert_eq!(cluster(json!({"network": {"provider": "host"}})).network, ClusterNetwork::Host);
    assert_eq!(cluster(json!({"network": {"hostNetwork": true}})).network, ClusterNetwork::Host);
    assert_eq!(cluster(json!({"network": {"provider": "", "hostNetwork": true}})).network, ClusterNetwork::Host);
    let multus = json!({"network": {"provider": "multus", "selectors": {"public": "ns/pub", "cluster": "c"}}});
    assert_eq!(cluster(multus).network, ClusterNetwork::Multus(Some("ns/pub".into())));
}

#[test]
fn tolerations_of_all_daemons_and_of_osds() {
    let placement = json!({"placement": {"all": {"tolerations": [{"key": "a", "operator": "Exists"}]},
        "osd": {"tolerations": [{"key": "b"}]}, "mon": {"tolerations": [{"key": "c"}]}}});
    let keys = |tolerations: &[Toleration]| tolerations.iter().filter_map(|t| t.key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&cluster(placement).tolerations), ["a", "b"]);
    assert!(cluster(json!({"external": {"enable": true}})).external);
}

#[test]
fn coded_pools_and_quotas() {
    let pool = |spec| -> PoolFacts {
        pool_facts(&serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": spec})).expect("a pool"))
    };
    let coded = pool(json!({"erasureCoded": {"dataChunks": 4, "codingChunks": 2}, "replicated": {"size": 0}}));
    assert_eq!((coded.copies, coded.size), (1.5, None));
    assert_eq!(pool(json!({"quotas": {"maxSize": "10Gi"}})).quota, Some(10 << 30));
    assert_eq!(pool(json!({"quotas": {"maxBytes": 5}})).quota, Some(5));
    assert_eq!(pool(json!({"quotas": {"maxBytes": 0}})).quota, None);
}

#[test]
fn a_node_is_cordoned_ready_and_tainted() {
    let node = json!({"metadata": {"name": "n"},
        "spec": {"unschedulable": true, "taints": [
            {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}, {"key": "x", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"memory": "16Gi"}, "conditions": [{"type": "Ready", "status": "True"}]}});
    let facts = node_facts(&serde_json::from_value(node).expect("a node"));
    assert!(facts.cordoned && facts.ready);
    assert_eq!(facts.taints.len(), 1, "the cordon is said in its own words");
    assert_eq!(facts.memory, Some(16 << 30));
    assert!(!node_facts(&Node::default()).ready);
}
