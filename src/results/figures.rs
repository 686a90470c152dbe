//! The figures of one point, over all rounds and clients.
//!
//! Bandwidth is the bytes of all rounds ÷ the time of all rounds, not the mean of their rates: a short round weighs less. Percentiles are read
//! from the sum of all histograms and lie between the exact smallest and largest latency, which a bucket's edge may not.

use super::tally::{Tally, TallyError};
use crate::api::{Bandwidth, Cpu, Latency, Op, RoundStatus};
use crate::contract::{DirectionReport, Point, RoundReport};
use crate::units::{bandwidth_text, link_text};

/// The direction that a round's figure is about. On a link, what arrived; where only the sender counted, what was sent.
pub(super) fn counted<'a>(point: &Point, round: &'a RoundReport) -> Option<&'a DirectionReport> {
    match point.op {
        Some(Op::Read | Op::RandRead) => round.read.as_ref(),
        Some(Op::Write | Op::RandWrite) => round.write.as_ref(),
        None => round.read.as_ref().or(round.write.as_ref()),
    }
}

/// The counted direction, added over the rounds.
pub(super) fn total(point: &Point, rounds: &[RoundReport]) -> Result<Tally, TallyError> {
    let mut total = Tally::default();
    for direction in rounds.iter().filter_map(|round| counted(point, round)) {
        total.add(direction)?;
    }
    Ok(total)
}

/// Time of all rounds together, in microseconds.
pub(super) fn elapsed(rounds: &[RoundReport]) -> u64 {
    rounds.iter().fold(0, |sum, round| sum.saturating_add(round.elapsed_micros))
}

/// `count` per second. Absent without time.
pub(super) fn per_second(count: u64, elapsed_micros: u64) -> Option<f64> {
    (elapsed_micros > 0).then(|| count as f64 * 1e6 / elapsed_micros as f64)
}

/// Bytes per second of one round.
pub(super) fn bandwidth(point: &Point, round: &RoundReport) -> Option<f64> {
    per_second(counted(point, round).map_or(0, |direction| direction.bytes), round.elapsed_micros)
}

/// A bandwidth with its text: decimal bits on a link, as links are sold, binary bytes elsewhere.
pub(super) fn bandwidth_status(point: &Point, bytes_per_second: f64) -> Bandwidth {
    let text = if point.link.is_some() { link_text(bytes_per_second) } else { bandwidth_text(bytes_per_second) };
    Bandwidth { bytes_per_second: bytes_per_second.round() as i64, text }
}

/// Each round's rates, to be seen beside the whole.
pub(super) fn rounds(point: &Point, rounds: &[RoundReport]) -> Vec<RoundStatus> {
    let status = |round: &RoundReport| {
        let ops = counted(point, round).map_or(0, |direction| direction.ops);
        Some(RoundStatus {
            bytes_per_second: bandwidth(point, round)?.round() as i64,
            iops: two_decimals(per_second(ops, round.elapsed_micros)?),
        })
    };
    rounds.iter().filter_map(status).collect()
}

/// Latencies in microseconds. Absent without operations, and where operations have no latency.
///
/// min ≤ p50 ≤ p95 ≤ p99 ≤ p99.9 ≤ max and min ≤ mean ≤ max, whatever the buckets' edges are.
pub(super) fn latency(total: &Tally) -> Option<Latency> {
    let (histogram, (min, max)) = (total.latencies.as_ref()?, total.extremes?);
    if total.ops == 0 || histogram.is_empty() || min > max {
        return None;
    }
    let micros = |nanos: f64| two_decimals(nanos.clamp(min as f64, max as f64) / 1000.0);
    let percentile = |quantile| micros(histogram.value_at_quantile(quantile) as f64);
    Some(Latency {
        mean_micros: micros(total.sum_nanos as f64 / total.ops as f64),
        p50_micros: percentile(0.5),
        p95_micros: percentile(0.95),
        p99_micros: percentile(0.99),
        p999_micros: percentile(0.999),
        max_micros: micros(max as f64),
    })
}

/// CPU time of the bench. Absent where none was counted.
pub(super) fn cpu(ops: u64, rounds: &[RoundReport]) -> Option<Cpu> {
    let micros = rounds.iter().fold(0_u64, |sum, round| sum.saturating_add(round.cpu_micros));
    (micros > 0).then(|| Cpu {
        seconds: two_decimals(micros as f64 / 1e6),
        micros_per_op: (ops > 0).then(|| two_decimals(micros as f64 / ops as f64)),
    })
}

/// At most two decimals, as the status has them.
pub(super) fn two_decimals(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
