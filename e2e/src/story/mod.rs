//! What the stories share: a real cluster, benchmarks applied to it, and counts taken by others than cephbench.
//! No story is told here.
//!
//! [`tell()`] runs a story: it takes the [`Inventory`] before, undoes afterwards what the story did to the cluster, deletes the story's
//! benchmarks and fails when anything is left that was not there before.

mod cluster;
mod counters;
mod figures;
mod inventory;
mod loop_file_system;
mod node;
mod operator;
mod tell;

pub use cluster::{Cluster, NAMESPACE, Refusal, eventually};
pub use counters::{DeviceBytes, LinkBytes, PoolCount, agree, number, within};
pub use figures::{
    bytes_of, condition, gate, only_point, points, reason_of, require_completed, require_conditions, test_of,
};
pub use inventory::{Inventory, names_of};
pub use loop_file_system::LoopFileSystem;
pub use node::{NODES, Node};
pub use operator::Operator;
pub use tell::{GONE, NAMESPACE_WITH_TWO, NAMESPACE_WITHOUT, Story, tell};
