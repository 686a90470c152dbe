//! Secrets and ConfigMaps through which daemons and clients find the monitor.

use k8s_openapi::ByteString;
use serde_json::{Value, json};

use super::Identity;

/// What the daemons of a small machine need that Ceph's defaults don't give.
const OVERRIDE: &str = include_str!("ceph.conf");

/// The protocols' ports, v1 and v2.
const V1_PORT: u16 = 6789;
const V2_PORT: u16 = 3300;

fn base64(text: &str) -> Value {
    serde_json::to_value(ByteString(text.as_bytes().to_vec())).expect("bytes become a base64 string")
}

fn secret(identity: &Identity, name: &str, data: Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": identity.plain_metadata(name),
        "type": "kubernetes.io/rook",
        "data": data,
    })
}

/// Keys of the whole cluster; it outlives a careless deletion.
pub fn build_mon_secret(identity: &Identity, admin_key: &str, mon_key: &str) -> Value {
    let mut secret = secret(
        identity,
        "rook-ceph-mon",
        json!({
            "ceph-secret": base64(admin_key),
            "ceph-username": base64("client.admin"),
            "fsid": base64(&identity.fsid),
            "mon-secret": base64(mon_key),
        }),
    );
    secret["metadata"]["finalizers"] = json!(["ceph.rook.io/disaster-protection"]);
    secret
}

/// How the daemons find the monitor.
pub fn build_config_secret(identity: &Identity, mon_address: &str) -> Value {
    secret(
        identity,
        "rook-ceph-config",
        json!({
            "mon_host": base64(&mon_host(mon_address)),
            "mon_initial_members": base64("a"),
        }),
    )
}

/// `[v2:ADDRESS:3300,v1:ADDRESS:6789]`
pub fn mon_host(mon_address: &str) -> String {
    format!("[v2:{mon_address}:{V2_PORT},v1:{mon_address}:{V1_PORT}]")
}

/// A keyring as a file for a daemon to mount. Rook has these Secrets too; they are not among the captured ones.
pub fn build_keyring_secret(identity: &Identity, name: &str, keyring: &str) -> Value {
    secret(identity, name, json!({"keyring": base64(keyring)}))
}

/// The administrator's keyring, and with `mon_key` the one that a monitor's store starts with.
pub fn keyring(admin_key: &str, mon_key: Option<&str>) -> String {
    let all =
        "\tcaps mon = \"allow *\"\n\tcaps osd = \"allow *\"\n\tcaps mgr = \"allow *\"\n\tcaps mds = \"allow *\"\n";
    let monitor = mon_key.map_or_else(String::new, |key| format!("[mon.]\n\tkey = {key}\n\tcaps mon = \"allow *\"\n"));
    format!("{monitor}[client.admin]\n\tkey = {admin_key}\n{all}")
}

/// The monitors as clients of Rook read them.
pub fn build_mon_endpoints(identity: &Identity, mon_address: &str, node: &str, node_address: &str) -> Value {
    let namespace = &identity.namespace;
    let mut metadata = identity.plain_metadata("rook-ceph-mon-endpoints");
    metadata["finalizers"] = json!(["ceph.rook.io/disaster-protection"]);
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {
            "csi-cluster-config-json": format!(
                concat!(
                    r#"[{{"clusterID":"{}","monitors":["{}:{}"],"cephFS":{{"netNamespaceFilePath":"","subvolumeGroup":"","#,
                    r#""radosNamespace":"","kernelMountOptions":"","fuseMountOptions":""}},"rbd":{{"netNamespaceFilePath":"","#,
                    r#""radosNamespace":"","mirrorDaemonCount":0}},"nfs":{{"netNamespaceFilePath":""}},"#,
                    r#""readAffinity":{{"enabled":false,"crushLocationLabels":null}},"namespace":""}}]"#
                ),
                namespace, mon_address, V1_PORT
            ),
            "data": format!("a={mon_address}:{V1_PORT}"),
            "externalMons": "",
            "mapping": format!(
                r#"{{"node":{{"a":{{"Name":"{node}","Hostname":"{node}","Address":"{node_address}"}}}}}}"#
            ),
            "maxMonId": "0",
            "outOfQuorum": "",
        },
    })
}

/// Settings for every daemon. Rook leaves this empty for its user to fill; here the stand-in is the user.
pub fn build_config_override(identity: &Identity) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": identity.plain_metadata("rook-config-override"),
        "data": {"config": OVERRIDE},
    })
}

/// The Secret that a CephClient's user mounts.
pub fn build_client_secret(name: &str, namespace: &str, secret_name: &str, uid: &str, user: &str, key: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": secret_name,
            "namespace": namespace,
            "annotations": {"cephx-keyring": ""},
            "ownerReferences": [{
                "apiVersion": "ceph.rook.io/v1",
                "blockOwnerDeletion": true,
                "controller": true,
                "kind": "CephClient",
                "name": name,
                "uid": uid,
            }],
        },
        "type": "kubernetes.io/rook",
        "data": {user: base64(key), "userID": base64(user), "userKey": base64(key)},
    })
}
