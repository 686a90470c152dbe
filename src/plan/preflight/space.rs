//! Whether what a run will write fits: in the cluster below nearfull, in a pool's quota, and its buffers in the nodes' memory.

use super::survey::{ClusterFacts, NodeFacts, PoolFacts};
use super::{Place, refuse, refuse_for_now};
use crate::plan::decide::Refusal;
use crate::units::bytes_text;

/// Ceph's default ratio at which it calls an OSD nearly full: the run stays below.
const NEARFULL_PERCENT: u128 = 85;

/// Space in the cluster for `bytes` written into a pool that keeps `copies` of each.
pub(super) fn cluster(cluster: &ClusterFacts, bytes: u64, copies: f64, place: &Place) -> Result<(), Refusal> {
    let Some((total, used)) = cluster.capacity else {
        return Err(refuse_for_now(
            "NoCapacity",
            format!("CephCluster {} does not say how much space it has: has it any OSD?", cluster.name),
        ));
    };
    let limit = (u128::from(total) * NEARFULL_PERCENT / 100) as u64;
    let free = limit.saturating_sub(used);
    let needed = bytes as f64 * copies;
    if needed > free as f64 {
        return Err(refuse_for_now(
            "NotEnoughSpace",
            format!(
                "{}: it writes up to {}, {} with {copies} copies, and the cluster has {} left below {NEARFULL_PERCENT} % of {}: \
                 lower workload.bytes, objectSize × queueDepth × jobs, or the number of clients",
                place.test(),
                bytes_text(bytes),
                bytes_text(needed as u64),
                bytes_text(free),
                bytes_text(total),
            ),
        ));
    }
    Ok(())
}

/// Space in an existing pool's quota.
pub(super) fn quota(pool: &PoolFacts, bytes: u64, place: &Place) -> Result<(), Refusal> {
    match pool.quota {
        Some(quota) if quota < bytes => Err(refuse_for_now(
            "NotEnoughSpace",
            format!(
                "{}: it writes up to {} into pool {}, whose quota is {}: lower workload.bytes or raise the quota",
                place.test(),
                bytes_text(bytes),
                pool.name,
                bytes_text(quota)
            ),
        )),
        Some(_) | None => Ok(()),
    }
}

/// Memory on a node for all its clients.
pub(super) fn memory(node: &NodeFacts, per_client: u64, per_node: u32, place: &Place) -> Result<(), Refusal> {
    let needed = per_client.saturating_mul(u64::from(per_node));
    match node.memory {
        Some(memory) if memory < needed => Err(refuse(
            "NotEnoughMemory",
            format!(
                "{}: the buffers of {per_node} clients need {} on node {}, which has {}: lower blockSize, queueDepth, jobs or \
                 clients.perNode",
                place.test(),
                bytes_text(needed),
                node.name,
                bytes_text(memory)
            ),
        )),
        Some(_) | None => Ok(()),
    }
}
