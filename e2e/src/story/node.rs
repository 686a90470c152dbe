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

    /// Sends a signal to the processes of a pod, by its UID, whose command lines match; there must be one at least.
    pub async fn signal_in_pod(&self, uid: &str, pattern: &str, signal: &str) -> Result<()> {
        let each = format!("kill -{signal} ${{process#/proc/}} && found=yes");
        let script = format!("{}; test \"$found\"", in_pod(uid, pattern, &each));
        self.run(&["sh", "-c", &script]).await.map(drop)
    }

    /// Kibibytes that the processes of a pod whose command lines match hold in memory.
    pub async fn resident_in_pod(&self, uid: &str, pattern: &str) -> Result<u64> {
        let each = "awk '/^VmRSS:/ { print $2 }' $process/status";
        let text = self.run(&["sh", "-c", &in_pod(uid, pattern, each)]).await?;
        let sizes: Vec<u64> = text.lines().map(|line| line.trim().parse()).collect::<Result<_, _>>()?;
        ensure!(!sizes.is_empty(), "no process {pattern} in pod {uid}");
        Ok(sizes.iter().sum())
    }
}

/// A shell loop over a pod's processes. The control group tells them from others: kubelet names it after the pod's UID.
fn in_pod(uid: &str, pattern: &str, each: &str) -> String {
    format!(
        "for process in /proc/[0-9]*; do
           if grep -q {uid} $process/cgroup 2>/dev/null && tr '\\0' ' ' <$process/cmdline 2>/dev/null | grep -q '{pattern}'; then {each}; fi
         done"
    )
}
