//! A node of the local cluster: commands run as if on it.

use anyhow::{Result, bail};

use super::Cluster;
use super::cluster::state_folder;

/// A node by its name.
pub struct Node<'a> {
    cluster: &'a Cluster,
    pub name: String,
}

impl<'a> Node<'a> {
    pub fn new(cluster: &'a Cluster, name: &str) -> Self {
        Self { cluster, name: name.to_owned() }
    }

    /// What a command prints, run in the node's namespaces.
    pub async fn run(&self, command: &[&str]) -> Result<String> {
        let output = self.cluster.script("e2e/cluster/on-node.sh").arg(&self.name).args(command).output().await?;
        if !output.status.success() {
            bail!("{}: {command:?}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Whether this is a node of the local cluster, which alone can be entered.
    pub fn is_local(&self) -> bool {
        state_folder().join("nodes").join(&self.name).exists()
    }
}
