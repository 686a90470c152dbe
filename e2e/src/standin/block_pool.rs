//! Serves CephBlockPool: a pool with its own CRUSH rule, as Rook makes it. A pool that holds plain objects goes at
//! once with its object; RBD images and rados namespaces hold it back.

use k8s_openapi::jiff::Timestamp;
use kube::api::DynamicObject;
use kube::{Client, ResourceExt};
use serde_json::{Map, Value, json};

use super::condition::{Dependents, Statement, build_condition, build_deletion_is_blocked};
use super::{Error, apply, ceph, named, rados_namespace, rook_kind};

pub const KIND: &str = "CephBlockPool";
const FINALIZER: &str = "cephblockpool.ceph.rook.io";

/// What may hold a deletion back.
pub struct Held {
    pub has_images: bool,
    pub rados_namespaces: Vec<String>,
}

impl Held {
    pub fn blocks(&self) -> bool {
        self.has_images || !self.rados_namespaces.is_empty()
    }
}

/// Makes the object true, or undoes it when it is being deleted. `false` when a deletion is blocked.
pub async fn reconcile(client: &Client, object: &DynamicObject, now: Timestamp) -> Result<bool, Error> {
    if object.metadata.deletion_timestamp.is_some() {
        return remove(client, object, now).await;
    }
    let object = &apply::take_over(client, &rook_kind(KIND), object, FINALIZER, spec_defaults()).await?;
    if object.data["status"].get("poolID").is_none() {
        apply::replace_status(client, &rook_kind(KIND), object, json!({"phase": "Progressing"})).await?;
    }
    let made = make(object).await;
    let status = match &made {
        Ok(pool_id) => build_ready_status(object, *pool_id),
        Err(_) => build_failed_status(object),
    };
    apply::replace_status(client, &rook_kind(KIND), object, status).await?;
    made.map(|_| true)
}

/// What Rook writes back into a spec that left these out.
fn spec_defaults() -> Value {
    json!({
        "application": "",
        "erasureCoded": {"codingChunks": 0, "dataChunks": 0},
        "failureDomain": "host",
        "mirroring": {},
        "quotas": {},
        "replicated": {"size": 0},
        "statusCheck": {"mirror": {}},
    })
}

pub fn build_ready_status(object: &DynamicObject, pool_id: i64) -> Value {
    json!({
        "cephx": {"peerToken": {}},
        "info": {
            "failureDomain": object.data["spec"]["failureDomain"],
            "type": if is_erasure_coded(object) { "Erasure Coded" } else { "Replicated" },
        },
        "mirroringInfo": {},
        "mirroringStatus": {},
        "observedGeneration": object.metadata.generation,
        "phase": "Ready",
        "poolID": pool_id,
        "snapshotScheduleStatus": {},
    })
}

fn build_failed_status(object: &DynamicObject) -> Value {
    json!({"observedGeneration": object.metadata.generation, "phase": "Failure"})
}

/// The two conditions of a deletion, next to the status as it was.
pub fn build_deletion_status(object: &DynamicObject, held: &Held, now: Timestamp) -> Value {
    let pool = named(object);
    let (reason, message) = if held.has_images {
        ("PoolNotEmpty", format!("pool \"{pool}\" contains images or snapshots and cannot be deleted"))
    } else {
        ("PoolEmpty", format!("pool \"{pool}\" is empty and can be deleted"))
    };
    let content = Statement { kind: "PoolDeletionIsBlocked", holds: held.has_images, reason, message: &message };
    let dependents =
        [Dependents { kinds: format!("{}s", rados_namespace::KIND), names: held.rados_namespaces.clone() }];
    let full_name = format!("{KIND} \"{}/{}\"", object.namespace().unwrap_or_default(), object.name_any());
    let mut status = object.data.get("status").cloned().unwrap_or_else(|| json!({}));
    let previous = status["conditions"].take();
    status["conditions"] = json!([
        build_condition(&previous, &content, now),
        build_deletion_is_blocked(&previous, &full_name, &dependents, now),
    ]);
    status
}

