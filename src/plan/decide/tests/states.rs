//! The step in single states.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::super::*;
use crate::api::{OnFailure, Phase, TestPhase};
use crate::plan::frozen::{Needs, Remains, RunKey};
use crate::plan::{MAX_MESSAGE, shortened};

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).expect("in range")
}

fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

fn key() -> RunKey {
    RunKey { spec_hash: "a".into(), trigger: Some("1".into()) }
}

fn client(node: &str, state: ClientState) -> Client {
    let job_made = if state == ClientState::Absent { None } else { Some(ago(100)) };
    Client { node: node.into(), job_made, state }
}

fn running() -> ClientState {
    ClientState::Running { since: ago(10), address: Some("10.0.0.1:4000".into()) }
}

fn test(clients: Vec<Client>) -> Test {
    Test {
        name: "pool".into(),
        needs: Needs { pool: true, user: true },
        pool: Served::Ready,
        user: Served::Ready,
        tasks: true,
        clients,
        deadline_seconds: 300,
        end: None,
        remains: Remains::Nothing,
        sweeps: Vec::new(),
        left_noted: false,
    }
}

/// A run in its first test, of which the status knows.
fn measuring(test: Test, phase: TestPhase) -> Observed {
    let run = if phase == TestPhase::Running { Phase::Running } else { Phase::Preparing };
    Observed {
        now: now(),
        generation: 1,
        deleting: false,
        finalizer: true,
        suspend: false,
        wanted: Wanted::Valid(key()),
        recorded: Recorded {
            observed_generation: 1,
            phase: Some(run),
            message: None,
            run: Some(RecordedRun { number: 1, key: key(), finished: false }),
            tests: vec![phase],
            left_behind: false,
        },
        lease: Lease::Ours,
        run: Some(Run {
            number: 1,
            key: key(),
            on_failure: OnFailure::Continue,
            network_policy: true,
            tests: vec![test],
        }),
        things: Vec::new(),
        records: vec![Record { number: 1, whole: false, left: Vec::new() }],
        preflight: Preflight::Skipped,
        home: Home::default(),
    }
}

fn whole(number: i64) -> Record {
    Record { number, whole: true, left: Vec::new() }
}

fn idle() -> Observed {
    let mut observed = measuring(test(Vec::new()), TestPhase::Pending);
    observed.run = None;
    observed.records = Vec::new();
    observed.finalizer = false;
    observed.lease = Lease::Free;
    observed.recorded = Recorded { observed_generation: -1, ..Recorded::default() };
    observed.preflight = Preflight::Ready;
    observed
}

fn failure(observed: &Observed) -> String {
    match decide(observed) {
        Step::RecordFailure { test: 0, cause } => cause,
        other => panic!("not a failure: {other:?}"),
    }
}

fn waits(observed: &Observed) -> bool {
    matches!(decide(observed), Step::Wait { .. })
}

#[test]
fn a_run_begins_with_lease_finalizer_and_frozen_plan() {
    let mut observed = idle();
    assert_eq!(decide(&observed), Step::AddFinalizer);
    observed.finalizer = true;
    assert_eq!(decide(&observed), Step::TakeLease);
    observed.lease = Lease::Ours;
    assert_eq!(decide(&observed), Step::Freeze { number: 1, key: key() });
}

#[test]
fn behind_another_run_it_is_queued_and_says_behind_whom() {
    let mut observed = idle();
    observed.lease = Lease::Other("rook-ceph/nightly".into());
    let Step::Say(Say::Queued { behind }) = decide(&observed) else { panic!("{:?}", decide(&observed)) };
    assert!(behind.contains("rook-ceph/nightly"));
    observed.recorded.phase = Some(Phase::Queued);
    observed.recorded.message = Some(behind);
    observed.recorded.observed_generation = 1;
    assert!(waits(&observed));
}

