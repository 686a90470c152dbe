//! Reports as they come, and what the status then says.

use proptest::prelude::*;

use super::*;
use crate::api::{Latency, Op};
use crate::contract::{ClientRound, EndedBy, ErrorCount, Outcome, Point, RoundReport};
use crate::results::fixtures::{direction, link, point, report_of, steady_round, test_of};

/// One client that wrote with these latencies for ten seconds.
fn written(latencies: &[u64]) -> PointStatus {
    let point = point(Op::RandWrite, 10);
    let round = RoundReport { write: Some(direction(latencies)), ..steady_round(&[1; 10]) };
    let mut status = digest(&report_of(1, vec![(point.clone(), vec![round])]), &test_of(&[point]));
    assert_eq!(status.phase, TestPhase::Completed, "{:?}", status.message);
    status.points.remove(0)
}

fn in_order(latency: &Latency, min_micros: f64) -> bool {
    let Latency { mean_micros, p50_micros, p95_micros, p99_micros, p999_micros, max_micros } = *latency;
    let chain = [min_micros, p50_micros, p95_micros, p99_micros, p999_micros, max_micros];
    chain.is_sorted() && min_micros <= mean_micros && mean_micros <= max_micros
}

/// Case A2: a flush of 1,721 µs after each write of 21 µs belongs to the operation.
#[test]
fn the_mean_is_exact() {
    let point = written(&vec![1_742_000; 5740]);
    assert_eq!(point.latency.map(|latency| latency.mean_micros), Some(1742.0));
    assert_eq!(point.iops, Some(574.0));
    assert_eq!(
        point.bandwidth.map(|bandwidth| (bandwidth.bytes_per_second, bandwidth.text)),
        Some((2_351_104, "2.2 MiB/s".into()))
    );
}

/// Case D9: a p99 of 216 µs must not stand above a largest value of 196.
#[test]
fn no_percentile_lies_above_the_largest_latency() {
    let latency = written(&[10_001, 150_003, 196_001]).latency.expect("measured");
    assert_eq!((latency.p99_micros, latency.p999_micros, latency.max_micros), (196.0, 196.0, 196.0));
}

/// Case D9: half of 4,870 operations between 20 and 94.4 s.
#[test]
fn long_latencies_keep_their_order() {
    let latencies: Vec<u64> = (0..4870)
        .map(|index| if index % 2 == 0 { 5_000_000 + index } else { 20_000_000_000 + index * 15_277_000 })
        .collect();
    let latency = written(&latencies).latency.expect("measured");
    assert!(in_order(&latency, 5000.0), "{latency:?}");
    assert!(latency.p95_micros > 80e6 && latency.max_micros > 94e6 && latency.mean_micros > 25e6, "{latency:?}");
}

/// Case D9: no operations, no latency; nothing in the status is NaN or a sentinel.
#[test]
fn without_operations_latency_is_absent() {
    let point = written(&[]);
    assert_eq!((point.latency.clone(), point.ops, point.iops), (None, 0, Some(0.0)));
    assert_eq!(point.validity.verdict, ValidityVerdict::Invalid);
    let text = serde_json::to_string(&point).expect("finite numbers");
    assert!(!text.contains("null") && !text.contains("latency"), "{text}");
}

proptest! {
    #[test]
    fn figures_are_always_in_order(
        rounds in prop::collection::vec(prop::collection::vec(1_u64..3_600_000_000_000, 1..200), 1..4),
    ) {
        let point = Point { rounds: rounds.len() as u32, ..point(Op::RandWrite, 10) };
        let report = |latencies: &Vec<u64>| RoundReport { write: Some(direction(latencies)), ..steady_round(&[1; 10]) };
        let status = digest(&report_of(1, vec![(point.clone(), rounds.iter().map(report).collect())]), &test_of(&[point]));
        let all: Vec<u64> = rounds.concat();
        let min = all.iter().min().expect("not empty");
        let max = all.iter().max().expect("not empty");
        let latency = status.points[0].latency.as_ref().expect("measured");
        prop_assert!(in_order(latency, figures::two_decimals(*min as f64 / 1000.0)), "{:?}", latency);
        prop_assert_eq!(latency.max_micros, figures::two_decimals(*max as f64 / 1000.0));
        prop_assert_eq!(status.points[0].ops, all.len() as i64);
    }
}

#[test]
fn bandwidth_is_all_bytes_over_all_time() {
    let point = Point { rounds: 2, ..point(Op::Write, 10) };
    let mut short = steady_round(&[3000; 6]);
    short.ended_by = EndedBy::Bytes;
    let status =
        digest(&report_of(1, vec![(point.clone(), vec![steady_round(&[1000; 10]), short])]), &test_of(&[point]));
    let point = &status.points[0];
    assert_eq!(point.ops, 28_000);
    assert_eq!(point.iops, Some(1750.0));
    assert_eq!(point.rounds.iter().map(|round| round.iops).collect::<Vec<_>>(), [1000.0, 3000.0]);
    assert_eq!(status.summary.as_deref(), Some("write 6.8 MiB/s, 1750 IOPS; 1 of 1 points suspect"));
}

/// Case C1: stopped at 31 of 60 s, and everything else says that it succeeded.
#[test]
fn half_a_window_is_no_result() {
    let whole = point(Op::Write, 60);
    let mut round = steady_round(&[1000; 60]);
    round.clients.push(ClientRound { client: 1, elapsed_micros: 31_000_000, ..ClientRound::default() });
    let status = digest(&report_of(2, vec![(whole.clone(), vec![round])]), &test_of(&[whole]));
    assert_eq!(status.phase, TestPhase::Error);
    assert_eq!(status.message.as_deref(), Some("client 1 on node1 stopped at 31 of 60 s of write 4 KiB, depth 1"));
}

