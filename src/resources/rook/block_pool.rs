//! CephBlockPool: made for a test, and read to know a pool's copies and quota.

use std::collections::BTreeMap;

use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(Clone, CustomResource, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "ceph.rook.io",
    version = "v1",
    kind = "CephBlockPool",
    namespaced,
    schema = "disabled",
    status = "BlockPoolStatus",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct CephBlockPoolSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_domain: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicated: Option<Replicated>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure_coded: Option<ErasureCoded>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotas: Option<Quotas>,
    /// Set on the pool one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replicated {
    pub size: u32,
    /// Must be false for one copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_safe_replica_size: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ErasureCoded {
    pub data_chunks: u32,
    pub coding_chunks: u32,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Quotas {
    /// Bytes before replication, as a quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size: Option<String>,
    /// The older way to say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct BlockPoolStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<BlockPoolCondition>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct BlockPoolCondition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub message: String,
}

impl CephBlockPool {
    /// What Rook says is in the way of deleting it.
    pub fn deletion_blocked(&self) -> Option<&str> {
        let conditions = &self.status.as_ref()?.conditions;
        let blocks = |condition: &&BlockPoolCondition| {
            matches!(condition.kind.as_str(), "PoolDeletionIsBlocked" | "DeletionIsBlocked")
                && condition.status == "True"
        };
        conditions.iter().find(blocks).map(|condition| condition.message.as_str())
    }
}
