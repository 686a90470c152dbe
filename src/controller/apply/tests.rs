//! Steps against a scripted API server that does not take what it is given.

use serde_json::json;

use super::super::fixtures::{frozen, look};
use super::super::scripted::{answer, failure, server};
use super::*;
use crate::plan::PlannedKind;

#[tokio::test]
async fn a_sweeper_that_is_refused_is_done_without() {
    let (context, mut requests) = server();
    let look = look();
    let step = Step::CreateSweeper { test: 1, client: 0 };
    let (done, (method, path, _)) =
        tokio::join!(apply(&context, &look, &step), answer(&mut requests, 403, failure(403, "exceeded quota")));
    done.expect("cleaning goes on");
    assert_eq!((method.as_str(), path.as_str()), ("POST", "/apis/batch/v1/namespaces/rook-ceph/jobs"));
    let name = RunNames::new("u", 3).sweeper("b", 0);
    assert!(context.tries.without(&name).is_some_and(|error| error.contains("exceeded quota")));
}

#[tokio::test]
async fn what_fails_is_tried_again_and_what_is_refused_ends_the_test() {
    let (context, mut requests) = server();
    let look = look();
    let step = Step::CreateUser { test: 1 };
    let (done, _) = tokio::join!(apply(&context, &look, &step), answer(&mut requests, 500, failure(500, "no webhook")));
    assert!(done.is_err_and(|error| error.to_string().ends_with("no webhook")));
    let script = async {
        answer(&mut requests, 403, failure(403, "Forbidden")).await;
        answer(&mut requests, 201, json!({"metadata": {"name": "r"}})).await
    };
    let (done, (_, path, sent)) = tokio::join!(apply(&context, &look, &step), script);
    done.expect("the result is stored");
    assert_eq!(path, "/api/v1/namespaces/rook-ceph/configmaps");
    assert_eq!(sent["metadata"]["annotations"]["cephbench.io/outcome"], "Error");
}

#[tokio::test]
async fn an_event_that_is_refused_does_not_keep_the_status_from_being_written() {
    let (context, mut requests) = server();
    let look = look();
    let step = Step::Say(Say::Queued { behind: "waiting for ns/x".into() });
    let script = async {
        answer(&mut requests, 403, failure(403, "exceeded quota")).await;
        answer(&mut requests, 200, json!({"metadata": {"name": "b"}, "spec": look.benchmark.spec})).await
    };
    let (done, (method, path, sent)) = tokio::join!(apply(&context, &look, &step), script);
    done.expect("the status is written");
    assert_eq!(method, "PUT");
    assert!(path.ends_with("/cephbenchmarks/b/status"), "{path}");
    assert_eq!(sent["status"]["phase"], "Queued");
}

#[tokio::test]
async fn a_directory_that_is_no_longer_allowed_is_not_mounted_for_a_run_that_had_begun() {
    let (context, mut requests) = server();
    let mut look = look();
    let mut frozen = frozen();
    frozen.prepared.plan.tests[0].kind = PlannedKind::File { directory: "/var/tmp".into(), size: 4096 };
    look.frozen = Some(frozen.into());
    let step = Step::CreateConductor { test: 0 };
    let script = answer(&mut requests, 201, json!({"metadata": {"name": "r"}}));
    let (done, (_, path, sent)) = tokio::join!(apply(&context, &look, &step), script);
    done.expect("the result is stored, and no Job made");
    assert_eq!(path, "/api/v1/namespaces/rook-ceph/configmaps");
    assert_eq!(sent["metadata"]["annotations"]["cephbench.io/outcome"], "Error");
}

#[tokio::test]
async fn a_report_is_not_lost_by_one_read_that_fails_however_late_it_is() {
    let (context, mut requests) = server();
    let mut look = look();
    look.clients.pods = vec![Some(serde_json::from_value(json!({"metadata": {"name": "p"}})).expect("a pod"))];
    let step = Step::Collect { test: 0, last_try: true };
    let script = answer(&mut requests, 500, failure(500, "the kubelet does not answer"));
    let (done, (_, path, _)) = tokio::join!(apply(&context, &look, &step), script);
    assert_eq!(path, "/api/v1/namespaces/rook-ceph/pods/p/log");
    assert!(done.is_err_and(|error| error.to_string().contains("does not answer")), "it is tried again");
}

#[tokio::test]
async fn a_plan_that_was_stored_at_last_has_no_failures_to_its_name() {
    let (context, mut requests) = server();
    let mut look = look();
    look.prepared = Some(frozen().prepared);
    let step = Step::Freeze { number: 4, key: frozen().key };
    let (done, _) = tokio::join!(apply(&context, &look, &step), answer(&mut requests, 500, failure(500, "no leader")));
    assert!(done.is_err(), "it is tried again");
    let script = answer(&mut requests, 201, json!({"metadata": {"name": "plan"}}));
    tokio::join!(apply(&context, &look, &step), script).0.expect("it is stored");
    let much_later = Instant::now() + Duration::from_secs(100_000);
    assert_eq!(context.tries.failing_for("u", much_later), Duration::ZERO);
}
