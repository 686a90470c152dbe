//! The monitor: its Service, whose address never changes, and its Deployment.

use serde_json::{Value, json};

use super::{Identity, KEYRING, config_volume, secret_volume};

const ID: &str = "a";
const DATA: &str = "/var/lib/ceph/mon/ceph-a";

fn mon_labels(identity: &Identity) -> serde_json::Map<String, Value> {
    let mut labels = identity.daemon_labels("mon", ID);
    for (key, value) in [("mon", ID), ("mon_cluster", &identity.namespace), ("mon_daemon", "true")] {
        labels.insert(key.to_owned(), json!(value));
    }
    labels
}

pub fn build_mon_service(identity: &Identity) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "rook-ceph-mon-a",
            "namespace": identity.namespace,
            "labels": mon_labels(identity),
            "ownerReferences": [{
                "apiVersion": "ceph.rook.io/v1",
                "kind": "CephCluster",
                "name": identity.name,
                "uid": identity.uid,
            }],
        },
        "spec": {
            "type": "ClusterIP",
            "ports": [
                {"name": "tcp-msgr1", "port": 6789, "protocol": "TCP", "targetPort": 6789},
                {"name": "tcp-msgr2", "port": 3300, "protocol": "TCP", "targetPort": 3300},
            ],
            "selector": {
                "app": "rook-ceph-mon",
                "ceph_daemon_id": ID,
                "mon": ID,
                "mon_cluster": identity.namespace,
                "rook_cluster": identity.namespace,
            },
        },
    })
}

/// The monitor on `node`, known to everyone by its Service's `address`.
pub fn build_mon_deployment(identity: &Identity, node: &str, address: &str) -> Value {
    let mounts = [
        ("rook-config-override", "/etc/ceph"),
        ("rook-ceph-mons-keyring", "/etc/ceph/keyring-store"),
        ("ceph-daemon-data", DATA),
    ];
    let settings = [
        format!("--mon-data={DATA}"),
        format!("--keyring={KEYRING}"),
        "--mon-host=$(ROOK_CEPH_MON_HOST)".to_owned(),
        "--mon-initial-members=$(ROOK_CEPH_MON_INITIAL_MEMBERS)".to_owned(),
        format!("--public-addr={address}"),
    ];
    // Ends well and changes nothing when the store is there already.
    let mut make_store = settings.to_vec();
    make_store.push("--mkfs".to_owned());
    let mut serve = settings.to_vec();
    serve.push("--public-bind-addr=$(ROOK_POD_IP)".to_owned());

    let env = identity.image_env().to_vec();
    let mut init = identity.container("mon", identity.daemon_command("mon", ID, &make_store), env.clone(), &mounts);
    init["name"] = json!("init-mon-fs");
    let pod = json!({
        "nodeSelector": {"kubernetes.io/hostname": node},
        "serviceAccountName": "rook-ceph-default",
        "affinity": {},
        "initContainers": [init],
        "containers": [identity.container("mon", identity.daemon_command("mon", ID, &serve), env, &mounts)],
        "volumes": [
            config_volume(),
            secret_volume("rook-ceph-mons-keyring", "rook-ceph-mons-keyring"),
            {"name": "ceph-daemon-data", "hostPath": {
                "path": format!("{}/mon-a/data", identity.data_dir), "type": "DirectoryOrCreate",
            }},
        ],
    });
    identity.deployment(
        "rook-ceph-mon-a",
        &mon_labels(identity),
        &["app", "ceph_daemon_id", "mon", "mon_cluster", "rook_cluster"],
        pod,
    )
}
