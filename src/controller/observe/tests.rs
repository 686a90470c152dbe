//! Looks at a benchmark through a scripted API server.

use serde_json::{Value, json};

use super::super::fixtures::spec;
use super::super::scripted::{Requests, failure, respond, server};
use super::*;
use crate::plan::decide::{Step, decide};

const GOING: &str = "2026-11-30T21:00:00Z";

fn deleted() -> Value {
    let metadata = json!({"name": "b", "namespace": "rook-ceph", "uid": "u", "generation": 1,
        "finalizers": [FINALIZER], "deletionTimestamp": GOING});
    json!({"apiVersion": "cephbench.io/v1alpha1", "kind": "CephBenchmark", "metadata": metadata, "spec": spec()})
}

/// Answers by the end of the path, as long as somebody asks.
async fn serve(mut requests: Requests, namespace: Value) {
    while let Some((request, send)) = requests.next_request().await {
        let (code, body) = match request.uri().path().rsplit('/').next().unwrap_or_default() {
            "b" => (200, deleted()),
            "rook-ceph" => (200, namespace.clone()),
            "leases" => (200, json!({"metadata": {}, "items": []})),
            _ => (403, failure(403, "Forbidden")),
        };
        respond(send, code, &body);
    }
}

#[tokio::test]
async fn without_rights_in_a_namespace_that_goes_the_benchmark_is_let_go() {
    let namespace = |metadata: Value| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
    let (context, requests) = server();
    let going = namespace(json!({"name": "rook-ceph", "deletionTimestamp": GOING}));
    tokio::spawn(serve(requests, going));
    let seen = look(&context, "rook-ceph", "b").await.expect("it is looked at").expect("it is there");
    assert_eq!(decide(&seen.observed), Step::RemoveFinalizer);

    let (context, requests) = server();
    tokio::spawn(serve(requests, namespace(json!({"name": "rook-ceph"}))));
    let error = look(&context, "rook-ceph", "b").await.err().expect("something may be left there");
    assert!(error.is_forbidden(), "{error}");
}
