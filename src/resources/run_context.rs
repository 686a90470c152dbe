//! What every builder of a run's objects needs to know.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;

use super::names::{BENCHMARK_NAME, Owner, Role, RunNames};
use crate::api::CephBenchmark;
use crate::plan::frozen::{Frozen, PreparedTest};
use crate::plan::{PlannedKind, PlannedTest};

/// What differs between Kubernetes distributions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// OpenShift's security API is there: it gives each namespace a range of user ids and refuses any other.
    pub assigns_users: bool,
}

/// A run, its owner and its surroundings.
pub struct RunContext<'a> {
    pub owner: &'a Owner,
    pub frozen: &'a Frozen,
    pub platform: Platform,
}

impl RunContext<'_> {
    pub fn names(&self) -> RunNames {
        RunNames::new(&self.owner.uid, self.frozen.number)
    }

    /// A test of the plan. The index comes from the plan itself.
    pub fn test(&self, index: usize) -> (&PlannedTest, &PreparedTest) {
        (&self.frozen.prepared.plan.tests[index], &self.frozen.prepared.tests[index])
    }

    /// Metadata of an object that serves the whole run.
    pub(super) fn metadata(&self, name: String, role: Role) -> ObjectMeta {
        ObjectMeta { labels: Some(self.owner.labels(self.frozen.number, role)), ..self.bare(name) }
    }

    /// Metadata of an object that serves a test.
    pub(super) fn test_metadata(&self, name: String, role: Role, test: usize) -> ObjectMeta {
        let labels = self.owner.test_labels(self.frozen.number, role, test, &self.test(test).0.name);
        ObjectMeta { labels: Some(labels), ..self.bare(name) }
    }

    fn bare(&self, name: String) -> ObjectMeta {
        ObjectMeta {
            name: Some(name),
            namespace: Some(self.owner.namespace.clone()),
            annotations: Some([(BENCHMARK_NAME.to_owned(), self.owner.name.clone())].into()),
            owner_references: Some(vec![owner_reference(self.owner)]),
            ..ObjectMeta::default()
        }
    }

    /// The RADOS namespace of a test: its own in a pool that was there before, none in one made for it.
    pub fn rados_namespace(&self, test: usize) -> String {
        let (planned, _) = self.test(test);
        if planned.kind.needs().pool { String::new() } else { self.names().test(&planned.name) }
    }

    /// The pool that a test works in.
    pub fn pool(&self, test: usize) -> Option<String> {
        let (planned, _) = self.test(test);
        match &planned.kind {
            PlannedKind::Rados(pool) => Some(match pool {
                crate::plan::PlannedPool::Create { .. } => self.names().test(&planned.name),
                crate::plan::PlannedPool::Existing { name } => name.clone(),
            }),
            PlannedKind::File { .. } | PlannedKind::Device { .. } | PlannedKind::Network => None,
        }
    }
}

/// The garbage collector removes what the benchmark owns, should the operator be gone for good.
pub(super) fn owner_reference(owner: &Owner) -> OwnerReference {
    OwnerReference {
        api_version: CephBenchmark::api_version(&()).into(),
        kind: CephBenchmark::kind(&()).into(),
        name: owner.name.clone(),
        uid: owner.uid.clone(),
        controller: Some(true),
        block_owner_deletion: Some(false),
    }
}
