//! A node of the local cluster: commands run as if on it.

use anyhow::{Result, ensure};

use super::Cluster;
use super::cluster::state_folder;

/// The local cluster's nodes. Each runs an OSD.
pub const NODES: [&str; 3] = ["node1", "node2", "node3"];

/// A node by its name.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    cluster: &'a Cluster,
    pub name: &'a str,
}

impl<'a> Node<'a> {
    pub fn new(cluster: &'a Cluster, name: &'a str) -> Self {
        Self { cluster, name }
    }

    /// What a command prints, run in the node's namespaces.
    pub async fn run(&self, command: &[&str]) -> Result<String> {
        let known = state_folder().join("nodes").join(self.name).exists();
        ensure!(known, "{} is no node of the local cluster: this story needs one that it may enter", self.name);
        self.cluster.command(&[&["e2e/cluster/on-node.sh", self.name], command].concat()).await
    }
}
