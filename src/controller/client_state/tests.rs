//! States of clients from objects as the API server gives them; the cases C1, C2 and C3 among them.

use serde_json::{Value, json};

use super::*;

const NOW: &str = "2026-11-30T21:10:00Z";

fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

fn at(time: &str) -> Timestamp {
    format!("2026-11-30T{time}Z").parse().expect("a time")
}

fn job(status: Value) -> Job {
    let metadata = json!({"name": "j", "creationTimestamp": "2026-11-30T21:00:00Z"});
    serde_json::from_value(json!({"metadata": metadata, "status": status})).expect("a Job")
}

fn pod(status: Value) -> Pod {
    let metadata = json!({"name": "p", "uid": "u", "creationTimestamp": "2026-11-30T21:00:01Z"});
    serde_json::from_value(json!({"metadata": metadata, "status": status})).expect("a Pod")
}

fn state(pod: Value) -> ClientState {
    with(&self::pod(pod), None)
}

fn warned(warning: Option<&str>) -> Warnings {
    Warnings { now: warning.map(|cause| (cause.to_owned(), None)), failed: None }
}

fn with(pod: &Pod, warning: Option<&str>) -> ClientState {
    let job = job(json!({}));
    let warnings = warned(warning);
    client_state(Seen { job: Some(&job), pods: vec![pod], warnings, address: None, now: now() })
}

fn container(name: &str, state: Value) -> Value {
    json!({"name": name, "image": "i:1", "imageID": "", "ready": false, "restartCount": 0, "state": state})
}

fn ended(code: i32, message: &str) -> Value {
    json!({"terminated": {"exitCode": code, "message": message, "finishedAt": "2026-11-30T21:05:00Z"}})
}

fn running() -> Value {
    json!({"running": {"startedAt": "2026-11-30T21:00:05Z"}})
}

fn trouble(state: ClientState) -> Trouble {
    match state {
        ClientState::Starting { trouble: Some(trouble), .. } => trouble,
        other => panic!("no trouble: {other:?}"),
    }
}

#[test]
fn without_a_job_there_is_no_client() {
    let seen = Seen { job: None, pods: Vec::new(), warnings: Warnings::default(), address: None, now: now() };
    assert_eq!(client_state(seen), ClientState::Absent);
}

#[test]
fn a_job_whose_pods_are_refused_tells_the_events_text() {
    // C2: the Job's status stays empty.
    let job = job(json!({}));
    let warnings = warned(Some("FailedCreate: pods \"x\" is forbidden: exceeded quota"));
    let seen = Seen { job: Some(&job), pods: Vec::new(), warnings, address: None, now: now() };
    let ClientState::Starting { since, trouble: Some(trouble) } = client_state(seen) else { panic!("not starting") };
    assert_eq!(since, at("21:00:00"));
    assert!(trouble.cause.contains("exceeded quota"));
}

#[test]
fn a_pod_that_was_deleted_leaves_a_failed_job() {
    let failed = json!({"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
        "message": "Job has reached the specified backoff limit", "lastTransitionTime": "2026-11-30T21:06:00Z"}]});
    let job = job(failed);
    let seen = Seen { job: Some(&job), pods: Vec::new(), warnings: Warnings::default(), address: None, now: now() };
    assert_eq!(
        client_state(seen),
        ClientState::Lost { at: at("21:06:00"), cause: "its pod was deleted".into(), killed: true }
    );
}

#[test]
fn a_pod_that_is_being_deleted_is_lost_with_what_is_said_of_it() {
    let mut pod = pod(json!({"phase": "Running", "containerStatuses": [container("bench", running())],
        "conditions": [{"type": "DisruptionTarget", "status": "True", "message": "preempted by y"}]}));
    pod.metadata.deletion_timestamp = serde_json::from_value(json!(NOW)).expect("a time");
    let ClientState::Lost { at, cause, killed: true } = with(&pod, None) else { panic!("not lost") };
    assert_eq!((at, cause.as_str()), (now(), "its pod was deleted (preempted by y)"));
}

#[test]
fn a_pod_that_no_node_takes_tells_the_schedulers_word() {
    let message = "0/3 nodes are available: 3 node(s) were unschedulable.";
    let pending = json!({"phase": "Pending", "conditions":
        [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]});
    assert_eq!(
        trouble(state(pending)),
        Trouble { cause: format!("Unschedulable: {message}"), since: at("21:00:00"), hopeless: false }
    );
}

#[test]
fn an_image_that_does_not_come_is_named_with_its_container() {
    let waits = |reason| json!({"waiting": {"reason": reason, "message": "no such host"}});
    for (reason, hopeless) in [("ErrImagePull", false), ("ImagePullBackOff", false), ("InvalidImageName", true)] {
        let pending = json!({"phase": "Pending", "initContainerStatuses": [container("install", waits(reason))]});
        let trouble = trouble(state(pending));
        assert_eq!(trouble.hopeless, hopeless, "{reason}");
        assert_eq!(trouble.cause, format!("{reason}: container \"install\", image i:1: no such host"));
    }
}

