//! The operator as the chart installs it, to be killed or paused at the wrong moment.

use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams};

use super::{Cluster, Node, Story, eventually};

const NAMESPACE: &str = "cephbench-system";
const SELECTOR: &str = "app.kubernetes.io/name=cephbench";
const COMMAND: &str = "^/cephbench-operator run";

pub struct Operator<'a> {
    cluster: &'a Cluster,
    pods: Api<Pod>,
}

impl<'a> Operator<'a> {
    pub fn new(cluster: &'a Cluster) -> Self {
        Self { cluster, pods: Api::namespaced(cluster.client.clone(), NAMESPACE) }
    }

    async fn pod(&self) -> Result<Pod> {
        let pods = self.pods.list(&ListParams::default().labels(SELECTOR)).await?;
        let live = pods.into_iter().find(|pod| pod.metadata.deletion_timestamp.is_none());
        live.with_context(|| format!("no operator in {NAMESPACE}: e2e/install.sh installs it"))
    }

    /// The node and the UID of its pod.
    async fn place(&self) -> Result<(Pod, String, String)> {
        let pod = self.pod().await?;
        let node =
            pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).context("the operator's pod has a node")?;
        let uid = pod.uid().context("pods have a UID")?;
        Ok((pod, node, uid))
    }

    /// Sends SIGKILL to the operator's process and, without waiting for the kubelet's growing back-off, has its pod replaced.
    pub async fn kill(&self) -> Result<()> {
        let (pod, node, uid) = self.place().await?;
        let killed = Node::new(self.cluster, &node).signal_in_pod(&uid, COMMAND, "KILL").await;
        killed.with_context(|| format!("the operator's process on {node}"))?;
        self.pods.delete(&pod.name_any(), &DeleteParams::default().grace_period(0)).await?;
        Ok(())
    }

    /// Waits until an operator is ready.
    pub async fn ready(&self) -> Result<()> {
        eventually(Duration::from_secs(60), "the operator is ready", async || {
            let pod = match self.pod().await {
                Ok(pod) => pod,
                Err(error) => return Ok(Err(error.to_string())),
            };
            let statuses = pod.status.and_then(|status| status.container_statuses).unwrap_or_default();
            let ready = !statuses.is_empty() && statuses.iter().all(|status| status.ready);
            Ok(if ready { Ok(()) } else { Err(format!("{statuses:?}")) })
        })
        .await
    }

    /// Takes the operator away until [`Operator::resumed`] or the story's end.
    pub async fn paused(&self, story: &Story) -> Result<()> {
        story.repair_by(&scale("--replicas=1"));
        self.cluster.command(&scale("--replicas=0")).await?;
        eventually(Duration::from_secs(60), "the operator is gone", async || {
            let pods = self.pods.list(&ListParams::default().labels(SELECTOR)).await?;
            Ok(if pods.items.is_empty() { Ok(()) } else { Err(format!("{} pods", pods.items.len())) })
        })
        .await
    }

    pub async fn resumed(&self) -> Result<()> {
        self.cluster.command(&scale("--replicas=1")).await?;
        self.ready().await
    }

    /// Bytes that the operator's process holds in memory.
    pub async fn resident_bytes(&self) -> Result<u64> {
        let (_, node, uid) = self.place().await?;
        Ok(Node::new(self.cluster, &node).resident_in_pod(&uid, COMMAND).await? << 10)
    }
}

fn scale(replicas: &'static str) -> [&'static str; 8] {
    ["kubectl", "-n", NAMESPACE, "scale", "deployment", "--selector", SELECTOR, replicas]
}
