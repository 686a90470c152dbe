//! Conditions as Rook writes them, and the question whether other objects hold a deletion back. Pure.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::rfc3339;

/// What a condition says.
pub struct Statement<'a> {
    pub kind: &'a str,
    pub holds: bool,
    pub reason: &'a str,
    pub message: &'a str,
}

/// The condition, with the time of transition of the one in `previous` when that said the same.
pub fn build_condition(previous: &Value, statement: &Statement, now: Timestamp) -> Value {
    let &Statement { kind, holds, reason, message } = statement;
    let status = if holds { "True" } else { "False" };
    let known = previous.as_array().into_iter().flatten();
    let same = known.into_iter().find(|known| known["type"] == kind && known["status"] == status);
    json!({
        "lastHeartbeatTime": rfc3339(now),
        "lastTransitionTime": same.map_or_else(|| json!(rfc3339(now)), |known| known["lastTransitionTime"].clone()),
        "message": message,
        "reason": reason,
        "status": status,
        "type": kind,
    })
}

/// Objects of one kind, in the plural, that need another.
pub struct Dependents {
    pub kinds: String,
    pub names: Vec<String>,
}

/// Whether custom resources hold back the deletion of `object` (`KIND "namespace/name"`).
pub fn build_deletion_is_blocked(previous: &Value, object: &str, dependents: &[Dependents], now: Timestamp) -> Value {
    let holding: Vec<String> = dependents
        .iter()
        .filter(|dependents| !dependents.names.is_empty())
        .map(|dependents| format!("{}: [{}]", dependents.kinds, dependents.names.join(" ")))
        .collect();
    let (reason, message) = if holding.is_empty() {
        ("ObjectHasNoDependents", format!("{object} has no dependent custom resources blocking deletion"))
    } else {
        let holding = holding.join(", ");
        ("ObjectHasDependents", format!("{object} will not be deleted until all dependents are removed: {holding}"))
    };
    let statement = Statement { kind: "DeletionIsBlocked", holds: !holding.is_empty(), reason, message: &message };
    build_condition(previous, &statement, now)
}
