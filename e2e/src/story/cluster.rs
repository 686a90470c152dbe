//! The cluster that a story is told in: applying benchmarks, waiting on what their status says.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use cephbench::api::{BenchmarkStatus, CephBenchmark, Phase};
use futures::TryStreamExt;
use k8s_openapi::api::core::v1::Event;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::watcher;
use kube::{Client, ResourceExt};
use serde_json::Value;
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
    kubeconfig: PathBuf,
}

impl Cluster {
    /// Connects with `KUBECONFIG`, or to the local cluster.
    pub async fn connect() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("e2e lies in the repository")?.to_owned();
        let path = match std::env::var_os("KUBECONFIG") {
            Some(path) => PathBuf::from(path),
            None => state_folder().join("kubeconfig"),
        };
        let missing = || format!("no cluster to tell stories in ({}): run make cluster", path.display());
        let kubeconfig = Kubeconfig::read_from(&path).with_context(missing)?;
        let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        config.connect_timeout = Some(Duration::from_secs(5));
        let client = Client::try_from(config)?;
        let answer = tokio::time::timeout(Duration::from_secs(15), client.apiserver_version()).await;
        answer.with_context(missing)?.with_context(missing)?;
        Ok(Self { client, root, kubeconfig: path })
    }

    /// A script of the repository, or a program of the cluster's version.
    pub fn script(&self, path: &str) -> Command {
        let own = state_folder().join("bin");
        let mut command = if path.contains('/') {
            Command::new(self.root.join(path))
        } else {
            let program = own.join(path);
            Command::new(if program.exists() { program } else { PathBuf::from(path) })
        };
        command.env("KUBECONFIG", &self.kubeconfig).kill_on_drop(true);
        command
    }

    /// What a command prints on its standard output; it must succeed.
    pub async fn command(&self, command: &[&str]) -> Result<String> {
        let (program, arguments) = command.split_first().context("an empty command")?;
        let output = self.script(program).args(arguments).output().await.with_context(|| (*program).to_owned())?;
        ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    pub async fn kubectl(&self, arguments: &[&str]) -> Result<String> {
        self.command(&[&["kubectl"], arguments].concat()).await
    }

    /// The plugin of this build, built when it is not there or not of today's source.
    pub async fn plugin(&self) -> Result<String> {
        let tests = std::env::current_exe()?;
        let folder = tests.parent().and_then(Path::parent).context("tests lie in a target folder")?;
        let mut build = Command::new(env!("CARGO"));
        build.current_dir(&self.root).args(["build", "--quiet", "--bin", "kubectl-cephbench"]);
        if folder.ends_with("release") {
            build.arg("--release");
        }
        let built = build.output().await?;
        ensure!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Ok(folder.join("kubectl-cephbench").to_string_lossy().into_owned())
    }

    pub fn benchmarks(&self, namespace: &str) -> Api<CephBenchmark> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// Applies a benchmark as a strict client does. What the server refuses comes back as a [`Refusal`].
    pub async fn try_apply(&self, benchmark: &Value, manager: &str) -> Result<Result<CephBenchmark, Refusal>> {
        let text = |pointer: &str| benchmark.pointer(pointer).and_then(Value::as_str).context("name and namespace");
        let (name, namespace) = (text("/metadata/name")?, text("/metadata/namespace")?);
        let mut parameters = PatchParams::apply(manager).force();
        parameters.field_validation = Some(kube::api::ValidationDirective::Strict);
        match self.benchmarks(namespace).patch(name, &parameters, &Patch::Apply(benchmark)).await {
            Ok(benchmark) => Ok(Ok(benchmark)),
            Err(kube::Error::Api(status)) => Ok(Err(Refusal(status.message.clone()))),
            Err(error) => Err(error).context("apply"),
        }
    }

    /// Changes a benchmark as it is in the server by a merge patch.
    pub async fn patch(&self, benchmark: &CephBenchmark, change: Value) -> Result<CephBenchmark> {
        let api = self.benchmarks(&benchmark.namespace().unwrap_or_default());
        Ok(api.patch(&benchmark.name_any(), &PatchParams::default(), &Patch::Merge(change)).await?)
    }

    /// Waits until the status that speaks of the current generation satisfies `reached`; fails with the last status seen. A
    /// benchmark that was applied or patched is waited for from that generation on.
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
                let generation = seen.metadata.generation;
                let Some(status) = seen.status.clone() else { continue };
                last = Some(status.clone());
                let current =
                    Some(status.observed_generation) == generation && generation >= benchmark.metadata.generation;
                if current && reached(&status) {
                    return Ok(seen);
                }
            }
            bail!("the watch ended while waiting for: {what}")
        };
        match tokio::time::timeout(limit, watched).await {
            Ok(seen) => seen,
            Err(_) => match &last {
                Some(status) => {
                    bail!("{name}: not within {limit:?}: {what}; last status: {}", serde_json::to_string(status)?)
                }
                None => {
                    bail!("{name}: no status within {limit:?}: is the operator running? e2e/install.sh installs it")
                }
            },
        }
    }

    /// Waits until the benchmark is in this phase.
    pub async fn phase(&self, benchmark: &CephBenchmark, phase: Phase, limit: u64) -> Result<CephBenchmark> {
        let what = format!("phase {phase:?}");
        self.until(benchmark, Duration::from_secs(limit), &what, |status| status.phase == Some(phase)).await
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
        api.delete(&benchmark.name_any(), &DeleteParams::default()).await?;
        self.gone(benchmark, limit).await
    }

    /// Waits until a benchmark that was deleted is gone.
    pub async fn gone(&self, benchmark: &CephBenchmark, limit: Duration) -> Result<()> {
        let api = self.benchmarks(&benchmark.namespace().unwrap_or_default());
        let name = benchmark.name_any();
        let mut last = None;
        let gone = async {
            let mut changes = std::pin::pin!(watcher::watch_object(api, &name));
            while let Some(seen) = changes.try_next().await? {
                match seen {
                    Some(seen) if seen.uid() == benchmark.uid() => last = seen.status,
                    Some(_) | None => return Ok(()),
                }
            }
            bail!("the watch ended while waiting for the deletion of {name}")
        };
        match tokio::time::timeout(limit, gone).await {
            Ok(gone) => gone,
            Err(_) => bail!("{name} still there {limit:?} after its deletion: {}", serde_json::to_string(&last)?),
        }
    }

    /// The events told of one object, oldest first: reason and message.
    pub async fn events(&self, benchmark: &CephBenchmark) -> Result<Vec<(String, String, i32)>> {
        let api: Api<Event> = Api::namespaced(self.client.clone(), &benchmark.namespace().unwrap_or_default());
        let uid = benchmark.uid().context("applied objects have a UID")?;
        let mut events: Vec<Event> =
            api.list(&ListParams::default().fields(&format!("involvedObject.uid={uid}"))).await?.items;
        events.sort_by_key(|event| {
            (event.event_time.clone().map(|time| time.0), event.metadata.creation_timestamp.clone().map(|time| time.0))
        });
        let told = |event: Event| {
            let times = event.series.and_then(|series| series.count).or(event.count).unwrap_or(1);
            (event.reason.unwrap_or_default(), event.message.unwrap_or_default(), times)
        };
        Ok(events.into_iter().map(told).collect())
    }

    /// What one of Ceph's programs prints, run as Ceph's administrator: `["rados", "df", "--format", "json"]`.
    pub async fn ceph(&self, arguments: &[&str]) -> Result<String> {
        self.command(&[&["e2e/cluster/ceph.sh"], arguments].concat()).await
    }

    /// The same, for a program that prints JSON.
    pub async fn ceph_json(&self, arguments: &[&str]) -> Result<Value> {
        let text = self.ceph(&[arguments, &["--format", "json"]].concat()).await?;
        serde_json::from_str(&text).with_context(|| format!("{arguments:?} printed {text}"))
    }
}

/// Asks again and again until the answer is there; fails with what was in its way last. For what can't be watched.
pub async fn eventually<T>(
    limit: Duration,
    what: &str,
    mut ask: impl AsyncFnMut() -> Result<Result<T, String>>,
) -> Result<T> {
    let begun = Instant::now();
    loop {
        match ask().await.with_context(|| what.to_owned())? {
            Ok(found) => return Ok(found),
            Err(instead) if begun.elapsed() >= limit => bail!("not within {limit:?}: {what}: {instead}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(250)).await,
        }
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
