//! Every phase as its readers see it.

use super::*;
use crate::api::{BenchmarkStatus, PointStatus};

fn at(second: i64) -> Time {
    Time(k8s_openapi::jiff::Timestamp::from_second(second).expect("within range"))
}

fn test(phase: TestPhase, verdicts: &[ValidityVerdict]) -> TestStatus {
    let point = |verdict: &ValidityVerdict| -> PointStatus {
        let text = format!("{{blockSize: 4096, clients: 1, ops: 1, errors: 0, validity: {{verdict: {verdict:?}}}}}");
        serde_yaml_ng::from_str(&text).expect("a point")
    };
    TestStatus { points: verdicts.iter().map(point).collect(), ..crate::results::unmeasured("disk", phase, None) }
}

fn gate(name: &str, verdict: Verdict) -> GateStatus {
    GateStatus { name: name.into(), verdict, observed: None, wanted: "≥ 1".into(), message: None }
}

fn standing(phase: Phase) -> Standing<'static> {
    Standing { generation: 4, phase, reason: None, message: None, tests: &[], gates: &[], left_behind: &[] }
}

fn status_of<'a>(conditions: &'a [Condition], type_: &str) -> (&'a str, &'a str) {
    let condition = conditions.iter().find(|condition| condition.type_ == type_).expect("always there");
    (&condition.status, &condition.reason)
}

const PHASES: [Phase; 9] = [
    Phase::Queued,
    Phase::Preparing,
    Phase::Running,
    Phase::Cleaning,
    Phase::Passed,
    Phase::Failed,
    Phase::Error,
    Phase::Inconclusive,
    Phase::Cancelled,
];

#[test]
fn the_worst_names_the_run() {
    let (done, error) = (test(TestPhase::Completed, &[]), test(TestPhase::Error, &[]));
    let (passed, failed, unknown) =
        (gate("a", Verdict::Passed), gate("b", Verdict::Failed), gate("c", Verdict::Inconclusive));
    let of = |tests: &[&TestStatus], gates: &[&GateStatus]| {
        let tests: Vec<TestStatus> = tests.iter().copied().cloned().collect();
        let gates: Vec<GateStatus> = gates.iter().copied().cloned().collect();
        phase_of(&tests, &gates)
    };
    assert_eq!(of(&[&done], &[]), Phase::Passed);
    assert_eq!(of(&[&done], &[&passed]), Phase::Passed);
    assert_eq!(of(&[&done], &[&passed, &unknown]), Phase::Inconclusive);
    assert_eq!(of(&[&done], &[&unknown, &failed]), Phase::Failed);
    assert_eq!(of(&[&done, &error], &[&failed]), Phase::Error);
    assert_eq!(of(&[&done, &test(TestPhase::Skipped, &[])], &[]), Phase::Error);
    assert_eq!(of(&[], &[]), Phase::Error, "nothing measured has not passed");
}

#[test]
fn the_cause_is_one_line() {
    let mut error = test(TestPhase::Error, &[]);
    error.message = Some("client 1 on node1 stopped at 31 of 60 s".into());
    let (done, skipped) = (test(TestPhase::Completed, &[]), test(TestPhase::Skipped, &[]));
    let mut failed = gate("floor", Verdict::Failed);
    failed.observed = Some("0.5".into());
    let mut unknown = gate("tail", Verdict::Inconclusive);
    unknown.message = Some("test disk has no result".into());
    let cause = |tests: &[&TestStatus], gates: &[&GateStatus]| {
        let tests: Vec<TestStatus> = tests.iter().copied().cloned().collect();
        let gates: Vec<GateStatus> = gates.iter().copied().cloned().collect();
        cause_of(&tests, &gates)
    };
    assert_eq!(cause(&[&done], &[&gate("a", Verdict::Passed)]), None);
    assert_eq!(
        cause(&[&done, &skipped, &error], &[&failed]).as_deref(),
        Some("test disk: client 1 on node1 stopped at 31 of 60 s (and 1 more)")
    );
    assert_eq!(
        cause(&[&done], &[&unknown, &failed, &failed]).as_deref(),
        Some("gate floor failed: 0.5 observed, ≥ 1 wanted (and 1 more)")
    );
    assert_eq!(cause(&[&done], &[&unknown]).as_deref(), Some("gate tail could not be judged: test disk has no result"));
    assert_eq!(cause(&[], &[]).as_deref(), Some("nothing was measured"));
}

