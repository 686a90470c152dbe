//! Decides a run's next step from what was read live. Pure, and without memory: whatever state an operator that was killed left behind, the
//! same look gives the same step. Applying it is the controller's.
//!
//! A run goes through: lease and preflight ([`begin`]), its tests one after the other ([`measure`]), and its end ([`finish`]); what it
//! made is removed by [`clean`]. A benchmark that is being deleted goes through [`leave`].

mod begin;
mod clean;
mod finish;
mod leave;
mod measure;
mod observed;
pub mod patience;
mod step;
mod sweep;

pub use clean::describe;
pub use observed::{
    Client, ClientState, Home, Lease, Observed, Preflight, Record, Recorded, RecordedRun, Refusal, Run, Served, Sweep,
    Sweeper, Test, TestEnd, Thing, ThingKind, Trouble, Wanted,
};
pub use step::{Say, Step, Target};
pub use sweep::to_sweep;

use crate::api::{OnFailure, Phase};

/// The next step.
pub fn decide(observed: &Observed) -> Step {
    if observed.deleting {
        return leave::step(observed);
    }
    let Some(run) = &observed.run else { return begin::step(observed) };
    match fate(observed, run) {
        Fate::Measure => measure::step(observed, run),
        Fate::Finish => finish::finish(observed, run),
        Fate::Cancel(why) => finish::cancel(observed, run, why),
    }
}

/// Whether a look at nodes, cluster and space is of use to the decision. It costs a few calls.
pub fn wants_preflight(observed: &Observed) -> bool {
    !observed.deleting && observed.run.is_none() && begin::begins(observed)
}

enum Fate {
    Measure,
    Finish,
    Cancel(String),
}

fn fate(observed: &Observed, run: &Run) -> Fate {
    if run.all_ended() {
        // Whatever the spec asks for by now: this is whole, and will not be lost.
        return Fate::Finish;
    }
    if observed.recorded.phase == Some(Phase::Cleaning) && observed.recorded.is_of(run) {
        // A cancellation that was begun is carried through, even when its cause has gone: half of it may be done.
        return Fate::Cancel(observed.recorded.message.clone().unwrap_or_default());
    }
    if observed.suspend {
        return Fate::Cancel("suspended: spec.suspend was set during the run".into());
    }
    match &observed.wanted {
        Wanted::Invalid(problems) => {
            return Fate::Cancel(format!("replaced during the run by a spec that is not valid: {problems}"));
        }
        Wanted::Valid(key) if *key != run.key => {
            return Fate::Cancel("replaced: spec or trigger was changed during the run".into());
        }
        Wanted::Valid(_) => {}
    }
    match &observed.lease {
        Lease::Other(who) => Fate::Cancel(format!("the Ceph cluster was taken by {who} during the run")),
        Lease::Unknown | Lease::Free | Lease::Ours => Fate::Measure,
    }
}

/// Index of the test that is next or going; none when the rest is done or skipped.
pub fn current_test(ends: &[Option<TestEnd>], on_failure: OnFailure) -> Option<usize> {
    let current = ends.iter().position(Option::is_none)?;
    let aborted = on_failure == OnFailure::Abort && ends[..current].contains(&Some(TestEnd::Error));
    if aborted { None } else { Some(current) }
}

impl Run {
    fn current(&self) -> Option<usize> {
        let ends: Vec<Option<TestEnd>> = self.tests.iter().map(|test| test.end).collect();
        current_test(&ends, self.on_failure)
    }

    fn all_ended(&self) -> bool {
        self.current().is_none()
    }
}

impl Recorded {
    /// Whether this is what the status says of that run.
    fn is_of(&self, run: &Run) -> bool {
        self.run.as_ref().is_some_and(|recorded| recorded.number == run.number)
    }
}

#[cfg(test)]
mod tests;
