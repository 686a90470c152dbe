//! A story from beginning to end: what it applies, what it does to the cluster, and that nothing of it stays.

use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use cephbench::api::{BenchmarkStatus, CephBenchmark};
use futures::FutureExt;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::{Cluster, Inventory, NAMESPACE, Refusal, eventually, names_of};

/// A namespace that the operator acts in and that has no CephCluster.
pub const NAMESPACE_WITHOUT: &str = "cephbench-none";
/// A namespace that the operator acts in, for CephClusters that a story makes up.
pub const NAMESPACE_WITH_TWO: &str = "cephbench-two";

const NAMESPACES: [&str; 3] = [NAMESPACE, NAMESPACE_WITHOUT, NAMESPACE_WITH_TWO];
const LABEL: &str = "cephbench.io/story";
/// How long a benchmark and everything of it may take to go.
pub const GONE: Duration = Duration::from_secs(60);

/// A story being told.
pub struct Story {
    pub cluster: Cluster,
    name: &'static str,
    repairs: Mutex<Vec<Vec<String>>>,
    removals: Mutex<Vec<Vec<String>>>,
}

/// Tells a story. Whatever becomes of it, what it did is undone, its benchmarks are deleted, and what is left fails it.
pub async fn tell(name: &'static str, body: impl AsyncFnOnce(&Story) -> Result<()>) -> Result<()> {
    let story =
        Story { cluster: Cluster::connect().await?, name, repairs: Mutex::default(), removals: Mutex::default() };
    story.delete_benchmarks().await.context("benchmarks of an earlier story")?;
    let before = Inventory::take(&story.cluster, &NAMESPACES).await?;
    let told = AssertUnwindSafe(body(&story)).catch_unwind().await;
    let told = told.unwrap_or_else(|panic| Err(anyhow!("{}", text_of(&*panic))));
    let ended = story.end(&before).await;
    match (told, ended) {
        (Err(told), Err(ended)) => Err(told.context(format!("and at its end: {ended:#}"))),
        (Err(told), Ok(())) => Err(told),
        (Ok(()), ended) => ended,
    }
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "panicked".into())
}

impl Story {
    /// A command that undoes something the story is about to do to the cluster; run at the end, before its benchmarks are deleted, and
    /// harmless when nothing is to be undone. A path with a slash is taken from the repository.
    pub fn repair_by(&self, command: &[&str]) {
        remember(&self.repairs, command);
    }

    /// The same, run after the story's benchmarks are gone.
    pub fn remove_by(&self, command: &[&str]) {
        remember(&self.removals, command);
    }

    /// A benchmark of this story. `spec` is YAML.
    pub fn benchmark(&self, namespace: &str, suffix: &str, spec: &str) -> Result<Value> {
        let spec: Value = serde_yaml_ng::from_str(spec).with_context(|| format!("the story's own YAML: {spec}"))?;
        Ok(json!({
            "apiVersion": "cephbench.io/v1alpha1",
            "kind": "CephBenchmark",
            "metadata": {"name": self.name_of(suffix), "namespace": namespace, "labels": {LABEL: self.name}},
            "spec": spec,
        }))
    }

    pub fn name_of(&self, suffix: &str) -> String {
        if suffix.is_empty() { self.name.to_owned() } else { format!("{}-{suffix}", self.name) }
    }

    /// Applies a benchmark that the server must take.
    pub async fn apply(&self, suffix: &str, spec: &str) -> Result<CephBenchmark> {
        self.apply_in(NAMESPACE, suffix, spec).await
    }

    pub async fn apply_in(&self, namespace: &str, suffix: &str, spec: &str) -> Result<CephBenchmark> {
        match self.cluster.try_apply(&self.benchmark(namespace, suffix, spec)?, "story").await? {
            Ok(benchmark) => Ok(benchmark),
            Err(Refusal(message)) => bail!("the server refused the story's benchmark: {message}"),
        }
    }

    /// Applies a benchmark and waits until its run has ended.
    pub async fn run(&self, suffix: &str, spec: &str, limit: u64) -> Result<(CephBenchmark, BenchmarkStatus)> {
        let benchmark = self.apply(suffix, spec).await?;
        self.cluster.ended(&benchmark, Duration::from_secs(limit)).await
    }

