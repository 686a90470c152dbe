//! How far a run is, in planned time. Pure.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::SignedDuration;

use crate::api::Progress;
use crate::plan::decide::patience::seconds_between;
use crate::plan::decide::{ClientState, Observed, Test};
use crate::plan::frozen::Frozen;
use crate::results::progress;

pub fn progress_of(observed: &Observed, frozen: Option<&Frozen>) -> Option<Progress> {
    let (frozen, run) = (frozen?, observed.run.as_ref()?);
    let planned = |index: usize| frozen.prepared.tests.get(index).map_or(0, |test| test.seconds);
    let total: u64 = (0..run.tests.len()).map(planned).sum();
    let done = run.tests.iter().filter(|test| test.end.is_some()).count();
    let passed_whole: u64 = (0..run.tests.len()).filter(|index| run.tests[*index].end.is_some()).map(planned).sum();
    let current = run.tests.iter().position(|test| test.end.is_none());
    let passed = match current {
        Some(index) => passed_whole + measured_seconds(observed, &run.tests[index]).min(planned(index)),
        None => total,
    };
    let percent = (passed * 100).checked_div(total).unwrap_or(0).min(100);
    let left = i64::try_from(total.saturating_sub(passed)).unwrap_or(i64::MAX);
    let estimated = observed.now.checked_add(SignedDuration::from_secs(left)).ok().map(Time);
    let name = current.map(|index| run.tests[index].name.as_str());
    Some(progress(done, run.tests.len(), name, percent as u8, estimated))
}

/// Since the last of the clients runs; preparing counts as measuring, for nobody knows beforehand how long it takes.
fn measured_seconds(observed: &Observed, test: &Test) -> u64 {
    let since = |state: &ClientState| match state {
        ClientState::Running { since, address: _ } => Some(*since),
        ClientState::Absent | ClientState::Starting { .. } | ClientState::Ended { .. } | ClientState::Lost { .. } => {
            None
        }
    };
    let started: Option<Vec<_>> = test.clients.iter().map(|client| since(&client.state)).collect();
    let last = started.and_then(|started| started.into_iter().max());
    last.map_or(0, |last| u64::try_from(seconds_between(last, observed.now)).unwrap_or(0))
}
