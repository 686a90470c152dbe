//! The status in each of the things that it may be to say.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::super::fixtures::{frozen, key, now, observed, validated};
use super::*;
use crate::api::Progress;
use crate::plan::decide::{Thing, ThingKind};

fn test(name: &str, phase: TestPhase, message: Option<&str>) -> TestStatus {
    TestStatus {
        name: name.into(),
        phase,
        message: message.map(str::to_owned),
        summary: None,
        engine: None,
        points: Vec::new(),
        points_omitted: None,
    }
}

/// The status after `say`, in a run whose first test is complete and whose second has `second`.
fn after(say: Say, observed: &Observed, previous: &BenchmarkStatus, second: Option<TestStatus>) -> BenchmarkStatus {
    let frozen = frozen();
    let sources = Sources {
        observed,
        previous,
        uid: "u",
        frozen: Some(&frozen),
        results: vec![Some(test("a", TestPhase::Completed, None)), second],
        kept: vec![("result-0".into(), "d0".into()), ("result-1".into(), "d1".into())],
        gates: &validated().gates,
        fsid: Some("f"),
    };
    status(&sources, &say)
}

fn condition<'a>(status: &'a BenchmarkStatus, kind: &str) -> &'a Condition {
    status.conditions.iter().find(|condition| condition.type_ == kind).expect("every condition is always there")
}

fn going() -> BenchmarkStatus {
    let tests = vec![TestPhase::Completed, TestPhase::Running];
    let say = Say::Going { phase: Phase::Running, tests, message: None };
    after(say, &observed(Wanted::Valid(key())), &BenchmarkStatus::default(), None)
}

#[test]
fn a_run_that_goes_is_reconciling_and_names_its_pool_as_ceph_does() {
    let status = going();
    assert_eq!((status.observed_generation, status.phase), (5, Some(Phase::Running)));
    assert_eq!(condition(&status, "Reconciling").status, "True");
    assert_eq!(condition(&status, "Ready").status, "False");
    let run = status.run.expect("a run");
    assert_eq!((run.number, run.completion_time), (3, None));
    let pool = &status.cluster.expect("a fingerprint").pools[0].name;
    assert!(pool.starts_with("cephbench-b-"), "{pool}");
    assert_eq!(status.artifact, None, "while it goes there is more to come");
    assert_eq!(
        status.tests.iter().map(|test| test.phase).collect::<Vec<_>>(),
        [TestPhase::Completed, TestPhase::Running]
    );
}

#[test]
fn a_test_that_could_not_run_makes_the_run_an_error_with_its_cause() {
    let failed = test("b", TestPhase::Error, Some("client 1 on n2: ErrImagePull"));
    let say = Say::Finished { tests: vec![TestPhase::Completed, TestPhase::Error], left: Vec::new() };
    let status = after(say, &observed(Wanted::Valid(key())), &going(), Some(failed));
    assert_eq!(status.phase, Some(Phase::Error));
    assert_eq!(status.message.as_deref(), Some("test b: client 1 on n2: ErrImagePull"));
    assert_eq!(condition(&status, "Stalled").reason, "TestError");
    let run = status.run.expect("a run");
    assert_eq!(run.completion_time.map(|time| time.0), Some(now()));
    let artifact = status.artifact.expect("an artifact");
    assert_eq!(artifact.config_maps, ["result-0", "result-1"]);
    assert_eq!(artifact.digest.len(), 64);
    assert_eq!(status.progress.map(|progress: Progress| progress.text).as_deref(), Some("2/2"));
}

#[test]
fn what_was_left_behind_is_named_in_a_condition() {
    let say = Say::Finished { tests: vec![TestPhase::Completed; 2], left: vec!["CephBlockPool p: has images".into()] };
    let status = after(say, &observed(Wanted::Valid(key())), &going(), Some(test("b", TestPhase::Completed, None)));
    let running = condition(&status, "Running");
    assert_eq!(running.reason, "LeftBehind");
    assert!(running.message.contains("CephBlockPool p: has images"));
}

