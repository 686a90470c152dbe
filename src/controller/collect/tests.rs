//! Results from logs that are whole, cut, altered or somebody else's; case C1 among them.

use hdrhistogram::Histogram;
use k8s_openapi::jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::api::Op;
use crate::contract::histogram;
use crate::contract::{
    ClientReport, ClientRound, DirectionReport, EndedBy, Packed, Point, PointReport, Report, RoundReport, Sample,
    VERSION, pack, report_lines,
};
use crate::plan::{ClientPods, PlannedKind};

const SECONDS: u64 = 60;

fn point() -> Point {
    Point {
        op: Some(Op::Read),
        block_size: 4096,
        object_size: None,
        queue_depth: 1,
        jobs: 1,
        link: None,
        ramp_up_micros: 0,
        duration_micros: SECONDS * 1_000_000,
        bytes: None,
        rounds: 1,
    }
}

fn planned() -> PlannedTest {
    PlannedTest {
        name: "t".into(),
        kind: PlannedKind::File { directory: "/d".into(), size: 1 << 20 },
        points: vec![point()],
        clients: ClientPods::default(),
        notes: Vec::new(),
    }
}

fn prepared() -> PreparedTest {
    PreparedTest {
        nodes: vec!["n1".into()],
        image: "i".into(),
        host_mount: None,
        host_network: false,
        network_annotations: Default::default(),
        tolerations: Vec::new(),
        resources: Default::default(),
        priority_class: None,
        pull_secrets: Vec::new(),
        seconds: SECONDS,
        prepare_seconds: 600,
        deadline_seconds: 800,
        quota: 0,
    }
}

fn round() -> RoundReport {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("sound bounds");
    let ops = SECONDS * 1000;
    histogram.record_n(1_000_000, ops).expect("in bounds");
    let sample = |second| Sample { second, ops: 1000, bytes: 4096 * 1000, ..Sample::default() };
    RoundReport {
        elapsed_micros: SECONDS * 1_000_000,
        ended_by: EndedBy::Duration,
        read: Some(DirectionReport {
            ops,
            bytes: ops * 4096,
            histogram: Some(histogram::encode(&histogram)),
            min_nanos: 1_000_000,
            max_nanos: 1_000_000,
            sum_nanos: ops * 1_000_000,
            above_range: 0,
        }),
        series: (0..SECONDS as u32).map(sample).collect(),
        seconds_per_sample: 1,
        clients: vec![ClientRound {
            client: 0,
            ops,
            bytes: ops * 4096,
            elapsed_micros: SECONDS * 1_000_000,
            depth_seen: 1,
            ..ClientRound::default()
        }],
        ..RoundReport::default()
    }
}

fn report(outcome: Outcome) -> Report {
    Report {
        version: VERSION,
        run: "run".into(),
        test: "t".into(),
        clients: vec![ClientReport {
            client: 0,
            node: "n1".into(),
            pod_uid: "u".into(),
            engine: "io_uring".into(),
            engine_reason: None,
            notes: Vec::new(),
        }],
        points: vec![PointReport { point: point(), rounds: vec![round()], notes: Vec::new() }],
        outcome,
    }
}

fn packed(outcome: Outcome) -> Packed {
    pack(&report(outcome)).expect("it is small")
}

fn log(packed: &Packed) -> String {
    report_lines(packed).map(|line| line + "\n").collect()
}

fn client(cause: Option<&str>) -> Client {
    let at: Timestamp = "2026-11-30T21:00:31Z".parse().expect("a time");
    let state = ClientState::Ended { at, reported: true, cause: cause.map(str::to_owned), killed: false };
    Client { node: "n1".into(), job_made: None, state }
}

/// A conductor's pod whose bench ran 31 s.
fn pod(message: &str) -> Option<Pod> {
    let terminated = json!({"exitCode": 0, "message": message, "startedAt": "2026-11-30T21:00:00Z",
        "finishedAt": "2026-11-30T21:00:31Z"});
    let bench = json!({"name": "bench", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
        "state": {"terminated": terminated}});
    let pod = json!({"metadata": {"name": "p"}, "status": {"phase": "Succeeded", "containerStatuses": [bench]}});
    Some(serde_json::from_value(pod).expect("a pod"))
}

