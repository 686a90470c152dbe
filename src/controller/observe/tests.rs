//! Looks at a benchmark through a scripted API server.

use serde_json::{Value, json};

use super::super::fixtures::spec;
use super::super::scripted::{Requests, failure, respond, server};
use super::*;
use crate::plan::decide::{Step, decide};

const GOING: &str = "2026-11-30T21:00:00Z";

fn benchmark(deleted: Option<&str>) -> Value {
    let metadata = json!({"name": "b", "namespace": "rook-ceph", "uid": "u", "generation": 1,
        "finalizers": [FINALIZER], "deletionTimestamp": deleted});
    json!({"apiVersion": "cephbench.io/v1alpha1", "kind": "CephBenchmark", "metadata": metadata, "spec": spec()})
}

fn empty() -> Value {
    json!({"metadata": {}, "items": []})
}

/// Answers by the end of the path, as long as somebody asks; what is absent is forbidden.
async fn serve(mut requests: Requests, answers: impl Fn(&str) -> Option<Value>) {
    while let Some((request, send)) = requests.next_request().await {
        match answers(request.uri().path().rsplit('/').next().unwrap_or_default()) {
            Some(body) => respond(send, 200, &body),
            None => respond(send, 403, &failure(403, "Forbidden")),
        }
    }
}

#[tokio::test]
async fn without_rights_in_a_namespace_that_goes_the_benchmark_is_let_go() {
    let answers = |namespace: Value| {
        move |asked: &str| match asked {
            "b" => Some(benchmark(Some(GOING))),
            "rook-ceph" => Some(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": namespace})),
            "leases" => Some(empty()),
            _ => None,
        }
    };
    let (context, requests) = server();
    tokio::spawn(serve(requests, answers(json!({"name": "rook-ceph", "deletionTimestamp": GOING}))));
    let seen = look(&context, "rook-ceph", "b").await.expect("it is looked at").expect("it is there");
    assert_eq!(decide(&seen.observed), Step::RemoveFinalizer);

    let (context, requests) = server();
    tokio::spawn(serve(requests, answers(json!({"name": "rook-ceph"}))));
    let error = look(&context, "rook-ceph", "b").await.err().expect("something may be left there");
    assert!(error.is_forbidden(), "{error}");
}

#[tokio::test]
async fn a_plan_that_can_not_be_read_is_no_run_any_more() {
    let (context, requests) = server();
    let labels = json!({"cephbench.io/run": "3", "cephbench.io/role": "plan"});
    let metadata = json!({"name": "plan", "uid": "p", "labels": labels, "annotations": {"cephbench.io/tests": "2"}});
    let answers = move |asked: &str| match asked {
        "b" => Some(benchmark(None)),
        "plan" => Some(json!({"metadata": metadata, "binaryData": {"plan.json.gz": "AAAA"}})),
        "configmaps" => Some(json!({"metadata": {}, "items": [{"metadata": metadata}]})),
        "rook-ceph-mon-endpoints" => Some(json!({"metadata": {"name": "rook-ceph-mon-endpoints"}})),
        _ => Some(empty()),
    };
    tokio::spawn(serve(requests, answers));
    let seen = look(&context, "rook-ceph", "b").await.expect("it is looked at").expect("it is there");
    assert_eq!(seen.observed.run, None);
    assert_eq!(seen.observed.records.len(), 1, "the next run has another number");
}
