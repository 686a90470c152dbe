//! The stories: what cephbench does in a real cluster with a real Ceph, each told once and counted by somebody else. One at a time
//! (`--test-threads=1`): they share the cluster. They wait for conditions and never for a time.
//!
//! `make cluster`, `e2e/install.sh`, then `cargo test -p e2e --test stories -- --test-threads=1 [NAME]`.

mod faults_ceph;
mod faults_operator;
mod faults_others;
mod faults_pods;
mod figures_disk;
mod figures_network;
mod figures_rados;
mod life_changes;
mod life_gates;
mod life_phases;
mod life_plugin;
mod life_sharing;
mod refusals_cluster;
mod refusals_nodes;
mod refusals_spec;
mod refusals_storage;
mod terminating_namespace;
