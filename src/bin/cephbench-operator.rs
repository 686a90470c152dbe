//! Arguments only.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use clap::{Parser, Subcommand, ValueEnum};

use cephbench::api::crd_yaml;
use cephbench::controller::{Settings, run, serve};
use cephbench::plan::policy::{OperatorConfig, Policy};

/// Kubernetes operator that benchmarks Ceph.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Watch CephBenchmarks and carry them out.
    Run(RunArguments),
    /// Print the CustomResourceDefinition as YAML.
    Crd,
}

#[derive(clap::Args)]
struct RunArguments {
    /// Namespace that holds CephClusters; may be given several times. Default: all namespaces.
    #[arg(long = "namespace", env = "CEPHBENCH_NAMESPACES", value_delimiter = ',')]
    namespaces: Vec<String>,
    /// YAML file with what a benchmark may ask for. Default: reading devices, and nothing else.
    #[arg(long, env = "CEPHBENCH_POLICY")]
    policy: Option<PathBuf>,
    /// Image that carries the bench into the pods of a run; its entrypoint is cephbench.
    #[arg(long, env = "CEPHBENCH_BENCH_IMAGE")]
    bench_image: String,
    /// Always, IfNotPresent or Never. Default: as Kubernetes decides by the tag.
    #[arg(long, env = "CEPHBENCH_BENCH_IMAGE_PULL_POLICY")]
    bench_image_pull_policy: Option<String>,
    /// The operator's own namespace: its Leases are there.
    #[arg(long, env = "POD_NAMESPACE")]
    own_namespace: String,
    /// Names this operator among others. Default: the pod's name, or host and process.
    #[arg(long, env = "POD_NAME")]
    identity: Option<String>,
    /// Where /healthz and /readyz answer.
    #[arg(long, env = "CEPHBENCH_HEALTH_ADDRESS", default_value = "[::]:8080")]
    health_address: SocketAddr,
    #[arg(long, env = "CEPHBENCH_LOG_FORMAT", default_value = "text")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Crd => print!("{}", crd_yaml()),
        Command::Run(arguments) => operate(arguments)?,
    }
    Ok(())
}

/// One thread: the operator waits for the API server nearly all the time, and threads cost memory.
#[tokio::main(flavor = "current_thread")]
async fn operate(arguments: RunArguments) -> anyhow::Result<()> {
    log_as(arguments.log_format);
    let policy = arguments.policy.as_deref().map(read_policy).transpose()?.unwrap_or_default();
    let settings = Settings {
        config: OperatorConfig {
            bench_image: arguments.bench_image,
            bench_image_pull_policy: arguments.bench_image_pull_policy,
            policy,
        },
        namespaces: arguments.namespaces,
        own_namespace: arguments.own_namespace,
        identity: arguments.identity.unwrap_or_else(own_identity),
    };
    let client = kube::Client::try_default().await.context("find the API server")?;
    let ready = Arc::new(AtomicBool::new(false));
    let health = serve(arguments.health_address, ready.clone());
    tokio::select! {
        ended = run(client, settings, ready) => ended.context("run the operator"),
        ended = health => ended.with_context(|| format!("answer on {}", arguments.health_address)),
    }
}

fn log_as(format: LogFormat) {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into());
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
}

/// By way of JSON, so that YAML's tags mean nothing.
fn read_policy(file: &Path) -> anyhow::Result<Policy> {
    let text = std::fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let value: serde_json::Value =
        serde_yaml_ng::from_str(&text).with_context(|| format!("{} is not YAML", file.display()))?;
    serde_json::from_value(value).with_context(|| format!("{} is not a policy", file.display()))
}

fn own_identity() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}-{}", host.trim(), std::process::id())
}
