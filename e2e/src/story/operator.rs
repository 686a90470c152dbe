//! The operator as the chart installs it, to be killed at the wrong moment.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams};

use super::{Cluster, Node, eventually};

const NAMESPACE: &str = "cephbench-system";
const SELECTOR: &str = "app.kubernetes.io/name=cephbench";

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

    /// Sends SIGKILL to the operator's process and, without waiting for the kubelet's growing back-off, has its pod replaced.
    pub async fn kill(&self) -> Result<()> {
        let pod = self.pod().await?;
        let node =
            pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).context("the operator's pod has a node")?;
        let uid = pod.uid().context("pods have a UID")?;
        // The control group tells this operator from any other program: kubelet names it after the pod's UID.
        let kill = format!(
            "killed=; for process in /proc/[0-9]*; do
               if grep -q {uid} $process/cgroup 2>/dev/null && tr '\\0' ' ' <$process/cmdline 2>/dev/null | grep -q '^/cephbench-operator run'; then
                 kill -KILL ${{process#/proc/}}; killed=yes
               fi
             done; test $killed"
        );
        let killed = Node::new(self.cluster, &node).run(&["sh", "-c", &kill]).await;
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

    /// Bytes that the operator's process holds in memory.
    pub async fn resident_bytes(&self) -> Result<u64> {
        let pod = self.pod().await?;
        let (Some(node), Some(uid)) = (pod.spec.as_ref().and_then(|spec| spec.node_name.clone()), pod.uid()) else {
            bail!("the operator's pod has no node yet")
        };
        let read = format!(
            "for process in /proc/[0-9]*; do
               if grep -q {uid} $process/cgroup 2>/dev/null && tr '\\0' ' ' <$process/cmdline 2>/dev/null | grep -q '^/cephbench-operator run'; then
                 sed -n 's/^VmRSS: *\\([0-9]*\\) kB/\\1/p' $process/status
               fi
             done"
        );
        let text = Node::new(self.cluster, &node).run(&["sh", "-c", &read]).await?;
        let kibibytes: u64 = text.trim().parse().with_context(|| format!("resident memory: {text:?}"))?;
        Ok(kibibytes << 10)
    }
}
