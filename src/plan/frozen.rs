//! A run as it was frozen at its start: the plan, and all that was looked up to carry it out. Everything that a run makes follows from
//! this alone, so that an operator that was killed builds the same objects again. No live state.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ResourceRequirements, Toleration};
use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Plan, PlannedKind, PlannedPool};
use crate::api::{ClusterStatus, PullSecret};

/// What makes two runs the same measurement.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunKey {
    pub spec_hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
}

/// A run with its number and its start.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Frozen {
    pub number: i64,
    pub key: RunKey,
    pub started: Timestamp,
    pub prepared: Prepared,
}

/// What preflight found: the plan and where it will run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prepared {
    pub plan: Plan,
    /// The cluster's fingerprint, for the status.
    pub cluster: ClusterStatus,
    pub cluster_name: String,
    pub fsid: String,
    /// Such as `20.2.4-0`; absent where the CephCluster does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceph_version: Option<String>,
    /// Monitors as librados takes them in `mon_host`; empty when no test needs them.
    pub mon_host: String,
    /// Image that the bench is copied from.
    pub bench_image: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bench_image_pull_policy: Option<String>,
    /// One entry per test of the plan, in its order.
    pub tests: Vec<PreparedTest>,
}

/// Where and how the clients of a test run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreparedTest {
    /// The node of each client, by client index: as many as there are clients.
    pub nodes: Vec<String>,
    pub image: String,
    /// What of the node is mounted: for a directory the allowed one above it, so that a link inside can't lead out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_mount: Option<String>,
    pub host_network: bool,
    /// Annotations that the pods carry to join networks beside the pod network (Multus).
    pub network_annotations: BTreeMap<String, String>,
    pub tolerations: Vec<Toleration>,
    pub resources: ResourceRequirements,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_class: Option<String>,
    pub pull_secrets: Vec<PullSecret>,
    /// Planned ramps and measuring.
    pub seconds: u64,
    /// How long all preparation may take.
    pub prepare_seconds: u64,
    /// How long the clients may exist in all before the test is given up.
    pub deadline_seconds: u64,
    /// Most bytes that a created pool may hold, before replication.
    pub quota: u64,
}

impl Frozen {
    /// The planned and the prepared half of each test.
    pub fn tests(&self) -> impl Iterator<Item = (&super::PlannedTest, &PreparedTest)> {
        self.prepared.plan.tests.iter().zip(&self.prepared.tests)
    }
}

/// What a test needs from Rook before its clients can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// A pool made for the test.
    pub pool: bool,
    /// A CephX user.
    pub user: bool,
}

impl PlannedKind {
    pub fn needs(&self) -> Needs {
        match self {
            PlannedKind::File { .. } | PlannedKind::Device { .. } | PlannedKind::Network => {
                Needs { pool: false, user: false }
            }
            PlannedKind::Rados(PlannedPool::Create { .. }) => Needs { pool: true, user: true },
            PlannedKind::Rados(PlannedPool::Existing { .. }) => Needs { pool: false, user: true },
        }
    }
    /// What lies in a pool that was made for the test goes with it.
    pub fn remains(&self) -> Remains {
        match self {
            PlannedKind::Device { .. } | PlannedKind::Network => Remains::Nothing,
            PlannedKind::File { .. } => Remains::OnNodes,
            PlannedKind::Rados(PlannedPool::Create { .. }) => Remains::Nothing,
            PlannedKind::Rados(PlannedPool::Existing { .. }) => Remains::InPool,
        }
    }
}

/// What clients leave when they have no time to clean up and only the bench can remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remains {
    Nothing,
    /// Each client on its node.
    OnNodes,
    /// All of them in one place.
    InPool,
}
