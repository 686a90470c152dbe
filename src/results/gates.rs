//! Verdicts of gates. A gate holds for every point that it selects: it fails when a believable figure breaks it; where a figure is missing,
//! Invalid or only in the artifact it is Inconclusive; it passes only when every figure is there, believable and within the limits.

use super::label::point_text;
use crate::api::{GateStatus, Metric, PointStatus, TestPhase, TestStatus, ValidityVerdict, Verdict};
use crate::plan::{Limit, PlannedGate};
use crate::units::{bandwidth_text, latency_text, link_text};

/// Judges every gate over the digested tests, which must hold all of their points (see `digest`).
pub fn judge(gates: &[PlannedGate], tests: &[TestStatus]) -> Vec<GateStatus> {
    gates.iter().map(|gate| judge_gate(gate, tests.iter().find(|test| test.name == gate.test))).collect()
}

fn judge_gate(gate: &PlannedGate, test: Option<&TestStatus>) -> GateStatus {
    let Some(test) = test else {
        return inconclusive(gate, false, format!("test {} has no result", gate.test));
    };
    let links = test.points.iter().any(|point| point.source.is_some());
    if test.phase != TestPhase::Completed {
        return inconclusive(gate, links, format!("test {} is not complete: {}", gate.test, state_text(test)));
    }
    let points: Vec<&PointStatus> = test.points.iter().filter(|point| selects(gate, point)).collect();
    if points.is_empty() {
        return inconclusive(gate, links, format!("test {} has no point that this gate selects", gate.test));
    }
    let judged: Vec<Judged> = points.into_iter().map(|point| judge_value(gate, point)).collect();
    conclude(gate, links, &judged, test.points_omitted.unwrap_or(0))
}

fn state_text(test: &TestStatus) -> String {
    test.message.clone().unwrap_or_else(|| format!("{:?}", test.phase))
}

fn inconclusive(gate: &PlannedGate, links: bool, message: String) -> GateStatus {
    GateStatus {
        name: gate.name.clone(),
        verdict: Verdict::Inconclusive,
        observed: None,
        wanted: wanted(gate, links),
        message: Some(message),
    }
}

fn selects(gate: &PlannedGate, point: &PointStatus) -> bool {
    let PlannedGate {
        name: _,
        test: _,
        metric: _,
        op,
        block_size,
        object_size,
        queue_depth,
        jobs,
        streams,
        min: _,
        max: _,
    } = gate;
    let size =
        |wanted: &Option<u64>, has: Option<i64>| wanted.is_none_or(|size| has.is_some_and(|has| has as u64 == size));
    let count = |wanted: &Option<u32>, has: Option<i64>| wanted.is_none_or(|count| has == Some(count.into()));
    op.is_none_or(|op| point.op == Some(op))
        && size(block_size, Some(point.block_size))
        && size(object_size, point.object_size)
        && count(queue_depth, point.queue_depth)
        && count(jobs, point.jobs)
        && count(streams, point.streams)
}

/// One figure against the limits.
struct Judged<'a> {
    point: &'a PointStatus,
    value: Option<f64>,
    /// By how much of the limit the figure breaks it; negative within the limits.
    excess: f64,
    verdict: Verdict,
}

fn judge_value<'a>(gate: &PlannedGate, point: &'a PointStatus) -> Judged<'a> {
    let Some(value) = value(gate.metric, point) else {
        return Judged { point, value: None, excess: f64::NEG_INFINITY, verdict: Verdict::Inconclusive };
    };
    let below = gate.min.as_ref().map(|min| share(min.value - value, min.value));
    let above = gate.max.as_ref().map(|max| share(value - max.value, max.value));
    // What is no number is within no limit.
    let worst = |most: f64, next: f64| if next.is_nan() { f64::INFINITY } else { most.max(next) };
    let excess = below.into_iter().chain(above).fold(f64::NEG_INFINITY, worst);
    // Errors that were counted did happen, whatever else is wrong with the point: too many of them are too many.
    let counted = gate.metric == Metric::Errors && above.is_some_and(|above| above > 0.0);
    let verdict = if point.validity.verdict == ValidityVerdict::Invalid && !counted {
        Verdict::Inconclusive
    } else if excess > 0.0 {
        Verdict::Failed
    } else {
        Verdict::Passed
    };
    Judged { point, value: Some(value), excess, verdict }
}

/// A difference as a share of the limit, with its sign; a limit of 0 is compared as it is.
fn share(difference: f64, limit: f64) -> f64 {
    if limit == 0.0 { difference } else { difference / limit.abs() }
}

