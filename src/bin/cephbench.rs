//! Arguments only.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser, Subcommand, ValueEnum};

use cephbench::api::CephBenchmark;
use cephbench::bench::{agent, local};
use cephbench::contract::{EXIT_FAILED, NETWORK_STATUS_ENV, POD_IP_ENV, POD_UID_ENV, TERMINATION_FILE_ENV};
use cephbench::plan::{Problem, parse, validate};
use cephbench::report;
use cephbench::results::exit_code;
use cephbench::stdout::print;
use cephbench::sys::signals::stop_on_signals;

/// What can't be read or run: the same as for phase Error.
const EXIT_ERROR: u8 = 2;

/// Measures disks, networks and Ceph.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a benchmark on this machine, without Kubernetes.
    Run(LocalRun),
    /// Show points, time, bytes and space of a benchmark. Nothing runs.
    Plan {
        /// File with a CephBenchmark, or - for standard input.
        #[arg(short, long)]
        file: PathBuf,
        /// Clients of each test: in a cluster, nodes times clients.perNode.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        clients: u32,
    },
    /// What the containers of a pod run.
    #[command(subcommand)]
    Agent(Agent),
}

#[derive(Args)]
struct LocalRun {
    /// File with a CephBenchmark, or - for standard input.
    #[arg(short, long)]
    file: PathBuf,
    /// What to print on standard output.
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
    /// Ceph's configuration, for rados tests.
    #[arg(long, default_value = "/etc/ceph/ceph.conf")]
    conf: PathBuf,
    /// CephX user without `client.`, for rados tests.
    #[arg(long, default_value = "admin")]
    user: String,
    /// The user's keyring, its name ending in `keyring`, or a file with its key alone [default: /etc/ceph/ceph.client.USER.keyring].
    #[arg(long)]
    keyring: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Table,
    /// The whole object: apiVersion, kind, metadata, spec, status.
    Json,
    Yaml,
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
    /// Remove what a client left that was killed.
    Sweep {
        /// File with the client's task.
        #[arg(long)]
        task: PathBuf,
        /// File for the termination message [env: TERMINATION_LOG] [default: /dev/termination-log].
        #[arg(long)]
        termination_log: Option<PathBuf>,
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

fn main() -> ExitCode {
    run(Arguments::parse().command).unwrap_or_else(|error| {
        eprintln!("cephbench: {error:#}");
        EXIT_ERROR.into()
    })
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(arguments) => local_run(arguments),
        Command::Plan { file, clients } => {
            let Some(benchmark) = read(&file)? else { return Ok(EXIT_ERROR.into()) };
            match validate(&benchmark.spec) {
                Ok(validated) => print(&local::estimate_text(&validated, clients)).context("print the plan")?,
                Err(problems) => {
                    tell(&problems);
                    return Ok(EXIT_ERROR.into());
                }
            }
            Ok(ExitCode::SUCCESS)
        }
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
        Command::Agent(Agent::Sweep { task, termination_log }) => {
            let variable = std::env::var(TERMINATION_FILE_ENV).ok().map(PathBuf::from);
            Ok(agent::sweep(&task, termination_log.or(variable)).into())
        }
        Command::Agent(Agent::Install { to }) => {
            let from = agent::install(&to)?;
            eprintln!("installed {} in {}", from.display(), to.display());
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// `None` when it is no benchmark; what is wrong was told.
fn read(file: &Path) -> anyhow::Result<Option<CephBenchmark>> {
    let text = if file == Path::new("-") {
        io::read_to_string(io::stdin()).context("read standard input")?
    } else {
        std::fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?
    };
    Ok(parse(&text).inspect_err(|problems| tell(problems)).ok())
}

fn tell(problems: &[Problem]) {
    for problem in problems {
        eprintln!("{problem}");
    }
}

fn local_run(arguments: LocalRun) -> anyhow::Result<ExitCode> {
    let LocalRun { file, output, conf, user, keyring } = arguments;
    let Some(mut benchmark) = read(&file)? else { return Ok(EXIT_ERROR.into()) };
    let keyring = keyring.unwrap_or_else(|| format!("/etc/ceph/ceph.client.{user}.keyring").into());
    let status = match local::check(&benchmark) {
        Ok(validated) => {
            let stop = stop_on_signals().context("catch signals")?;
            for field in local::without_effect(&benchmark) {
                eprintln!("{field} has no effect in a local run: each test has its clients here");
            }
            let ceph = local::CephAccess { conf, user, keyring };
            let mut bar = local::Bar::new(local::seconds(validated.plan.tests.iter()));
            let status = local::run(&benchmark, &validated, &ceph, stop, &mut bar);
            bar.finish();
            status
        }
        Err(problems) => {
            tell(&problems);
            local::refused(&benchmark, &problems)
        }
    };
    let exit = status.phase.and_then(exit_code).unwrap_or(EXIT_ERROR);
    benchmark.status = Some(status);
    let text = match output {
        Format::Table => report::table(&benchmark),
        Format::Json => report::json(&benchmark),
        Format::Yaml => report::yaml(&benchmark),
    };
    print(&text).context("print the result")?;
    Ok(exit.into())
}

fn agent_run(arguments: AgentRun) -> anyhow::Result<ExitCode> {
    let stop = stop_on_signals().context("catch signals")?;
    let AgentRun { task, token, dir, conductor, advertise, uid, termination_log } = arguments;
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    // Set though empty, it says that a network was asked for: the figure of another would be taken for its.
    let attached = std::env::var(NETWORK_STATUS_ENV).ok();
    let advertise = match (advertise, attached, variable(POD_IP_ENV)) {
        (Some(address), _, _) => Some(address),
        (None, Some(status), _) => {
            let address = agent::attached_address(&status);
            Some(address.map_err(|cause| anyhow::anyhow!("{NETWORK_STATUS_ENV}: {cause}"))?)
        }
        (None, None, Some(text)) => {
            Some(text.parse().with_context(|| format!("{POD_IP_ENV}: {text:?} is no IP address"))?)
        }
        (None, None, None) => None,
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
