//! The report log: what is written is read back, and no damage goes unseen.

use std::sync::LazyLock;

use hdrhistogram::Histogram;
use proptest::prelude::*;

use super::*;
use crate::contract::{ClientReport, DirectionReport, Outcome, Point, PointReport, RoundReport, Sample};

fn point() -> Point {
    Point {
        op: Some(crate::api::Op::RandRead),
        block_size: 4096,
        object_size: None,
        queue_depth: 32,
        jobs: 2,
        link: None,
        ramp_up_micros: 1_000_000,
        duration_micros: 60_000_000,
        bytes: None,
        rounds: 3,
    }
}

/// A generator with a known sequence: the size of a packed report depends on nothing else.
fn noise(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

fn histogram(seed: u64, values: u64) -> String {
    let mut random = noise(seed + 1);
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).expect("the bounds are in order");
    for _ in 0..values {
        histogram.record(1 + random() % 50_000_000).expect("below an hour");
    }
    crate::contract::histogram::encode(&histogram)
}

fn report(points: usize, seconds: u32, values: u64) -> Report {
    let mut random = noise(7);
    let round = |index: usize, random: &mut dyn FnMut() -> u64| RoundReport {
        elapsed_micros: 60_000_000,
        read: Some(DirectionReport {
            ops: values,
            bytes: values * 4096,
            histogram: Some(histogram(index as u64, values)),
            min_nanos: 1,
            max_nanos: 50_000_000,
            sum_nanos: values * 25_000_000,
            above_range: 0,
        }),
        series: (0..seconds)
            .map(|second| Sample {
                second,
                ops: random() % 100_000,
                bytes: random() % 1_000_000_000,
                errors: 0,
                latency_sum_nanos: random() >> 20,
                latency_max_nanos: random() % 50_000_000,
            })
            .collect(),
        seconds_per_sample: 1,
        ..RoundReport::default()
    };
    Report {
        version: VERSION,
        run: "run".into(),
        test: "test".into(),
        clients: vec![ClientReport {
            client: 0,
            node: "node1".into(),
            pod_uid: "uid".into(),
            engine: "null".into(),
            engine_reason: None,
            notes: vec![],
        }],
        points: (0..points)
            .map(|index| PointReport { point: point(), rounds: vec![round(index, &mut random)], notes: vec![] })
            .collect(),
        outcome: Outcome::Complete,
    }
}

fn lines_of(report: &Report) -> Vec<String> {
    report_lines(&pack(report).expect("small")).collect()
}

