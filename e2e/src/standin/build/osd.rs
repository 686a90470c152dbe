//! One OSD: a Deployment bound to the node and the device that hold its data.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Identity, config_volume, env, secret_volume};

/// Makes the OSD's directory out of its device, and its store on a device that is empty.
const ACTIVATE: &str = include_str!("osd-activate.sh");

/// An OSD that Ceph has given a number.
#[derive(Debug, Clone)]
pub struct Osd {
    pub id: u32,
    pub uuid: String,
    pub node: String,
    pub device: String,
}

/// The same UUID for the same place, so that asking Ceph twice for a number gives the same one.
pub fn osd_uuid(fsid: &str, node: &str, device: &str) -> String {
    let digest = Sha256::digest(format!("{fsid}/{node}/{device}"));
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    // Version 8: bits of the maker's choice; variant 10.
    format!("{}-{}-8{}-a{}-{}", &hex[0..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

fn osd_labels(identity: &Identity, osd: &Osd) -> serde_json::Map<String, Value> {
    let id = osd.id.to_string();
    let mut labels = identity.daemon_labels("osd", &id);
    for (key, value) in [
        ("ceph-osd-id", id.as_str()),
        ("device-class", "hdd"),
        ("device-type", "hdd"),
        ("encrypted", "false"),
        ("failure-domain", &osd.node),
        ("osd", &id),
        ("osd-store", "bluestore"),
        ("portable", "false"),
        ("topology-location-host", &osd.node),
        ("topology-location-root", "default"),
    ] {
        labels.insert(key.to_owned(), json!(value));
    }
    labels
}

fn osd_env(identity: &Identity, osd: &Osd) -> Vec<Value> {
    let [image, nonce] = identity.image_env();
    vec![
        env("ROOK_NODE_NAME", &osd.node),
        env("ROOK_CLUSTER_ID", &identity.uid),
        env("ROOK_CLUSTER_NAME", &identity.name),
        env("POD_NAMESPACE", &identity.namespace),
        env("ROOK_CONFIG_DIR", "/var/lib/rook"),
        env("ROOK_CEPH_CONFIG_OVERRIDE", "/etc/rook/config/override.conf"),
        env("ROOK_CRUSHMAP_ROOT", "default"),
        env("ROOK_CRUSHMAP_HOSTNAME", &osd.node),
        env("CEPH_VOLUME_DEBUG", "1"),
        env("CEPH_VOLUME_SKIP_RESTORECON", "1"),
        env("DM_DISABLE_UDEV", "1"),
        env("ROOK_OSDS_PER_DEVICE", "1"),
        image,
        nonce,
        env("ROOK_OSD_RESTART_INTERVAL", "0"),
        env("ROOK_OSD_UUID", &osd.uuid),
        env("ROOK_OSD_ID", &osd.id.to_string()),
        env("CEPH_ARGS", "-m $(ROOK_CEPH_MON_HOST)"),
        env("ROOK_BLOCK_PATH", &osd.device),
        env("ROOK_CV_MODE", "raw"),
        env("ROOK_OSD_DEVICE_CLASS", "hdd"),
        env("ROOK_OSD_CRUSH_DEVICE_CLASS", "hdd"),
    ]
}

pub fn build_osd_deployment(identity: &Identity, osd: &Osd) -> Value {
    let id = osd.id.to_string();
    let data = format!("/var/lib/ceph/osd/ceph-{id}");
    let own_mounts = [("rook-config-override", "/etc/ceph"), ("devices", "/dev"), ("osd-data", data.as_str())];
    let mut admin_mounts = own_mounts.to_vec();
    admin_mounts.push(("rook-ceph-admin-keyring", "/etc/ceph/admin-keyring-store"));

    let script = vec!["bash".to_owned(), "-c".to_owned(), ACTIVATE.to_owned()];
    let mut activate = identity.container("osd", script, osd_env(identity, osd), &admin_mounts);
    activate["name"] = json!("activate");
    activate["env"].as_array_mut().expect("a container has its environment").push(env("FSID", &identity.fsid));
    let serve = [
        format!("--osd-data={data}"),
        format!("--keyring={data}/keyring"),
        format!("--crush-location=root=default host={}", osd.node),
    ];
    let mut daemon =
        identity.container("osd", identity.daemon_command("osd", &id, &serve), osd_env(identity, osd), &own_mounts);
    for container in [&mut activate, &mut daemon] {
        container["securityContext"] = json!({"privileged": true});
    }
    let pod = json!({
        "nodeSelector": {"kubernetes.io/hostname": osd.node},
        "serviceAccountName": "rook-ceph-osd",
        "affinity": {},
        "initContainers": [activate],
        "containers": [daemon],
        "volumes": [
            config_volume(),
            secret_volume("rook-ceph-admin-keyring", "rook-ceph-admin-keyring"),
            {"name": "devices", "hostPath": {"path": "/dev"}},
            {"name": "osd-data", "emptyDir": {}},
        ],
    });
    let mut deployment = identity.deployment(
        &format!("rook-ceph-osd-{id}"),
        &osd_labels(identity, osd),
        &["app", "ceph-osd-id", "rook_cluster"],
        pod,
    );
    deployment["spec"]["template"]["metadata"]["annotations"] = json!({
        "cephx-status": format!(r#"{{"keyGeneration":1,"keyCephVersion":"{}"}}"#, identity.ceph_version),
    });
    deployment
}

#[cfg(test)]
mod tests {
    use super::osd_uuid;

    #[test]
    fn a_place_has_one_uuid() {
        let uuid = osd_uuid("f", "node1", "/dev/loop1");
        assert_eq!(uuid, osd_uuid("f", "node1", "/dev/loop1"));
        assert_ne!(uuid, osd_uuid("f", "node2", "/dev/loop1"));
        assert_eq!(uuid.len(), 36);
        assert_eq!(uuid.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    }
}
