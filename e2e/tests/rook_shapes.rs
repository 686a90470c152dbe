//! The stand-in against objects captured from a real Rook: given the facts of the captured cluster its builders make
//! the captured objects, and nothing it writes has a key that Rook's lacks. A key that only the stand-in has fails here.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use e2e::standin::build::osd::{Osd, build_osd_deployment};
use e2e::standin::build::{Identity, config, mgr, mon};
use e2e::standin::{block_pool, client, condition, rados_namespace, status};
use k8s_openapi::jiff::Timestamp;
use kube::api::DynamicObject;
use serde_json::{Value, json};

fn captured_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rook")
}

fn captured(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(captured_folder().join(file)).expect("the captured file is there");
    serde_yaml_ng::Deserializer::from_str(&text)
        .map(|document| serde::Deserialize::deserialize(document).expect("captured YAML"))
        .collect()
}

fn captured_object(file: &str, kind: &str, name: &str) -> Value {
    captured(file)
        .into_iter()
        .find(|object| object["kind"] == kind && object["metadata"]["name"] == name)
        .unwrap_or_else(|| panic!("{file} has no {kind} {name}"))
}

fn captured_json(file: &str) -> Value {
    let text = fs::read_to_string(captured_folder().join(file)).expect("the captured file is there");
    serde_json::from_str(&text).expect("captured JSON")
}

/// The captured cluster's facts.
fn identity() -> Identity {
    let cluster = captured_object("cephcluster.yaml", "CephCluster", "rook-ceph");
    Identity {
        name: "rook-ceph".into(),
        namespace: "rook-ceph".into(),
        uid: cluster["metadata"]["uid"].as_str().expect("a uid").into(),
        fsid: cluster["status"]["ceph"]["fsid"].as_str().expect("an fsid").into(),
        image: "quay.io/ceph/ceph:v20.2.4".into(),
        ceph_version: "20.2.4-0".into(),
        data_dir: "/var/lib/rook".into(),
        resources: cluster["spec"]["resources"].clone(),
    }
}

/// Takes away what the API server fills in.
fn without_server_side(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().expect("metadata");
    for key in ["creationTimestamp", "uid"] {
        metadata.remove(key);
    }
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove("deployment.kubernetes.io/revision");
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    if object["kind"] == "Service" {
        object.as_object_mut().expect("an object").remove("status");
        let spec = object["spec"].as_object_mut().expect("spec");
        for key in
            ["clusterIP", "clusterIPs", "internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy", "sessionAffinity"]
        {
            spec.remove(key);
        }
    }
    object
}

/// Takes away what the capture left out of Deployments: how a daemon is started, and where its files come from.
fn without_uncaptured(mut deployment: Value) -> Value {
    let remove = |object: &mut Value, keys: &[&str]| {
        for key in keys {
            object.as_object_mut().expect("an object").remove(*key);
        }
    };
    remove(&mut deployment["spec"], &["replicas", "strategy"]);
    let template = &mut deployment["spec"]["template"];
    // Captured on the pods only: see the test of the pod's annotations.
    remove(&mut template["metadata"], &["annotations"]);
    remove(&mut template["spec"], &["initContainers", "volumes"]);
    for container in template["spec"]["containers"].as_array_mut().expect("containers") {
        remove(container, &["command", "securityContext", "volumeMounts"]);
        let env = container["env"].as_array_mut().expect("env");
        env.retain(|variable| variable.get("valueFrom").is_none());
    }
    deployment
}

fn assert_same(made: Value, file: &str) {
    let kind = made["kind"].as_str().expect("a kind").to_owned();
    let name = made["metadata"]["name"].as_str().expect("a name").to_owned();
    let wanted = without_server_side(captured_object(file, &kind, &name));
    let made = if kind == "Deployment" { without_uncaptured(made) } else { made };
    assert_eq!(
        serde_yaml_ng::to_string(&made).expect("YAML"),
        serde_yaml_ng::to_string(&wanted).expect("YAML"),
        "{kind} {name} of {file}"
    );
}