#[test]
fn a_refusal_that_another_run_can_cause_waits_for_its_turn_others_do_not() {
    let refusal = |passing| Refusal { reason: "NoSpace".into(), message: "too little".into(), passing };
    let mut observed = idle();
    observed.lease = Lease::Other("rook-ceph/nightly".into());
    observed.preflight = Preflight::Refused(refusal(true));
    assert!(matches!(decide(&observed), Step::Say(Say::Queued { .. })));
    observed.preflight = Preflight::Refused(refusal(false));
    assert!(matches!(decide(&observed), Step::Say(Say::Refused { number: 1, .. })));
}

#[test]
fn the_same_measurement_is_not_measured_again_and_gates_are_judged_again() {
    let mut observed = idle();
    observed.recorded = Recorded {
        observed_generation: 1,
        phase: Some(Phase::Passed),
        run: Some(RecordedRun { number: 4, key: key(), finished: true }),
        ..Recorded::default()
    };
    observed.records = vec![whole(3), whole(4)];
    assert_eq!(decide(&observed), Step::Rest);
    observed.generation = 2;
    assert_eq!(decide(&observed), Step::Say(Say::Judged { number: 4, left: Vec::new() }));
    observed.wanted = Wanted::Valid(RunKey { trigger: Some("2".into()), ..key() });
    assert_eq!(decide(&observed), Step::AddFinalizer);
}

#[test]
fn numbers_go_on_even_where_the_status_was_lost() {
    let mut observed = idle();
    observed.records = vec![whole(2), whole(5)];
    observed.lease = Lease::Ours;
    observed.finalizer = true;
    assert_eq!(decide(&observed), Step::Freeze { number: 6, key: key() });
}

#[test]
fn a_spec_that_is_not_valid_is_said_once() {
    let mut observed = idle();
    observed.wanted = Wanted::Invalid("spec.tests[0]: wrong".into());
    let said = decide(&observed);
    assert_eq!(said, Step::Say(Say::Invalid { message: "spec.tests[0]: wrong".into() }));
    observed.recorded.phase = Some(Phase::Error);
    observed.recorded.message = Some("spec.tests[0]: wrong".into());
    observed.recorded.observed_generation = 1;
    assert_eq!(decide(&observed), Step::Rest);
}

#[test]
fn a_list_of_problems_that_the_status_has_to_cut_is_said_once() {
    let problems = "spec.tests[0].workload.blockSize[0]: ".repeat(60);
    let mut observed = idle();
    observed.wanted = Wanted::Invalid(problems.clone());
    observed.recorded.phase = Some(Phase::Error);
    observed.recorded.message = Some(shortened(problems, MAX_MESSAGE));
    observed.recorded.observed_generation = 1;
    assert_eq!(decide(&observed), Step::Rest);
}

#[test]
fn a_test_is_prepared_in_order() {
    let absent = || vec![client("n1", ClientState::Absent), client("n2", ClientState::Absent)];
    let mut observed = measuring(test(absent()), TestPhase::Preparing);
    let run = |observed: &mut Observed| observed.run.clone().expect("it goes");
    let mut bare = run(&mut observed);
    bare.network_policy = false;
    bare.tests[0].pool = Served::Absent;
    bare.tests[0].user = Served::Absent;
    bare.tests[0].tasks = false;
    observed.run = Some(bare.clone());
    assert_eq!(decide(&observed), Step::CreateNetworkPolicy { test: 0 });
    bare.network_policy = true;
    observed.run = Some(bare.clone());
    assert_eq!(decide(&observed), Step::CreatePool { test: 0 });
    bare.tests[0].pool = Served::Making { since: ago(5), said: None };
    observed.run = Some(bare.clone());
    assert!(waits(&observed));
    bare.tests[0].pool = Served::Ready;
    observed.run = Some(bare.clone());
    assert_eq!(decide(&observed), Step::CreateUser { test: 0 });
    bare.tests[0].user = Served::Ready;
    observed.run = Some(bare.clone());
    assert_eq!(decide(&observed), Step::CreateTasks { test: 0 });
    bare.tests[0].tasks = true;
    observed.run = Some(bare);
    assert_eq!(decide(&observed), Step::CreateConductor { test: 0 });
}