async fn remove(client: &Client, object: &DynamicObject, now: Timestamp) -> Result<bool, Error> {
    if !object.finalizers().iter().any(|known| known == FINALIZER) {
        return Ok(true);
    }
    let pool = named(object);
    if pool_id(&pool).await?.is_some() {
        let held =
            Held { has_images: has_images(&pool).await?, rados_namespaces: rados_namespaces(client, object).await? };
        if held.blocks() {
            let status = build_deletion_status(object, &held, now);
            apply::replace_status(client, &rook_kind(KIND), object, status).await?;
            return Ok(false);
        }
        ceph::ceph(&["osd", "pool", "delete", &pool, &pool, "--yes-i-really-really-mean-it"]).await?;
    }
    // Both may serve another pool still, or never have been there.
    for leftover in [["crush", "rule"], ["erasure-code-profile", ""]] {
        let name = if leftover[1].is_empty() { profile_name(&pool) } else { pool.clone() };
        let mut command = vec!["osd"];
        command.extend(leftover.iter().filter(|word| !word.is_empty()));
        command.extend(["rm", &name]);
        if let Err(error) = ceph::ceph(&command).await {
            tracing::info!(pool, %error, "left behind");
        }
    }
    apply::let_go(client, &rook_kind(KIND), object, FINALIZER).await?;
    Ok(true)
}

