//! Whether the load was what it was meant to be: clients together, and none of them the limit.

use super::{Evidence, Reason};
use crate::api::Op;
use crate::contract::{ClientRound, RoundReport};

/// Clients may begin this share of the window apart, in percent.
const START_PERCENT: u64 = 10;
/// A client's window must have this share of the longest one, in percent.
const TOGETHER_PERCENT: u64 = 90;
/// A client that uses this share of its threads' time, or of one thread's, is busy, in percent.
const BUSY_PERCENT: f64 = 90.0;

/// The clients began and ended together; else a part of the window had less load than was asked for.
pub(super) fn together(evidence: &Evidence) -> Vec<Reason> {
    let spread = evidence
        .rounds
        .iter()
        .filter(|round| {
            u128::from(round.start_spread_micros) * 100 > u128::from(round.elapsed_micros) * u128::from(START_PERCENT)
        })
        .max_by_key(|round| round.start_spread_micros)
        .map(|round| Reason::StartSpread {
            spread_micros: round.start_spread_micros,
            window_micros: round.elapsed_micros,
        });
    let uneven = evidence.rounds.iter().find_map(|round| {
        let first = round.clients.iter().min_by_key(|client| client.elapsed_micros)?;
        let early =
            u128::from(first.elapsed_micros) * 100 < u128::from(round.elapsed_micros) * u128::from(TOGETHER_PERCENT);
        early.then_some(Reason::ClientsUneven {
            client: first.client,
            window_micros: first.elapsed_micros,
            longest_micros: round.elapsed_micros,
        })
    });
    spread.into_iter().chain(uneven).collect()
}

/// A client whose threads had no time left, all of them; or one thread that a job waits for, whatever the others did.
pub(super) fn client_bound(evidence: &Evidence) -> Vec<Reason> {
    let threads = evidence.threads.max(1);
    let all = busiest(evidence, |client| client.cpu_micros as f64 / f64::from(threads))
        .map(|(client, share)| Reason::ClientBound { client, share, threads });
    let one = || {
        busiest(evidence, |client| client.busiest_thread_micros as f64)
            .map(|(client, share)| Reason::ThreadBound { client, share })
    };
    all.or_else(one).into_iter().collect()
}

/// The client that used most of its window, in percent, if that is too much.
fn busiest(evidence: &Evidence, micros: impl Fn(&ClientRound) -> f64) -> Option<(u32, f64)> {
    let share = |round: &RoundReport, client: &ClientRound| {
        let window = if client.elapsed_micros == 0 { round.elapsed_micros } else { client.elapsed_micros };
        if window == 0 { 0.0 } else { 100.0 * micros(client) / window as f64 }
    };
    evidence
        .rounds
        .iter()
        .flat_map(|round| round.clients.iter().map(move |client| (round, client)))
        .map(|(round, client)| (client.client, share(round, client)))
        .filter(|(_, share)| *share >= BUSY_PERCENT)
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Sequential reads that began again at the start.
pub(super) fn read_again(evidence: &Evidence) -> Vec<Reason> {
    let wraps = evidence.rounds.iter().flat_map(|round| round.clients.iter().map(|client| client.wraps)).max();
    match wraps.filter(|_| evidence.point.op == Some(Op::Read)) {
        None | Some(0) => Vec::new(),
        Some(times) => vec![Reason::DataReadAgain { times }],
    }
}

/// A ramp that a byte cap ended.
pub(super) fn ramp_cut(evidence: &Evidence) -> Vec<Reason> {
    let ramps =
        evidence.rounds.iter().flat_map(|round| round.clients.iter().filter_map(|client| client.ramp_cut_micros));
    let planned_micros = evidence.point.ramp_up_micros;
    ramps.min().map(|ramp_micros| Reason::RampCut { ramp_micros, planned_micros }).into_iter().collect()
}
