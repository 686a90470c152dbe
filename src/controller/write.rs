//! Creating and deleting, safely when done twice: what exists already is ours by its owner's UID or somebody else's, and only what was seen
//! is deleted.

use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use kube::api::{Api, DeleteParams, PostParams, Preconditions, PropagationPolicy};
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::Context;
use super::error::{ControllerError, During, found};
use crate::plan::decide::Target;
use crate::resources::names::{OPERATOR, Owner};

pub fn post() -> PostParams {
    PostParams { dry_run: false, field_manager: Some(OPERATOR.into()) }
}

/// Creates an object. One that is there already is fine when it is ours.
pub async fn create<K>(context: &Context, owner: &Owner, object: &K) -> Result<(), ControllerError>
where
    K: Clone + Debug + DeserializeOwned + Resource<DynamicType = (), Scope = NamespaceResourceScope> + Serialize,
{
    let api: Api<K> = Api::namespaced(context.client.clone(), &owner.namespace);
    let what = || format!("{} {}", K::kind(&()), object.name_any());
    match api.create(&post(), object).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let there = found(api.get_metadata(&object.name_any()).await).during(|| format!("get {}", what()))?;
            // Gone between the two calls: the next look sees it.
            let Some(there) = there else { return Ok(()) };
            let owners = there.metadata.owner_references.unwrap_or_default();
            if owners.iter().any(|reference| reference.uid == owner.uid) {
                return Ok(());
            }
            let owner = owners.first().map_or("nobody".to_owned(), |first| format!("{} {}", first.kind, first.name));
            Err(ControllerError::Foreign { what: what(), owner })
        }
        Err(error) => Err(error).during(|| format!("create {}", what())),
    }
}

/// Deletes objects that were seen, if they are still the same.
pub async fn delete<K>(context: &Context, owner: &Owner, targets: &[Target]) -> Result<(), ControllerError>
where
    K: Clone + Debug + DeserializeOwned + Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let api: Api<K> = Api::namespaced(context.client.clone(), &owner.namespace);
    for target in targets {
        let params = DeleteParams {
            preconditions: Some(Preconditions { uid: Some(target.uid.clone()), resource_version: None }),
            propagation_policy: Some(PropagationPolicy::Background),
            ..DeleteParams::default()
        };
        let what = || format!("delete {} {}", K::kind(&()), target.name);
        match found(api.delete(&target.name, &params).await) {
            Ok(_) => {}
            // It is another object by now: the next look sees it.
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            Err(error) => return Err(error).during(what),
        }
    }
    Ok(())
}

/// Deletes an object by its name, wherever nothing of it can be read.
pub async fn delete_named<K>(context: &Context, owner: &Owner, name: &str) -> Result<(), ControllerError>
where
    K: Clone + Debug + DeserializeOwned + Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let api: Api<K> = Api::namespaced(context.client.clone(), &owner.namespace);
    let params = DeleteParams::background();
    found(api.delete(name, &params).await).during(|| format!("delete {} {name}", K::kind(&())))?;
    Ok(())
}

#[cfg(test)]
mod tests;
