//! What the stories share: a real cluster, benchmarks applied to it, and counts taken by others than cephbench.
//! No story is told here.

mod cluster;
mod counters;
mod inventory;
mod node;

pub use cluster::{Cluster, NAMESPACE, Refusal};
pub use counters::{DeviceBytes, PoolCount, agree, number};
pub use inventory::Inventory;
pub use node::Node;