#[test]
fn a_replaced_run_does_not_speak_of_what_replaces_it() {
    let cancelled = || Say::Cancelled {
        why: "replaced".into(),
        tests: vec![TestPhase::Completed, TestPhase::Skipped],
        left: Vec::new(),
    };
    let other = Wanted::Valid(RunKey { trigger: Some("2".into()), ..key() });
    // Nor while it is cleaned up: the generation of its end would otherwise be the one that was written then.
    let cleaning = Say::Going { phase: Phase::Cleaning, tests: vec![TestPhase::Skipped; 2], message: None };
    assert_eq!(after(cleaning, &observed(other.clone()), &going(), None).observed_generation, 4);
    assert_eq!(after(cancelled(), &observed(other.clone()), &going(), None).observed_generation, 4);
    let finished = Say::Finished { tests: vec![TestPhase::Completed; 2], left: Vec::new() };
    assert_eq!(after(finished, &observed(other), &going(), None).observed_generation, 4);
    let mut suspended = observed(Wanted::Valid(key()));
    suspended.suspend = true;
    let status = after(cancelled(), &suspended, &going(), None);
    assert_eq!((status.observed_generation, status.phase), (5, Some(Phase::Cancelled)));
    assert_eq!(condition(&status, "Stalled").reason, "Cancelled");
}

#[test]
fn gates_of_today_judge_the_results_of_then() {
    let previous = {
        let say = Say::Finished { tests: vec![TestPhase::Completed; 2], left: Vec::new() };
        after(say, &observed(Wanted::Valid(key())), &going(), Some(test("b", TestPhase::Completed, None)))
    };
    let mut later = observed(Wanted::Valid(key()));
    later.now = "2026-12-01T08:00:00Z".parse().expect("a time");
    let again = Say::Judged { number: 3, left: Vec::new() };
    let status = after(again, &later, &previous, Some(test("b", TestPhase::Completed, None)));
    assert_eq!(status.run, previous.run, "nothing was measured");
    assert_eq!((status.phase, &status.gates), (previous.phase, &previous.gates));
    // The gate selects no point of a test without any.
    assert_eq!(status.phase, Some(Phase::Inconclusive));
}

#[test]
fn a_spec_that_is_not_valid_ends_what_is_said_of_the_run_before() {
    let say = Say::Invalid { message: "spec.tests[0].x: wrong".into() };
    let status = after(say, &observed(Wanted::Invalid("x".into())), &going(), None);
    assert_eq!((status.phase, status.observed_generation), (Some(Phase::Error), 5));
    assert_eq!(condition(&status, "Stalled").reason, "InvalidSpec");
    assert!(status.tests.is_empty() && status.run.is_some_and(|run| run.completion_time.is_some()));
}

#[test]
fn what_an_earlier_run_made_and_does_not_go_is_named_without_a_run() {
    let mut observed = observed(Wanted::Invalid("x".into()));
    observed.things.push(Thing {
        kind: ThingKind::Pool,
        name: "p".into(),
        uid: "u".into(),
        run: 1,
        test: Some(0),
        removing: Some(now()),
        blocked: Some("it holds images".into()),
    });
    for say in [Say::Invalid { message: "x".into() }, Say::Suspended] {
        let status = after(say, &observed, &going(), None);
        let running = condition(&status, "Running");
        assert_eq!(running.reason, "LeftBehind");
        assert!(running.message.contains("CephBlockPool p: it holds images"), "{}", running.message);
    }
}

#[test]
fn queued_and_refused() {
    let queued =
        after(Say::Queued { behind: "waiting for ns/x".into() }, &observed(Wanted::Valid(key())), &going(), None);
    assert_eq!((queued.phase, queued.message.as_deref()), (Some(Phase::Queued), Some("waiting for ns/x")));
    assert_eq!(condition(&queued, "Running").reason, "Queued");
    let refused = Say::Refused { number: 4, key: key(), reason: "NoNodes".into(), message: "none".into() };
    let refused = after(refused, &observed(Wanted::Valid(key())), &queued, None);
    assert_eq!(refused.run.map(|run| (run.number, run.completion_time.is_some())), Some((4, true)));
    assert_eq!(refused.conditions.iter().find(|c| c.type_ == "Stalled").map(|c| c.reason.as_str()), Some("NoNodes"));
}
