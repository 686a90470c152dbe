//! Pools and users, as Rook says how far it is with them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;

use super::things::Things;
use crate::plan::decide::Served;
use crate::plan::decide::patience::seconds_between;

/// Rook says Failure when a try did not work and tries again: a monitor that does not answer once is not the end.
const FAILURE_PATIENCE_SECONDS: i64 = 20;

pub(super) fn pool(things: &Things, name: &str, now: Timestamp) -> Served {
    let Some(pool) = things.pools.iter().find(|pool| pool.metadata.name.as_deref() == Some(name)) else {
        return Served::Absent;
    };
    let status = pool.status.as_ref();
    let phase = status.and_then(|status| status.phase.as_deref());
    let said = status.and_then(|status| status.conditions.iter().rfind(|condition| !condition.message.is_empty()));
    state(&pool.metadata, phase, said.map(|condition| condition.message.clone()), true, now)
}

pub(super) fn user(things: &Things, name: &str, now: Timestamp) -> Served {
    let Some(user) = things.users.iter().find(|user| user.metadata.name.as_deref() == Some(name)) else {
        return Served::Absent;
    };
    let phase = user.status.as_ref().and_then(|status| status.phase.as_deref());
    state(&user.metadata, phase, None, user.secret_name().is_some(), now)
}

fn state(metadata: &ObjectMeta, phase: Option<&str>, said: Option<String>, complete: bool, now: Timestamp) -> Served {
    if let Some(deleted) = &metadata.deletion_timestamp {
        return Served::Removing { since: deleted.0 };
    }
    let since = metadata.creation_timestamp.as_ref().map_or(now, |time| time.0);
    let said = said.or_else(|| phase.map(|phase| format!("phase {phase}")));
    match phase {
        Some("Ready") if complete => Served::Ready,
        Some("Failure") if seconds_between(since, now) > FAILURE_PATIENCE_SECONDS => {
            Served::Failed(said.unwrap_or_default())
        }
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
        assert_eq!(state(&metadata(false), Some("Ready"), None, true, now), Served::Ready);
        assert_eq!(state(&metadata(false), Some("Ready"), None, false, now), made("phase Ready"));
        assert_eq!(state(&metadata(false), Some("Progressing"), None, true, now), made("phase Progressing"));
        assert_eq!(state(&metadata(true), Some("Ready"), None, true, now), Served::Removing { since: at("21:00:10") });
        assert_eq!(state(&metadata(false), Some("Failure"), None, true, now), made("phase Failure"));
        let later = at("21:00:21");
        assert_eq!(
            state(&metadata(false), Some("Failure"), Some("bad".into()), true, later),
            Served::Failed("bad".into())
        );
    }
}
