//! What sweeps up after clients that were killed, and how far it is.

use k8s_openapi::jiff::Timestamp;

use super::super::client_state::{Seen, client_state};
use super::super::warning::Warnings;
use super::things::Things;
use crate::plan::decide::{ClientState, Sweep, Sweeper};
use crate::plan::frozen::PreparedTest;
use crate::plan::{PlannedKind, PlannedTest};
use crate::resources::names::RunNames;

/// Which test of which run, and what it is.
pub(super) struct Swept<'a> {
    pub names: &'a RunNames,
    pub number: i64,
    pub index: usize,
    pub planned: &'a PlannedTest,
    pub prepared: &'a PreparedTest,
}

pub(super) fn see(things: &Things, test: &Swept<'_>, killed: &[u32], now: Timestamp) -> Vec<Sweep> {
    let sweep = |client: &u32| {
        let place = (test.number, test.index, *client);
        let (job, pods) = (things.job(place, true), things.pods(place, true));
        let state = client_state(Seen { job, pods, warnings: Warnings::default(), address: None, now });
        Sweep { client: *client, what: what(test, *client), sweeper: sweeper(state) }
    };
    killed.iter().map(sweep).collect()
}

/// A sweeper is a bench like a client; that it ended without a complaint is all that it has to say.
fn sweeper(state: ClientState) -> Sweeper {
    match state {
        ClientState::Absent => Sweeper::Absent,
        ClientState::Starting { since, trouble: _ } | ClientState::Running { since, address: _ } => {
            Sweeper::Working { since }
        }
        ClientState::Ended { at: _, reported: _, cause: None, killed: _ } => Sweeper::Done,
        ClientState::Ended { at: _, reported: _, cause: Some(cause), killed: _ }
        | ClientState::Lost { at: _, cause, killed: _ } => Sweeper::Failed(cause),
    }
}

/// What may be left, for people.
fn what(test: &Swept<'_>, client: u32) -> String {
    let node = test.prepared.nodes.get(client as usize).map_or("its node", String::as_str);
    let (run, name) = (test.names.run(), &test.planned.name);
    match &test.planned.kind {
        PlannedKind::File { directory, size: _ } => {
            format!("directory {directory}/cephbench-{run}-{name}-{client} on {node}")
        }
        PlannedKind::Rados(_) => {
            format!("objects cephbench.{run}.* of test {name}, namespace {}", test.names.test(name))
        }
        PlannedKind::Device { .. } | PlannedKind::Network => {
            format!("what client {client} of test {name} made on {node}")
        }
    }
}
