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

/// Reasons that say that it got on: what was told before them is over.
const GOING_ON: [&str; 6] = ["SuccessfulCreate", "Scheduled", "Pulling", "Pulled", "Created", "Started"];
/// An image that could not be pulled, among others: told beside every new try.
const FAILED: &str = "Failed";

/// What is needed of an Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub reason: String,
    pub message: String,
    /// The same is told again and again in one Event: since when.
    pub first: Option<Timestamp>,
    pub at: Option<Timestamp>,
}

impl Told {
    pub fn of(event: &Event) -> Self {
        let last = event.last_timestamp.as_ref().map(|time| time.0);
        let series = event.series.as_ref().and_then(|series| series.last_observed_time.as_ref()).map(|time| time.0);
        let once = event.event_time.as_ref().map(|time| time.0);
        let at = last.max(series).max(once);
        Told {
            reason: event.reason.clone().unwrap_or_default(),
            message: event.message.clone().unwrap_or_default(),
            first: event.first_timestamp.as_ref().map(|time| time.0).or(once).or(at),
            at,
        }
    }
}

/// What Events say of a Job or pod that does not get on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    /// What keeps it up now, in words for the user, and since when.
    pub now: Option<(String, Option<Timestamp>)>,
    /// When a container failed to start for the first time, whatever was tried since.
    pub failed: Option<Timestamp>,
}

/// The newest word counts. In the same second it is the better one: real trouble is told again.
pub fn warnings(told: &[Told]) -> Warnings {
    let has = |reasons: &[&str], event: &Told| reasons.contains(&event.reason.as_str());
    let got_on = told.iter().filter(|event| has(&GOING_ON, event)).filter_map(|event| event.at).max();
    let telling: Vec<&Told> =
        told.iter().filter(|event| has(&TELLING, event) && (got_on.is_none() || event.at > got_on)).collect();
    let newest = telling.iter().max_by_key(|event| event.at);
    let since = telling.iter().filter_map(|event| event.first).min().max(got_on);
    Warnings {
        now: newest.map(|event| (with_foreign_containers(&format!("{}: {}", event.reason, event.message)), since)),
        failed: told.iter().filter(|event| event.reason == FAILED).filter_map(|event| event.first).min(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        format!("2026-11-30T{time}Z").parse().expect("a time")
    }

    fn told(reason: &str, message: &str, time: &str) -> Told {
        Told { reason: reason.into(), message: message.into(), first: Some(at(time)), at: Some(at(time)) }
    }

    fn now(told: &[Told]) -> Option<String> {
        warnings(told).now.map(|(cause, _)| cause)
    }

    #[test]
    fn the_newest_that_says_why_counts() {
        let events = [
            told("FailedMount", "no such Secret", "21:00:01"),
            told("FailedMount", "not a directory", "21:00:09"),
            told("Unhealthy", "a probe failed", "21:00:20"),
        ];
        assert_eq!(now(&events).as_deref(), Some("FailedMount: not a directory"));
        assert_eq!(warnings(&events).now.and_then(|(_, since)| since), Some(at("21:00:01")));
        assert_eq!(now(&events[2..]), None);
        assert_eq!(now(&[]), None);
    }

    #[test]
    fn what_healed_is_told_no_more() {
        let healed = [
            told("Scheduled", "to node1", "21:00:00"),
            told("FailedMount", "no such Secret", "21:00:01"),
            told("Pulling", "image i:1", "21:00:01"),
        ];
        assert_eq!(now(&healed), None, "a long pull is no trouble");
        assert_eq!(now(&healed[..2]).as_deref(), Some("FailedMount: no such Secret"));
        let again = [&healed[..], &[told("FailedCreatePodSandBox", "no address", "21:00:09")]].concat();
        assert_eq!(
            warnings(&again).now,
            Some(("FailedCreatePodSandBox: no address".into(), Some(at("21:00:09")))),
            "what comes after counts from its own time"
        );
    }

    #[test]
    fn a_pull_that_failed_is_known_from_its_first_time_while_it_is_tried_again() {
        let events = [
            told("Failed", "not found", "21:01:20"),
            told("Failed", "not found", "21:01:40"),
            told("Pulling", "image i:1", "21:01:50"),
        ];
        assert_eq!(warnings(&events), Warnings { now: None, failed: Some(at("21:01:20")) });
    }

    /// Case C2 (2) and (3), should they happen after all: the server's own words.
    #[test]
    fn a_quota_and_a_user_out_of_range_are_told_as_they_are() {
        let quota = "failed quota: compute: must specify limits.memory for: report";
        let user =
            ".spec.securityContext.runAsUser: Invalid value: 65534: must be in the ranges: [1000630000, 1000639999]";
        for text in [quota, user] {
            let message = format!("pods \"cb-x-\" is forbidden: {text}");
            assert_eq!(now(&[told("FailedCreate", &message, "21:00:00")]), Some(format!("FailedCreate: {message}")));
        }
    }

    #[test]
    fn a_refused_pod_tells_the_text_and_whose_container_it_is() {
        // C2 (1)
        let refused = told("FailedCreate", "container \"install-oneagent\" must set seccompProfile", "21:00:00");
        let told = now(&[refused]).expect("it tells why");
        assert!(told.starts_with("FailedCreate: container \"install-oneagent\" must set seccompProfile"));
        assert!(told.contains("is not cephbench's"));
    }
}
