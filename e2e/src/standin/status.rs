//! `CephCluster.status` out of what Ceph says. Pure.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::condition::{Dependents, Statement, build_condition, build_deletion_is_blocked};
use super::rfc3339;

/// What Ceph answered, each the JSON of the command of that name.
pub struct Answers {
    pub status: Value,
    pub df: Value,
    pub versions: Value,
    pub osd_metadata: Value,
}

impl Answers {
    /// Whether every OSD that the cluster knows has started once and is counted in the capacity.
    pub fn include_all_osds(&self) -> bool {
        let known = self.status.pointer("/osdmap/num_osds").and_then(Value::as_u64);
        let counted = self.df.pointer("/stats/num_osds").and_then(Value::as_u64);
        let started =
            self.osd_metadata.as_array().map(|osds| osds.iter().filter(|osd| osd["osd_objectstore"].is_string()));
        known.is_some_and(|known| {
            known > 0 && counted == Some(known) && started.map(Iterator::count) == Some(known as usize)
        })
    }
}

/// The status while daemons are started, as far as Rook says anything then.
pub fn build_progressing_status(previous: &Value, generation: i64, message: &str, now: Timestamp) -> Value {
    let mut status = previous.as_object().cloned().unwrap_or_default();
    let statement = Statement { kind: "Progressing", holds: true, reason: "ClusterProgressing", message };
    status.insert("conditions".into(), json!([build_condition(&previous["conditions"], &statement, now)]));
    status.insert("message".into(), json!(message));
    status.insert("observedGeneration".into(), json!(generation));
    status.insert("phase".into(), json!("Progressing"));
    status.insert("state".into(), json!("Creating"));
    status.into()
}

/// The status of a cluster whose daemons are started. Ready says only that: health is Ceph's own word.
pub fn build_ready_status(
    previous: &Value,
    generation: i64,
    image: &str,
    version: &str,
    answers: &Answers,
    now: Timestamp,
) -> Value {
    let message = "Cluster created successfully";
    let statement = Statement { kind: "Ready", holds: true, reason: "ClusterCreated", message };
    json!({
        "ceph": ceph_status(answers, now),
        "cephx": cephx_status(version),
        "conditions": [build_condition(&previous["conditions"], &statement, now)],
        "message": message,
        "observedGeneration": generation,
        "phase": "Ready",
        "state": "Created",
        "storage": storage_status(&answers.osd_metadata),
        "version": {"image": image, "version": version},
    })
}

/// The status of a cluster that somebody deleted, next to what it said before.
pub fn build_deleting_status(previous: &Value, object: &str, dependents: &[Dependents], now: Timestamp) -> Value {
    let mut status = previous.as_object().cloned().unwrap_or_default();
    let condition = build_deletion_is_blocked(&previous["conditions"], object, dependents, now);
    status.insert("conditions".into(), json!([condition]));
    status.insert("phase".into(), json!("Deleting"));
    status.into()
}

fn ceph_status(answers: &Answers, now: Timestamp) -> Value {
    let number = |pointer: &str| answers.df.pointer(pointer).cloned().unwrap_or(json!(0));
    let mut ceph = json!({
        "capacity": {
            "bytesAvailable": number("/stats/total_avail_bytes"),
            "bytesTotal": number("/stats/total_bytes"),
            "bytesUsed": number("/stats/total_used_raw_bytes"),
            "lastUpdated": rfc3339(now),
        },
        "fsid": answers.status["fsid"],
        "health": answers.status["health"]["status"],
        "lastChecked": rfc3339(now),
        "versions": versions(&answers.versions),
    });
    let details = health_details(&answers.status["health"]["checks"]);
    if !details.is_empty() {
        ceph["details"] = details.into();
    }
    ceph
}

/// Per check its message and severity. Muted checks don't count towards the health.
fn health_details(checks: &Value) -> Map<String, Value> {
    let checks = checks.as_object().into_iter().flatten();
    checks
        .filter(|(_, check)| check["muted"] != json!(true))
        .map(|(code, check)| {
            (code.clone(), json!({"message": check["summary"]["message"], "severity": check["severity"]}))
        })
        .collect()
}

/// Daemon types that don't run are not mentioned.
fn versions(answer: &Value) -> Map<String, Value> {
    let daemons = answer.as_object().into_iter().flatten();
    daemons
        .filter(|(_, counts)| counts.as_object().is_some_and(|counts| !counts.is_empty()))
        .map(|(daemon, counts)| (daemon.clone(), counts.clone()))
        .collect()
}

fn storage_status(osd_metadata: &Value) -> Value {
    let osds = osd_metadata.as_array().map_or(&[][..], Vec::as_slice);
    let mut classes: Vec<&str> = osds.iter().filter_map(|osd| osd["default_device_class"].as_str()).collect();
    classes.sort_unstable();
    classes.dedup();
    let bluestore = osds.iter().filter(|osd| osd["osd_objectstore"] == "bluestore").count();
    json!({
        "deviceClasses": classes.iter().map(|class| json!({"name": class})).collect::<Vec<_>>(),
        "osd": {"migrationStatus": {}, "storeType": {"bluestore": bluestore}},
    })
}

/// Keys are made once and never rotated.
fn cephx_status(version: &str) -> Value {
    let first = json!({"keyCephVersion": version, "keyGeneration": 1});
    json!({"admin": {}, "mgr": first, "mon": first, "osd": first})
}
