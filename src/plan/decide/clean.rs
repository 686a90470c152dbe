//! Removing what a run made: in order, waiting for each kind, and giving up waiting for what does not go.

use super::observed::{Observed, Thing, ThingKind};
use super::patience;
use super::step::{Step, Target};
use super::sweep::{note, sweep};

/// Which objects are meant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    /// Those of one test of a run.
    Test {
        run: i64,
        test: usize,
    },
    All,
}

impl Scope {
    fn holds(self, thing: &Thing) -> bool {
        match self {
            Scope::Test { run, test } => thing.run == run && thing.test == Some(test),
            Scope::All => true,
        }
    }
}

/// How far the removal is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cleaning {
    Next(Step),
    /// Nothing is left but what is named here: asked to go, and still there after a fair time.
    Done {
        left: Vec<String>,
    },
}

const ORDER: [ThingKind; 8] = [
    ThingKind::Job,
    ThingKind::Pod,
    ThingKind::Task,
    ThingKind::Sweeper,
    ThingKind::SweeperPod,
    ThingKind::User,
    ThingKind::Pool,
    ThingKind::NetworkPolicy,
];

pub(super) fn clean(observed: &Observed, scope: Scope) -> Cleaning {
    let mut left = Vec::new();
    for kind in ORDER {
        let things: Vec<&Thing> =
            observed.things.iter().filter(|thing| thing.kind == kind && scope.holds(thing)).collect();
        let fresh: Vec<&Thing> = things.iter().copied().filter(|thing| thing.removing.is_none()).collect();
        if !fresh.is_empty() {
            if let Some(step) = (kind == ThingKind::Job).then(|| note(observed, &fresh)).flatten() {
                return Cleaning::Next(step);
            }
            if let Some(step) = (kind == ThingKind::Task).then(|| sweep(observed, &fresh)).flatten() {
                return Cleaning::Next(step);
            }
            let things = fresh.into_iter().map(target).collect();
            return Cleaning::Next(Step::Delete { kind, things });
        }
        if let Some(waiting) = things.iter().find(|thing| !stuck(observed, thing)) {
            return Cleaning::Next(Step::Wait {
                seconds: 1,
                reason: format!("{} {} is being removed", kind.word(), waiting.name),
            });
        }
        left.extend(things.iter().map(|thing| describe(thing)));
    }
    Cleaning::Done { left }
}

fn target(thing: &Thing) -> Target {
    Target { name: thing.name.clone(), uid: thing.uid.clone(), run: thing.run }
}

/// Asked to go long enough ago. Where nobody serves Rook's objects any more there is nothing to wait for.
fn stuck(observed: &Observed, thing: &Thing) -> bool {
    let abandoned = observed.home.cluster_gone || observed.home.namespace_terminating;
    match (thing.kind, thing.removing) {
        (_, None) => false,
        (ThingKind::User | ThingKind::Pool, Some(_)) if abandoned => true,
        (_, Some(since)) => patience::seconds_between(since, observed.now) > patience::REMOVAL,
    }
}

/// A thing that does not go, for people.
pub fn describe(thing: &Thing) -> String {
    let kind = thing.kind.word();
    match &thing.blocked {
        Some(blocked) => format!("{kind} {}: {blocked}", thing.name),
        None => format!("{kind} {}", thing.name),
    }
}

impl ThingKind {
    /// The kind as Kubernetes calls it.
    pub fn word(self) -> &'static str {
        match self {
            ThingKind::Job | ThingKind::Sweeper => "Job",
            ThingKind::Pod | ThingKind::SweeperPod => "Pod",
            ThingKind::Task => "ConfigMap",
            ThingKind::User => "CephClient",
            ThingKind::Pool => "CephBlockPool",
            ThingKind::NetworkPolicy => "NetworkPolicy",
        }
    }
}