/// Every path of keys in a value; list entries of all positions are alike.
fn key_paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                let path = format!("{path}.{key}");
                found.insert(path.clone());
                key_paths(field, &path, found);
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| key_paths(entry, &format!("{path}[]"), found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn keys(values: &[Value]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    values.iter().for_each(|value| key_paths(value, "", &mut found));
    found
}

/// The keys of `made` that none of `captured` has.
fn only_in_standin(made: &Value, captured: &[Value]) -> Vec<String> {
    keys(std::slice::from_ref(made)).difference(&keys(captured)).cloned().collect()
}

fn assert_no_own_key(made: &Value, captured: &[Value]) {
    assert!(!keys(std::slice::from_ref(made)).is_empty(), "nothing was made");
    assert_eq!(only_in_standin(made, captured), Vec::<String>::new());
}

fn statuses(file: &str) -> Vec<Value> {
    captured(file).into_iter().map(|object| object["status"].clone()).collect()
}

fn object(value: Value) -> DynamicObject {
    serde_json::from_value(value).expect("an object")
}

fn now() -> Timestamp {
    "2026-11-30T21:42:27Z".parse().expect("a time")
}

#[test]
fn a_key_of_its_own_is_found() {
    let made = json!({"status": {"phase": "Ready", "list": [{"known": 1}, {"own": 2}]}});
    let captured = [json!({"status": {"phase": "x", "list": [{"known": 3}]}})];
    assert_eq!(only_in_standin(&made, &captured), [".status.list[].own"]);
}

#[test]
fn osd_deployments_are_rooks() {
    for (id, node, device, uuid) in [
        (0, "node1", "/dev/loop21", "bcf9dfe7-6bd0-45d4-8b70-4af1170fd956"),
        (1, "node3", "/dev/loop23", "8f2ee223-ec82-48b6-987a-5a78dd0e584b"),
        (2, "node2", "/dev/loop22", "732e66de-ff11-420e-9e66-d32df92bdc40"),
    ] {
        let osd = Osd { id, uuid: uuid.into(), node: node.into(), device: device.into() };
        assert_same(build_osd_deployment(&identity(), &osd), "daemons.yaml");
    }
}

#[test]
fn osd_pods_carry_rooks_annotation() {
    let osd = Osd { id: 0, uuid: "u".into(), node: "node1".into(), device: "/dev/loop21".into() };
    let made = build_osd_deployment(&identity(), &osd);
    let pods = captured("daemons.yaml");
    let pod = pods
        .iter()
        .find(|object| object["kind"] == "Pod" && object["metadata"]["labels"]["ceph-osd-id"] == "0")
        .expect("a pod of osd.0");
    assert_eq!(made["spec"]["template"]["metadata"]["annotations"], pod["metadata"]["annotations"]);
}

#[test]
fn monitor_and_manager_are_rooks() {
    assert_same(mon::build_mon_deployment(&identity(), "node2", "10.96.140.210"), "daemons.yaml");
    assert_same(mgr::build_mgr_deployment(&identity()), "daemons.yaml");
    assert_same(mon::build_mon_service(&identity()), "services.yaml");
    assert_same(mgr::build_mgr_service(&identity()), "services.yaml");
}

#[test]
fn the_way_to_the_monitors_is_rooks() {
    assert_same(config::build_mon_endpoints(&identity(), "10.96.140.210", "node2", "10.89.0.12"), "configmaps.yaml");
    let made = config::build_config_override(&identity());
    assert_no_own_key(&made, &captured("configmaps.yaml"));
}

#[test]
fn secrets_are_rooks() {
    let fake = "FAKEKEYFAKEKEYFAKEKEYFAKEKEYFAKEKEYFAKEKEYFAKEKEYFAKEKEYFAK=";
    let file = "secrets-with-fake-keys.yaml";
    assert_same(config::build_mon_secret(&identity(), fake, fake), file);
    assert_same(config::build_config_secret(&identity(), "10.96.140.210"), file);
    let owner = captured_object("cephclients.yaml", "CephClient", "cephbench-test");
    let uid = owner["metadata"]["uid"].as_str().expect("a uid");
    assert_same(
        config::build_client_secret(
            "cephbench-test",
            "rook-ceph",
            "rook-ceph-client-cephbench-test",
            uid,
            "cephbench-test",
            fake,
        ),
        file,
    );
}

#[test]
fn client_status_is_rooks() {
    let made = client::build_ready_status("rook-ceph-client-cephbench-test", "20.2.4-0", Some(2));
    assert_eq!(made, statuses("cephclients.yaml")[0]);
    assert_no_own_key(&client::build_failed_status(Some(2)), &statuses("cephclients.yaml"));
}

#[test]
fn pool_status_is_rooks() {
    let pool = captured_object("cephblockpools.yaml", "CephBlockPool", "bench");
    let made = block_pool::build_ready_status(&object(pool.clone()), 2);
    assert_eq!(made, pool["status"]);
}

#[test]
fn blocked_deletions_are_rooks() {
    let held = |has_images: bool, namespaces: &[&str]| block_pool::Held {
        has_images,
        rados_namespaces: namespaces.iter().map(|name| (*name).to_owned()).collect(),
    };
    for (file, held, now) in [
        ("cephblockpool-deletion-blocked.yaml", held(true, &[]), "2026-11-30T21:22:21Z"),
        ("cephblockpool-deletion-blocked-by-radosns.yaml", held(false, &["p3ns"]), "2026-11-30T21:22:51Z"),
    ] {
        let pool = captured(file).remove(0);
        assert!(held.blocks());
        let now = now.parse().expect("a time");
        assert_eq!(block_pool::build_deletion_status(&object(pool.clone()), &held, now), pool["status"], "{file}");
    }
}

#[test]
fn rados_namespace_status_is_rooks() {
    let made = rados_namespace::build_status("rook-ceph", "bench", "benchns");
    let wanted = &statuses("cephblockpoolradosnamespaces.yaml")[0];
    assert_no_own_key(&made, std::slice::from_ref(wanted));
    let length = |status: &Value| status["info"]["clusterID"].as_str().map(str::len);
    assert_eq!(length(&made), length(wanted));
}

fn answers(status_file: &str) -> status::Answers {
    status::Answers {
        status: captured_json(status_file),
        df: captured_json("ceph-df.json"),
        versions: captured_json("ceph-versions.json"),
        osd_metadata: captured_json("ceph-osd-metadata.json"),
    }
}

#[test]
fn cluster_status_has_no_key_of_its_own() {
    let captured = [&statuses("cephcluster.yaml")[..], &statuses("cephcluster-osd-down.yaml")].concat();
    let image = "quay.io/ceph/ceph:v20.2.4";
    for file in ["ceph-status.json", "ceph-status-osd-down.json"] {
        let made = status::build_ready_status(&Value::Null, 6, image, "20.2.4-0", &answers(file), now());
        assert_no_own_key(&made, &captured);
        assert_eq!(made["version"], captured[0]["version"]);
        assert_eq!(made["storage"], captured[0]["storage"]);
        assert_eq!(made["ceph"]["fsid"], captured[0]["ceph"]["fsid"]);
        assert_eq!(made["ceph"]["versions"], captured[0]["ceph"]["versions"]);
        assert_eq!(made["ceph"]["health"], "HEALTH_WARN");
    }
    let progressing = status::build_progressing_status(&Value::Null, 1, "Configuring Ceph", now());
    assert_no_own_key(&progressing, &captured);
}

#[test]
fn a_down_osd_is_named_in_the_cluster_status() {
    let made = status::build_ready_status(&Value::Null, 3, "i", "v", &answers("ceph-status-osd-down.json"), now());
    let wanted = &statuses("cephcluster-osd-down.yaml")[0]["ceph"]["details"]["OSD_DOWN"];
    assert_eq!(&made["ceph"]["details"]["OSD_DOWN"], wanted);
}

#[test]
fn a_condition_that_still_holds_keeps_its_time() {
    let previous = &statuses("cephcluster.yaml")[0];
    let made = status::build_ready_status(previous, 6, "i", "v", &answers("ceph-status.json"), now());
    assert_eq!(made["conditions"][0]["lastTransitionTime"], previous["conditions"][0]["lastTransitionTime"]);
    assert_eq!(made["conditions"][0]["lastHeartbeatTime"], "2026-11-30T21:42:27Z");
}

#[test]
fn the_local_cephcluster_asks_for_nothing_rook_lacks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/ceph/cephcluster.yaml");
    let text = fs::read_to_string(path).expect("the local CephCluster is there").replace('@', "");
    let made: Value = serde_yaml_ng::from_str(&text).expect("YAML");
    assert_no_own_key(&made, &captured("cephcluster.yaml"));
}