fn joined(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

#[test]
fn what_is_written_is_read_back_in_lines_under_the_limit() {
    let report = report(12, 60, 2_000);
    let lines = lines_of(&report);
    assert!(lines.len() > 5, "a report of several lines: {}", lines.len());
    assert!(lines.iter().all(|line| line.len() < MAX_LINE));
    let decoded = decode_log(&joined(&lines)).expect("nothing was changed");
    assert_eq!(decoded.report, report);
    assert_eq!(unpack(&decoded.packed.gzip).expect("packed by us"), report);
}

#[test]
fn lines_of_others_do_not_matter_wherever_they_stand() {
    let report = report(3, 60, 500);
    let mut lines = lines_of(&report);
    lines.insert(0, "a library warns".into());
    lines.insert(2, "so does another: cephbench-report".into());
    lines.push("bye".into());
    assert_eq!(decode_log(&joined(&lines)).expect("whole").report, report);
}

#[test]
fn a_repeated_line_is_fine_only_when_it_is_the_same() {
    let lines = lines_of(&report(12, 60, 2_000));
    let twice: Vec<String> = lines.iter().chain(&lines).cloned().collect();
    decode_log(&joined(&twice)).expect("the whole log, twice");

    let total = lines.len() - 2;
    let mut other = lines.clone();
    other.insert(3, sealed(&format!("line 2/{total} AAAA")));
    assert_eq!(decode_log(&joined(&other)), Err(LogError::Conflict { what: format!("line 2 of {total}") }));
    let mut other_header = lines.clone();
    other_header.extend(lines_of(&report(13, 60, 2_000)));
    assert_eq!(decode_log(&joined(&other_header)), Err(LogError::Conflict { what: "the header".into() }));
}

#[test]
fn every_missing_line_is_named() {
    let lines = lines_of(&report(12, 60, 2_000));
    let total = lines.len() - 2;
    for index in 0..lines.len() {
        let mut cut = lines.clone();
        cut.remove(index);
        let error = decode_log(&joined(&cut)).expect_err("a line is missing");
        let expected = match index {
            0 => LogError::NoHeader,
            _ if index == total + 1 => LogError::NoEnd { total },
            line => LogError::Missing { line, total },
        };
        assert_eq!(error, expected);
    }
    assert_eq!(
        LogError::Missing { line: 7, total: 12 }.to_string(),
        "line 7 of 12 missing: the log was cut or rotated"
    );
}

#[test]
fn lines_out_of_order_are_refused() {
    let mut lines = lines_of(&report(12, 60, 2_000));
    let total = lines.len() - 2;
    lines.swap(2, 3);
    assert_eq!(decode_log(&joined(&lines)), Err(LogError::OutOfOrder { line: 2, total }));
}

#[test]
fn a_log_without_a_report_says_so() {
    assert_eq!(decode_log(b""), Err(LogError::NoReport));
    assert_eq!(decode_log(b"hello\nworld\n"), Err(LogError::NoReport));
}

#[test]
fn other_versions_are_refused() {
    let mut lines = lines_of(&report(1, 1, 10));
    lines[0] = sealed(&format!("header version=2 lines=1 bytes=1 sha256={}", "0".repeat(64)));
    assert_eq!(decode_log(&joined(&lines)), Err(LogError::LogVersion("2".into())));

    let mut newer = report(1, 1, 10);
    newer.version = 2;
    assert_eq!(decode_log(&joined(&lines_of(&newer))), Err(LogError::ReportVersion(2)));
}

#[test]
fn a_report_that_is_too_large_loses_digits_and_says_so() {
    let large = report(4, 240, 20_000);
    let mut coarse = large.clone();
    fit::coarsen_histograms(&mut coarse);
    let coarse = gzip(&coarse).len();
    assert!(coarse < gzip(&large).len(), "two digits take less than three");
    let packed = pack_within(&large, coarse).expect("fits with fewer digits");
    let smaller = unpack(&packed.gzip).expect("packed by us");
    let point = &smaller.points[0];
    assert!(point.notes.iter().any(|note| note.contains("2 digits")), "{:?}", point.notes);
    let encoded = point.rounds[0].read.as_ref().and_then(|read| read.histogram.clone()).expect("it had one");
    let histogram = crate::contract::histogram::decode(&encoded).expect("a histogram");
    assert_eq!((histogram.sigfig(), histogram.len()), (2, 20_000));
    assert_eq!(point.rounds[0].series.len(), 240, "the digits were enough");

    let packed = pack_within(&large, coarse - 1).expect("fits with few samples too");
    let smaller = unpack(&packed.gzip).expect("packed by us");
    let point = &smaller.points[0];
    assert_eq!((point.rounds[0].series.len(), point.rounds[0].seconds_per_sample), (60, 4));
    let ops: u64 = large.points[0].rounds[0].series.iter().map(|sample| sample.ops).sum();
    assert_eq!(ops, point.rounds[0].series.iter().map(|sample| sample.ops).sum::<u64>());
}

#[test]
fn a_report_beyond_all_measure_is_refused() {
    let large = report(1, 600, 1_000);
    let error = pack_within(&large, 1_000).err().map(|error| error.to_string()).expect("it can't be that small");
    assert!(error.ends_with("measure fewer points or rounds in one test"), "{error}");
}

/// Made once: damage is tried many times.
static SMALL_LOG: LazyLock<Vec<u8>> = LazyLock::new(small_log);

fn small_log() -> Vec<u8> {
    let mut small = report(2, 60, 500);
    // Several lines, though the report is small.
    small.points[0].notes = (0..2_500_u64).map(|n| format!("{:x}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    let lines = lines_of(&small);
    assert!(lines.len() >= 4);
    joined(&lines)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_flipped_byte_is_seen(at in any::<prop::sample::Index>(), mask in 1_u8..) {
        let mut log = SMALL_LOG.clone();
        let at = at.index(log.len() - 1);
        log[at] ^= mask;
        prop_assert!(decode_log(&log).is_err(), "byte {at} with {mask:#x}");
    }

    #[test]
    fn any_cut_is_seen(from in any::<prop::sample::Index>(), length in 1_usize..40_000) {
        let log = &*SMALL_LOG;
        // The last newline alone may go: the end mark before it is whole.
        let from = from.index(log.len() - 1);
        let to = (from + length).min(log.len());
        let cut = [&log[..from], &log[to..]].concat();
        prop_assert!(decode_log(&cut).is_err(), "bytes {from} to {to} of {}", log.len());
    }

    #[test]
    fn any_noise_is_an_error_and_no_panic(noise in proptest::collection::vec(any::<u8>(), 0..400), marked: bool) {
        let mut log = if marked { format!("{MARK} ").into_bytes() } else { Vec::new() };
        log.extend(noise);
        prop_assert!(decode_log(&log).is_err());
    }
}
