//! Events of Jobs and pods that do not get on: which of them say why. Pure.

use k8s_openapi::api::core::v1::Event;
use k8s_openapi::jiff::Timestamp;

use super::foreign::with_foreign_containers;

/// Reasons that say why a pod is not there or does not start. Others (an evicted neighbour, a slow probe) say nothing of it.
const TELLING: [&str; 7] = [
    "FailedCreate",
    "FailedScheduling",
    "FailedMount",
    "FailedAttachVolume",
    "FailedCreatePodSandBox",
    "FailedPreStopHook",
    "Failed",
];

/// What is needed of an Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warned {
    pub reason: String,
    pub message: String,
    pub at: Option<Timestamp>,
}

impl Warned {
    pub fn of(event: &Event) -> Self {
        let last = event.last_timestamp.as_ref().map(|time| time.0);
        let series = event.series.as_ref().and_then(|series| series.last_observed_time.as_ref()).map(|time| time.0);
        let once = event.event_time.as_ref().map(|time| time.0);
        Warned {
            reason: event.reason.clone().unwrap_or_default(),
            message: event.message.clone().unwrap_or_default(),
            at: last.max(series).max(once),
        }
    }
}

/// The newest that tells why, in words for the user.
pub fn warning(warned: &[Warned]) -> Option<String> {
    let telling = warned.iter().filter(|event| TELLING.contains(&event.reason.as_str()));
    let newest = telling.max_by_key(|event| event.at)?;
    Some(with_foreign_containers(&format!("{}: {}", newest.reason, newest.message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(reason: &str, message: &str, at: &str) -> Warned {
        let at = format!("2026-11-30T{at}Z").parse().expect("a time");
        Warned { reason: reason.into(), message: message.into(), at: Some(at) }
    }

    #[test]
    fn the_newest_that_says_why_counts() {
        let events = [
            warned("FailedMount", "no such Secret", "21:00:01"),
            warned("FailedMount", "not a directory", "21:00:09"),
            warned("Unhealthy", "a probe failed", "21:00:20"),
        ];
        assert_eq!(warning(&events).as_deref(), Some("FailedMount: not a directory"));
        assert_eq!(warning(&events[2..]), None);
        assert_eq!(warning(&[]), None);
    }

    #[test]
    fn a_refused_pod_tells_the_text_and_whose_container_it_is() {
        // C2 (1)
        let refused = warned("FailedCreate", "container \"install-oneagent\" must set seccompProfile", "21:00:00");
        let told = warning(&[refused]).expect("it tells why");
        assert!(told.starts_with("FailedCreate: container \"install-oneagent\" must set seccompProfile"));
        assert!(told.contains("is not cephbench's"));
    }
}
