//! The bench container: reads its task, conducts if it is the first client, plays its part, and leaves a report and a termination message.

use std::fs;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use super::shared::{Held, SharedError};
use crate::bench::client::{self, ClientError, Identity};
use crate::bench::conductor::{Conductor, ConductorError, Event, text_of};
use crate::bench::protocol::{Nonce, Token, TokenError};
use crate::bench::stop::Stop;
use crate::contract::{
    EXIT_FAILED, EXIT_STOPPED, LogError, Outcome, Report, Task, Termination, VERSION, first_line, pack,
};

const TERMINATION_LOG: &str = "/dev/termination-log";
/// How long the conductor's own client may take to end after it was told to.
const CLIENT_END: Duration = Duration::from_secs(5);

pub struct RunOptions {
    pub task: PathBuf,
    pub token: PathBuf,
    /// Shared with the report container.
    pub directory: PathBuf,
    /// `ADDRESS:PORT`. For all clients but the first.
    pub conductor: Option<String>,
    /// Where other clients reach this one.
    pub advertise: Option<IpAddr>,
    /// Kubernetes' UID of the pod.
    pub uid: Option<String>,
    pub termination_log: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    #[error(transparent)]
    Shared(#[from] SharedError),
    #[error("read the task from {path}: {cause}")]
    ReadTask { path: PathBuf, cause: io::Error },
    #[error("the task in {path} can't be read: {cause}")]
    ParseTask { path: PathBuf, cause: serde_json::Error },
    #[error("the task has version {0}, this program takes version {VERSION}")]
    Version(u64),
    #[error("the task is for client {client} of {clients}, counted from 0")]
    NoSuchClient { client: u32, clients: usize },
    #[error("client {0} needs --conductor ADDRESS:PORT: only client 0 conducts")]
    NoConductor(u32),
    #[error("client 0 conducts: it takes no --conductor")]
    TwoConductors,
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Conductor(#[from] ConductorError),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Pack(#[from] LogError),
    /// The test did not come to its end.
    #[error("{0}")]
    Test(String),
}

/// Plays the container's part to its end and returns the exit code.
pub fn run(options: &RunOptions, stop: &Stop) -> u8 {
    let mut digest = None;
    let result = attempt(options, stop, &mut digest);
    let cause = result.as_ref().err().map(ToString::to_string);
    if let Some(cause) = &cause {
        say(&format!("failed: {cause}"));
    }
    leave_termination_message(options.termination_log.as_deref(), &Termination::new(cause, digest));
    match result {
        Ok(()) if stop.asked().is_none() => 0,
        Ok(()) => EXIT_STOPPED,
        Err(_) if stop.asked().is_some() => EXIT_STOPPED,
        Err(_) => EXIT_FAILED,
    }
}

fn attempt(options: &RunOptions, stop: &Stop, digest: &mut Option<String>) -> Result<(), RunError> {
    // Before all else, so that the report container knows of every bench that began.
    let held = Held::take(&options.directory)?;
    let task = read_task(&options.task)?;
    let token = Token::read(&options.token)?;
    let uid = match &options.uid {
        Some(uid) => uid.clone(),
        None => format!("process-{}", nonce_text()?),
    };
    let identity = Identity { uid, advertise: options.advertise };
    match (task.client, &options.conductor) {
        (0, None) => conduct(task, token, &identity, &held, stop, digest),
        (0, Some(_)) => Err(RunError::TwoConductors),
        (client, None) => Err(RunError::NoConductor(client)),
        (_, Some(conductor)) => {
            say(&format!("client {} of run {}, test {}: {conductor} conducts", task.client, task.run, task.test));
            Ok(client::run(task, &token, conductor, &identity, stop)?)
        }
    }
}

fn nonce_text() -> Result<String, TokenError> {
    let nonce = Nonce::random()?;
    Ok(nonce.bytes()[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(super) fn read_task(path: &Path) -> Result<Task, RunError> {
    let text = fs::read(path).map_err(|cause| RunError::ReadTask { path: path.into(), cause })?;
    let unreadable = |cause| RunError::ParseTask { path: path.into(), cause };
    // The version first: a task of another version may have other fields.
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(unreadable)?;
    match value.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version != u64::from(VERSION) => return Err(RunError::Version(version)),
        Some(_) | None => {}
    }
    let task: Task = serde_json::from_value(value).map_err(unreadable)?;
    let clients = task.nodes.len();
    if task.client as usize >= clients {
        return Err(RunError::NoSuchClient { client: task.client, clients });
    }
    Ok(task)
}

fn conduct(
    task: Task,
    token: Token,
    identity: &Identity,
    held: &Held,
    stop: &Stop,
    digest: &mut Option<String>,
) -> Result<(), RunError> {
    let conductor = Conductor::bind(task.clone(), token.clone())?;
    say(&first_line(conductor.port()));
    let (ended, end) = channel();
    let address = conductor.loopback().to_string();
    let identity = identity.clone();
    // It hears of no signal: the conductor does, and tells it.
    thread::spawn(move || ended.send(client::run(task, &token, &address, &identity, &Stop::of_process())));
    let report = conductor.run(stop, &mut |event: Event| {
        if let Some(text) = text_of(&event) {
            say(&text);
        }
    });
    let (report, packed) = match pack(&report) {
        Ok(packed) => (report, packed),
        // A reason is better than no report.
        Err(error) => {
            let failed = Report { outcome: Outcome::Failed(error.to_string()), points: Vec::new(), ..report };
            let packed = pack(&failed)?;
            (failed, packed)
        }
    };
    held.write_report(&packed.gzip)?;
    *digest = Some(packed.digest);
    // A client that is stuck in the kernel must not keep the report from being read.
    let _ = end.recv_timeout(CLIENT_END);
    match report.outcome {
        Outcome::Complete => Ok(()),
        Outcome::Failed(cause) => Err(RunError::Test(cause)),
    }
}

/// For people, on standard output. A reader that is gone does not end a test.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Where there is no such file, nobody waits for the message.
pub(super) fn leave_termination_message(file: Option<&Path>, message: &Termination) {
    let default = Path::new(TERMINATION_LOG);
    let path = match file {
        Some(path) => path,
        None if default.exists() => default,
        None => return,
    };
    if let Err(error) = fs::write(path, message.to_json()) {
        say(&format!("write the termination message to {}: {error}", path.display()));
    }
}