#[test]
fn each_phase_has_its_row() {
    use reasons::{READY, RECONCILING, STALLED, SUCCEEDED};
    let row = |phase| {
        let conditions = conditions(&standing(phase), &[], &at(0));
        let [ready, reconciling, stalled, succeeded] =
            [READY, RECONCILING, STALLED, SUCCEEDED].map(|type_| status_of(&conditions, type_).0.to_owned());
        let reason = status_of(&conditions, STALLED).1.to_owned();
        (format!("{ready} {reconciling} {stalled} {succeeded}"), reason, exit_code(phase))
    };
    let rows: Vec<String> = PHASES
        .into_iter()
        .map(|phase| {
            let (states, reason, code) = row(phase);
            let code = code.map_or("-".to_owned(), |code| code.to_string());
            format!("{phase:?}: {states} {reason} {code}")
        })
        .collect();
    assert_eq!(
        rows,
        [
            "Queued: False True False Unknown Queued -",
            "Preparing: False True False Unknown Preparing -",
            "Running: False True False Unknown Measuring -",
            "Cleaning: False True False Unknown Cleaning -",
            "Passed: True False False True Passed 0",
            "Failed: False False True False GateFailed 1",
            "Error: False False True False TestError 2",
            "Inconclusive: False False True Unknown GateInconclusive 3",
            "Cancelled: False False True False Cancelled 2",
        ]
    );
}

#[test]
fn an_error_stalls_with_its_cause() {
    let error =
        Standing { reason: Some(reasons::INVALID_SPEC), message: Some("spec.tests[0]: …"), ..standing(Phase::Error) };
    let conditions = conditions(&error, &[], &at(0));
    assert_eq!(status_of(&conditions, reasons::STALLED), ("True", reasons::INVALID_SPEC));
    assert_eq!(conditions[2].message, "spec.tests[0]: …");
}

/// What kstatus computes, in the order in which it reads.
fn kstatus(generation: i64, status: &BenchmarkStatus) -> &'static str {
    let is_true = |type_| status.conditions.iter().any(|c| c.type_ == type_ && c.status == "True");
    let is_false = |type_| status.conditions.iter().any(|c| c.type_ == type_ && c.status == "False");
    if status.observed_generation != generation || is_true(reasons::RECONCILING) {
        "InProgress"
    } else if is_true(reasons::STALLED) {
        "Failed"
    } else if is_false(reasons::READY) {
        "InProgress"
    } else {
        "Current"
    }
}

#[test]
fn kstatus_waits_while_a_run_is_on_its_way_and_ends_in_every_final_phase() {
    for phase in PHASES {
        let status = BenchmarkStatus {
            observed_generation: 4,
            conditions: conditions(&standing(phase), &[], &at(0)),
            ..BenchmarkStatus::default()
        };
        let wanted = match phase {
            Phase::Queued | Phase::Preparing | Phase::Running | Phase::Cleaning => "InProgress",
            Phase::Passed => "Current",
            Phase::Failed | Phase::Error | Phase::Inconclusive | Phase::Cancelled => "Failed",
        };
        assert_eq!(kstatus(4, &status), wanted, "{phase:?}");
        assert_eq!(kstatus(5, &status), "InProgress", "{phase:?} of an earlier generation");
    }
}

/// The API server refuses conditions that break these rules.
#[test]
fn every_condition_is_there_in_every_phase_and_well_formed() {
    for phase in PHASES {
        let conditions = conditions(&standing(phase), &[], &at(0));
        let types: Vec<&str> = conditions.iter().map(|condition| condition.type_.as_str()).collect();
        assert_eq!(types, reasons::CONDITIONS);
        for condition in conditions {
            assert!(["True", "False", "Unknown"].contains(&condition.status.as_str()));
            assert!(!condition.reason.is_empty() && condition.reason.chars().all(|c| c.is_ascii_alphanumeric()));
            assert_eq!(condition.observed_generation, Some(4));
        }
    }
}