/// The figure in the unit of the gate's limits.
fn value(metric: Metric, point: &PointStatus) -> Option<f64> {
    let latency = point.latency.as_ref();
    match metric {
        Metric::Bandwidth => point.bandwidth.as_ref().map(|bandwidth| bandwidth.bytes_per_second as f64),
        Metric::Iops => point.iops,
        Metric::LatencyMean => latency.map(|latency| latency.mean_micros),
        Metric::LatencyP50 => latency.map(|latency| latency.p50_micros),
        Metric::LatencyP95 => latency.map(|latency| latency.p95_micros),
        Metric::LatencyP99 => latency.map(|latency| latency.p99_micros),
        Metric::LatencyP999 => latency.map(|latency| latency.p999_micros),
        Metric::LatencyMax => latency.map(|latency| latency.max_micros),
        Metric::Errors => Some(point.errors as f64),
    }
}

fn conclude(gate: &PlannedGate, links: bool, judged: &[Judged], omitted: i64) -> GateStatus {
    let worst_of = |verdict| {
        let of = judged.iter().filter(|judged| judged.verdict == verdict);
        of.max_by(|a, b| a.excess.total_cmp(&b.excess))
    };
    let worst = judged.iter().filter(|judged| judged.value.is_some()).max_by(|a, b| a.excess.total_cmp(&b.excess));
    let (verdict, shown, message) = if let Some(failed) = worst_of(Verdict::Failed) {
        (Verdict::Failed, Some(failed), Some(failure(gate, links, failed, judged)))
    } else if let Some(unknown) = worst_of(Verdict::Inconclusive) {
        (Verdict::Inconclusive, worst, Some(doubt(unknown)))
    } else if omitted > 0 {
        (Verdict::Inconclusive, worst, Some(format!("{omitted} more points are in the artifact only")))
    } else {
        (Verdict::Passed, worst, suspicion(judged))
    };
    GateStatus {
        name: gate.name.clone(),
        verdict,
        observed: shown.and_then(|judged| judged.value).map(|value| text(gate.metric, links, value)),
        wanted: wanted(gate, links),
        message,
    }
}

/// The worst point, how many others fail too, and the exact numbers where their texts look alike.
fn failure(gate: &PlannedGate, links: bool, failed: &Judged, judged: &[Judged]) -> String {
    let mut message = point_text(failed.point);
    let others = judged.iter().filter(|judged| judged.verdict == Verdict::Failed).count() - 1;
    if others > 0 {
        message.push_str(&format!(", and {others} more of {} points", judged.len()));
    }
    let limits = gate.min.iter().chain(&gate.max);
    let alike = |a, b| text(gate.metric, links, a) == text(gate.metric, links, b);
    if let (Some(value), Some(limit)) = (failed.value, broken(failed, limits))
        && alike(value, limit.value)
    {
        message.push_str(&format!(": {value} against {}", limit.value));
    }
    message
}

/// The limit that a figure is nearest to beyond: the one that it breaks.
fn broken<'a>(failed: &Judged, limits: impl Iterator<Item = &'a Limit>) -> Option<&'a Limit> {
    let value = failed.value?;
    limits.min_by(|a, b| (a.value - value).abs().total_cmp(&(b.value - value).abs()))
}

fn doubt(unknown: &Judged) -> String {
    let label = point_text(unknown.point);
    let invalid = unknown.point.validity.verdict == ValidityVerdict::Invalid;
    match unknown.point.validity.reasons.first().filter(|_| invalid) {
        Some(reason) => format!("{label}: Invalid: {}", reason.message),
        None => format!("{label}: this was not measured"),
    }
}

/// A gate that passed over a figure in doubt says so.
fn suspicion(judged: &[Judged]) -> Option<String> {
    let suspect = judged.iter().find(|judged| judged.point.validity.verdict == ValidityVerdict::Suspect)?;
    let reason = suspect.point.validity.reasons.first()?;
    Some(format!("{}: Suspect: {}", point_text(suspect.point), reason.message))
}

fn wanted(gate: &PlannedGate, links: bool) -> String {
    let side = |sign: &str, limit: &Limit| format!("{sign} {}", text(gate.metric, links, limit.value));
    let min = gate.min.as_ref().map(|limit| side("≥", limit));
    let max = gate.max.as_ref().map(|limit| side("≤", limit));
    min.into_iter().chain(max).collect::<Vec<_>>().join(" and ")
}

fn text(metric: Metric, links: bool, value: f64) -> String {
    match metric {
        Metric::Bandwidth => {
            if links {
                link_text(value)
            } else {
                bandwidth_text(value)
            }
        }
        Metric::Iops | Metric::Errors => super::figures::two_decimals(value).to_string(),
        Metric::LatencyMean
        | Metric::LatencyP50
        | Metric::LatencyP95
        | Metric::LatencyP99
        | Metric::LatencyP999
        | Metric::LatencyMax => latency_text(value),
    }
}

#[cfg(test)]
mod tests;
