//! Sweeping up after clients that could not clean up themselves: which they may be, and how far it is.

use super::observed::{Client, ClientState, Observed, Sweep, Sweeper, Test, Thing};
use super::patience;
use super::step::Step;
use crate::plan::frozen::Remains;

/// The clients whose remains only the bench can remove, were all of them to go now: those that were killed, and those that run and may be.
/// In a pool one sweeper removes what all of them left.
pub fn to_sweep(remains: Remains, clients: &[Client]) -> Vec<u32> {
    let may_leave = |state: &ClientState| state.was_killed() || matches!(state, ClientState::Running { .. });
    let left = (0_u32..).zip(clients).filter(|(_, client)| may_leave(&client.state)).map(|(index, _)| index);
    match remains {
        Remains::Nothing => Vec::new(),
        Remains::OnNodes => left.collect(),
        Remains::InPool => left.take(1).collect(),
    }
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

/// Sweeps up for the tests that these tasks are of: the next step, or what stays behind.
pub(super) fn sweep(observed: &Observed, tasks: &[&Thing]) -> Result<Vec<String>, Step> {
    let Some(run) = &observed.run else { return Ok(Vec::new()) };
    let concerned = |index: usize| tasks.iter().any(|task| task.run == run.number && task.test == Some(index));
    let tests = run.tests.iter().enumerate().filter(|(index, _)| concerned(*index));
    let sweeps: Vec<(usize, &Sweep)> =
        tests.flat_map(|(index, test)| test.sweeps.iter().map(move |sweep| (index, sweep))).collect();
    // All of them at once: each works on a node of its own.
    if let Some((test, sweep)) = sweeps.iter().find(|(_, sweep)| sweep.sweeper == Sweeper::Absent) {
        return Err(Step::CreateSweeper { test: *test, client: sweep.client });
    }
    let mut left = Vec::new();
    for (_, Sweep { client: _, what, sweeper }) in sweeps {
        match sweeper {
            Sweeper::Working { since } if patience::seconds_between(*since, observed.now) > patience::SWEEP => {
                left.push(format!("{what}: its sweeper did not end within {} s", patience::SWEEP));
            }
            Sweeper::Absent | Sweeper::Working { since: _ } => {
                return Err(Step::Wait { seconds: 1, reason: format!("sweeping up: {what}") });
            }
            Sweeper::Done => {}
            Sweeper::Failed(cause) => left.push(format!("{what}: {cause}")),
        }
    }
    Ok(left)
}