/// Where the originals lie beside the repository, the copies are exactly them; the CRDs without their last kind.
#[test]
fn the_copies_are_unmodified() {
    let originals = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/rook");
    if !originals.is_dir() {
        eprintln!("not compared: no {}", originals.display());
        return;
    }
    let mut compared = 0;
    for entry in fs::read_dir(captured_folder()).expect("the captured files are there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_owned();
        if name == "NOTICE" {
            continue;
        }
        let copy = fs::read_to_string(&path).expect("text");
        let original = fs::read_to_string(originals.join(&name)).expect("an original of each copy");
        if name == "crds.yaml" {
            assert!(original.starts_with(&copy), "crds.yaml was changed");
            let rest = &original[copy.len()..];
            assert_eq!(rest.matches("\nkind: CustomResourceDefinition").count(), 1);
        } else {
            assert_eq!(copy, original, "{}", name.display());
        }
        compared += 1;
    }
    assert!(compared > 20, "only {compared} files");
}

#[test]
fn all_osds_are_in_an_answer_when_every_one_has_reported() {
    let mut answers = answers("ceph-status.json");
    assert!(answers.include_all_osds());
    answers.osd_metadata.as_array_mut().expect("a list")[0] = json!({"id": 0});
    assert!(!answers.include_all_osds());
}

#[test]
fn a_deleted_cluster_says_what_holds_it_back() {
    let previous = &statuses("cephcluster.yaml")[0];
    let dependents = [
        condition::Dependents { kinds: "CephBlockPools".into(), names: vec!["bench".into()] },
        condition::Dependents { kinds: "CephClients".into(), names: vec![] },
    ];
    let made = status::build_deleting_status(previous, "CephCluster \"rook-ceph/rook-ceph\"", &dependents, now());
    assert_no_own_key(&made, &statuses("cephcluster.yaml"));
    assert_eq!(made["conditions"][0]["type"], "DeletionIsBlocked");
    let message = made["conditions"][0]["message"].as_str().expect("a message");
    assert!(message.ends_with("until all dependents are removed: CephBlockPools: [bench]"), "{message}");
}
