//! Gates: limits and selections.

use super::*;
use crate::api::Op;

#[test]
fn d2_gates_that_would_disarm_themselves_are_refused() {
    for (gate, says) in [
        (
            "metric: bandwidth, min: 200m",
            r#"spec.gates[0].min: "200m": is 0.2 bytes per second, for m is a thousandth; did you mean 200M (200,000,000) or 200Mi (209,715,200)?"#,
        ),
        ("metric: latencyP99, max: 20", "spec.gates[0].max: 20: has no unit; did you mean 20s, 20ms or 20us?"),
        ("metric: iops, min: nan", r#"spec.gates[0].min: "nan": is no number that anything can be held against"#),
        ("metric: iops, max: inf", r#"spec.gates[0].max: "inf": is no number that anything can be held against"#),
        ("metric: iops, min: -5", "spec.gates[0].min: -5: is negative; an amount is zero or more"),
        ("metric: errors, max: '0.5'", r#"spec.gates[0].max: "0.5": is 0.5, not a whole number"#),
        (
            "metric: iops, min: 0",
            "spec.gates[0].min: 0: is reached by every figure, so the gate could not fail; leave it out or raise it",
        ),
        ("metric: iops", "spec.gates[0]: has neither min nor max, so it judges nothing; set one, or both"),
        (
            "metric: iops, min: 10k, max: 9999",
            "spec.gates[0]: min 10k, max 9999: no figure can be both; min is at most max",
        ),
    ] {
        assert_eq!(refusals(&gated(FILE, "{}", gate)), [says], "{gate}");
    }
}

#[test]
fn limits_are_numbers_in_the_units_of_their_metrics() {
    for (gate, min, max) in [
        ("metric: bandwidth, min: 200Mi", Some(209_715_200.0), None),
        ("metric: iops, min: 10k, max: '20000.5'", Some(10_000.0), Some(20_000.5)),
        ("metric: latencyP99, max: 20ms", None, Some(20_000.0)),
        ("metric: errors, max: 0", None, Some(0.0)),
    ] {
        let gates = valid(&gated(FILE, "{}", gate)).gates;
        assert_eq!(gates[0].min.as_ref().map(|limit| limit.value), min, "{gate}");
        assert_eq!(gates[0].max.as_ref().map(|limit| limit.value), max, "{gate}");
    }
    let gates = valid(&gated(FILE, "{}", "metric: latencyP99, max: 20ms")).gates;
    assert_eq!(gates[0].max.as_ref().map(|limit| limit.text.as_str()), Some("20ms"));
}

#[test]
fn a_gate_looks_at_something_that_is_there() {
    let network = "network: {streams: [1, 4]}";
    let rados = "rados: {pool: {name: p}, objectSize: [4Mi, 1Mi]}";
    for (kind, workload, gate, says) in [
        (
            network,
            "{}",
            "metric: iops, min: 1",
            "spec.gates[0].metric: iops: test t is a network test, which has bandwidth and errors only",
        ),
        (
            network,
            "{}",
            "metric: bandwidth, min: 1, streams: 2",
            "spec.gates[0].streams: 2: no point of test t has it; there are 1, 4",
        ),
        (
            network,
            "{}",
            "metric: bandwidth, min: 1, queueDepth: 1",
            "spec.gates[0].queueDepth: 1: test t has no queueDepth",
        ),
        (network, "{}", "metric: bandwidth, min: 1, op: read", r#"spec.gates[0].op: "read": test t has no op"#),
        (
            FILE,
            "{}",
            "metric: bandwidth, min: 1, op: write",
            r#"spec.gates[0].op: "write": no point of test t has it; there are read"#,
        ),
        (
            FILE,
            "{blockSize: [4Ki, 64Ki]}",
            "metric: iops, min: 1, blockSize: 8Ki",
            r#"spec.gates[0].blockSize: "8Ki": no point of test t has it; there are 4Ki, 64Ki"#,
        ),
        (
            FILE,
            "{jobs: [2]}",
            "metric: iops, min: 1, jobs: 1",
            "spec.gates[0].jobs: 1: no point of test t has it; there are 2",
        ),
        (
            FILE,
            "{}",
            "metric: iops, min: 1, objectSize: 4Mi",
            r#"spec.gates[0].objectSize: "4Mi": test t has no objectSize"#,
        ),
        (
            rados,
            "{}",
            "metric: iops, min: 1, objectSize: 4Mi, blockSize: 1Mi",
            "spec.gates[0]: no point of test t has all that it selects by; without blockSize, a block is the object",
        ),
    ] {
        assert_eq!(refusals(&gated(kind, workload, gate)), [says], "{gate}");
    }
    let missing = format!(
        "tests: [{{name: disk, {FILE}}}, {{name: net, {NETWORK}}}]\ngates: [{{name: g, test: dsk, metric: iops, min: 1}}]"
    );
    assert_eq!(refusals(&missing), [r#"spec.gates[0].test: "dsk": no test has this name; there are disk, net"#]);
}

#[test]
fn a_gate_selects_however_the_size_is_written() {
    let validated = valid(&gated(
        FILE,
        "{blockSize: [4Ki, 64Ki], op: [read, write]}",
        "metric: iops, min: 1, blockSize: 4096, op: read",
    ));
    let selected: Vec<_> =
        validated.plan.tests[0].points.iter().filter(|point| validated.gates[0].selects(point)).collect();
    assert_eq!(selected.len(), 1);
    assert_eq!((selected[0].block_size, selected[0].op), (4096, Some(Op::Read)));
}
