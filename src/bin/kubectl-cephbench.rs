//! Arguments only.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser, Subcommand, ValueEnum};

use cephbench::plugin::commands::{self, Output, RunOptions};
use cephbench::plugin::{Connection, connect};
use cephbench::stdout::print;

/// Run Ceph benchmarks and read their results.
///
/// Exit codes of `run --wait` and `watch`: 0 every gate passed, 1 a gate failed, 2 it could not run, was cancelled or could not be
/// waited for, 3 a gate could not be judged.
#[derive(Parser)]
#[command(name = "kubectl cephbench", bin_name = "kubectl cephbench", version)]
struct Arguments {
    /// The kubeconfig to use. Default: KUBECONFIG, then ~/.kube/config.
    #[arg(long, global = true, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig to use.
    #[arg(long, global = true)]
    context: Option<String>,
    /// The namespace to work in. Default: the context's.
    #[arg(short, long, global = true)]
    namespace: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Apply a CephBenchmark; the operator then runs it. The same file again changes nothing: give a new trigger for a new run.
    Run(Run),
    /// Follow a benchmark until its run has ended, then print its result.
    Watch {
        name: String,
        #[command(flatten)]
        waiting: Waiting,
    },
    /// Print the result of a benchmark.
    Report {
        name: String,
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
    },
    /// List benchmarks.
    List {
        /// Of all namespaces.
        #[arg(short = 'A', long)]
        all_namespaces: bool,
    },
}

#[derive(Args)]
struct Run {
    /// The file to apply, - for standard input.
    #[arg(short, long, value_name = "FILE")]
    filename: PathBuf,
    /// Set spec.trigger to this text: a text that it did not have before asks for a new run.
    #[arg(long, value_name = "TEXT")]
    trigger: Option<String>,
    /// Take over fields that someone else has set to something else.
    #[arg(long)]
    force_conflicts: bool,
    /// Wait until the run has ended, then print its result.
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    waiting: Waiting,
}

#[derive(Args)]
struct Waiting {
    /// Give up waiting after so long, such as 2h; the run goes on. Default: never.
    #[arg(long, value_parser = humantime::parse_duration)]
    timeout: Option<Duration>,
    /// How the result is printed.
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Json,
    Yaml,
}

impl From<Format> for Output {
    fn from(format: Format) -> Output {
        match format {
            Format::Table => Output::Table,
            Format::Json => Output::Json,
            Format::Yaml => Output::Yaml,
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

async fn run(arguments: Arguments) -> anyhow::Result<u8> {
    if let Command::Run(Run { wait: false, waiting: Waiting { timeout: Some(_), .. }, .. }) = &arguments.command {
        anyhow::bail!("--timeout says how long to wait: it needs --wait");
    }
    let Arguments { kubeconfig, context, namespace, command } = arguments;
    let asked = namespace.clone();
    let (client, default) = connect(&Connection { kubeconfig, context, namespace }).await?;
    let here = asked.as_deref().unwrap_or(&default);
    match command {
        Command::Run(Run { filename, trigger, force_conflicts, wait, waiting }) => {
            let text = read(&filename)?;
            let options = RunOptions { trigger, force_conflicts };
            let applied = commands::apply(&client, &text, asked.as_deref(), &default, &options)
                .await
                .with_context(|| filename.display().to_string())?;
            if !wait {
                return say_applied(&applied, &waiting);
            }
            finish(commands::follow(&client, &applied, waiting.timeout).await?, waiting.output)
        }
        Command::Watch { name, waiting } => {
            let object = commands::get(&client, here, &name).await?;
            finish(commands::follow(&client, &object, waiting.timeout).await?, waiting.output)
        }
        Command::Report { name, output } => {
            let object = commands::get(&client, here, &name).await?;
            print(&commands::text(&object, output.into())?).context("write the result")?;
            Ok(0)
        }
        Command::List { all_namespaces } => {
            print(&commands::list(&client, (!all_namespaces).then_some(here)).await?)?;
            Ok(0)
        }
    }
}

/// Without waiting there is no result yet: the object as the server has it now, or just that it was applied.
fn say_applied(applied: &kube::api::DynamicObject, waiting: &Waiting) -> anyhow::Result<u8> {
    let name = applied.metadata.name.as_deref().unwrap_or_default();
    match waiting.output {
        Format::Table => print(&format!("cephbenchmark.cephbench.io/{name} applied\n"))?,
        Format::Json | Format::Yaml => print(&commands::text(applied, waiting.output.into())?)?,
    }
    Ok(0)
}

fn finish((object, code): (kube::api::DynamicObject, u8), output: Format) -> anyhow::Result<u8> {
    print(&commands::text(&object, output.into())?).context("write the result")?;
    Ok(code)
}

fn read(path: &Path) -> anyhow::Result<String> {
    let read =
        if path == Path::new("-") { std::io::read_to_string(std::io::stdin()) } else { std::fs::read_to_string(path) };
    read.with_context(|| format!("read {}", path.display()))
}
