//! Serves CephClient: a key in Ceph with exactly the capabilities asked for, and the Secret that holds it.

use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use super::build::config::build_client_secret;
use super::{Error, apply, ceph, named, rook_kind};

pub const KIND: &str = "CephClient";
const FINALIZER: &str = "cephclient.ceph.rook.io";

/// Makes the object true, or undoes it when it is being deleted.
pub async fn reconcile(client: &Client, object: &DynamicObject, ceph_version: &str) -> Result<(), Error> {
    if object.metadata.deletion_timestamp.is_some() {
        return remove(client, object).await;
    }
    let defaults = json!({"security": {"cephx": {}}});
    let object = &apply::take_over(client, &rook_kind(KIND), object, FINALIZER, defaults).await?;
    let made = make(client, object).await;
    let status = match &made {
        Ok(()) => build_ready_status(&secret_name(object), ceph_version, object.metadata.generation),
        Err(_) => build_failed_status(object.metadata.generation),
    };
    apply::replace_status(client, &rook_kind(KIND), object, status).await?;
    made
}

pub fn build_ready_status(secret_name: &str, ceph_version: &str, generation: Option<i64>) -> Value {
    json!({
        "cephx": {"keyCephVersion": ceph_version, "keyGeneration": 1},
        "info": {"secretName": secret_name},
        "observedGeneration": generation,
        "phase": "Ready",
    })
}

pub fn build_failed_status(generation: Option<i64>) -> Value {
    json!({"observedGeneration": generation, "phase": "Failure"})
}

async fn make(client: &Client, object: &DynamicObject) -> Result<(), Error> {
    let user = named(object);
    if user == "admin" {
        return Err(Error::Field {
            object: object.name_any(),
            field: "spec.name",
            found: user,
            expected: "another name than the administrator's",
        });
    }
    let entity = format!("client.{user}");
    let caps = object.data["spec"]["caps"].as_object().into_iter().flatten();
    let caps: Vec<String> =
        caps.flat_map(|(daemon, cap)| [daemon.clone(), cap.as_str().unwrap_or_default().to_owned()]).collect();
    let command = match ceph::ceph(&["auth", "print-key", &entity]).await {
        Ok(_) => "caps",
        Err(error) if error.is_not_found() => "add",
        Err(error) => return Err(error.into()),
    };
    let mut arguments = vec!["auth", command, &entity];
    arguments.extend(caps.iter().map(String::as_str));
    ceph::ceph(&arguments).await?;
    let key = ceph::ceph(&["auth", "print-key", &entity]).await?;

    let namespace = object.namespace().unwrap_or_default();
    let uid = object.uid().unwrap_or_default();
    let secret = build_client_secret(&object.name_any(), &namespace, &secret_name(object), &uid, &user, &key);
    apply::create_if_missing(client, &ApiResource::erase::<Secret>(&()), &namespace, &secret).await?;
    Ok(())
}

async fn remove(client: &Client, object: &DynamicObject) -> Result<(), Error> {
    if !object.finalizers().iter().any(|known| known == FINALIZER) {
        return Ok(());
    }
    let user = named(object);
    if user != "admin" {
        // Removing what is not there is no error to Ceph.
        ceph::ceph(&["auth", "rm", &format!("client.{user}")]).await?;
    }
    let namespace = object.namespace().unwrap_or_default();
    let secret_name = secret_name(object);
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
    match secrets.delete(&secret_name, &DeleteParams::default()).await {
        Ok(_) => {}
        Err(kube::Error::Api(status)) if status.is_not_found() => {}
        Err(source) => {
            return Err(Error::Kubernetes { act: format!("delete Secret {namespace}/{secret_name}"), source });
        }
    }
    apply::let_go(client, &rook_kind(KIND), object, FINALIZER).await
}

fn secret_name(object: &DynamicObject) -> String {
    let asked = object.data["spec"]["secretName"].as_str();
    asked.map_or_else(|| format!("rook-ceph-client-{}", object.name_any()), str::to_owned)
}
