//! The cluster that a story is told in: applying benchmarks, waiting on what their status says.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cephbench::api::{BenchmarkStatus, CephBenchmark, Phase};
use futures::TryStreamExt;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::watcher;
use kube::{Client, ResourceExt};
use tokio::process::Command;

/// The namespace of the Ceph cluster.
pub const NAMESPACE: &str = "rook-ceph";

/// What the API server said when it refused an object.
#[derive(Debug)]
pub struct Refusal(pub String);

/// A cluster reached.
pub struct Cluster {
    pub client: Client,
    root: PathBuf,
}

impl Cluster {
    /// Connects with `KUBECONFIG`, or to the local cluster.
    pub async fn connect() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("e2e lies in the repository")?.to_owned();
        let path = match std::env::var_os("KUBECONFIG") {
            Some(path) => PathBuf::from(path),
            None => state_folder().join("kubeconfig"),
        };
        let kubeconfig = Kubeconfig::read_from(&path)
            .with_context(|| format!("no cluster to tell stories against: {}; run make cluster", path.display()))?;
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(Self { client: Client::try_from(config)?, root })
    }

    /// A script of the repository.
    pub fn script(&self, path: &str) -> Command {
        Command::new(self.root.join(path))
    }

    pub fn benchmarks(&self, namespace: &str) -> Api<CephBenchmark> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// Applies a benchmark as a strict client does. What the server refuses comes back as a [`Refusal`].
    pub async fn try_apply(&self, yaml: &str, manager: &str) -> Result<Result<CephBenchmark, Refusal>> {
        let value: serde_json::Value = serde_yaml_ng::from_str(yaml).context("the story's own YAML")?;
        let name = value["metadata"]["name"].as_str().context("the story's benchmark has no name")?.to_owned();
        let namespace = value["metadata"]["namespace"].as_str().unwrap_or(NAMESPACE).to_owned();
        let mut parameters = PatchParams::apply(manager).force();
        parameters.field_validation = Some(kube::api::ValidationDirective::Strict);
        match self.benchmarks(&namespace).patch(&name, &parameters, &Patch::Apply(&value)).await {
            Ok(benchmark) => Ok(Ok(benchmark)),
            Err(kube::Error::Api(status)) => Ok(Err(Refusal(status.message.clone()))),
            Err(error) => Err(error).context("apply"),
        }
    }

    /// Applies a benchmark that the server must take.
    pub async fn apply(&self, yaml: &str) -> Result<CephBenchmark> {
        match self.try_apply(yaml, "story").await? {
            Ok(benchmark) => Ok(benchmark),
            Err(Refusal(message)) => bail!("the server refused the story's benchmark: {message}"),
        }
    }

    /// Waits until the status that speaks of the current generation satisfies `reached`; fails with the last status seen.
    pub async fn until(
        &self,
        benchmark: &CephBenchmark,
        limit: Duration,
        what: &str,
        reached: impl Fn(&BenchmarkStatus) -> bool,
    ) -> Result<CephBenchmark> {
        let api = self.benchmarks(&benchmark.namespace().unwrap_or_default());
        let name = benchmark.name_any();
        let mut last = None;
        let watched = async {
            let mut changes = std::pin::pin!(watcher::watch_object(api, &name));
            while let Some(seen) = changes.try_next().await? {
                let seen = seen.with_context(|| format!("{name} is gone while waiting for: {what}"))?;
                let status = seen.status.clone().unwrap_or_default();
                let current = Some(status.observed_generation) == seen.metadata.generation;
                last = Some(status.clone());
                if current && reached(&status) {
                    return Ok(seen);
                }
            }
            bail!("the watch ended while waiting for: {what}")
        };
        match tokio::time::timeout(limit, watched).await {
            Ok(seen) => seen,
            Err(_) => bail!("{name}: not within {limit:?}: {what}; last status: {}", serde_json::to_string(&last)?),
        }
    }

    /// Waits until the benchmark's run has ended, however.
    pub async fn ended(&self, benchmark: &CephBenchmark, limit: Duration) -> Result<(CephBenchmark, BenchmarkStatus)> {
        let ended = self.until(benchmark, limit, "the run ends", |status| status.phase.is_some_and(is_final)).await?;
        let status = ended.status.clone().context("an ended run has a status")?;
        Ok((ended, status))
    }

    /// Deletes a benchmark and waits until it is gone.
    pub async fn delete(&self, benchmark: &CephBenchmark, limit: Duration) -> Result<()> {
        let api = self.benchmarks(&benchmark.namespace().unwrap_or_default());
        let name = benchmark.name_any();
        api.delete(&name, &DeleteParams::default()).await?;
        let begun = Instant::now();
        let gone = async {
            let mut changes = std::pin::pin!(watcher::watch_object(api, &name));
            while let Some(seen) = changes.try_next().await? {
                if seen.is_none() {
                    return Ok::<(), anyhow::Error>(());
                }
            }
            bail!("the watch ended while waiting for the deletion of {name}")
        };
        tokio::time::timeout(limit, gone)
            .await
            .with_context(|| format!("{name} still there {:?} after its deletion", begun.elapsed()))?
    }

    /// What one of Ceph's programs prints, run as Ceph's administrator: `["rados", "df", "--format", "json"]`.
    pub async fn ceph(&self, arguments: &[&str]) -> Result<String> {
        let output = self.script("e2e/cluster/ceph.sh").args(arguments).output().await?;
        if !output.status.success() {
            bail!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The same, for a program that prints JSON.
    pub async fn ceph_json(&self, arguments: &[&str]) -> Result<serde_json::Value> {
        let text = self.ceph(arguments).await?;
        serde_json::from_str(&text).with_context(|| format!("{arguments:?} printed {text}"))
    }
}

/// Where the local cluster keeps its state.
pub fn state_folder() -> PathBuf {
    std::env::var_os("CEPHBENCH_STATE").map_or_else(|| PathBuf::from("/var/lib/cephbench-cluster"), PathBuf::from)
}

fn is_final(phase: Phase) -> bool {
    match phase {
        Phase::Queued | Phase::Preparing | Phase::Running | Phase::Cleaning => false,
        Phase::Passed | Phase::Failed | Phase::Error | Phase::Inconclusive | Phase::Cancelled => true,
    }
}