#[test]
fn rook_is_waited_for_and_not_for_ever() {
    let absent = || vec![client("n1", ClientState::Absent)];
    let with = |pool: Served| {
        let mut observed = measuring(test(absent()), TestPhase::Preparing);
        if let Some(run) = &mut observed.run {
            run.tests[0].pool = pool;
        }
        observed
    };
    assert!(waits(&with(Served::Making { since: ago(patience::POOL), said: None })));
    let late = with(Served::Making { since: ago(patience::POOL + 1), said: Some("ProcessingDelayed".into()) });
    let cause = failure(&late);
    assert!(cause.contains("180 s") && cause.contains("ProcessingDelayed"), "{cause}");
    assert!(failure(&with(Served::Failed("bad cap".into()))).contains("bad cap"));
    assert!(waits(&with(Served::Removing { since: ago(10) })));
    assert!(failure(&with(Served::Removing { since: ago(patience::REMOVAL + 1) })).contains("does not go"));
}

#[test]
fn the_others_start_when_the_conductor_listens() {
    let states =
        |conductor, other| vec![client("n1", conductor), client("n2", other), client("n3", ClientState::Absent)];
    let silent = ClientState::Running { since: ago(10), address: None };
    assert!(waits(&measuring(test(states(silent, ClientState::Absent)), TestPhase::Preparing)));
    let observed = measuring(test(states(running(), ClientState::Absent)), TestPhase::Preparing);
    let create = |clients| Step::CreateClients { test: 0, clients, address: "10.0.0.1:4000".into() };
    assert_eq!(decide(&observed), create(vec![1, 2]));
    let starting = ClientState::Starting { since: ago(3), trouble: None };
    let observed = measuring(test(states(running(), starting)), TestPhase::Preparing);
    assert_eq!(decide(&observed), create(vec![2]));
}

#[test]
fn trouble_at_the_start_ends_the_test_with_its_cause() {
    let starting = |since, trouble| {
        measuring(test(vec![client("n1", ClientState::Starting { since, trouble })]), TestPhase::Preparing)
    };
    let with = |seconds, trouble: Option<(&str, bool)>| {
        let since = ago(seconds);
        starting(since, trouble.map(|(cause, hopeless)| Trouble { cause: cause.into(), since, hopeless }))
    };
    assert_eq!(failure(&with(1, Some(("InvalidImageName", true)))), "client 0 on n1: InvalidImageName");
    assert!(waits(&with(patience::TROUBLE, Some(("ErrImagePull", false)))));
    assert_eq!(failure(&with(patience::TROUBLE + 1, Some(("ErrImagePull", false)))), "client 0 on n1: ErrImagePull");
    let late = Trouble { cause: "ErrImagePull".into(), since: ago(1), hopeless: false };
    assert!(waits(&starting(ago(patience::TROUBLE + 1), Some(late))), "trouble counts from its own time");
    assert!(waits(&with(patience::START, None)));
    assert!(failure(&with(patience::START + 1, None)).contains("did not start"));
}

#[test]
fn nothing_hangs_past_the_deadline() {
    let mut observed = measuring(test(vec![client("n1", running())]), TestPhase::Running);
    assert!(waits(&observed));
    if let Some(run) = &mut observed.run {
        run.tests[0].clients[0].job_made = Some(ago(301));
    }
    assert!(failure(&observed).contains("did not end within 300 s"));
}

#[test]
fn a_conductor_that_never_says_where_it_listens_is_an_error() {
    let silent = ClientState::Running { since: ago(patience::ADDRESS + 1), address: None };
    let observed = measuring(test(vec![client("n1", silent)]), TestPhase::Preparing);
    assert!(failure(&observed).contains("where it listens"));
}

