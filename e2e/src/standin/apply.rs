//! Writes objects to the API. Thin: it decides nothing about their content.

use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use super::Error;

fn failed(act: String) -> impl FnOnce(kube::Error) -> Error {
    move |source| Error::Kubernetes { act, source }
}

/// Creates `object` unless it is there, and returns what is there. What somebody changed since stays changed.
pub async fn create_if_missing(
    client: &Client,
    kind: &ApiResource,
    namespace: &str,
    object: &Value,
) -> Result<DynamicObject, Error> {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, kind);
    let object: DynamicObject =
        serde_json::from_value(object.clone()).expect("what the builders make is an object with metadata");
    let name = object.name_any();
    let act = format!("create {} {namespace}/{name}", kind.kind);
    if let Some(found) = api.get_opt(&name).await.map_err(failed(act.clone()))? {
        return Ok(found);
    }
    api.create(&PostParams::default(), &object).await.map_err(failed(act))
}

/// All objects of a kind in a namespace.
pub async fn list(client: &Client, kind: &ApiResource, namespace: &str) -> Result<Vec<DynamicObject>, Error> {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, kind);
    let list = api.list(&ListParams::default()).await;
    Ok(list.map_err(failed(format!("list {} in {namespace}", kind.kind)))?.items)
}

/// Replaces the whole status, so that keys which no longer hold go away.
pub async fn replace_status(
    client: &Client,
    kind: &ApiResource,
    object: &DynamicObject,
    status: Value,
) -> Result<(), Error> {
    let namespace = object.namespace().unwrap_or_default();
    let name = object.name_any();
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &namespace, kind);
    let act = format!("write the status of {} {namespace}/{name}", kind.kind);
    let mut current = api.get(&name).await.map_err(failed(act.clone()))?;
    current.data["status"] = status;
    api.replace_status(&name, &PostParams::default(), &current).await.map_err(failed(act))?;
    Ok(())
}

/// Adds the finalizer, and the empty values that Rook writes back into a spec when it first stores the object.
pub async fn take_over(
    client: &Client,
    kind: &ApiResource,
    object: &DynamicObject,
    finalizer: &str,
    spec_defaults: Value,
) -> Result<DynamicObject, Error> {
    let mut spec = object.data["spec"].clone();
    let before = spec.clone();
    fill_missing(&mut spec, &spec_defaults);
    let known = object.finalizers().iter().any(|known| known == finalizer);
    if known && spec == before {
        return Ok(object.clone());
    }
    let mut finalizers = object.finalizers().to_vec();
    if !known {
        finalizers.push(finalizer.to_owned());
    }
    merge(client, kind, object, json!({"metadata": {"finalizers": finalizers}, "spec": spec})).await
}

/// Takes the finalizer away, so that a deletion may finish.
pub async fn let_go(client: &Client, kind: &ApiResource, object: &DynamicObject, finalizer: &str) -> Result<(), Error> {
    let rest: Vec<&String> = object.finalizers().iter().filter(|known| *known != finalizer).collect();
    match merge(client, kind, object, json!({"metadata": {"finalizers": rest}})).await {
        Ok(_) => Ok(()),
        Err(Error::Kubernetes { source: kube::Error::Api(status), .. }) if status.is_not_found() => Ok(()),
        Err(error) => Err(error),
    }
}

async fn merge(
    client: &Client,
    kind: &ApiResource,
    object: &DynamicObject,
    patch: Value,
) -> Result<DynamicObject, Error> {
    let namespace = object.namespace().unwrap_or_default();
    let name = object.name_any();
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &namespace, kind);
    api.patch(&name, &PatchParams::default(), &Patch::Merge(patch))
        .await
        .map_err(failed(format!("change {} {namespace}/{name}", kind.kind)))
}

/// Puts each value of `defaults` where `target` has none, at any depth.
fn fill_missing(target: &mut Value, defaults: &Value) {
    match (target, defaults) {
        (Value::Object(target), Value::Object(defaults)) => {
            for (key, default) in defaults {
                match target.get_mut(key) {
                    Some(found) => fill_missing(found, default),
                    None => {
                        target.insert(key.clone(), default.clone());
                    }
                }
            }
        }
        (target @ Value::Null, defaults) => *target = defaults.clone(),
        (_, _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_stays_and_what_is_missing_is_filled() {
        let mut spec = json!({"replicated": {"size": 2}, "quotas": {"maxSize": "1Gi"}});
        fill_missing(&mut spec, &json!({"quotas": {}, "application": "", "statusCheck": {"mirror": {}}}));
        assert_eq!(
            spec,
            json!({"replicated": {"size": 2}, "quotas": {"maxSize": "1Gi"}, "application": "", "statusCheck": {"mirror": {}}})
        );
    }
}