#[test]
fn a_pull_that_fails_counts_from_its_first_failure() {
    let waits = json!({"waiting": {"reason": "ErrImagePull", "message": "no such host"}});
    let scheduled = json!([{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-30T21:00:02Z"}]);
    let status = json!({"phase": "Pending", "conditions": scheduled, "containerStatuses": [container("bench", waits)]});
    let (job, pod) = (job(json!({})), pod(status));
    let since = |failed| {
        let warnings = Warnings { now: None, failed };
        let seen = Seen { job: Some(&job), pods: vec![&pod], warnings, address: None, now: now() };
        trouble(client_state(seen)).since
    };
    assert_eq!(since(Some(at("21:02:00"))), at("21:02:00"));
    assert_eq!(since(None), at("21:00:02"));
}

#[test]
fn a_mount_that_fails_is_known_from_events_only() {
    let creating = json!({"waiting": {"reason": "ContainerCreating"}});
    let pod = pod(json!({"phase": "Pending", "containerStatuses": [container("bench", creating)]}));
    assert!(matches!(with(&pod, None), ClientState::Starting { trouble: None, .. }));
    assert_eq!(trouble(with(&pod, Some("FailedMount: not a directory"))).cause, "FailedMount: not a directory");
}

#[test]
fn a_bench_that_runs_is_running_since_its_own_start() {
    let pod = json!({"phase": "Running", "containerStatuses": [container("bench", running()), container("report", running())]});
    assert_eq!(state(pod), ClientState::Running { since: at("21:00:05"), address: None });
}

#[test]
fn a_sidecar_that_runs_on_holds_nothing_up() {
    // C3: the pod is Running and the Job active.
    let complete = r#"{"outcome": "complete", "digest": "d"}"#;
    let statuses = [
        container("bench", ended(0, complete)),
        container("report", ended(0, "")),
        container("istio-proxy", running()),
    ];
    let pod = json!({"phase": "Running", "containerStatuses": statuses});
    assert_eq!(state(pod), ClientState::Ended { at: at("21:05:00"), reported: true, cause: None, killed: false });
}

#[test]
fn the_report_is_not_there_before_its_container_has_ended() {
    let statuses = [container("bench", ended(0, r#"{"outcome": "complete"}"#)), container("report", running())];
    let pod = json!({"phase": "Running", "containerStatuses": statuses});
    assert_eq!(state(pod), ClientState::Ended { at: at("21:05:00"), reported: false, cause: None, killed: false });
}

#[test]
fn exit_code_zero_and_phase_succeeded_are_no_success() {
    // C1: evicted, handled SIGTERM, exit 0; no reason, no condition, no Event.
    let statuses = [container("bench", ended(0, "")), container("report", ended(0, ""))];
    let pod = json!({"phase": "Succeeded", "containerStatuses": statuses});
    let ClientState::Ended { cause: Some(cause), killed: true, .. } = state(pod) else { panic!("not ended badly") };
    assert_eq!(cause, "the bench stopped without a word");
}

#[test]
fn a_bad_end_tells_its_cause() {
    let end = |terminated: Value| {
        let pod =
            json!({"phase": "Failed", "containerStatuses": [container("bench", json!({"terminated": terminated}))]});
        match state(pod) {
            ClientState::Ended { cause, .. } => cause.expect("a cause"),
            other => panic!("not ended: {other:?}"),
        }
    };
    let told = r#"{"outcome": "failed", "cause": "write: No space left on device"}"#;
    assert_eq!(end(json!({"exitCode": 1, "message": told})), "write: No space left on device");
    assert!(end(json!({"exitCode": 137, "reason": "OOMKilled"})).contains("limits.memory"));
    assert_eq!(end(json!({"exitCode": 137, "reason": "Error"})), "the bench was killed (SIGKILL)");
    assert_eq!(end(json!({"exitCode": 3})), "the bench ended with exit code 3");
}

#[test]
fn a_pod_that_fails_before_its_bench_runs_tells_which_container() {
    let pod = json!({"phase": "Failed", "initContainerStatuses":
        [container("install", json!({"terminated": {"exitCode": 1, "message": "no space"}}))],
        "containerStatuses": [container("bench", json!({"waiting": {"reason": "PodInitializing"}}))]});
    let ClientState::Lost { cause, .. } = state(pod) else { panic!("not lost") };
    assert_eq!(cause, "container \"install\" ended with exit code 1: no space");
    let evicted = json!({"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"});
    let ClientState::Lost { cause, .. } = state(evicted) else { panic!("not lost") };
    assert_eq!(cause, "its pod failed before the bench ran (Evicted: the node was low on memory)");
}

#[test]
fn of_two_pods_the_one_that_stays_counts_and_of_those_the_older() {
    let mut old = pod(json!({}));
    let mut young = pod(json!({}));
    young.metadata.creation_timestamp = serde_json::from_value(json!("2026-11-30T21:00:09Z")).expect("a time");
    young.metadata.name = Some("young".into());
    let name = |pods: [&Pod; 2]| pod_of(&pods).and_then(|pod| pod.metadata.name.clone());
    assert_eq!(name([&young, &old]).as_deref(), Some("p"));
    old.metadata.deletion_timestamp = old.metadata.creation_timestamp.clone();
    assert_eq!(name([&young, &old]).as_deref(), Some("young"));
}
