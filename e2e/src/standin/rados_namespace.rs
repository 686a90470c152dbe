//! Serves CephBlockPoolRadosNamespace: a namespace for RBD in a pool. Objects that others left in it stay, as with
//! Rook.

use kube::api::DynamicObject;
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Error, apply, ceph, named, rook_kind};

pub const KIND: &str = "CephBlockPoolRadosNamespace";
const FINALIZER: &str = "cephblockpoolradosnamespace.ceph.rook.io";

pub async fn reconcile(client: &Client, object: &DynamicObject) -> Result<(), Error> {
    let pool = object.data["spec"]["blockPoolName"].as_str().unwrap_or_default();
    let name = named(object);
    let known = names(pool).await;
    if object.metadata.deletion_timestamp.is_some() {
        let gone = match known {
            Ok(names) => !names.contains(&name),
            Err(Error::Ceph(error)) if error.is_not_found() => true,
            Err(error) => return Err(error),
        };
        if !gone {
            ceph::run("rbd", &["namespace", "remove", "--pool", pool, "--namespace", &name]).await?;
        }
        return apply::let_go(client, &rook_kind(KIND), object, FINALIZER).await;
    }
    let object = &apply::take_over(client, &rook_kind(KIND), object, FINALIZER, json!({})).await?;
    if !known?.contains(&name) {
        ceph::run("rbd", &["namespace", "create", "--pool", pool, "--namespace", &name]).await?;
    }
    let status = build_status(&object.namespace().unwrap_or_default(), pool, &name);
    apply::replace_status(client, &rook_kind(KIND), object, status).await
}

/// The RBD namespaces of a pool.
pub async fn names(pool: &str) -> Result<Vec<String>, Error> {
    let answer = ceph::rbd_json(&["namespace", "list", "--pool", pool]).await?;
    let entries = answer.as_array().into_iter().flatten();
    Ok(entries.filter_map(|entry| entry["name"].as_str().map(str::to_owned)).collect())
}

pub fn build_status(kubernetes_namespace: &str, pool: &str, name: &str) -> Value {
    // Rook's id is a digest of the names too, of another kind.
    let digest = Sha256::digest(format!("{kubernetes_namespace}/{pool}/{name}"));
    let id: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    json!({
        "info": {"clusterID": id},
        "mirroringInfo": {},
        "mirroringStatus": {},
        "phase": "Ready",
        "snapshotScheduleStatus": {},
    })
}