#[test]
fn what_is_not_the_whole_plan_is_an_error() {
    let (one, two) = (point(Op::Write, 10), point(Op::RandWrite, 10));
    let test = test_of(&[one.clone(), two.clone()]);
    let round = || vec![steady_round(&[1000; 10])];
    let whole = report_of(1, vec![(one.clone(), round()), (two.clone(), round())]);
    assert_eq!(digest(&whole, &test).phase, TestPhase::Completed);

    let message = |report: &Report| {
        let status = digest(report, &test);
        assert_eq!(status.phase, TestPhase::Error);
        status.message.unwrap_or_default()
    };
    assert_eq!(message(&report_of(1, vec![(one.clone(), round())])), "the report holds 1 of 2 points");
    assert_eq!(
        message(&report_of(1, vec![(two.clone(), round()), (one.clone(), round())])),
        "point 1 of the report is not the one that was planned"
    );
    assert_eq!(message(&report_of(0, vec![])), "the report names no client");
    assert_eq!(
        message(&report_of(1, vec![(one.clone(), round()), (two.clone(), vec![])])),
        "0 of 1 rounds of randwrite 4 KiB, depth 1"
    );
    assert!(message(&Report { version: 99, ..whole.clone() }).starts_with("the report has version 99"));
    assert!(message(&Report { test: "other".into(), ..whole.clone() }).contains("\"other\""));
    let mut lost = whole.clone();
    lost.clients[0].client = 1;
    assert_eq!(message(&lost), "the report lacks client 0");
    let mut damaged = whole;
    damaged.points[0].rounds[0].write.as_mut().expect("written").histogram = Some("%".into());
    assert!(message(&damaged).starts_with("the report is damaged: a histogram that is not base64"));
}

#[test]
fn errors_that_end_a_round_end_the_test() {
    let point = point(Op::Write, 10);
    let mut round = steady_round(&[1000; 3]);
    round.ended_by = EndedBy::Errors;
    round.errors = vec![ErrorCount { message: "write: No space left on device (ENOSPC)".into(), count: 4 }];
    let status = digest(&report_of(1, vec![(point.clone(), vec![round])]), &test_of(&[point]));
    assert_eq!(status.phase, TestPhase::Error);
    assert_eq!(
        status.message.as_deref(),
        Some("errors ended write 4 KiB, depth 1 at 3 of 10 s: write: No space left on device (ENOSPC) × 4")
    );
    assert_eq!(status.points[0].errors, 4);
    assert_eq!(status.points[0].validity.verdict, ValidityVerdict::Invalid);
}

#[test]
fn a_failed_test_keeps_the_points_that_are_whole() {
    let (one, two) = (Point { rounds: 2, ..point(Op::Write, 10) }, Point { rounds: 2, ..point(Op::RandWrite, 10) });
    let round = steady_round(&[1000; 10]);
    let mut report = report_of(1, vec![(one.clone(), vec![round.clone(), round.clone()]), (two.clone(), vec![round])]);
    report.outcome = Outcome::Failed("client 0 on node0: write: connection lost".into());
    let status = digest(&report, &test_of(&[one, two]));
    assert_eq!(status.phase, TestPhase::Error);
    assert_eq!(status.message.as_deref(), Some("client 0 on node0: write: connection lost"));
    assert_eq!(status.points.len(), 1);
    assert_eq!(status.points[0].op, Some(Op::Write));
}

#[test]
fn a_link_has_names_and_bits_and_no_iops() {
    let pattern = link(0, 1, 10);
    let measured = |source, target| {
        let point = link(source, target, 10);
        let mut round = steady_round(&[10_000; 10]);
        round.read = round.write.take().map(|sent| crate::contract::DirectionReport { histogram: None, ..sent });
        round.clients =
            [0, 1].map(|client| ClientRound { client, elapsed_micros: 10_000_000, ..ClientRound::default() }).into();
        (point, vec![round])
    };
    let status = digest(&report_of(2, vec![measured(0, 1), measured(1, 0)]), &test_of(&[pattern]));
    assert_eq!((status.phase, status.message.clone()), (TestPhase::Completed, None));
    let point = &status.points[1];
    assert_eq!(
        (point.source.as_deref(), point.target.as_deref(), point.streams),
        (Some("node1"), Some("node0"), Some(2))
    );
    assert_eq!(point.bandwidth.as_ref().map(|bandwidth| bandwidth.text.as_str()), Some("327.7 Mbit/s"));
    assert_eq!((point.iops, point.queue_depth, point.latency.clone()), (None, None, None));
    assert_eq!(point.validity.verdict, ValidityVerdict::Valid);
    assert_eq!(status.summary.as_deref(), Some("up to 327.7 Mbit/s"));
}

#[test]
fn engines_and_notes_are_said_once() {
    let point = point(Op::Write, 10);
    let mut round = steady_round(&[2000; 10]);
    round.clients.push(ClientRound { client: 1, ..round.clients[0].clone() });
    let mut report = report_of(2, vec![(point.clone(), vec![round])]);
    report.clients[1].engine = "threads".into();
    report.clients[1].engine_reason = Some("io_uring is forbidden here".into());
    for client in &mut report.clients {
        client.notes = vec!["the page cache could not be dropped".into()];
    }
    let status = digest(&report, &test_of(&[point]));
    let engine = status.engine.expect("named");
    assert_eq!(
        (engine.name.as_str(), engine.reason.as_deref()),
        ("io_uring, threads", Some("io_uring is forbidden here"))
    );
    assert_eq!(status.message.as_deref(), Some("the page cache could not be dropped"));
}
