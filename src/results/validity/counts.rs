//! Whether the counts carry the figure: failures, latencies that are missing or cut off, too few operations.

use super::{Evidence, Reason};

/// More failures than one in so many operations are too many.
const MANY_ONE_IN: u128 = 1000;
/// Kinds of failure named in a reason.
const NAMED: usize = 3;
/// Percentiles and the operations each needs: ten beyond it, 10 ÷ (1 − p).
const NEEDED: [(&str, u64); 4] = [("p50", 20), ("p95", 200), ("p99", 1_000), ("p99.9", 10_000)];

pub(super) fn nothing_completed(evidence: &Evidence) -> Vec<Reason> {
    if evidence.total.ops == 0 { vec![Reason::NothingCompleted] } else { Vec::new() }
}

pub(super) fn errors(evidence: &Evidence) -> Vec<Reason> {
    let failed = evidence.failed();
    if failed == 0 {
        return Vec::new();
    }
    let of = evidence.total.ops.saturating_add(failed);
    let mut kinds: Vec<(&str, u64)> = Vec::new();
    for error in evidence.rounds.iter().flat_map(|round| &round.errors) {
        match kinds.iter_mut().find(|(message, _)| *message == error.message) {
            Some((_, count)) => *count = count.saturating_add(error.count),
            None => kinds.push((&error.message, error.count)),
        }
    }
    kinds.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut most: Vec<String> =
        kinds.iter().take(NAMED).map(|(message, count)| format!("{message} × {count}")).collect();
    if kinds.len() > NAMED {
        most.push(format!("and {} other kinds", kinds.len() - NAMED));
    }
    vec![Reason::Errors { failed, of, most, many: u128::from(failed) * MANY_ONE_IN > u128::from(of) }]
}

/// Every operation has one latency. Those above the range may stand in the histogram's last bucket or beside it.
pub(super) fn agree(evidence: &Evidence) -> Vec<Reason> {
    let total = evidence.total;
    let Some(latencies) = total.latencies.as_ref().map(|histogram| histogram.len()) else { return Vec::new() };
    if latencies == total.ops || latencies.checked_add(total.above_range) == Some(total.ops) {
        return Vec::new();
    }
    vec![Reason::CountsDisagree { latencies, ops: total.ops }]
}

pub(super) fn above_range(evidence: &Evidence) -> Vec<Reason> {
    match evidence.total.above_range {
        0 => Vec::new(),
        count => vec![Reason::AboveRange { count, of: evidence.total.ops }],
    }
}

pub(super) fn too_few(evidence: &Evidence) -> Vec<Reason> {
    let ops = evidence.total.ops;
    if ops == 0 || evidence.total.latencies.is_none() {
        return Vec::new();
    }
    let lacking: Vec<(&'static str, u64)> = NEEDED.into_iter().filter(|(_, needed)| ops < *needed).collect();
    if lacking.is_empty() { Vec::new() } else { vec![Reason::TooFewOps { ops, lacking }] }
}
