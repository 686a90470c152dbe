//! No run is going: whether one begins, waits its turn, or is refused.

use super::clean::{Cleaning, Scope, clean};
use super::observed::{Lease, Observed, Preflight, Record, Refusal, Wanted};
use super::patience;
use super::step::{Say, Step};
use crate::api::Phase;
use crate::plan::frozen::RunKey;
use crate::plan::{MAX_MESSAGE, shortened};

/// What the spec and the last run lead to.
enum Intent<'a> {
    Begin(&'a RunKey),
    /// The last run is what the spec asks for.
    Keep {
        number: i64,
    },
    Suspended,
    Invalid(&'a str),
}

fn intent(observed: &Observed) -> Intent<'_> {
    let key = match &observed.wanted {
        Wanted::Invalid(message) => return Intent::Invalid(message),
        Wanted::Valid(key) => key,
    };
    let recorded = &observed.recorded;
    let last = recorded.run.as_ref().filter(|last| last.finished && last.key == *key);
    let wanted = if observed.suspend { Intent::Suspended } else { Intent::Begin(key) };
    match last.map(|last| (last.number, record(observed, last.number))) {
        None => wanted,
        Some((number, Some(Record { whole: true, .. }))) => Intent::Keep { number },
        // It was cancelled.
        Some((_, Some(Record { whole: false, .. }))) => wanted,
        // One that could not even begin left nothing to judge again: an edit tries anew.
        Some((number, None)) => {
            let edited = recorded.observed_generation != observed.generation;
            if edited && !observed.suspend { wanted } else { Intent::Keep { number } }
        }
    }
}

fn record(observed: &Observed, number: i64) -> Option<&Record> {
    observed.records.iter().find(|record| record.number == number)
}

/// Whether a run is to begin.
pub(super) fn begins(observed: &Observed) -> bool {
    match intent(observed) {
        Intent::Begin(_) => true,
        Intent::Keep { .. } | Intent::Suspended | Intent::Invalid(_) => false,
    }
}

pub(super) fn step(observed: &Observed) -> Step {
    let left = match clean(observed, Scope::All) {
        Cleaning::Next(step) => return step,
        Cleaning::Done { left } => left,
    };
    match intent(observed) {
        Intent::Begin(key) => begin(observed, key),
        Intent::Keep { number } => settle(observed, left.clone()).unwrap_or_else(|| keep(observed, number, left)),
        Intent::Suspended => settle(observed, left).unwrap_or_else(|| {
            let said = observed.recorded.phase == Some(Phase::Cancelled) && is_current(observed);
            if said && names_what_stays(observed, &[]) { rest(observed) } else { Step::Say(Say::Suspended) }
        }),
        Intent::Invalid(message) => settle(observed, left).unwrap_or_else(|| {
            if says(observed, Phase::Error, message) && names_what_stays(observed, &[]) {
                rest(observed)
            } else {
                Step::Say(Say::Invalid { message: message.into() })
            }
        }),
    }
}

/// Whether the status says this of the spec as it is.
fn says(observed: &Observed, phase: Phase, message: &str) -> bool {
    let recorded = &observed.recorded;
    let message = shortened(message.into(), MAX_MESSAGE);
    recorded.phase == Some(phase) && recorded.message.as_deref() == Some(&*message) && is_current(observed)
}

fn is_current(observed: &Observed) -> bool {
    observed.recorded.observed_generation == observed.generation
}

/// Gives back what only a run needs.
fn settle(observed: &Observed, left: Vec<String>) -> Option<Step> {
    if observed.lease == Lease::Ours {
        return Some(Step::ReleaseLease);
    }
    if observed.finalizer && left.is_empty() && observed.things.is_empty() {
        return Some(Step::RemoveFinalizer);
    }
    None
}

fn keep(observed: &Observed, number: i64, left: Vec<String>) -> Step {
    match record(observed, number) {
        Some(record) if !(is_current(observed) && names_what_stays(observed, &record.left)) => {
            let left = left.into_iter().chain(record.left.iter().cloned()).collect();
            Step::Say(Say::Judged { number, left })
        }
        Some(_) | None => rest(observed),
    }
}

/// Whether the status speaks of what could not be removed just where there is such: things that do not go, and what sweepers left.
fn names_what_stays(observed: &Observed, swept: &[String]) -> bool {
    observed.recorded.left_behind != (observed.things.is_empty() && swept.is_empty())
}

/// Nothing to do, but for what does not go.
fn rest(observed: &Observed) -> Step {
    if observed.things.is_empty() {
        Step::Rest
    } else {
        Step::Wait { seconds: patience::LEFT_BEHIND, reason: "something of an earlier run does not go".into() }
    }
}

fn begin(observed: &Observed, key: &RunKey) -> Step {
    let number = next_number(observed);
    match (&observed.preflight, &observed.lease) {
        (Preflight::Refused(refusal @ Refusal { passing: false, .. }), _)
        | (Preflight::Refused(refusal @ Refusal { passing: true, .. }), Lease::Ours | Lease::Unknown) => {
            Step::Say(Say::Refused {
                number,
                key: key.clone(),
                reason: refusal.reason.clone(),
                message: refusal.message.clone(),
            })
        }
        (Preflight::Refused(Refusal { passing: true, .. }) | Preflight::Ready, Lease::Other(who)) => {
            queued(observed, who)
        }
        (Preflight::Refused(Refusal { passing: true, .. }) | Preflight::Ready, Lease::Free) => {
            // The lease is the first thing that has to be given back.
            if observed.finalizer { Step::TakeLease } else { Step::AddFinalizer }
        }
        (Preflight::Ready, Lease::Ours) => {
            if observed.finalizer {
                Step::Freeze { number, key: key.clone() }
            } else {
                Step::AddFinalizer
            }
        }
        (Preflight::Ready, Lease::Unknown) | (Preflight::Skipped, _) => {
            Step::Wait { seconds: 1, reason: "the cluster has not been looked at".into() }
        }
    }
}

fn queued(observed: &Observed, who: &str) -> Step {
    let behind = behind(who);
    if says(observed, Phase::Queued, &behind) {
        Step::Wait { seconds: patience::QUEUE, reason: behind }
    } else {
        Step::Say(Say::Queued { behind })
    }
}

fn behind(who: &str) -> String {
    format!("waiting for {who}, which has the Ceph cluster")
}

/// One more than any run before, even where the status was lost.
fn next_number(observed: &Observed) -> i64 {
    let recorded = observed.recorded.run.as_ref().map_or(0, |run| run.number);
    let stored = observed.records.iter().map(|record| record.number).max().unwrap_or(0);
    recorded.max(stored) + 1
}
