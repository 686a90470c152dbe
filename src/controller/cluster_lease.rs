//! Takes the Ceph cluster for a run, and gives it back.

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, DeleteParams, Preconditions};

use super::context::Context;
use super::error::{ControllerError, During, found};
use super::observe::Look;
use super::write::post;
use crate::resources::{Holder, build_cluster_lease, cluster_lease_name};

/// A Lease whose holder is gone is taken over as it was seen: of two that try, one is refused and looks again.
pub async fn take(context: &Context, look: &Look) -> Result<(), ControllerError> {
    let fsid = look.lease.fsid.as_deref();
    let fsid = fsid.ok_or_else(|| ControllerError::Missing("it is not known which Ceph cluster it is".into()))?;
    let api: Api<Lease> = Api::namespaced(context.client.clone(), &context.namespace);
    let name = cluster_lease_name(fsid);
    let mut lease = build_cluster_lease(&context.namespace, fsid, &Holder::of(&look.owner), look.observed.now);
    let taken = match &look.lease.object {
        None => api.create(&post(), &lease).await,
        Some(seen) => {
            lease.metadata.resource_version = seen.metadata.resource_version.clone();
            api.replace(&name, &post(), &lease).await
        }
    };
    match taken {
        Ok(_) => Ok(()),
        // Somebody was faster.
        Err(kube::Error::Api(status)) if status.is_already_exists() || status.is_conflict() => Ok(()),
        Err(error) => Err(error).during(|| format!("take Lease {name}")),
    }
}

pub async fn release(context: &Context, look: &Look) -> Result<(), ControllerError> {
    let Some(lease) = &look.lease.object else { return Ok(()) };
    let api: Api<Lease> = Api::namespaced(context.client.clone(), &context.namespace);
    let name = lease.metadata.name.clone().unwrap_or_default();
    let params = DeleteParams {
        preconditions: Some(Preconditions {
            uid: lease.metadata.uid.clone(),
            resource_version: lease.metadata.resource_version.clone(),
        }),
        ..DeleteParams::default()
    };
    match found(api.delete(&name, &params).await) {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_conflict() => Ok(()),
        Err(error) => Err(error).during(|| format!("give back Lease {name}")),
    }
}
