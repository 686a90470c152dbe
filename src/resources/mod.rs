//! One builder per Kubernetes object. Pure: builders take validated values and return objects.

mod block_pool;
mod ceph_client;
mod cluster_lease;
mod containers;
mod event;
mod job;
pub mod names;
mod network_policy;
mod plan_config_map;
mod pod;
mod result_config_map;
pub mod rook;
mod run_context;
mod security;
mod stored;
mod sweeps_config_map;
mod task_config_map;
mod token_secret;

pub use block_pool::build_block_pool;
pub use ceph_client::{build_ceph_client, user_name};
pub use cluster_lease::{Holder, build_cluster_lease, cluster_lease_name, holder_of};
pub use containers::{BENCH, OURS, REPORT};
pub use event::{Notice, Severity, build_event};
pub use job::{build_job, build_sweeper_job};
pub use network_policy::build_network_policy;
pub use plan_config_map::{StoredError, build_plan_config_map, outline_of, read_plan_config_map};
pub use result_config_map::{build_result_config_map, digest_of, end_of, read_result_config_map, sweeps_of};
pub use run_context::{Platform, RunContext};
pub use sweeps_config_map::{build_left_config_map, build_sweeps_config_map, clients_in, left_of, list_of};
pub use task_config_map::build_task_config_map;
pub use token_secret::build_token_secret;

#[cfg(test)]
mod tests;
