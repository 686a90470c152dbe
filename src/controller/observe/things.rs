//! Everything that runs of a benchmark made and that is to go again, found by its labels.

use std::collections::BTreeMap;
use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::Api;
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;

use super::super::context::Context;
use super::super::error::{ControllerError, During, found};
use super::records::{Records, of_benchmark};
use crate::plan::decide::{Thing, ThingKind};
use crate::resources::names::{CLIENT, Owner, ROLE, RUN, Role, TEST};
use crate::resources::rook::{CephBlockPool, CephClient};

#[derive(Default)]
pub(super) struct Things {
    pub jobs: Vec<Job>,
    pub pods: Vec<Pod>,
    pub network_policies: Vec<NetworkPolicy>,
    pub users: Vec<CephClient>,
    pub pools: Vec<CephBlockPool>,
    /// Tasks that are there and stay, by run and test.
    tasks: BTreeMap<(i64, usize), usize>,
}

pub(super) async fn list(context: &Context, owner: &Owner) -> Result<Things, ControllerError> {
    Ok(Things {
        jobs: of_kind(context, owner).await?,
        pods: of_kind(context, owner).await?,
        network_policies: of_kind(context, owner).await?,
        users: of_kind(context, owner).await?,
        pools: of_kind(context, owner).await?,
        tasks: BTreeMap::new(),
    })
}

/// Nothing where the kind itself is not there: a namespace may be served without Rook.
async fn of_kind<K>(context: &Context, owner: &Owner) -> Result<Vec<K>, ControllerError>
where
    K: Clone + Debug + DeserializeOwned + Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let api: Api<K> = Api::namespaced(context.client.clone(), &owner.namespace);
    let listed = found(api.list(&of_benchmark(owner)).await).during(|| format!("list {}", K::plural(&())))?;
    Ok(listed.map(|list| list.items).unwrap_or_default())
}

fn label<T: std::str::FromStr>(metadata: &ObjectMeta, key: &str) -> Option<T> {
    metadata.labels.as_ref()?.get(key)?.parse().ok()
}

fn thing(kind: ThingKind, metadata: &ObjectMeta, blocked: Option<String>) -> Option<Thing> {
    Some(Thing {
        kind,
        name: metadata.name.clone()?,
        uid: metadata.uid.clone()?,
        run: label(metadata, RUN)?,
        test: label(metadata, TEST),
        removing: metadata.deletion_timestamp.as_ref().map(|time| time.0),
        blocked,
    })
}

/// Run, test and client of an object.
pub(super) fn place(metadata: &ObjectMeta) -> Option<(i64, usize, u32)> {
    Some((label(metadata, RUN)?, label(metadata, TEST)?, label(metadata, CLIENT)?))
}

impl Things {
    pub(super) fn to_observed(&self, records: &Records) -> Vec<Thing> {
        let job_kind = |meta| if is_sweeper(meta) { ThingKind::Sweeper } else { ThingKind::Job };
        let pod_kind = |meta| if is_sweeper(meta) { ThingKind::SweeperPod } else { ThingKind::Pod };
        let jobs = self.jobs.iter().map(|job| thing(job_kind(job.meta()), job.meta(), None));
        let pods = self.pods.iter().map(|pod| thing(pod_kind(pod.meta()), pod.meta(), stuck_on(pod)));
        let tasks = records.tasks.iter().map(|task| thing(ThingKind::Task, &task.metadata, None));
        let users = self.users.iter().map(|user| thing(ThingKind::User, user.meta(), None));
        let blocked = |pool: &CephBlockPool| pool.deletion_blocked().map(str::to_owned);
        let pools = self.pools.iter().map(|pool| thing(ThingKind::Pool, pool.meta(), blocked(pool)));
        let policies = self.network_policies.iter().map(|policy| thing(ThingKind::NetworkPolicy, policy.meta(), None));
        jobs.chain(pods).chain(tasks).chain(users).chain(pools).chain(policies).flatten().collect()
    }

    pub(super) fn with_tasks(mut self, records: &Records) -> Self {
        let stays = |metadata: &ObjectMeta| metadata.deletion_timestamp.is_none() && has_role(metadata, Role::Task);
        for task in records.tasks.iter().filter(|task| stays(&task.metadata)) {
            if let (Some(run), Some(test)) = (label(&task.metadata, RUN), label(&task.metadata, TEST)) {
                *self.tasks.entry((run, test)).or_default() += 1;
            }
        }
        self
    }

    pub(super) fn has_tasks(&self, number: i64, test: usize, clients: usize) -> bool {
        self.tasks.get(&(number, test)).is_some_and(|count| *count >= clients)
    }

    pub(super) fn has_network_policy(&self, number: i64) -> bool {
        self.network_policies
            .iter()
            .any(|policy| label(policy.meta(), RUN) == Some(number) && policy.meta().deletion_timestamp.is_none())
    }

    /// The Job of a client, or of what sweeps up after it.
    pub(super) fn job(&self, place: (i64, usize, u32), sweeper: bool) -> Option<&Job> {
        self.jobs.iter().find(|job| self::place(job.meta()) == Some(place) && is_sweeper(job.meta()) == sweeper)
    }

    pub(super) fn pods(&self, place: (i64, usize, u32), sweeper: bool) -> Vec<&Pod> {
        let fits = |pod: &&Pod| self::place(pod.meta()) == Some(place) && is_sweeper(pod.meta()) == sweeper;
        self.pods.iter().filter(fits).collect()
    }
}

fn is_sweeper(metadata: &ObjectMeta) -> bool {
    has_role(metadata, Role::Sweeper)
}

fn has_role(metadata: &ObjectMeta, role: Role) -> bool {
    label::<String>(metadata, ROLE).is_some_and(|found| found == role.word())
}

/// The node of a pod that does not go: it is what to look at.
fn stuck_on(pod: &Pod) -> Option<String> {
    let node = pod.spec.as_ref()?.node_name.as_ref()?;
    pod.meta().deletion_timestamp.as_ref().map(|_| format!("node {node} does not say that it has ended"))
}

/// The name of an object, for messages.
pub(super) fn name_of<K: ResourceExt>(object: &K) -> String {
    object.name_any()
}
