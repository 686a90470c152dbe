//! What was looked up before a run: the Ceph cluster, its OSDs, pools and monitors, and the nodes. Plain values.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Taint, Toleration};

/// One look at all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    pub namespace: String,
    /// The CephClusters of the namespace.
    pub clusters: Vec<ClusterFacts>,
    pub osds: Vec<OsdFacts>,
    pub pools: Vec<PoolFacts>,
    pub monitors: Monitors,
    pub nodes: Vec<NodeFacts>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterFacts {
    pub name: String,
    pub phase: Option<String>,
    pub message: Option<String>,
    pub fsid: Option<String>,
    /// HEALTH_OK, HEALTH_WARN or HEALTH_ERR; up to a minute old.
    pub health: Option<String>,
    /// What is said about the health: code and message.
    pub health_details: BTreeMap<String, String>,
    pub image: Option<String>,
    pub version: Option<String>,
    pub external: bool,
    pub network: ClusterNetwork,
    pub tolerations: Vec<Toleration>,
    /// Bytes on all OSDs, and those in use.
    pub capacity: Option<(u64, u64)>,
}

/// The network that the daemons use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClusterNetwork {
    #[default]
    Pod,
    Host,
    /// With the name of the public network's attachment.
    Multus(Option<String>),
}

/// An OSD: its deployment, and its pod where it has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OsdFacts {
    /// The CRUSH host. For an OSD on a claim that is the claim's name.
    pub host: Option<String>,
    /// The node that its pod runs on.
    pub node: Option<String>,
    pub tolerations: Vec<Toleration>,
}

/// A pool that Rook made. Ceph may have others.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolFacts {
    pub name: String,
    /// Bytes stored per byte written.
    pub copies: f64,
    /// Copies of a replicated pool.
    pub size: Option<u32>,
    /// Most bytes that it may hold, before replication.
    pub quota: Option<u64>,
}

/// The monitors as Rook keeps them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Monitors {
    /// `a=10.0.0.1:6789,b=…`; absent where the ConfigMap is.
    pub data: Option<String>,
    /// Names, comma-separated.
    pub out_of_quorum: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeFacts {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub cordoned: bool,
    pub ready: bool,
    pub taints: Vec<Taint>,
    /// Bytes.
    pub memory: Option<u64>,
}
