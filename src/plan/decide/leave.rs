//! The benchmark is being deleted: remove what its runs made, then let it go.

use super::clean::{Cleaning, Scope, clean};
use super::observed::{Lease, Observed};
use super::patience;
use super::step::{Say, Step};

pub(super) fn step(observed: &Observed) -> Step {
    if !observed.finalizer {
        return Step::Rest;
    }
    let left = match clean(observed, Scope::All) {
        Cleaning::Next(step) => return step,
        Cleaning::Done { left } => left,
    };
    if observed.lease == Lease::Ours {
        return Step::ReleaseLease;
    }
    if left.is_empty() {
        return Step::RemoveFinalizer;
    }
    if observed.home.cluster_gone || observed.home.namespace_terminating {
        return Step::GiveUp { left };
    }
    if observed.recorded.left_behind {
        Step::Wait { seconds: patience::LEFT_BEHIND, reason: format!("still there: {}", left.join(", ")) }
    } else {
        Step::Say(Say::Leaving { left })
    }
}
