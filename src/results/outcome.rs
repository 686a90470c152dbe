//! How a run ended, and what each phase means to those who wait: exit codes and conditions.
//!
//! | phase | Ready | Reconciling | Stalled, reason | Succeeded | exit code |
//! | --- | --- | --- | --- | --- | --- |
//! | Queued, Preparing, Running, Cleaning | False | True | False | Unknown | – |
//! | Passed | True | False | False | True | 0 |
//! | Failed | False | False | True GateFailed | False | 1 |
//! | Error | False | False | True, the cause | False | 2 |
//! | Inconclusive | False | False | True GateInconclusive | Unknown | 3 |
//! | Cancelled | False | False | True Cancelled | False | 2 |

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use super::reasons;
use crate::api::{GateStatus, Phase, TestPhase, TestStatus, ValidityVerdict, Verdict};

/// How a run whose tests are over ended. What could not run outweighs a gate that failed: its other gates were never judged. A gate that
/// failed outweighs one that could not be judged. Nothing measured is an error, never passed.
pub fn phase_of(tests: &[TestStatus], gates: &[GateStatus]) -> Phase {
    let has = |verdict| gates.iter().any(|gate| gate.verdict == verdict);
    if tests.is_empty() || tests.iter().any(|test| test.phase != TestPhase::Completed) {
        Phase::Error
    } else if has(Verdict::Failed) {
        Phase::Failed
    } else if has(Verdict::Inconclusive) {
        Phase::Inconclusive
    } else {
        Phase::Passed
    }
}

/// Why the run ended as it did, in one line: the first test or gate that made it so, and how many more. Absent when it passed.
pub fn cause_of(tests: &[TestStatus], gates: &[GateStatus]) -> Option<String> {
    let of = |verdict| -> Vec<&GateStatus> { gates.iter().filter(|gate| gate.verdict == verdict).collect() };
    match phase_of(tests, gates) {
        Phase::Error => {
            let ended: Vec<&TestStatus> = tests.iter().filter(|test| test.phase != TestPhase::Completed).collect();
            let Some(first) = ended.iter().find(|test| test.phase == TestPhase::Error).or(ended.first()) else {
                return Some("nothing was measured".to_owned());
            };
            let cause = first.message.clone().unwrap_or_else(|| format!("{:?}", first.phase));
            Some(format!("test {}: {cause}{}", first.name, more(ended.len())))
        }
        Phase::Failed => {
            let failed = of(Verdict::Failed);
            let observed = failed[0].observed.as_deref().unwrap_or("nothing");
            let GateStatus { name, wanted, .. } = failed[0];
            Some(format!("gate {name} failed: {observed} observed, {wanted} wanted{}", more(failed.len())))
        }
        Phase::Inconclusive => {
            let unknown = of(Verdict::Inconclusive);
            let cause = unknown[0].message.as_deref().unwrap_or("no figure");
            Some(format!("gate {} could not be judged: {cause}{}", unknown[0].name, more(unknown.len())))
        }
        Phase::Passed | Phase::Queued | Phase::Preparing | Phase::Running | Phase::Cleaning | Phase::Cancelled => None,
    }
}

fn more(count: usize) -> String {
    if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() }
}

/// What a program that waited for the phase exits with. Absent while the run is on its way.
pub fn exit_code(phase: Phase) -> Option<u8> {
    match phase {
        Phase::Queued | Phase::Preparing | Phase::Running | Phase::Cleaning => None,
        Phase::Passed => Some(0),
        Phase::Failed => Some(1),
        Phase::Error | Phase::Cancelled => Some(2),
        Phase::Inconclusive => Some(3),
    }
}

/// What conditions are made from.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    pub generation: i64,
    pub phase: Phase,
    /// The cause of an Error, one of [`reasons`].
    pub reason: Option<&'a str>,
    pub message: Option<&'a str>,
    pub tests: &'a [TestStatus],
    pub gates: &'a [GateStatus],
    /// What the run made and could not be removed, by name.
    pub left_behind: &'a [String],
}

/// All conditions, in their order. Those of `previous` that keep their status keep the time of their last transition.
pub fn conditions(standing: &Standing, previous: &[Condition], now: &Time) -> Vec<Condition> {
    let message = standing.message.unwrap_or_default();
    let of_phase = phase_states(standing.phase, standing.reason);
    let states = [
        (reasons::READY, of_phase.ready, of_phase.reason, message.to_owned()),
        (reasons::RECONCILING, of_phase.reconciling, of_phase.reason, message.to_owned()),
        (reasons::STALLED, of_phase.stalled, of_phase.reason, message.to_owned()),
        (reasons::SUCCEEDED, of_phase.succeeded, of_phase.reason, message.to_owned()),
        valid(standing),
        gates_passed(standing),
        running(standing),
    ];
    states
        .into_iter()
        .map(|(type_, status, reason, message)| {
            let unchanged = previous.iter().find(|condition| condition.type_ == type_ && condition.status == status);
            Condition {
                type_: type_.to_owned(),
                status: status.to_owned(),
                reason: reason.to_owned(),
                message,
                observed_generation: Some(standing.generation),
                last_transition_time: unchanged.map_or_else(|| now.clone(), |same| same.last_transition_time.clone()),
            }
        })
        .collect()
}