    /// What a benchmark that can't be measured is told: by the server when it is applied, else by the operator in its status.
    pub async fn refusal(&self, namespace: &str, suffix: &str, spec: &str, limit: u64) -> Result<String> {
        let value = self.benchmark(namespace, suffix, spec)?;
        let applied = match self.cluster.try_apply(&value, "story").await? {
            Ok(benchmark) => benchmark,
            Err(Refusal(message)) => return Ok(message),
        };
        let (_, status) = self.cluster.ended(&applied, Duration::from_secs(limit)).await?;
        super::require_conditions(&status, cephbench::api::Phase::Error)?;
        let stalled = super::condition(&status, "Stalled")?;
        let of_tests = status.tests.iter().filter_map(|test| test.message.as_deref());
        let texts: Vec<&str> = std::iter::once(stalled.message.as_str()).chain(of_tests).collect();
        Ok(texts.join("\n"))
    }

    /// Deletes a benchmark and waits until it and all of it are gone: what is there then was there `before`.
    pub async fn delete(&self, benchmark: &CephBenchmark) -> Result<()> {
        self.cluster.delete(benchmark, GONE).await
    }

    /// Waits until the conductor of a test has printed the line of so many seconds; it prints one a second, ramp and window together.
    pub async fn bench_prints(&self, namespace: &str, test: &str, second: u32) -> Result<()> {
        let selector = format!("cephbench.io/test-name={test},cephbench.io/client=0");
        eventually(Duration::from_secs(60), "the bench prints its lines", async || {
            let pods = names_of::<Pod>(&self.cluster, namespace, &selector).await?;
            let Some(pod) = pods.first() else { return Ok(Err("no pod".into())) };
            let log = match self.cluster.kubectl(&["-n", namespace, "logs", pod, "-c", "bench"]).await {
                Ok(log) => log,
                Err(error) => return Ok(Err(error.to_string())),
            };
            let seconds = log.lines().filter_map(|line| line.split_whitespace().next()?.parse::<u32>().ok());
            Ok(if seconds.max() >= Some(second) { Ok(()) } else { Err(log) })
        })
        .await
    }

    pub async fn inventory(&self) -> Result<Inventory> {
        Inventory::take(&self.cluster, &NAMESPACES).await
    }

    async fn end(&self, before: &Inventory) -> Result<()> {
        let mut troubles = Vec::new();
        self.undo(&self.repairs, &mut troubles).await;
        if let Err(error) = self.delete_benchmarks().await {
            troubles.push(format!("{error:#}"));
        }
        self.undo(&self.removals, &mut troubles).await;
        let nothing_left = eventually(GONE, "nothing of the story is left", async || {
            // A story may have stopped what is asked here; it comes back.
            let left = match self.inventory().await {
                Ok(now) => now.added_since(before).join(", "),
                Err(error) => return Ok(Err(format!("{error:#}"))),
            };
            Ok(if left.is_empty() { Ok(()) } else { Err(format!("left: {left}")) })
        });
        if let Err(error) = nothing_left.await {
            troubles.push(format!("{error:#}"));
        }
        if troubles.is_empty() { Ok(()) } else { bail!("{}", troubles.join("; ")) }
    }

    async fn undo(&self, commands: &Mutex<Vec<Vec<String>>>, troubles: &mut Vec<String>) {
        let commands = std::mem::take(&mut *commands.lock().expect("nothing panics while it holds this"));
        for command in commands.iter().rev() {
            let parts: Vec<&str> = command.iter().map(String::as_str).collect();
            if let Err(error) = self.cluster.command(&parts).await {
                troubles.push(format!("{error:#}"));
            }
        }
    }

    async fn delete_benchmarks(&self) -> Result<()> {
        let mut going = Vec::new();
        for namespace in NAMESPACES {
            let api: Api<CephBenchmark> = self.cluster.benchmarks(namespace);
            for benchmark in api.list(&ListParams::default().labels(LABEL)).await? {
                api.delete(&benchmark.name_any(), &DeleteParams::default()).await?;
                going.push(benchmark);
            }
        }
        for benchmark in going {
            self.cluster.gone(&benchmark, GONE).await?;
        }
        Ok(())
    }
}

fn remember(list: &Mutex<Vec<Vec<String>>>, command: &[&str]) {
    let command = command.iter().map(|part| (*part).to_owned()).collect();
    list.lock().expect("nothing panics while it holds this").push(command);
}