#[test]
fn a_transition_has_its_time_and_no_change_keeps_it() {
    let running = conditions(&standing(Phase::Running), &[], &at(10));
    let cleaning = conditions(&standing(Phase::Cleaning), &running, &at(20));
    assert!(cleaning.iter().all(|condition| condition.last_transition_time == at(10)));
    assert_eq!(status_of(&cleaning, reasons::READY).1, reasons::CLEANING, "the reason may change without a transition");
    let passed = conditions(&standing(Phase::Passed), &cleaning, &at(30));
    let moved: Vec<&str> = passed
        .iter()
        .filter(|condition| condition.last_transition_time == at(30))
        .map(|condition| condition.type_.as_str())
        .collect();
    assert_eq!(
        moved,
        [reasons::READY, reasons::RECONCILING, reasons::SUCCEEDED, reasons::GATES_PASSED, reasons::RUNNING]
    );
}

#[test]
fn valid_says_what_the_points_say() {
    use ValidityVerdict::{Invalid, Suspect, Valid};
    let of = |verdicts: &[ValidityVerdict]| {
        let tests = [test(TestPhase::Completed, verdicts)];
        let conditions = conditions(&Standing { tests: &tests, ..standing(Phase::Passed) }, &[], &at(0));
        let (status, reason) = status_of(&conditions, reasons::VALID);
        (status.to_owned(), reason.to_owned(), conditions[4].message.clone())
    };
    assert_eq!(of(&[]), ("Unknown".into(), "NothingMeasured".into(), String::new()));
    assert_eq!(of(&[Valid, Valid]), ("True".into(), "FiguresValid".into(), String::new()));
    assert_eq!(of(&[Suspect, Valid]), ("Unknown".into(), "FiguresSuspect".into(), "1 of 2 points suspect".into()));
    assert_eq!(of(&[Invalid, Suspect]), ("False".into(), "FiguresInvalid".into(), "1 of 2 points invalid".into()));
}

#[test]
fn gates_passed_says_what_the_gates_say() {
    let tests = [test(TestPhase::Completed, &[])];
    let of = |phase, gates: &[GateStatus]| {
        let standing = Standing { tests: &tests, gates, ..standing(phase) };
        let conditions = conditions(&standing, &[], &at(0));
        let (status, reason) = status_of(&conditions, reasons::GATES_PASSED);
        format!("{status} {reason} {}", conditions[5].message)
    };
    let (passed, failed, unknown) =
        (gate("a", Verdict::Passed), gate("b", Verdict::Failed), gate("c", Verdict::Inconclusive));
    assert_eq!(of(Phase::Running, &[]), "Unknown NotJudged ");
    assert_eq!(of(Phase::Passed, &[]), "True NoGates ");
    assert_eq!(of(Phase::Error, &[]), "Unknown NotJudged ");
    assert_eq!(of(Phase::Passed, std::slice::from_ref(&passed)), "True Passed ");
    assert_eq!(of(Phase::Inconclusive, &[passed.clone(), unknown.clone()]), "Unknown GateInconclusive c");
    assert_eq!(of(Phase::Failed, &[passed, failed, unknown]), "False GateFailed b");
}

#[test]
fn what_could_not_be_removed_is_named() {
    let left = ["CephBlockPool rook-ceph/cephbench-1a2b: PoolNotEmpty".to_owned()];
    let conditions = conditions(&Standing { left_behind: &left, ..standing(Phase::Passed) }, &[], &at(0));
    assert_eq!(status_of(&conditions, reasons::RUNNING), ("False", reasons::LEFT_BEHIND));
    assert!(conditions[6].message.contains("cephbench-1a2b: PoolNotEmpty"));
}
