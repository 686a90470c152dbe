//! The whole status of a benchmark; in a cluster kept small enough for the API server and for those who watch it: at most 64 points of a
//! test and 256 KiB in all. What does not fit is counted, never lost silently: the artifact has it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use super::outcome::{Standing, conditions};
use crate::api::{
    ArtifactStatus, BenchmarkStatus, ClusterStatus, GateStatus, Phase, Progress, RunStatus, TestStatus, Verdict,
};
use crate::plan::{MAX_MESSAGE, shortened};

/// Points of one test that the status keeps.
pub const MAX_POINTS: usize = 64;
/// Bytes of the status as JSON.
pub const MAX_STATUS: usize = 256 << 10;
/// Bytes that dropping points may add: a field that counts them.
const COUNT_BYTES: usize = 32;

/// Bytes of texts whose length others decide: with all of them and [`MAX_MESSAGE`] at their longest, a status without points stays below
/// its limit.
const MAX_GATE_MESSAGE: usize = 400;
const MAX_SHORT: usize = 300;

/// Everything that a status says, before it is made to fit.
#[derive(Clone, Debug)]
pub struct Parts {
    pub generation: i64,
    pub phase: Phase,
    /// The cause of an Error, one of [`super::reasons`].
    pub reason: Option<String>,
    pub message: Option<String>,
    pub run: Option<RunStatus>,
    pub progress: Option<Progress>,
    pub cluster: Option<ClusterStatus>,
    /// With all their points.
    pub tests: Vec<TestStatus>,
    pub gates: Vec<GateStatus>,
    pub artifact: Option<ArtifactStatus>,
    /// What the run made and could not be removed, by name.
    pub left_behind: Vec<String>,
}

/// Puts a status together for an API server: only as many points as fit. `previous` are the conditions as they stand.
pub fn assemble(parts: Parts, previous: &[Condition], now: &Time) -> BenchmarkStatus {
    fit(assemble_whole(parts, previous, now))
}

/// Puts a status together with all its points, for where nothing limits it: conditions, and the summary of gates.
pub fn assemble_whole(parts: Parts, previous: &[Condition], now: &Time) -> BenchmarkStatus {
    let Parts { generation, phase, reason, message, run, progress, cluster, tests, gates, artifact, left_behind } =
        parts;
    let message = message.map(|message| shortened(message, MAX_MESSAGE));
    let standing = Standing {
        generation,
        phase,
        reason: reason.as_deref(),
        message: message.as_deref(),
        tests: &tests,
        gates: &gates,
        left_behind: &left_behind,
    };
    let mut conditions = conditions(&standing, previous, now);
    for condition in &mut conditions {
        condition.message = shortened(std::mem::take(&mut condition.message), MAX_MESSAGE);
    }
    BenchmarkStatus {
        observed_generation: generation,
        phase: Some(phase),
        message,
        run,
        conditions,
        progress,
        cluster,
        gates_summary: gates_summary(&gates),
        tests,
        gates,
        artifact,
    }
}

/// Gates that passed, of all: `3/4`. Absent without gates.
pub fn gates_summary(gates: &[GateStatus]) -> Option<String> {
    let passed = gates.iter().filter(|gate| gate.verdict == Verdict::Passed).count();
    (!gates.is_empty()).then(|| format!("{passed}/{}", gates.len()))
}

/// How far a run is, with its text: `1/3 pool 45%`.
pub fn progress(done: usize, tests: usize, current: Option<&str>, percent: u8, estimated: Option<Time>) -> Progress {
    let text = match current {
        Some(current) => format!("{done}/{tests} {current} {percent}%"),
        None => format!("{done}/{tests}"),
    };
    Progress {
        tests_done: done as i64,
        tests: tests as i64,
        current: current.map(str::to_owned),
        percent: percent.min(100).into(),
        text,
        estimated_completion: estimated,
    }
}

/// Shortens texts, keeps the first points of each test, and then drops points from whichever test takes most room.
fn fit(mut status: BenchmarkStatus) -> BenchmarkStatus {
    status.tests.iter_mut().for_each(shorten_test);
    for gate in &mut status.gates {
        gate.message = gate.message.take().map(|message| shortened(message, MAX_GATE_MESSAGE));
    }
    for test in &mut status.tests {
        let kept = test.points.len().min(MAX_POINTS);
        drop_points(test, kept);
    }
    let mut size = json_size(&status) + status.tests.len() * COUNT_BYTES;
    let mut points: Vec<Vec<usize>> =
        status.tests.iter().map(|test| test.points.iter().map(|point| json_size(point) + 1).collect()).collect();
    while size > MAX_STATUS {
        let largest = points.iter_mut().max_by_key(|points| points.iter().sum::<usize>());
        match largest.and_then(Vec::pop) {
            Some(freed) => size -= freed,
            None => break,
        }
    }
    for (test, kept) in status.tests.iter_mut().zip(points) {
        drop_points(test, kept.len());
    }
    status
}

