//! Whether all was measured that was to be: rounds, clients, windows.

use super::{Evidence, Reason};
use crate::contract::{EndedBy, RoundReport};

/// A window that nothing was to end early must have this share of its time, in percent.
const WHOLE_PERCENT: u64 = 95;
/// One that the byte cap ended, this share.
const ENOUGH_PERCENT: u64 = 50;

pub(super) fn rounds(evidence: &Evidence) -> Vec<Reason> {
    let (measured, planned) = (evidence.rounds.len(), evidence.point.rounds);
    if measured < planned as usize { vec![Reason::RoundsMissing { measured, planned }] } else { Vec::new() }
}

pub(super) fn stopped_by_errors(evidence: &Evidence) -> Vec<Reason> {
    let shortest = shortest(evidence, |round| round.ended_by == EndedBy::Errors);
    let reason =
        |measured_micros| Reason::StoppedByErrors { measured_micros, planned_micros: evidence.point.duration_micros };
    shortest.map(reason).into_iter().collect()
}

pub(super) fn clients(evidence: &Evidence) -> Vec<Reason> {
    let missing = |round: &RoundReport| -> Vec<u32> {
        let has = |index: &u32| round.clients.iter().any(|client| client.client == *index);
        evidence.clients.iter().copied().filter(|index| !has(index)).collect()
    };
    evidence
        .rounds
        .iter()
        .enumerate()
        .map(|(round, report)| Reason::ClientMissing { clients: missing(report), round })
        .find(|reason| !matches!(reason, Reason::ClientMissing { clients, .. } if clients.is_empty()))
        .into_iter()
        .collect()
}

/// The window was long enough. A short one is never scaled up; its figure stands as measured, beside this reason.
pub(super) fn window(evidence: &Evidence) -> Vec<Reason> {
    let planned_micros = evidence.point.duration_micros;
    let cut = shortest(evidence, |round| round.ended_by == EndedBy::Duration)
        .filter(|measured| is_cut(*measured, planned_micros))
        .map(|measured_micros| Reason::Cut { measured_micros, planned_micros });
    let capped = shortest(evidence, |round| round.ended_by == EndedBy::Bytes)
        .filter(|measured| less_than(*measured, ENOUGH_PERCENT, planned_micros))
        .map(|measured_micros| Reason::TooShort { measured_micros, planned_micros });
    cut.into_iter().chain(capped).collect()
}

/// Whether a window that was to last its time did not.
pub(in crate::results) fn is_cut(measured_micros: u64, planned_micros: u64) -> bool {
    less_than(measured_micros, WHOLE_PERCENT, planned_micros)
}

fn less_than(part: u64, percent: u64, whole: u64) -> bool {
    u128::from(part) * 100 < u128::from(whole) * u128::from(percent)
}

fn shortest(evidence: &Evidence, wanted: impl Fn(&RoundReport) -> bool) -> Option<u64> {
    evidence.rounds.iter().filter(|round| wanted(round)).map(|round| round.elapsed_micros).min()
}