#[test]
fn the_report_is_collected_when_bench_and_report_have_ended_whatever_the_job_says() {
    let ended = |seconds, reported| ClientState::Ended { at: ago(seconds), reported, cause: None, killed: false };
    let with = |state| measuring(test(vec![client("n1", state)]), TestPhase::Running);
    assert_eq!(decide(&with(ended(1, true))), Step::Collect { test: 0, last_try: false });
    assert!(waits(&with(ended(5, false))));
    assert_eq!(decide(&with(ended(61, false))), Step::Collect { test: 0, last_try: false });
    assert_eq!(decide(&with(ended(121, true))), Step::Collect { test: 0, last_try: true });
}

#[test]
fn a_client_that_is_lost_leaves_the_conductor_a_moment_to_say_why() {
    let lost = |seconds| ClientState::Lost { at: ago(seconds), cause: "its pod was deleted".into(), killed: true };
    let with = |state| measuring(test(vec![client("n1", running()), client("n2", state)]), TestPhase::Running);
    assert!(waits(&with(lost(5))));
    assert_eq!(failure(&with(lost(31))), "client 1 on n2: its pod was deleted");
    let conductor = measuring(test(vec![client("n1", lost(0))]), TestPhase::Running);
    assert_eq!(failure(&conductor), "client 0 on n1: its pod was deleted");
}

#[test]
fn a_job_that_somebody_deleted_is_not_made_again() {
    let observed = measuring(test(vec![client("n1", ClientState::Absent)]), TestPhase::Running);
    assert!(failure(&observed).contains("deleted by somebody else"));
    let two = vec![client("n1", running()), client("n2", ClientState::Absent)];
    assert!(failure(&measuring(test(two), TestPhase::Running)).contains("client 1 was deleted"));
}

#[test]
fn a_result_is_in_the_status_before_its_job_is_deleted() {
    let mut ended =
        test(vec![client("n1", ClientState::Ended { at: ago(1), reported: true, cause: None, killed: false })]);
    ended.end = Some(TestEnd::Completed);
    let mut observed = measuring(ended, TestPhase::Running);
    let job = Thing {
        kind: ThingKind::Job,
        name: "job".into(),
        uid: "u".into(),
        run: 1,
        test: Some(0),
        removing: None,
        blocked: None,
    };
    observed.things.push(job);
    let tests = vec![TestPhase::Completed];
    assert_eq!(
        decide(&observed),
        Step::Say(Say::Going { phase: Phase::Cleaning, tests: tests.clone(), message: None })
    );
    observed.recorded.phase = Some(Phase::Cleaning);
    observed.recorded.tests = tests;
    assert!(matches!(decide(&observed), Step::Delete { kind: ThingKind::Job, .. }));
}

#[test]
fn after_an_error_the_rest_is_skipped_only_when_asked() {
    let mut failed = test(vec![client("n1", ClientState::Absent)]);
    failed.end = Some(TestEnd::Error);
    let open = test(vec![client("n1", ClientState::Absent)]);
    let mut observed = measuring(failed.clone(), TestPhase::Error);
    if let Some(run) = &mut observed.run {
        run.tests = vec![failed, open];
    }
    let going = |phase, second| Say::Going { phase, tests: vec![TestPhase::Error, second], message: None };
    assert_eq!(decide(&observed), Step::Say(going(Phase::Running, TestPhase::Preparing)));
    if let Some(run) = &mut observed.run {
        run.on_failure = OnFailure::Abort;
    }
    assert_eq!(decide(&observed), Step::Say(going(Phase::Cleaning, TestPhase::Skipped)));
}

#[test]
fn a_test_without_clients_is_an_error_never_a_pass() {
    assert!(failure(&measuring(test(Vec::new()), TestPhase::Running)).contains("no client"));
}

#[test]
fn a_deleted_benchmark_without_finalizer_is_left_alone() {
    let mut observed = idle();
    observed.deleting = true;
    assert_eq!(decide(&observed), Step::Rest);
}
