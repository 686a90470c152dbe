//! Small plans and reports for tests, made as the bench makes them.

use hdrhistogram::Histogram;

use crate::api::Op;
use crate::contract::histogram;
use crate::contract::{
    ClientReport, ClientRound, DirectionReport, Link, Outcome, Point, PointReport, Report, RoundReport, Sample, VERSION,
};
use crate::plan::{ClientPods, PlannedKind, PlannedTest};

pub(super) const BLOCK: u64 = 4096;

/// One job at depth 1 for so many seconds, once.
pub(super) fn point(op: Op, seconds: u64) -> Point {
    Point {
        op: Some(op),
        block_size: BLOCK,
        object_size: None,
        queue_depth: 1,
        jobs: 1,
        link: None,
        ramp_up_micros: 0,
        duration_micros: seconds * 1_000_000,
        bytes: None,
        rounds: 1,
    }
}

pub(super) fn link(source: u32, target: u32, seconds: u64) -> Point {
    Point { op: None, link: Some(Link { source, target, streams: 2 }), ..point(Op::Write, seconds) }
}

/// Operations of one block with these latencies in nanoseconds.
pub(super) fn direction(latencies: &[u64]) -> DirectionReport {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("sound bounds");
    for latency in latencies {
        histogram.record(*latency).expect("within bounds");
    }
    let ops = latencies.len() as u64;
    DirectionReport {
        ops,
        bytes: ops * BLOCK,
        histogram: Some(histogram::encode(&histogram)),
        min_nanos: latencies.iter().copied().min().unwrap_or(u64::MAX),
        max_nanos: latencies.iter().copied().max().unwrap_or_default(),
        sum_nanos: latencies.iter().sum(),
        above_range: 0,
    }
}

/// A series of so many operations in each second.
pub(super) fn series(ops: &[u64]) -> Vec<Sample> {
    let sample = |(second, ops): (usize, &u64)| Sample {
        second: second as u32,
        ops: *ops,
        bytes: ops * BLOCK,
        ..Sample::default()
    };
    ops.iter().enumerate().map(sample).collect()
}

/// A round of one client in which each second had so many writes of 100 µs.
pub(super) fn steady_round(per_second: &[u64]) -> RoundReport {
    let ops: u64 = per_second.iter().sum();
    let elapsed_micros = 1_000_000 * per_second.len() as u64;
    RoundReport {
        elapsed_micros,
        write: Some(direction(&vec![100_000; ops as usize])),
        series: series(per_second),
        seconds_per_sample: 1,
        clients: vec![ClientRound { client: 0, ops, bytes: ops * BLOCK, elapsed_micros, ..ClientRound::default() }],
        ..RoundReport::default()
    }
}

pub(super) fn test_of(points: &[Point]) -> PlannedTest {
    let kind = match points.iter().any(|point| point.link.is_some()) {
        true => PlannedKind::Network,
        false => PlannedKind::File { directory: "/var/tmp".into(), size: 1 << 30 },
    };
    PlannedTest {
        name: "disk".into(),
        kind,
        points: points.to_vec(),
        clients: ClientPods::default(),
        notes: Vec::new(),
    }
}

/// A complete report of clients on node0, node1 …
pub(super) fn report_of(clients: u32, points: Vec<(Point, Vec<RoundReport>)>) -> Report {
    Report {
        version: VERSION,
        run: "1".into(),
        test: "disk".into(),
        clients: (0..clients)
            .map(|client| ClientReport {
                client,
                node: format!("node{client}"),
                pod_uid: format!("uid-{client}"),
                engine: "io_uring".into(),
                engine_reason: None,
                notes: Vec::new(),
            })
            .collect(),
        points: points.into_iter().map(|(point, rounds)| PointReport { point, rounds, notes: Vec::new() }).collect(),
        outcome: Outcome::Complete,
    }
}
