//! Verdicts over small tests, written as they stand in a status.

use super::*;
use crate::api::Op;

/// A complete test `pool` with these points, each written as YAML.
fn test(points: &[&str]) -> TestStatus {
    let points = points.iter().map(|point| serde_yaml_ng::from_str(point).expect("a point")).collect();
    TestStatus { points, ..crate::results::unmeasured("pool", TestPhase::Completed, None) }
}

const WRITE: &str = "{op: write, blockSize: 4194304, queueDepth: 16, jobs: 1, clients: 3, ops: 616, errors: 0,
    bandwidth: {bytesPerSecond: 43096474, text: 41.1 MiB/s}, iops: 10.27, validity: {verdict: Valid},
    latency: {meanMicros: 1742.0, p50Micros: 1735.0, p95Micros: 1760.0, p99Micros: 1800.0, p999Micros: 2100.0, maxMicros: 2500.0}}";
const READ: &str = "{op: read, blockSize: 4194304, queueDepth: 16, jobs: 1, clients: 3, ops: 6160, errors: 2,
    bandwidth: {bytesPerSecond: 430964740, text: 411 MiB/s}, iops: 102.7,
    validity: {verdict: Suspect, reasons: [{code: Errors, message: 2 of 6162 operations failed}]}}";
const INVALID: &str = "{op: randread, blockSize: 4096, queueDepth: 16, jobs: 1, clients: 3, ops: 6160, errors: 700,
    bandwidth: {bytesPerSecond: 430964740, text: 411 MiB/s}, iops: 102.7,
    validity: {verdict: Invalid, reasons: [{code: ClientMissing, message: client 1 has no part in round 1}]}}";
const LINK: &str = "{blockSize: 131072, clients: 2, streams: 4, source: node1, target: node2, ops: 9, errors: 0,
    bandwidth: {bytesPerSecond: 1176250000, text: 9.41 Gbit/s}, validity: {verdict: Valid}}";

fn gate(metric: Metric, min: Option<f64>, max: Option<f64>) -> PlannedGate {
    let limit = |value: f64| Limit { value, text: value.to_string() };
    PlannedGate {
        name: "gate".into(),
        test: "pool".into(),
        metric,
        op: None,
        block_size: None,
        object_size: None,
        queue_depth: None,
        jobs: None,
        streams: None,
        min: min.map(limit),
        max: max.map(limit),
    }
}

fn judged(gate: &PlannedGate, tests: &[TestStatus]) -> GateStatus {
    judge(std::slice::from_ref(gate), tests).remove(0)
}

fn verdict(gate: PlannedGate, points: &[&str]) -> Verdict {
    judged(&gate, &[test(points)]).verdict
}

const MIB: f64 = 1_048_576.0;

#[test]
fn a_figure_passes_at_its_limit_and_fails_beyond() {
    let mean = |max| gate(Metric::LatencyMean, None, Some(max));
    assert_eq!(verdict(mean(1742.0), &[WRITE]), Verdict::Passed);
    assert_eq!(verdict(mean(1741.9), &[WRITE]), Verdict::Failed);
    let iops = |min| gate(Metric::Iops, Some(min), None);
    assert_eq!(verdict(iops(10.27), &[WRITE]), Verdict::Passed);
    assert_eq!(verdict(iops(10.28), &[WRITE]), Verdict::Failed);
    assert_eq!(verdict(gate(Metric::Errors, None, Some(0.0)), &[WRITE]), Verdict::Passed);
    assert_eq!(verdict(gate(Metric::Errors, None, Some(0.0)), &[READ]), Verdict::Failed);
}

/// Case A2: a mean of 1,742 µs and 574 operations a second, against 500 µs and 2,000.
#[test]
fn a_flush_in_the_latency_fails_both_gates() {
    let drive = WRITE.replace("10.27", "574");
    let points = [drive.as_str()];
    assert_eq!(verdict(gate(Metric::LatencyMean, None, Some(500.0)), &points), Verdict::Failed);
    assert_eq!(verdict(gate(Metric::Iops, Some(2000.0), None), &points), Verdict::Failed);
}

#[test]
fn every_point_must_pass_and_the_worst_is_shown() {
    let status = judged(&gate(Metric::Bandwidth, Some(200.0 * MIB), None), &[test(&[READ, WRITE])]);
    assert_eq!(status.verdict, Verdict::Failed);
    assert_eq!((status.observed.as_deref(), status.wanted.as_str()), (Some("41.1 MiB/s"), "≥ 200 MiB/s"));
    assert_eq!(status.message.as_deref(), Some("write 4 MiB, depth 16, 1 job"));
    let of_reads = PlannedGate { op: Some(Op::Read), ..gate(Metric::Bandwidth, Some(200.0 * MIB), None) };
    let status = judged(&of_reads, &[test(&[READ, WRITE])]);
    assert_eq!((status.verdict, status.observed.as_deref()), (Verdict::Passed, Some("411 MiB/s")));
    assert_eq!(status.message.as_deref(), Some("read 4 MiB, depth 16, 1 job: Suspect: 2 of 6162 operations failed"));
}

