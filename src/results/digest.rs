//! A test's report as it stands in the status: every point with its figures and its validity.
//!
//! All points are here, however many: gates are judged on all of them. The status keeps the first 64 (see `status`).

use super::figures;
use super::validity::{Evidence, judge_point};
use super::whole::lacking;
use crate::api::{EngineStatus, Op, PointStatus, TestPhase, TestStatus, ValidityVerdict};
use crate::contract::{ClientReport, PointReport, Report};
use crate::plan::PlannedTest;

/// Threads that librados runs beside the jobs: three that move messages (`ms_async_op_threads`), one that completes.
const LIBRADOS_THREADS: u32 = 4;

/// Digests the report of one test. It is complete only when it holds all that was planned; else its phase is Error, its message says what
/// is missing, and only the points that were measured in every round are kept.
pub fn digest(report: &Report, test: &PlannedTest) -> TestStatus {
    let mut cause = lacking(report, test);
    let mut points = Vec::with_capacity(report.points.len());
    for point in &report.points {
        match digest_point(report, point) {
            Ok(status) if cause.is_none() || is_whole(point) => points.push(status),
            Ok(_) => {}
            Err(damage) => cause = cause.or(Some(damage)),
        }
    }
    let phase = if cause.is_some() { TestPhase::Error } else { TestPhase::Completed };
    // What goes beside a figure would read as the cause where there is none.
    let notes = || notes(report, test).into_iter().reduce(|all, note| format!("{all}; {note}"));
    TestStatus {
        name: test.name.clone(),
        phase,
        message: cause.or_else(notes),
        summary: summary(&points),
        engine: engine(&report.clients),
        points,
        points_omitted: None,
    }
}

/// A test without a report: one that waits, runs, was skipped, or could not begin.
pub fn unmeasured(name: &str, phase: TestPhase, message: Option<String>) -> TestStatus {
    TestStatus {
        name: name.to_owned(),
        phase,
        message,
        summary: None,
        engine: None,
        points: Vec::new(),
        points_omitted: None,
    }
}

fn is_whole(point: &PointReport) -> bool {
    !point.rounds.is_empty() && point.rounds.len() == point.point.rounds as usize
}

fn digest_point(report: &Report, measured: &PointReport) -> Result<PointStatus, String> {
    let PointReport { point, rounds, notes } = measured;
    let total = figures::total(point, rounds).map_err(|error| format!("the report is damaged: {error}"))?;
    let elapsed = figures::elapsed(rounds);
    let clients: Vec<u32> = match point.link {
        Some(link) => vec![link.source, link.target],
        None => report.clients.iter().map(|client| client.client).collect(),
    };
    let evidence =
        Evidence { point, rounds, total: &total, clients: &clients, threads: threads(report, measured), notes };
    let validity = judge_point(&evidence);
    let node = |index: u32| report.clients.iter().find(|client| client.client == index).map(|c| c.node.clone());
    let storage = point.link.is_none();
    Ok(PointStatus {
        op: point.op,
        block_size: integer(point.block_size),
        queue_depth: storage.then_some(point.queue_depth.into()),
        jobs: storage.then_some(point.jobs.into()),
        clients: clients.len() as i64,
        object_size: point.object_size.map(integer),
        streams: point.link.map(|link| link.streams.into()),
        source: point.link.and_then(|link| node(link.source)),
        target: point.link.and_then(|link| node(link.target)),
        bandwidth: figures::per_second(total.bytes, elapsed).map(|rate| figures::bandwidth_status(point, rate)),
        // How often a stream is handed data is no property of the network.
        iops: figures::per_second(total.ops, elapsed).filter(|_| storage).map(figures::two_decimals),
        latency: figures::latency(&total),
        ops: integer(total.ops),
        errors: integer(evidence.failed()),
        rounds: figures::rounds(point, rounds),
        cpu: figures::cpu(total.ops, rounds),
        validity,
    })
}

fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Threads that can be busy in one client, by how its engine works.
fn threads(report: &Report, measured: &PointReport) -> u32 {
    let point = &measured.point;
    if let Some(link) = point.link {
        return link.streams;
    }
    let engines = report.clients.iter().map(|client| client.engine.as_str());
    let of = |engine| match engine {
        "threads" => point.jobs.saturating_mul(point.queue_depth),
        "librados" => point.jobs.saturating_add(LIBRADOS_THREADS),
        _ => point.jobs,
    };
    engines.map(of).max().unwrap_or(point.jobs)
}

/// The clients' engine; where they differ, all of them. Reasons are said once.
fn engine(clients: &[ClientReport]) -> Option<EngineStatus> {
    let names = distinct(clients.iter().map(|client| client.engine.clone()));
    let reasons = distinct(clients.iter().filter_map(|client| client.engine_reason.clone()));
    (!names.is_empty())
        .then(|| EngineStatus { name: names.join(", "), reason: (!reasons.is_empty()).then(|| reasons.join("; ")) })
}

fn notes(report: &Report, test: &PlannedTest) -> Vec<String> {
    let of_clients = report.clients.iter().flat_map(|client| client.notes.iter().cloned());
    distinct(test.notes.iter().cloned().chain(of_clients))
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

/// One line: the best of each op, and how many points are to be doubted.
fn summary(points: &[PointStatus]) -> Option<String> {
    let mut ops: Vec<Option<Op>> = Vec::new();
    for point in points {
        if !ops.contains(&point.op) {
            ops.push(point.op);
        }
    }
    let best = ops.into_iter().filter_map(|op| best(points.iter().filter(|point| point.op == op)));
    let mut parts: Vec<String> = best.collect();
    for (verdict, word) in [(ValidityVerdict::Suspect, "suspect"), (ValidityVerdict::Invalid, "invalid")] {
        match points.iter().filter(|point| point.validity.verdict == verdict).count() {
            0 => {}
            count => parts.push(format!("{count} of {} points {word}", points.len())),
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn best<'a>(points: impl Iterator<Item = &'a PointStatus> + Clone) -> Option<String> {
    let rate = |point: &PointStatus| point.bandwidth.as_ref().map_or(0, |bandwidth| bandwidth.bytes_per_second);
    let fastest = points.clone().max_by_key(|point| rate(point))?;
    let up_to = if points.clone().count() > 1 { "up to " } else { "" };
    let mut text = fastest.op.map(|op| format!("{} ", super::op_text(op))).unwrap_or_default();
    text.push_str(&format!("{up_to}{}", fastest.bandwidth.as_ref()?.text));
    if let Some(iops) = points.filter_map(|point| point.iops).reduce(f64::max) {
        text.push_str(&format!(", {up_to}{iops:.0} IOPS"));
    }
    Some(text)
}

#[cfg(test)]
mod tests;
