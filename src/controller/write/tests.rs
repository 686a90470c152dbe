//! Creating and deleting against a scripted API server.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde_json::{Value, json};

use super::super::scripted::{answer, failure, owner, server};
use super::*;

fn config_map() -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": "c"}})).expect("a ConfigMap")
}

fn owned_by(uid: &str) -> Value {
    let owner = json!({"apiVersion": "x/v1", "kind": "Other", "name": "o", "uid": uid});
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
        "metadata": {"name": "c", "ownerReferences": [owner]}})
}

#[tokio::test]
async fn what_exists_is_ours_by_its_owners_uid_or_somebody_elses() {
    for (uid, ours) in [("u", true), ("another", false)] {
        let (context, mut requests) = server();
        let (owner, object) = (owner(), config_map());
        let script = async {
            answer(&mut requests, 409, failure(409, "AlreadyExists")).await;
            answer(&mut requests, 200, owned_by(uid)).await
        };
        let (created, (method, path, _)) = tokio::join!(create(&context, &owner, &object), script);
        assert_eq!((method.as_str(), path.as_str()), ("GET", "/api/v1/namespaces/rook-ceph/configmaps/c"));
        match created {
            Ok(()) => assert!(ours),
            Err(error) => {
                assert!(!ours && error.is_refused());
                assert_eq!(error.to_string(), "ConfigMap c exists and belongs to Other o");
            }
        }
    }
}

#[tokio::test]
async fn only_what_was_seen_is_deleted() {
    let targets = [Target { name: "c".into(), uid: "seen".into(), run: 1 }];
    for (code, reason) in [(200, "Success"), (404, "NotFound"), (409, "Conflict")] {
        let (context, mut requests) = server();
        let owner = owner();
        let (deleted, (method, _, sent)) = tokio::join!(
            delete::<ConfigMap>(&context, &owner, &targets),
            answer(&mut requests, code, failure(code, reason))
        );
        deleted.expect("gone, or another object by now: neither is an error");
        assert_eq!(method, "DELETE");
        assert_eq!(sent["preconditions"]["uid"], "seen");
        assert_eq!(sent["propagationPolicy"], "Background");
    }
}

#[tokio::test]
async fn a_secret_is_deleted_without_being_looked_at() {
    let (context, mut requests) = server();
    let owner = owner();
    let (deleted, (method, path, _)) = tokio::join!(
        delete_named::<Secret>(&context, &owner, "token"),
        answer(&mut requests, 404, failure(404, "NotFound"))
    );
    deleted.expect("it may be gone already");
    assert_eq!((method.as_str(), path.as_str()), ("DELETE", "/api/v1/namespaces/rook-ceph/secrets/token"));
}

#[tokio::test]
async fn a_refusal_is_told_with_what_was_tried() {
    let (context, mut requests) = server();
    let (owner, object) = (owner(), config_map());
    let (created, _) =
        tokio::join!(create(&context, &owner, &object), answer(&mut requests, 403, failure(403, "Forbidden")));
    let error = created.expect_err("refused");
    assert!(error.is_refused());
    assert_eq!(error.to_string(), "create ConfigMap c: Forbidden");
}