/// Images anywhere in the pool, in its trash or in one of its namespaces.
async fn has_images(pool: &str) -> Result<bool, Error> {
    let mut namespaces = rados_namespace::names(pool).await?;
    namespaces.push(String::new());
    for namespace in &namespaces {
        for list in [&["list"][..], &["trash", "list", "--all"]] {
            let mut command = list.to_vec();
            command.extend(["--pool", pool, "--namespace", namespace]);
            if ceph::rbd_json(&command).await?.as_array().is_some_and(|images| !images.is_empty()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

async fn rados_namespaces(client: &Client, pool: &DynamicObject) -> Result<Vec<String>, Error> {
    let namespace = pool.namespace().unwrap_or_default();
    let all = apply::list(client, &rook_kind(rados_namespace::KIND), &namespace).await?;
    let of_this = all.into_iter().filter(|found| found.data["spec"]["blockPoolName"] == json!(pool.name_any()));
    Ok(of_this.map(|found| found.name_any()).collect())
}

async fn make(object: &DynamicObject) -> Result<i64, Error> {
    let pool = named(object);
    let spec = &object.data["spec"];
    let mut parameters: Map<String, Value> = spec["parameters"].as_object().cloned().unwrap_or_default();
    if pool_id(&pool).await?.is_none() {
        create(object, &pool).await?;
        parameters.remove("pg_num");
    } else if !is_erasure_coded(object) {
        set(&pool, "size", &spec["replicated"]["size"].to_string()).await?;
    }
    for (name, value) in &parameters {
        set(&pool, name, value.as_str().unwrap_or_default()).await?;
    }
    let application = spec["application"].as_str().filter(|name| !name.is_empty()).unwrap_or("rbd");
    ceph::ceph(&["osd", "pool", "application", "enable", &pool, application, "--yes-i-really-mean-it"]).await?;
    for (quota, value) in quotas(object)? {
        ceph::ceph(&["osd", "pool", "set-quota", &pool, quota, &value.to_string()]).await?;
    }
    pool_id(&pool).await?.ok_or_else(|| Error::Field {
        object: object.name_any(),
        field: "pool",
        found: "nothing".to_owned(),
        expected: "the pool that was just made",
    })
}

async fn create(object: &DynamicObject, pool: &str) -> Result<(), Error> {
    let spec = &object.data["spec"];
    let domain = spec["failureDomain"].as_str().unwrap_or("host");
    // 0 leaves the number of placement groups to Ceph.
    let pg_num = spec["parameters"]["pg_num"].as_str().unwrap_or("0");
    if is_erasure_coded(object) {
        let chunks = |key: &str| spec["erasureCoded"][key].to_string();
        let profile = profile_name(pool);
        let (data, coding) = (format!("k={}", chunks("dataChunks")), format!("m={}", chunks("codingChunks")));
        let domain = format!("crush-failure-domain={domain}");
        ceph::ceph(&["osd", "erasure-code-profile", "set", &profile, &data, &coding, &domain, "--force"]).await?;
        ceph::ceph(&["osd", "pool", "create", pool, pg_num, pg_num, "erasure", &profile]).await?;
        return set(pool, "allow_ec_overwrites", "true").await;
    }
    let size = spec["replicated"]["size"].to_string();
    if size == "0" {
        return Err(Error::Field {
            object: object.name_any(),
            field: "spec.replicated.size",
            found: size,
            expected: "at least 1, or erasureCoded.dataChunks",
        });
    }
    ceph::ceph(&["osd", "crush", "rule", "create-replicated", pool, "default", domain]).await?;
    ceph::ceph(&["osd", "pool", "create", pool, pg_num, pg_num, "replicated", pool, "--size", &size]).await?;
    Ok(())
}

async fn set(pool: &str, name: &str, value: &str) -> Result<(), Error> {
    ceph::ceph(&["osd", "pool", "set", pool, name, value, "--yes-i-really-mean-it"]).await?;
    Ok(())
}

/// `maxBytes` is a number, `maxSize` a quantity that takes its place; 0 means no quota.
fn quotas(object: &DynamicObject) -> Result<Vec<(&'static str, u64)>, Error> {
    let quotas = &object.data["spec"]["quotas"];
    let mut found = Vec::new();
    if let Some(text) = quotas["maxSize"].as_str() {
        let bytes = bytes_of(text).ok_or_else(|| Error::Field {
            object: object.name_any(),
            field: "spec.quotas.maxSize",
            found: text.to_owned(),
            expected: "a quantity like 10Gi",
        })?;
        found.push(("max_bytes", bytes));
    } else if let Some(bytes) = quotas["maxBytes"].as_u64() {
        found.push(("max_bytes", bytes));
    }
    if let Some(objects) = quotas["maxObjects"].as_u64() {
        found.push(("max_objects", objects));
    }
    Ok(found)
}

/// The quantities that Rook's pattern for maxSize allows: a number, whole or not, with or without a unit.
fn bytes_of(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (letter, base) = match unit.strip_suffix('i') {
        Some(letter) => (letter, 1024_f64),
        None => (unit, 1000_f64),
    };
    let exponent = ["", "k", "m", "g", "t", "p", "e"].iter().position(|known| letter.eq_ignore_ascii_case(known))?;
    let bytes = number.parse::<f64>().ok()? * base.powi(i32::try_from(exponent).ok()?);
    // A quota need not be exact to the byte above 2^53.
    (bytes.is_finite() && bytes >= 0.0).then_some(bytes as u64)
}

async fn pool_id(name: &str) -> Result<Option<i64>, Error> {
    let pools = ceph::ceph_json(&["osd", "lspools"]).await?;
    let pools = pools.as_array().into_iter().flatten();
    Ok(pools.filter(|pool| pool["poolname"] == json!(name)).find_map(|pool| pool["poolnum"].as_i64()))
}

fn is_erasure_coded(object: &DynamicObject) -> bool {
    object.data["spec"]["erasureCoded"]["dataChunks"].as_u64().unwrap_or(0) > 0
}

fn profile_name(pool: &str) -> String {
    format!("{pool}_ecprofile")
}

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn quantities_are_bytes() {
        assert_eq!(bytes_of("10Gi"), Some(10 << 30));
        assert_eq!(bytes_of("512"), Some(512));
        assert_eq!(bytes_of("3M"), Some(3_000_000));
        assert_eq!(bytes_of("1.5Ki"), Some(1536));
        assert_eq!(bytes_of("7k"), Some(7000));
        assert_eq!(bytes_of("lots"), None);
    }
}
