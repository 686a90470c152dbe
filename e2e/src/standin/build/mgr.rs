//! The manager: its Deployment, and the Service of its metrics.

use serde_json::{Value, json};

use super::{Identity, config_volume, env, secret_volume};

const ID: &str = "a";

pub fn build_mgr_service(identity: &Identity) -> Value {
    let mut metadata = identity.plain_metadata("rook-ceph-mgr");
    metadata["labels"] = json!({"app": "rook-ceph-mgr", "rook_cluster": identity.namespace});
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {
            "type": "ClusterIP",
            "ports": [{"name": "http-metrics", "port": 9283, "protocol": "TCP", "targetPort": 9283}],
            "selector": {"app": "rook-ceph-mgr", "mgr_role": "active", "rook_cluster": identity.namespace},
        },
    })
}

pub fn build_mgr_deployment(identity: &Identity) -> Value {
    let mut labels = identity.daemon_labels("mgr", ID);
    for (key, value) in [("instance", ID), ("mgr", ID), ("mgr_role", "active")] {
        labels.insert(key.to_owned(), json!(value));
    }
    let mut variables = identity.image_env().to_vec();
    variables.extend([
        env("ROOK_OPERATOR_NAMESPACE", &identity.namespace),
        env("ROOK_CEPH_CLUSTER_CRD_VERSION", "v1"),
        env("ROOK_CEPH_CLUSTER_CRD_NAME", &identity.name),
        env("CEPH_ARGS", "--mon-host $(ROOK_CEPH_MON_HOST) --keyring /etc/ceph/keyring-store/keyring"),
    ]);
    let mounts = [
        ("rook-config-override", "/etc/ceph"),
        ("rook-ceph-mgr-a-keyring", "/etc/ceph/keyring-store"),
        ("ceph-daemon-data", "/var/lib/ceph/mgr/ceph-a"),
    ];
    let container = identity.container("mgr", identity.daemon_command("mgr", ID, &[]), variables, &mounts);
    let pod = json!({
        "serviceAccountName": "rook-ceph-mgr",
        "tolerations": [{
            "effect": "NoExecute",
            "key": "node.kubernetes.io/unreachable",
            "operator": "Exists",
            "tolerationSeconds": 5,
        }],
        "affinity": {},
        "containers": [container],
        "volumes": [
            config_volume(),
            secret_volume("rook-ceph-mgr-a-keyring", "rook-ceph-mgr-a-keyring"),
            {"name": "ceph-daemon-data", "emptyDir": {}},
        ],
    });
    identity.deployment("rook-ceph-mgr-a", &labels, &["app", "ceph_daemon_id", "instance", "mgr", "rook_cluster"], pod)
}
