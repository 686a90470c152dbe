//! What a benchmark's status means to someone who waits for it. Pure: each look at the object gives what to say, or the end.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::api::{BenchmarkStatus, Phase};
use crate::results::exit_code;

/// Follows one object from a generation on.
#[derive(Debug)]
pub struct Follower {
    uid: String,
    /// The generation that was applied; a status of an earlier one speaks of something else.
    generation: i64,
    seen: bool,
}

/// What one look at the object shows.
#[derive(Debug, PartialEq)]
pub enum Look {
    /// The operator has not looked at this generation yet.
    Unseen,
    Going {
        line: String,
        percent: u64,
    },
    Ended {
        phase: Phase,
        exit_code: u8,
    },
    /// Another object of the same name.
    Replaced,
}

impl Follower {
    pub fn new(applied: &ObjectMeta) -> Follower {
        Follower {
            uid: applied.uid.clone().unwrap_or_default(),
            generation: applied.generation.unwrap_or(0),
            seen: false,
        }
    }

    /// Whether the operator has looked at the object since it was applied.
    pub fn was_seen(&self) -> bool {
        self.seen
    }

    /// A final phase counts only for the generation that the object has now, and never for one before that which was applied.
    pub fn look(&mut self, metadata: &ObjectMeta, status: Option<&BenchmarkStatus>) -> Look {
        if metadata.uid.as_deref().unwrap_or_default() != self.uid {
            return Look::Replaced;
        }
        let generation = metadata.generation.unwrap_or(0).max(self.generation);
        let Some(status) = status.filter(|status| status.observed_generation >= generation) else {
            return Look::Unseen;
        };
        self.seen = true;
        let Some(phase) = status.phase else { return Look::Unseen };
        match exit_code(phase) {
            Some(exit_code) => Look::Ended { phase, exit_code },
            None => Look::Going { line: line(phase, status), percent: percent(status) },
        }
    }
}

/// `Running 1/3 pool 45%`, or the phase with its cause.
fn line(phase: Phase, status: &BenchmarkStatus) -> String {
    let mut line = format!("{phase:?}");
    if let Some(progress) = &status.progress {
        line.push_str(&format!(" {}", progress.text));
    }
    if let Some(message) = &status.message {
        line.push_str(&format!(": {message}"));
    }
    line
}

fn percent(status: &BenchmarkStatus) -> u64 {
    status.progress.as_ref().map_or(0, |progress| progress.percent.clamp(0, 100) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(uid: &str, generation: i64) -> ObjectMeta {
        ObjectMeta { uid: Some(uid.into()), generation: Some(generation), ..ObjectMeta::default() }
    }

    fn status(text: &str) -> BenchmarkStatus {
        serde_yaml_ng::from_str(text).expect("a status")
    }

    const ENDED: Look = Look::Ended { phase: Phase::Passed, exit_code: 0 };

    #[test]
    fn a_run_is_followed_to_its_end() {
        let object = metadata("a", 2);
        let mut follower = Follower::new(&object);
        assert_eq!(follower.look(&object, None), Look::Unseen);
        assert!(!follower.was_seen());
        let going = status(
            "{observedGeneration: 2, phase: Running, progress: {testsDone: 1, tests: 3, percent: 45, text: 1/3 pool 45%}}",
        );
        let line = "Running 1/3 pool 45%".into();
        assert_eq!(follower.look(&object, Some(&going)), Look::Going { line, percent: 45 });
        assert!(follower.was_seen());
        let queued = status("{observedGeneration: 2, phase: Queued, message: behind rook-ceph/nightly}");
        let line = "Queued: behind rook-ceph/nightly".into();
        assert_eq!(follower.look(&object, Some(&queued)), Look::Going { line, percent: 0 });
        assert_eq!(follower.look(&object, Some(&status("{observedGeneration: 2, phase: Passed}"))), ENDED);
    }

    #[test]
    fn a_status_of_an_earlier_generation_ends_nothing() {
        let object = metadata("a", 3);
        let mut follower = Follower::new(&object);
        let old = status("{observedGeneration: 2, phase: Passed}");
        assert_eq!(follower.look(&object, Some(&old)), Look::Unseen);
        assert_eq!(follower.look(&metadata("a", 2), Some(&old)), Look::Unseen, "an event from before the apply");
        assert_eq!(follower.look(&object, Some(&status("{phase: Passed}"))), Look::Unseen);
        assert!(!follower.was_seen());
    }

    #[test]
    fn someone_elses_later_change_is_waited_for() {
        let mut follower = Follower::new(&metadata("a", 3));
        let now = metadata("a", 4);
        assert_eq!(follower.look(&now, Some(&status("{observedGeneration: 3, phase: Cancelled}"))), Look::Unseen);
        assert_eq!(follower.look(&now, Some(&status("{observedGeneration: 4, phase: Passed}"))), ENDED);
    }

    #[test]
    fn every_final_phase_has_its_exit_code() {
        let object = metadata("a", 1);
        for (phase, code) in [("Passed", 0), ("Failed", 1), ("Error", 2), ("Cancelled", 2), ("Inconclusive", 3)] {
            let status = status(&format!("{{observedGeneration: 1, phase: {phase}}}"));
            let look = Follower::new(&object).look(&object, Some(&status));
            assert!(matches!(look, Look::Ended { exit_code, .. } if exit_code == code), "{phase}: {look:?}");
        }
    }

    #[test]
    fn another_object_of_the_name_is_not_ours() {
        let mut follower = Follower::new(&metadata("a", 1));
        assert_eq!(
            follower.look(&metadata("b", 1), Some(&status("{observedGeneration: 1, phase: Passed}"))),
            Look::Replaced
        );
    }
}
