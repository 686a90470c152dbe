//! Every field that is read here is read from what real Rook wrote, unmodified; fields that the captured objects don't use are looked up in
//! Rook's own CRDs.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::*;

fn path(file: &str) -> String {
    format!("{}/e2e/rook/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn documents(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path(file)).expect("the fixture is there");
    serde_yaml_ng::Deserializer::from_str(&text)
        .map(|document| serde::Deserialize::deserialize(document).expect("YAML"))
        .collect()
}

fn read<T: DeserializeOwned>(file: &str) -> T {
    serde_json::from_value(documents(file).swap_remove(0)).expect("the type fits what Rook wrote")
}

#[test]
fn a_cephcluster_is_read() {
    let cluster: CephCluster = read("cephcluster.yaml");
    assert_eq!(
        cluster.spec.ceph_version.and_then(|version| version.image).as_deref(),
        Some("quay.io/ceph/ceph:v20.2.4")
    );
    assert_eq!(cluster.spec.external, Some(External { enable: None }));
    assert_eq!(cluster.spec.network, Some(Network::default()));
    let status = cluster.status.expect("a status");
    assert_eq!(status.phase.as_deref(), Some("Ready"));
    assert_eq!(status.message.as_deref(), Some("Cluster created successfully"));
    let version = status.version.expect("a version");
    assert_eq!(version.image.as_deref(), Some("quay.io/ceph/ceph:v20.2.4"));
    assert_eq!(version.version.as_deref(), Some("20.2.4-0"));
    let ceph = status.ceph.expect("Ceph's own status");
    assert_eq!(ceph.fsid.as_deref(), Some("7436e88c-597d-421e-96ed-608998d422d2"));
    assert_eq!(ceph.health.as_deref(), Some("HEALTH_WARN"));
    let capacity = ceph.capacity.expect("its capacity");
    assert_eq!((capacity.bytes_total, capacity.bytes_used), (Some(25_769_803_776), Some(202_690_560)));
    let details = ceph.details.expect("details");
    assert_eq!(details["AUTH_INSECURE_KEYS_ALLOWED"].severity, "HEALTH_WARN");
    assert!(details["PG_DEGRADED"].message.starts_with("Degraded data redundancy"));
}

#[test]
fn an_osd_that_is_down_shows_in_the_details_only() {
    let cluster: CephCluster = read("cephcluster-osd-down.yaml");
    let status = cluster.status.expect("a status");
    assert_eq!(status.phase.as_deref(), Some("Ready"));
    let details = status.ceph.and_then(|ceph| ceph.details).expect("details");
    assert_eq!(details["OSD_DOWN"].message, "1 osds down");
}

#[test]
fn pools_are_read() {
    let pool: CephBlockPool = read("cephblockpools.yaml");
    assert_eq!(pool.spec.failure_domain.as_deref(), Some("host"));
    assert_eq!(pool.spec.replicated.as_ref().map(|replicated| replicated.size), Some(2));
    assert_eq!(pool.spec.erasure_coded, Some(ErasureCoded { data_chunks: 0, coding_chunks: 0 }));
    assert_eq!(pool.spec.quotas, Some(Quotas::default()));
    assert_eq!(pool.status.as_ref().and_then(|status| status.phase.as_deref()), Some("Ready"));
    assert_eq!(pool.deletion_blocked(), None);
}

#[test]
fn what_blocks_a_pools_deletion_is_read() {
    let images: CephBlockPool = read("cephblockpool-deletion-blocked.yaml");
    assert_eq!(images.deletion_blocked(), Some("pool \"p2\" contains images or snapshots and cannot be deleted"));
    let namespaces: CephBlockPool = read("cephblockpool-deletion-blocked-by-radosns.yaml");
    assert!(namespaces.deletion_blocked().is_some_and(|text| text.contains("CephBlockPoolRadosNamespaces: [p3ns]")));
}

#[test]
fn a_client_is_read() {
    let client: CephClient = read("cephclients.yaml");
    assert_eq!(client.spec.caps["osd"], "profile rbd pool=bench");
    assert_eq!(client.status.as_ref().and_then(|status| status.phase.as_deref()), Some("Ready"));
    assert_eq!(client.secret_name(), Some("rook-ceph-client-cephbench-test"));
    let secrets = documents("secrets-with-fake-keys.yaml");
    let secret = secrets.iter().find(|secret| secret["metadata"]["name"] == "rook-ceph-client-cephbench-test");
    // The pods mount this key of it.
    assert!(secret.is_some_and(|secret| secret["data"]["userKey"].is_string()));
}

/// The schema of a field in Rook's CRD; `*` stands for any key of a map, `[]` for any entry of a list.
fn schema<'a>(crds: &'a [Value], kind: &str, path: &str) -> Option<&'a Value> {
    let crd = crds.iter().find(|crd| crd["spec"]["names"]["kind"] == kind)?;
    let mut at = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    for part in path.split('.') {
        at = match part {
            "*" => at.get("additionalProperties")?,
            "[]" => at.get("items")?,
            name => at.get("properties")?.get(name)?,
        };
    }
    Some(at)
}

#[test]
fn fields_that_were_not_captured_are_in_rooks_crds() {
    let crds = documents("crds.yaml");
    for (kind, path, wanted) in [
        ("CephCluster", "spec.external.enable", "boolean"),
        ("CephCluster", "spec.network.provider", "string"),
        ("CephCluster", "spec.network.hostNetwork", "boolean"),
        ("CephCluster", "spec.network.selectors.*", "string"),
        ("CephCluster", "spec.placement.*.tolerations.[].key", "string"),
        ("CephCluster", "spec.placement.*.tolerations.[].tolerationSeconds", "integer"),
        ("CephBlockPool", "spec.quotas.maxSize", "string"),
        ("CephBlockPool", "spec.quotas.maxBytes", "integer"),
        ("CephBlockPool", "spec.parameters.*", "string"),
        ("CephBlockPool", "spec.replicated.requireSafeReplicaSize", "boolean"),
        ("CephBlockPool", "spec.erasureCoded.dataChunks", "integer"),
        ("CephBlockPool", "status.conditions.[].reason", "string"),
        ("CephClient", "status.info.*", "string"),
    ] {
        let found = schema(&crds, kind, path).unwrap_or_else(|| panic!("{kind} has no {path}"));
        assert_eq!(found["type"], wanted, "{kind} {path}");
    }
    // A pool is not made with a quota that Rook refuses.
    let pattern = schema(&crds, "CephBlockPool", "spec.quotas.maxSize").expect("a schema")["pattern"].clone();
    assert_eq!(pattern, r"^[0-9]+[\.]?[0-9]*([KMGTPE]i|[kMGTPE])?$");
}
