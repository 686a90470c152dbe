//! Pools and users, as Rook says how far it is with them.

use std::time::{Duration, Instant};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;

use super::super::tries::Tries;
use super::things::Things;
use crate::plan::decide::Served;

/// Rook says Failure when a try did not work and tries again: a monitor that does not answer once is not the end. It does not say since
/// when it fails.
const FAILURE_PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn pool(tries: &Tries, things: &Things, name: &str, now: Timestamp) -> Served {
    let Some(pool) = things.pools.iter().find(|pool| pool.metadata.name.as_deref() == Some(name)) else {
        return Served::Absent;
    };
    let status = pool.status.as_ref();
    let phase = status.and_then(|status| status.phase.as_deref());
    let said = status.and_then(|status| status.conditions.iter().rfind(|condition| !condition.message.is_empty()));
    let fails = lasts(tries, &pool.metadata, phase, Instant::now());
    state(&pool.metadata, phase, said.map(|condition| condition.message.clone()), true, fails, now)
}

pub(super) fn user(tries: &Tries, things: &Things, name: &str, now: Timestamp) -> Served {
    let Some(user) = things.users.iter().find(|user| user.metadata.name.as_deref() == Some(name)) else {
        return Served::Absent;
    };
    let phase = user.status.as_ref().and_then(|status| status.phase.as_deref());
    let fails = lasts(tries, &user.metadata, phase, Instant::now());
    state(&user.metadata, phase, None, user.secret_name().is_some(), fails, now)
}

/// Whether Rook has said Failure at every look for too long.
fn lasts(tries: &Tries, metadata: &ObjectMeta, phase: Option<&str>, at: Instant) -> bool {
    let uid = metadata.uid.as_deref().unwrap_or_default();
    if phase == Some("Failure") {
        return tries.failing_for(uid, at) > FAILURE_PATIENCE;
    }
    tries.worked(uid);
    false
}

fn state(
    metadata: &ObjectMeta,
    phase: Option<&str>,
    said: Option<String>,
    complete: bool,
    fails: bool,
    now: Timestamp,
) -> Served {
    if let Some(deleted) = &metadata.deletion_timestamp {
        return Served::Removing { since: deleted.0 };
    }
    let since = metadata.creation_timestamp.as_ref().map_or(now, |time| time.0);
    let said = said.or_else(|| phase.map(|phase| format!("phase {phase}")));
    match phase {
        Some("Ready") if complete => Served::Ready,
        Some("Failure") if fails => Served::Failed(said.unwrap_or_default()),
        Some(_) | None => Served::Making { since, said },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(deleted: bool) -> ObjectMeta {
        let mut metadata = json!({"name": "p", "creationTimestamp": "2026-11-30T21:00:00Z"});
        if deleted {
            metadata["deletionTimestamp"] = json!("2026-11-30T21:00:10Z");
        }
        serde_json::from_value(metadata).expect("metadata")
    }

    #[test]
    fn only_ready_and_complete_is_ready() {
        let at = |time: &str| -> Timestamp { format!("2026-11-30T{time}Z").parse().expect("a time") };
        let now = at("21:00:15");
        let made = |said: &str| Served::Making { since: at("21:00:00"), said: Some(said.into()) };
        assert_eq!(state(&metadata(false), Some("Ready"), None, true, false, now), Served::Ready);
        assert_eq!(state(&metadata(false), Some("Ready"), None, false, false, now), made("phase Ready"));
        assert_eq!(state(&metadata(false), Some("Progressing"), None, true, false, now), made("phase Progressing"));
        assert_eq!(
            state(&metadata(true), Some("Ready"), None, true, false, now),
            Served::Removing { since: at("21:00:10") }
        );
        assert_eq!(state(&metadata(false), Some("Failure"), None, true, false, now), made("phase Failure"));
        let bad = state(&metadata(false), Some("Failure"), Some("bad".into()), true, true, now);
        assert_eq!(bad, Served::Failed("bad".into()));
    }

    #[test]
    fn a_failure_counts_from_its_first_sight_and_anew_after_another_word() {
        let (tries, begin) = (Tries::default(), Instant::now());
        let lasts = |phase, after| lasts(&tries, &metadata(false), Some(phase), begin + Duration::from_secs(after));
        assert!(!lasts("Progressing", 0));
        assert!(!lasts("Failure", 70), "late, and for the first time");
        assert!(!lasts("Failure", 90));
        assert!(lasts("Failure", 91));
        assert!(!lasts("Progressing", 92));
        assert!(!lasts("Failure", 120));
    }
}
