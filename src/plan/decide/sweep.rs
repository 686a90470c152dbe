//! Sweeping up after clients that could not clean up themselves: which they may be, and how far it is.

use super::observed::{Client, ClientState, Observed, Sweep, Sweeper, Test, Thing};
use super::patience;
use super::step::Step;
use crate::plan::frozen::Remains;

/// The clients whose remains only the bench can remove, were all of them to go now: those that were killed, and those that run and may be.
/// In a pool one sweeper removes what all of them left, best on a node that is known to live.
pub fn to_sweep(remains: Remains, clients: &[Client]) -> Vec<u32> {
    let may_leave = |state: &ClientState| state.was_killed() || matches!(state, ClientState::Running { .. });
    let left = || (0_u32..).zip(clients).filter(|(_, client)| may_leave(&client.state)).map(|(index, _)| index);
    match remains {
        Remains::Nothing => Vec::new(),
        Remains::OnNodes => left().collect(),
        Remains::InPool => left().next().map(|_| safest(clients)).into_iter().collect(),
    }
}

/// The client whose node most likely lives: a kubelet said of its bench that it ended, or that it began.
fn safest(clients: &[Client]) -> u32 {
    let rank = |state: &ClientState| match state {
        ClientState::Ended { .. } => 0,
        ClientState::Running { .. } => 1,
        ClientState::Starting { .. } | ClientState::Absent => 2,
        ClientState::Lost { .. } => 3,
    };
    (0_u32..).zip(clients).min_by_key(|(_, client)| rank(&client.state)).map_or(0, |(index, _)| index)
}

/// Before the Jobs of a test without a result go, and with them what is known of its clients: notes which of them to sweep up after.
pub(super) fn note(observed: &Observed, jobs: &[&Thing]) -> Option<Step> {
    let run = observed.run.as_ref()?;
    let stopped = |index: usize, test: &Test| {
        let goes = jobs.iter().any(|job| job.run == run.number && job.test == Some(index));
        goes && test.end.is_none() && test.sweeps.is_empty()
    };
    run.tests.iter().enumerate().filter(|(index, test)| stopped(*index, test)).find_map(|(index, test)| {
        let clients = to_sweep(test.remains, &test.clients);
        (!clients.is_empty()).then_some(Step::NoteSweeps { test: index, clients })
    })
}

/// Sweeps up for the tests that these tasks are of: the next step, as long as there is one.
pub(super) fn sweep(observed: &Observed, tasks: &[&Thing]) -> Option<Step> {
    let run = observed.run.as_ref()?;
    let concerned = |index: usize| tasks.iter().any(|task| task.run == run.number && task.test == Some(index));
    let tests = || run.tests.iter().enumerate().filter(|(index, _)| concerned(*index));
    let mut sweeps = tests().flat_map(|(index, test)| test.sweeps.iter().map(move |sweep| (index, sweep)));
    // All of them at once: each works on a node of its own.
    if let Some((test, sweep)) = sweeps.find(|(_, sweep)| sweep.sweeper == Sweeper::Absent) {
        return Some(Step::CreateSweeper { test, client: sweep.client });
    }
    for (index, test) in tests() {
        let mut left = Vec::new();
        for Sweep { client: _, what, sweeper } in &test.sweeps {
            match sweeper {
                Sweeper::Working { since } if patience::seconds_between(*since, observed.now) > patience::SWEEP => {
                    left.push(format!("{what}: its sweeper did not end within {} s", patience::SWEEP));
                }
                Sweeper::Absent | Sweeper::Working { since: _ } => {
                    return Some(Step::Wait { seconds: 1, reason: format!("sweeping up: {what}") });
                }
                Sweeper::Done => {}
                Sweeper::Failed(cause) => left.push(format!("{what}: {cause}")),
            }
        }
        if !left.is_empty() && !test.left_noted {
            return Some(Step::NoteLeft { test: index, left });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    #[test]
    fn a_pool_is_swept_from_a_node_that_lives() {
        let at = Timestamp::UNIX_EPOCH;
        let client = |state| Client { node: "n".into(), job_made: Some(at), state };
        let lost = || client(ClientState::Lost { at, cause: "the node is gone".into(), killed: true });
        let ended = || client(ClientState::Ended { at, reported: true, cause: None, killed: false });
        let running = || client(ClientState::Running { since: at, address: None });
        let sweep = |clients: &[Client]| to_sweep(Remains::InPool, clients);
        assert_eq!(sweep(&[lost(), running(), ended()]), [2]);
        assert_eq!(sweep(&[lost(), running()]), [1]);
        assert_eq!(sweep(&[lost(), lost()]), [0]);
        assert_eq!(sweep(&[ended(), ended()]), [0_u32; 0], "all had their time to clean up");
        assert_eq!(to_sweep(Remains::OnNodes, &[lost(), ended(), running()]), [0, 2]);
    }
}