fn drop_points(test: &mut TestStatus, kept: usize) {
    let dropped = test.points.len().saturating_sub(kept) as i64;
    if dropped > 0 {
        test.points.truncate(kept);
        test.points_omitted = Some(test.points_omitted.unwrap_or(0) + dropped);
    }
}

fn shorten_test(test: &mut TestStatus) {
    test.message = test.message.take().map(|text| shortened(text, MAX_MESSAGE));
    test.summary = test.summary.take().map(|text| shortened(text, MAX_SHORT));
    if let Some(engine) = &mut test.engine {
        engine.reason = engine.reason.take().map(|text| shortened(text, MAX_SHORT));
    }
    for reason in test.points.iter_mut().flat_map(|point| &mut point.validity.reasons) {
        reason.message = shortened(std::mem::take(&mut reason.message), MAX_SHORT);
    }
}

fn json_size(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).expect("status types have text keys and finite numbers").len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{PointStatus, TestPhase, ValidityReason};

    fn point(message: &str) -> PointStatus {
        let text = "{op: randwrite, blockSize: 4096, queueDepth: 16, jobs: 1, clients: 3, ops: 616, errors: 0,
            bandwidth: {bytesPerSecond: 43096474, text: 41.1 MiB/s}, iops: 10.27, validity: {verdict: Suspect},
            latency: {meanMicros: 1742.01, p50Micros: 1735.02, p95Micros: 1760.03, p99Micros: 1800.04, p999Micros: 2100.05,
              maxMicros: 2500.06}}";
        let mut point: PointStatus = serde_yaml_ng::from_str(text).expect("a point");
        point.validity.reasons = vec![ValidityReason { code: "Errors".into(), message: message.into() }];
        point
    }

    fn test(name: &str, points: Vec<PointStatus>) -> TestStatus {
        TestStatus { points, ..crate::results::unmeasured(name, TestPhase::Completed, None) }
    }

    fn parts(tests: Vec<TestStatus>) -> Parts {
        Parts {
            generation: 2,
            phase: Phase::Failed,
            reason: None,
            message: Some("gate floor failed".into()),
            run: None,
            progress: None,
            cluster: None,
            tests,
            gates: Vec::new(),
            artifact: None,
            left_behind: Vec::new(),
        }
    }

    fn now() -> Time {
        Time(k8s_openapi::jiff::Timestamp::from_second(0).expect("within range"))
    }

    #[test]
    fn sixty_four_points_are_kept_and_the_rest_counted() {
        let status =
            assemble(parts(vec![test("a", vec![point("x"); 100]), test("b", vec![point("x"); 64])]), &[], &now());
        let kept: Vec<_> = status.tests.iter().map(|test| (test.points.len(), test.points_omitted)).collect();
        assert_eq!(kept, [(64, Some(36)), (64, None)]);
    }

    #[test]
    fn the_largest_tests_give_way_first() {
        let long = "x".repeat(900);
        let mut tests: Vec<TestStatus> =
            (0..31).map(|index| test(&format!("t{index}"), vec![point(&long); 64])).collect();
        tests.push(test("small", vec![point("x"); 4]));
        let status = assemble(parts(tests), &[], &now());
        assert!(json_size(&status) <= MAX_STATUS, "{}", json_size(&status));
        assert!(json_size(&status) > MAX_STATUS - 4096, "no more is dropped than has to be: {}", json_size(&status));
        let (small, large) = status.tests.split_last().expect("32 tests");
        assert_eq!((small.points.len(), small.points_omitted), (4, None));
        for test in large {
            assert_eq!(test.points.len() as i64 + test.points_omitted.unwrap_or(0), 64);
            assert!(test.points.len() > 5, "{} keeps {}", test.name, test.points.len());
        }
    }

    #[test]
    fn no_text_of_others_makes_the_status_too_large() {
        let long = "ä".repeat(100_000);
        let mut tests: Vec<TestStatus> =
            (0..32).map(|index| test(&format!("t{index}"), vec![point(&long); 64])).collect();
        for test in &mut tests {
            test.message = Some(long.clone());
            test.summary = Some(long.clone());
        }
        let gate = GateStatus {
            name: "g".repeat(40),
            verdict: Verdict::Failed,
            observed: Some("1".into()),
            wanted: "≥ 2".into(),
            message: Some(long.clone()),
        };
        let parts =
            Parts { message: Some(long.clone()), gates: vec![gate; 64], left_behind: vec![long], ..parts(tests) };
        let status = assemble(parts, &[], &now());
        assert!(json_size(&status) <= MAX_STATUS, "{}", json_size(&status));
        assert!(status.tests.iter().all(|test| test.points.len() > 3), "points have room all the same");
        assert!(status.conditions.iter().all(|condition| condition.message.len() <= MAX_MESSAGE));
        assert_eq!(status.gates_summary.as_deref(), Some("0/64"));
    }

    #[test]
    fn progress_reads_as_one_line() {
        let going = progress(1, 3, Some("pool"), 45, None);
        assert_eq!((going.text.as_str(), going.percent, going.tests_done), ("1/3 pool 45%", 45, 1));
        assert_eq!(progress(3, 3, None, 100, None).text, "3/3");
    }
}
