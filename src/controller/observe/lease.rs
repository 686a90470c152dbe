//! Who has the Ceph cluster.

use k8s_openapi::api::coordination::v1;
use kube::api::Api;

use super::super::context::Context;
use super::super::error::{ControllerError, During, found};
use super::records::of_benchmark;
use crate::api::CephBenchmark;
use crate::plan::decide::Lease;
use crate::resources::names::Owner;
use crate::resources::{Holder, cluster_lease_name, holder_of};

/// The Lease as it was seen, to be taken or given back as it was.
pub struct SeenLease {
    pub fsid: Option<String>,
    pub state: Lease,
    pub object: Option<v1::Lease>,
}

impl Default for SeenLease {
    fn default() -> Self {
        SeenLease { fsid: None, state: Lease::Unknown, object: None }
    }
}

/// The Lease that the benchmark has, whatever cluster it is for.
pub(super) async fn held(context: &Context, owner: &Owner) -> Result<Option<SeenLease>, ControllerError> {
    let api: Api<v1::Lease> = Api::namespaced(context.client.clone(), &context.namespace);
    let listed = api.list(&of_benchmark(owner)).await.during(|| "list Leases".into())?;
    let ours = listed.items.into_iter().find(|lease| holder_of(lease) == Some(Holder::of(owner)));
    Ok(ours.map(|lease| SeenLease { fsid: None, state: Lease::Ours, object: Some(lease) }))
}

pub(super) async fn see(context: &Context, owner: &Owner, fsid: &str) -> Result<SeenLease, ControllerError> {
    let api: Api<v1::Lease> = Api::namespaced(context.client.clone(), &context.namespace);
    let name = cluster_lease_name(fsid);
    let object = found(api.get(&name).await).during(|| format!("get Lease {name}"))?;
    let state = match object.as_ref().and_then(holder_of) {
        None => Lease::Free,
        Some(holder) if holder == Holder::of(owner) => Lease::Ours,
        Some(holder) if exists(context, &holder).await? => Lease::Other(holder.title()),
        Some(_) => Lease::Free,
    };
    Ok(SeenLease { fsid: Some(fsid.into()), state, object })
}

/// A holder that can't be looked at is taken to be there: two runs at once would spoil both.
async fn exists(context: &Context, holder: &Holder) -> Result<bool, ControllerError> {
    let api: Api<CephBenchmark> = Api::namespaced(context.client.clone(), &holder.namespace);
    match found(api.get_metadata(&holder.name).await) {
        Ok(object) => Ok(object.is_some_and(|object| object.metadata.uid.as_deref() == Some(&holder.uid))),
        Err(kube::Error::Api(status)) if status.is_forbidden() => Ok(true),
        Err(error) => Err(error).during(|| format!("get CephBenchmark {}", holder.title())),
    }
}
