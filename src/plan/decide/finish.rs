//! The end of a run, its own or one from outside: clean, give back, say.

use super::clean::{Cleaning, Scope, clean};
use super::measure::phases;
use super::observed::{Lease, Observed, Record, Run, Wanted};
use super::step::{Say, Step};
use crate::api::{Phase, TestPhase};

/// Runs whose plan and results are kept.
const KEPT: usize = 3;

/// All tests have ended. Without a valid spec there are no gates to judge them by, and so no verdict: the results are kept, and judged when
/// there is one again.
pub(super) fn finish(observed: &Observed, run: &Run) -> Step {
    let tests = phases(run, |_| TestPhase::Skipped);
    let going = Say::Going { phase: Phase::Cleaning, tests: tests.clone(), message: None };
    end(observed, run, going, |left| match &observed.wanted {
        Wanted::Valid(_) => Say::Finished { tests, left },
        Wanted::Invalid(problems) => {
            Say::Cancelled { why: format!("replaced by a spec that is not valid: {problems}"), tests, left }
        }
    })
}

/// The run is not to go on.
pub(super) fn cancel(observed: &Observed, run: &Run, why: String) -> Step {
    let tests = phases(run, |_| TestPhase::Skipped);
    let going = Say::Going { phase: Phase::Cleaning, tests: tests.clone(), message: Some(why.clone()) };
    end(observed, run, going, |left| Say::Cancelled { why, tests, left })
}

fn end(observed: &Observed, run: &Run, going: Say, last: impl FnOnce(Vec<String>) -> Say) -> Step {
    if !says_cleaning(observed, run, &going) {
        return Step::Say(going);
    }
    let left = match clean(observed, Scope::All) {
        Cleaning::Next(step) => return step,
        Cleaning::Done { left } => left,
    };
    let old = outdated(&observed.records);
    if !old.is_empty() {
        return Step::Prune { runs: old };
    }
    if observed.lease == Lease::Ours {
        return Step::ReleaseLease;
    }
    if observed.finalizer && left.is_empty() {
        return Step::RemoveFinalizer;
    }
    let swept = observed.records.iter().filter(|record| record.number == run.number).flat_map(|record| &record.left);
    Step::Say(last(left.into_iter().chain(swept.cloned()).collect()))
}

/// The results are in the status before anything that could give them again is deleted.
fn says_cleaning(observed: &Observed, run: &Run, going: &Say) -> bool {
    let Say::Going { phase, tests, message: _ } = going else { return false };
    observed.recorded.is_of(run) && observed.recorded.phase == Some(*phase) && observed.recorded.tests == *tests
}

/// All but the newest.
fn outdated(records: &[Record]) -> Vec<i64> {
    let mut numbers: Vec<i64> = records.iter().map(|record| record.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let keep = numbers.len().saturating_sub(KEPT);
    numbers.truncate(keep);
    numbers
}
