//! What sweeps up after clients that were killed, and how far it is.

use k8s_openapi::jiff::Timestamp;

use super::super::client_state::{Seen, client_state};
use super::super::tries::Tries;
use super::super::warning::Warnings;
use super::things::Things;
use crate::plan::decide::{ClientState, Sweep, Sweeper};
use crate::plan::frozen::PreparedTest;
use crate::plan::{PlannedKind, PlannedTest};
use crate::resources::clients_in;
use crate::resources::names::RunNames;

/// Which test of which run, and what it is.
pub(super) struct Swept<'a> {
    pub names: &'a RunNames,
    pub number: i64,
    pub index: usize,
    pub planned: &'a PlannedTest,
    pub prepared: &'a PreparedTest,
}

pub(super) fn see(tries: &Tries, things: &Things, test: &Swept<'_>, killed: &[u32], now: Timestamp) -> Vec<Sweep> {
    let noted = tries.without(&test.names.sweeps(test.index)).map(|list| clients_in(&list)).unwrap_or_default();
    let killed = if killed.is_empty() { &noted } else { killed };
    let sweep = |client: &u32| {
        let place = (test.number, test.index, *client);
        let (job, pods) = (things.job(place, true), things.pods(place, true));
        let state = client_state(Seen { job, pods, warnings: Warnings::default(), address: None, now });
        let refused = tries.without(&test.names.sweeper(&test.planned.name, *client));
        let sweeper = match (sweeper(state), refused) {
            (Sweeper::Absent, Some(error)) => Sweeper::Failed(error),
            (seen, _) => seen,
        };
        Sweep { client: *client, what: what(test, *client), sweeper }
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

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::{frozen, now};
    use super::*;

    #[test]
    fn what_could_not_be_made_is_not_waited_for() {
        let (frozen, names, tries) = (frozen(), RunNames::new("u", 3), Tries::default());
        let (planned, prepared) = frozen.tests().nth(1).expect("two tests");
        let test = Swept { names: &names, number: 3, index: 1, planned, prepared };
        let see = |killed: &[u32]| see(&tries, &Things::default(), &test, killed, now());
        assert_eq!(see(&[]), []);
        assert_eq!(see(&[0])[0].sweeper, Sweeper::Absent);
        tries.do_without(names.sweeps(1), "0,1".into());
        tries.do_without(names.sweeper("b", 1), "exceeded quota".into());
        let sweepers: Vec<Sweeper> = see(&[]).into_iter().map(|sweep| sweep.sweeper).collect();
        assert_eq!(sweepers, [Sweeper::Absent, Sweeper::Failed("exceeded quota".into())]);
    }
}
