//! The commands against a scripted API server: what they ask for, and what they make of the answers.

use http::{Request, Response};
use kube::client::Body;
use serde_json::{Value, json};
use tower_test::mock;

use super::*;

type Requests = mock::Handle<Request<Body>, Response<Body>>;

fn server() -> (Client, Requests) {
    let (service, requests) = mock::pair::<Request<Body>, Response<Body>>();
    (Client::new(service, "bench"), requests)
}

/// Answers the next request, and gives its method, address and body.
async fn answer(requests: &mut Requests, code: u16, body: &Value) -> (String, String, Value) {
    let (request, send) = requests.next_request().await.expect("a request");
    let (parts, sent) = request.into_parts();
    let sent = sent.collect_bytes().await.expect("a body");
    let body = Body::from(serde_json::to_vec(body).expect("JSON"));
    send.send_response(Response::builder().status(code).body(body).expect("a response"));
    (parts.method.to_string(), parts.uri.to_string(), serde_json::from_slice(&sent).unwrap_or(Value::Null))
}

const FILE: &str = "apiVersion: cephbench.io/v1alpha1
kind: CephBenchmark
metadata: {name: quick}
spec: {tests: [{name: disk, disk: {file: {directory: /var/tmp, size: 1024Mi}}}]}
";

fn object(generation: i64, status: Value) -> Value {
    json!({
        "apiVersion": "cephbench.io/v1alpha1",
        "kind": "CephBenchmark",
        "metadata": {"name": "quick", "namespace": "bench", "uid": "u", "generation": generation, "resourceVersion": "7"},
        "spec": {"tests": [], "aFieldOfTomorrow": 1},
        "status": status,
    })
}

fn applied(generation: i64) -> DynamicObject {
    serde_json::from_value(object(generation, json!({}))).expect("an object")
}

#[tokio::test]
async fn a_file_is_applied_strictly_and_as_written() {
    let (client, mut requests) = server();
    let options = RunOptions { trigger: Some("2".into()), force_conflicts: false };
    let body = object(1, json!({}));
    let (done, (method, address, sent)) =
        tokio::join!(apply(&client, FILE, None, "bench", &options), answer(&mut requests, 200, &body));
    assert_eq!(done.expect("applied").metadata.generation, Some(1));
    assert_eq!(method, "PATCH");
    let (path, query) = address.split_once('?').expect("a query");
    assert_eq!(path, "/apis/cephbench.io/v1alpha1/namespaces/bench/cephbenchmarks/quick");
    let mut query: Vec<&str> = query.split('&').filter(|part| !part.is_empty()).collect();
    query.sort_unstable();
    assert_eq!(query, ["fieldManager=kubectl-cephbench", "fieldValidation=Strict"]);
    assert_eq!(sent["spec"]["tests"][0]["disk"]["file"]["size"], "1024Mi");
    assert_eq!(sent["spec"]["trigger"], "2");
}

#[tokio::test]
async fn what_the_server_refuses_is_said_in_its_words() {
    let (client, mut requests) = server();
    let refusal = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 400, "reason": "BadRequest",
        "message": ".spec.duraton: field not declared in schema"});
    let options = RunOptions::default();
    let (done, _) = tokio::join!(apply(&client, FILE, None, "bench", &options), answer(&mut requests, 400, &refusal));
    assert_eq!(
        done.expect_err("refused").to_string(),
        "apply bench/quick: .spec.duraton: field not declared in schema"
    );
}

fn list(items: &[Value]) -> Value {
    json!({"kind": "CephBenchmarkList", "apiVersion": "cephbench.io/v1alpha1", "metadata": {"resourceVersion": "9"},
        "items": items})
}

#[tokio::test]
async fn a_result_that_is_there_ends_the_wait() {
    let (client, mut requests) = server();
    let answers = list(&[object(3, json!({"observedGeneration": 3, "phase": "Failed"}))]);
    let applied = applied(3);
    let (done, (_, address, _)) = tokio::join!(follow(&client, &applied, None), answer(&mut requests, 200, &answers));
    let (object, code) = done.expect("ended");
    assert_eq!(code, 1);
    assert!(address.contains("fieldSelector=metadata.name%3Dquick"), "{address}");
    let printed = text(&object, Output::Json).expect("JSON");
    assert!(printed.contains("aFieldOfTomorrow"), "the whole object, as the server has it");
    assert_eq!(text(&object, Output::Table).expect("a table"), "bench/quick: Failed\n");
}

#[tokio::test]
async fn an_earlier_result_does_not_end_it_and_a_timeout_does() {
    let (client, mut requests) = server();
    let answers = list(&[object(3, json!({"observedGeneration": 2, "phase": "Passed"}))]);
    let applied = applied(3);
    let timeout = Some(Duration::from_millis(200));
    let (done, _) = tokio::join!(follow(&client, &applied, timeout), answer(&mut requests, 200, &answers));
    let error = done.expect_err("not ended").to_string();
    assert!(error.starts_with("quick has not ended after"), "{error}");
}

#[tokio::test]
async fn an_object_that_is_gone_is_not_waited_for() {
    let (client, mut requests) = server();
    let applied = applied(3);
    let answers = list(&[]);
    let (done, _) = tokio::join!(follow(&client, &applied, None), answer(&mut requests, 200, &answers));
    assert_eq!(done.expect_err("gone").to_string(), "quick was deleted while it was waited for");
}

#[tokio::test]
async fn a_watch_that_is_forbidden_is_not_tried_again() {
    let (client, mut requests) = server();
    let refusal = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden",
        "message": "cephbenchmarks is forbidden"});
    let applied = applied(3);
    let (done, _) = tokio::join!(follow(&client, &applied, None), answer(&mut requests, 403, &refusal));
    assert_eq!(done.expect_err("forbidden").to_string(), "watch quick: cephbenchmarks is forbidden");
}