fn result_of(log: &str, cause: Option<&str>, pod: Option<Pod>) -> TestStatus {
    let (planned, prepared) = (planned(), prepared());
    let expected = Expected { run: "run", planned: &planned, prepared: &prepared };
    result(log, &expected, &[client(cause)], &[pod]).status
}

fn error(status: &TestStatus) -> &str {
    assert_eq!(status.phase, TestPhase::Error);
    status.message.as_deref().expect("a cause")
}

#[test]
fn a_whole_report_is_a_result() {
    let packed = packed(Outcome::Complete);
    let told = format!(r#"{{"outcome": "complete", "digest": "{}"}}"#, packed.digest);
    let status = result_of(&log(&packed), None, pod(&told));
    assert_eq!((status.phase, status.message.as_deref()), (TestPhase::Completed, None));
    assert_eq!(status.points.len(), 1);
}

#[test]
fn half_a_window_is_no_result_whatever_the_exit_code_says() {
    // C1: evicted at 31 s, exit 0, pod Succeeded, the header written and the end mark not.
    let whole = log(&packed(Outcome::Complete));
    let header = whole.lines().next().expect("a header");
    let status = result_of(header, Some("the bench stopped without a word"), pod(""));
    let cause = error(&status);
    assert!(cause.starts_with("client 0 on n1 stopped at 31 of 60 s: no whole report: "), "{cause}");
    assert!(cause.contains("the log was cut") && cause.ends_with("the bench stopped without a word"), "{cause}");
    assert!(status.points.is_empty());
}

#[test]
fn a_log_that_lost_its_start_or_its_end_is_an_error() {
    let whole = log(&packed(Outcome::Complete));
    let lines: Vec<&str> = whole.lines().collect();
    for part in [&lines[1..], &lines[..lines.len() - 1], &lines[..0]] {
        let status = result_of(&part.join("\n"), None, pod(""));
        assert!(error(&status).contains("no whole report"), "{part:?}");
    }
}

#[test]
fn what_stands_in_place_of_a_report_is_told() {
    let status = result_of("error: no bench has run here\n", None, pod(""));
    assert!(error(&status).contains("the log holds no report, but: error: no bench has run here"), "{status:?}");
}

#[test]
fn a_report_of_another_run_or_digest_is_not_taken() {
    let mut other = report(Outcome::Complete);
    other.run = "another".into();
    let other = log(&pack(&other).expect("it is small"));
    assert!(error(&result_of(&other, None, pod(""))).contains("it is of run another"));
    let told = r#"{"outcome": "complete", "digest": "0000"}"#;
    assert!(error(&result_of(&log(&packed(Outcome::Complete)), None, pod(told))).contains("the bench said 0000"));
}

/// Case B9: a run of fewer clients than were planned, or of none, never passes.
#[test]
fn a_report_of_other_clients_is_not_taken() {
    for nodes in [&[][..], &["n2"], &["n1", "n2"]] {
        let mut other = report(Outcome::Complete);
        let only = other.clients.remove(0);
        other.clients = nodes.iter().map(|node| ClientReport { node: (*node).into(), ..only.clone() }).collect();
        let status = result_of(&log(&pack(&other).expect("it is small")), None, pod(""));
        let wanted = format!("it is of clients on [{}], and the run's are on [n1]", nodes.join(", "));
        assert!(error(&status).contains(&wanted), "{status:?}");
    }
}

#[test]
fn a_failed_report_tells_its_cause_and_what_the_pods_say() {
    let packed = packed(Outcome::Failed("client 1 is gone".into()));
    let status = result_of(&log(&packed), Some("killed for want of memory"), pod(""));
    let cause = error(&status);
    assert!(
        cause.contains("client 1 is gone") && cause.contains("client 0 on n1: killed for want of memory"),
        "{cause}"
    );
}