#[test]
fn an_invalid_figure_is_never_passed_nor_failed() {
    for min in [1.0, 1e12] {
        let status = judged(&gate(Metric::Bandwidth, Some(min), None), &[test(&[INVALID])]);
        assert_eq!((status.verdict, status.observed.as_deref()), (Verdict::Inconclusive, Some("411 MiB/s")));
        assert_eq!(
            status.message.as_deref(),
            Some("randread 4 KiB, depth 16, 1 job: Invalid: client 1 has no part in round 1")
        );
    }
}

#[test]
fn a_believable_failure_outweighs_a_doubt() {
    assert_eq!(verdict(gate(Metric::Bandwidth, Some(200.0 * MIB), None), &[INVALID, WRITE]), Verdict::Failed);
    assert_eq!(verdict(gate(Metric::Bandwidth, Some(40.0 * MIB), None), &[INVALID, WRITE]), Verdict::Inconclusive);
}

#[test]
fn errors_that_were_counted_fail_even_where_the_figure_is_invalid() {
    assert_eq!(verdict(gate(Metric::Errors, None, Some(0.0)), &[INVALID]), Verdict::Failed);
    assert_eq!(verdict(gate(Metric::Errors, None, Some(700.0)), &[INVALID]), Verdict::Inconclusive);
}

#[test]
fn what_is_missing_is_inconclusive() {
    let p99 = gate(Metric::LatencyP99, None, Some(1e9));
    let message = |status: GateStatus| {
        assert_eq!((status.verdict, &status.observed), (Verdict::Inconclusive, &None));
        status.message.unwrap_or_default()
    };
    assert_eq!(message(judged(&p99, &[])), "test pool has no result");
    assert_eq!(message(judged(&p99, &[test(&[READ])])), "read 4 MiB, depth 16, 1 job: this was not measured");
    assert_eq!(message(judged(&p99, &[test(&[])])), "test pool has no point that this gate selects");
    let other_depth = PlannedGate { queue_depth: Some(17), ..p99.clone() };
    assert_eq!(message(judged(&other_depth, &[test(&[WRITE])])), "test pool has no point that this gate selects");
    let mut failed = test(&[WRITE]);
    failed.phase = TestPhase::Error;
    failed.message = Some("client 1 stopped at 31 of 60 s".into());
    assert_eq!(message(judged(&p99, &[failed])), "test pool is not complete: client 1 stopped at 31 of 60 s");
    let mut trimmed = test(&[WRITE]);
    trimmed.points_omitted = Some(12);
    let status = judged(&p99, &[trimmed]);
    assert_eq!((status.verdict, status.observed.as_deref()), (Verdict::Inconclusive, Some("1.80 ms")));
    assert_eq!(status.message.as_deref(), Some("12 more points are in the artifact only"));
}

#[test]
fn selections_must_all_hold() {
    let sound = gate(Metric::Iops, Some(1.0), None);
    let hit = PlannedGate {
        op: Some(Op::Write),
        block_size: Some(4 << 20),
        queue_depth: Some(16),
        jobs: Some(1),
        ..sound.clone()
    };
    assert_eq!(verdict(hit.clone(), &[WRITE]), Verdict::Passed);
    for miss in [
        PlannedGate { block_size: Some(4096), ..hit.clone() },
        PlannedGate { object_size: Some(4 << 20), ..hit.clone() },
        PlannedGate { jobs: Some(2), ..hit.clone() },
        PlannedGate { streams: Some(4), ..hit },
    ] {
        assert_eq!(verdict(miss, &[WRITE]), Verdict::Inconclusive);
    }
}

#[test]
fn links_are_judged_in_their_own_unit() {
    let status = judged(&gate(Metric::Bandwidth, Some(1.25e9), None), &[test(&[LINK])]);
    assert_eq!((status.verdict, status.observed.as_deref()), (Verdict::Failed, Some("9.41 Gbit/s")));
    assert_eq!(
        (status.wanted.as_str(), status.message.as_deref()),
        ("≥ 10.00 Gbit/s", Some("node1 → node2, 4 streams"))
    );
}

#[test]
fn numbers_that_look_alike_are_told_apart() {
    let near = WRITE.replace("43096474", "209715199");
    let status = judged(&gate(Metric::Bandwidth, Some(200.0 * MIB), None), &[test(&[&near])]);
    assert_eq!((status.verdict, status.observed.as_deref()), (Verdict::Failed, Some("200 MiB/s")));
    assert_eq!(status.message.as_deref(), Some("write 4 MiB, depth 16, 1 job: 209715199 against 209715200"));
}

#[test]
fn both_limits_hold_at_once() {
    let range = |min, max| gate(Metric::Iops, Some(min), Some(max));
    let status = judged(&range(5.0, 9.0), &[test(&[WRITE])]);
    assert_eq!((status.verdict, status.wanted.as_str()), (Verdict::Failed, "≥ 5 and ≤ 9"));
    assert_eq!(verdict(range(5.0, 11.0), &[WRITE]), Verdict::Passed);
    assert_eq!(verdict(range(11.0, 12.0), &[WRITE]), Verdict::Failed);
}
