//! Rook's objects, as far as they are read or made here: fields that real Rook has, and no others. Types only.

mod block_pool;
mod client;
mod cluster;

pub use block_pool::{
    BlockPoolCondition, BlockPoolStatus, CephBlockPool, CephBlockPoolSpec, ErasureCoded, Quotas, Replicated,
};
pub use client::{CephClient, CephClientSpec, CephClientStatus};
pub use cluster::{
    Capacity, CephCluster, CephClusterSpec, CephClusterStatus, CephState, CephVersionSpec, External, HealthDetail,
    Network, Placement, RunningVersion,
};

#[cfg(test)]
mod tests;
