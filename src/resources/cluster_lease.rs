//! The Lease that gives a run the Ceph cluster: one per cluster, named after its fsid, without an end. It is free when its holder is gone.

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;

use super::names::{BENCHMARK_UID, MANAGED_BY, OPERATOR, Owner};

/// A benchmark that has a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

impl Holder {
    pub fn of(owner: &Owner) -> Self {
        let Owner { namespace, name, uid } = owner.clone();
        Holder { namespace, name, uid }
    }

    fn text(&self) -> String {
        format!("{}/{}/{}", self.namespace, self.name, self.uid)
    }

    /// For people.
    pub fn title(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

pub fn cluster_lease_name(fsid: &str) -> String {
    let plain: String = fsid.to_ascii_lowercase().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    format!("cephbench-{plain}")
}

pub fn build_cluster_lease(namespace: &str, fsid: &str, holder: &Holder, now: Timestamp) -> Lease {
    Lease {
        metadata: ObjectMeta {
            name: Some(cluster_lease_name(fsid)),
            namespace: Some(namespace.into()),
            labels: Some(
                [(MANAGED_BY.to_owned(), OPERATOR.to_owned()), (BENCHMARK_UID.to_owned(), holder.uid.clone())].into(),
            ),
            ..ObjectMeta::default()
        },
        spec: Some(LeaseSpec {
            holder_identity: Some(holder.text()),
            acquire_time: Some(MicroTime(now)),
            ..LeaseSpec::default()
        }),
    }
}

/// Who has it; nobody when the text is not one of ours.
pub fn holder_of(lease: &Lease) -> Option<Holder> {
    let text = lease.spec.as_ref()?.holder_identity.as_deref()?;
    let mut parts = text.split('/');
    let holder = Holder { namespace: parts.next()?.into(), name: parts.next()?.into(), uid: parts.next()?.into() };
    parts.next().is_none().then_some(holder)
}
