//! Arguments only.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};

use cephbench::bench::agent;
use cephbench::contract::{EXIT_FAILED, POD_IP_ENV, POD_UID_ENV, TERMINATION_FILE_ENV};
use cephbench::sys::signals::stop_on_signals;

/// Measures disks, networks and Ceph.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What the containers of a pod run.
    #[command(subcommand)]
    Agent(Agent),
}

#[derive(Subcommand)]
enum Agent {
    /// Play a client of a test; client 0 conducts it as well.
    Run(AgentRun),
    /// Wait until `agent run` has ended and print its report, nothing else, on standard output.
    Report {
        /// Directory shared with `agent run`.
        #[arg(long)]
        dir: PathBuf,
        /// How long to wait at most, such as 90s or 2h.
        #[arg(long, value_parser = humantime::parse_duration)]
        timeout: Duration,
    },
    /// Copy the bench into a directory.
    Install {
        #[arg(long)]
        to: PathBuf,
    },
}

#[derive(Args)]
struct AgentRun {
    /// File with the client's task.
    #[arg(long)]
    task: PathBuf,
    /// File with the run's token.
    #[arg(long)]
    token: PathBuf,
    /// Directory shared with `agent report`.
    #[arg(long)]
    dir: PathBuf,
    /// Where the conductor listens, ADDRESS:PORT; for every client but client 0.
    #[arg(long)]
    conductor: Option<String>,
    /// Address at which other clients reach this one [env: POD_IP].
    #[arg(long)]
    advertise: Option<IpAddr>,
    /// Identity of the pod [env: POD_UID].
    #[arg(long)]
    uid: Option<String>,
    /// File for the termination message [env: TERMINATION_LOG] [default: /dev/termination-log where it exists].
    #[arg(long)]
    termination_log: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().command {
        Command::Agent(Agent::Run(arguments)) => agent_run(arguments),
        Command::Agent(Agent::Report { dir, timeout }) => {
            let stop = stop_on_signals().context("catch signals")?;
            match agent::report(&dir, timeout, stop, &mut io::stdout().lock()) {
                Ok(()) => Ok(ExitCode::SUCCESS),
                Err(error) => {
                    eprintln!("no report: {error}");
                    Ok(EXIT_FAILED.into())
                }
            }
        }
        Command::Agent(Agent::Install { to }) => {
            let from = agent::install(&to)?;
            eprintln!("installed {} in {}", from.display(), to.display());
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn agent_run(arguments: AgentRun) -> anyhow::Result<ExitCode> {
    let stop = stop_on_signals().context("catch signals")?;
    let AgentRun { task, token, dir, conductor, advertise, uid, termination_log } = arguments;
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let advertise = match (advertise, variable(POD_IP_ENV)) {
        (Some(address), _) => Some(address),
        (None, Some(text)) => Some(text.parse().with_context(|| format!("{POD_IP_ENV}: {text:?} is no IP address"))?),
        (None, None) => None,
    };
    let options = agent::RunOptions {
        task,
        token,
        directory: dir,
        conductor,
        advertise,
        uid: uid.or_else(|| variable(POD_UID_ENV)),
        termination_log: termination_log.or_else(|| variable(TERMINATION_FILE_ENV).map(PathBuf::from)),
    };
    Ok(agent::run(&options, stop).into())
}
