//! A scripted API server for tests: each answers the requests that come, in their order.

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tower_test::mock;

use super::context::Context;
use crate::plan::policy::OperatorConfig;
use crate::resources::Platform;
use crate::resources::names::Owner;

pub type Requests = mock::Handle<Request<Body>, Response<Body>>;

pub fn server() -> (Context, Requests) {
    let (service, requests) = mock::pair::<Request<Body>, Response<Body>>();
    let client = Client::new(service, "rook-ceph");
    let context =
        Context::new(client, OperatorConfig::default(), Platform::default(), "system".into(), "operator-0".into());
    (context, requests)
}

/// Answers the next request, and gives its method, path and body.
pub async fn answer(requests: &mut Requests, code: u16, body: Value) -> (String, String, Value) {
    let (request, send) = requests.next_request().await.expect("a request");
    let (parts, sent) = request.into_parts();
    let sent = sent.collect_bytes().await.expect("a body");
    respond(send, code, &body);
    (parts.method.to_string(), parts.uri.path().to_owned(), serde_json::from_slice(&sent).unwrap_or(Value::Null))
}

pub fn respond(send: mock::SendResponse<Response<Body>>, code: u16, body: &Value) {
    let body = Body::from(serde_json::to_vec(body).expect("JSON"));
    send.send_response(Response::builder().status(code).body(body).expect("a response"));
}

pub fn failure(code: u16, reason: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": reason})
}

pub fn owner() -> Owner {
    Owner { namespace: "rook-ceph".into(), name: "b".into(), uid: "u".into() }
}