const TRUE: &str = "True";
const FALSE: &str = "False";
const UNKNOWN: &str = "Unknown";

type State = (&'static str, &'static str, &'static str, String);

/// A row of the table above.
struct PhaseStates<'a> {
    ready: &'static str,
    reconciling: &'static str,
    stalled: &'static str,
    succeeded: &'static str,
    reason: &'a str,
}

fn phase_states(phase: Phase, cause: Option<&str>) -> PhaseStates<'_> {
    let going = |reason| PhaseStates { ready: FALSE, reconciling: TRUE, stalled: FALSE, succeeded: UNKNOWN, reason };
    let ended = |succeeded, reason| PhaseStates { ready: FALSE, reconciling: FALSE, stalled: TRUE, succeeded, reason };
    match phase {
        Phase::Queued => going(reasons::QUEUED),
        Phase::Preparing => going(reasons::PREPARING),
        Phase::Running => going(reasons::MEASURING),
        Phase::Cleaning => going(reasons::CLEANING),
        Phase::Passed => {
            PhaseStates { ready: TRUE, reconciling: FALSE, stalled: FALSE, succeeded: TRUE, reason: reasons::PASSED }
        }
        Phase::Failed => ended(FALSE, reasons::GATE_FAILED),
        Phase::Error => ended(FALSE, cause.unwrap_or(reasons::TEST_ERROR)),
        Phase::Inconclusive => ended(UNKNOWN, reasons::GATE_INCONCLUSIVE),
        Phase::Cancelled => ended(FALSE, reasons::CANCELLED),
    }
}

/// True when every figure is Valid, False when one is Invalid, Unknown when one is Suspect or there is none yet.
fn valid(standing: &Standing) -> State {
    let points = || standing.tests.iter().flat_map(|test| &test.points);
    let worst = points().map(|point| point.validity.verdict).max();
    let count = |verdict| points().filter(|point| point.validity.verdict == verdict).count();
    let message = |verdict, word| format!("{} of {} points {word}", count(verdict), points().count());
    match worst {
        None => (reasons::VALID, UNKNOWN, reasons::NOTHING_MEASURED, String::new()),
        Some(ValidityVerdict::Valid) => (reasons::VALID, TRUE, reasons::FIGURES_VALID, String::new()),
        Some(ValidityVerdict::Suspect) => {
            (reasons::VALID, UNKNOWN, reasons::FIGURES_SUSPECT, message(ValidityVerdict::Suspect, "suspect"))
        }
        Some(ValidityVerdict::Invalid) => {
            (reasons::VALID, FALSE, reasons::FIGURES_INVALID, message(ValidityVerdict::Invalid, "invalid"))
        }
    }
}

fn gates_passed(standing: &Standing) -> State {
    let named = |verdict| -> Vec<&str> {
        let of = standing.gates.iter().filter(|gate| gate.verdict == verdict);
        of.map(|gate| gate.name.as_str()).collect()
    };
    let (failed, unknown) = (named(Verdict::Failed), named(Verdict::Inconclusive));
    let over = exit_code(standing.phase).is_some();
    if standing.gates.is_empty() && standing.phase == Phase::Passed {
        (reasons::GATES_PASSED, TRUE, reasons::NO_GATES, String::new())
    } else if standing.gates.is_empty() || !over {
        (reasons::GATES_PASSED, UNKNOWN, reasons::NOT_JUDGED, String::new())
    } else if !failed.is_empty() {
        (reasons::GATES_PASSED, FALSE, reasons::GATE_FAILED, failed.join(", "))
    } else if !unknown.is_empty() {
        (reasons::GATES_PASSED, UNKNOWN, reasons::GATE_INCONCLUSIVE, unknown.join(", "))
    } else {
        (reasons::GATES_PASSED, TRUE, reasons::PASSED, String::new())
    }
}

fn running(standing: &Standing) -> State {
    match standing.phase {
        Phase::Queued => (reasons::RUNNING, FALSE, reasons::QUEUED, String::new()),
        Phase::Preparing => (reasons::RUNNING, TRUE, reasons::PREPARING, String::new()),
        Phase::Running => (reasons::RUNNING, TRUE, reasons::MEASURING, String::new()),
        Phase::Cleaning => (reasons::RUNNING, TRUE, reasons::CLEANING, String::new()),
        Phase::Passed | Phase::Failed | Phase::Error | Phase::Inconclusive | Phase::Cancelled => {
            if standing.left_behind.is_empty() {
                (reasons::RUNNING, FALSE, reasons::FINISHED, String::new())
            } else {
                let message = format!("could not be removed: {}", standing.left_behind.join("; "));
                (reasons::RUNNING, FALSE, reasons::LEFT_BEHIND, message)
            }
        }
    }
}

#[cfg(test)]
mod tests;
