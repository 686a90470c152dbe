//! A client of a test: registers with the conductor, opens its target, and then does what it is told, round by round. It decides nothing
//! about the test. Whatever ends it, it removes what it made.

mod link;
mod work;

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use self::link::{Command, Link, Voice};
use self::work::{Prepared, Readiness, Work};
use super::engine::EngineError;
use super::progress::Progress;
use super::protocol::{Doing, FrameError, Peer, ToConductor, Token};
use super::stop::Stop;
use crate::contract::Task;

/// How often a stop is looked for.
const TICK: Duration = Duration::from_millis(100);
/// How often the conductor is told how a round goes.
const REPORT: Duration = Duration::from_secs(1);
/// How long a client that was stopped by a signal waits to be told to clean up.
const ORDERS: Duration = Duration::from_secs(3);

/// Who a client is, beside its index.
#[derive(Clone, Debug)]
pub struct Identity {
    pub uid: String,
    /// Where other clients reach it, if that is not the address it comes from.
    pub advertise: Option<IpAddr>,
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("connect to the conductor at {conductor}: {cause}")]
    Connect { conductor: String, cause: FrameError },
    #[error("the conductor speaks protocol {theirs} (cephbench {program}), this program another")]
    Protocol { theirs: u32, program: String },
    #[error("refused by the conductor: {reason}")]
    Refused { reason: String },
    #[error("who listens at {conductor} does not know the run's token")]
    Impostor { conductor: String },
    #[error("the conductor is lost: {cause}")]
    Lost { cause: String },
    #[error("stopped: {signal}")]
    Stopped { signal: &'static str },
    /// This client could not go on.
    #[error("{0}")]
    Failed(String),
    /// The test failed, not by this client.
    #[error("{0}")]
    Test(String),
}

impl ClientError {
    /// Whether trying again is useless.
    fn is_final(&self) -> bool {
        match self {
            ClientError::Connect { .. } => false,
            ClientError::Protocol { .. }
            | ClientError::Refused { .. }
            | ClientError::Impostor { .. }
            | ClientError::Lost { .. }
            | ClientError::Stopped { .. }
            | ClientError::Failed(_)
            | ClientError::Test(_) => true,
        }
    }
}

/// Plays a client's part from the first to the last word. `conductor` is `ADDRESS:PORT`, an IPv6 address in brackets.
pub fn run(task: Task, token: &Token, conductor: &str, identity: &Identity, stop: &Stop) -> Result<(), ClientError> {
    let link = Link::connect(&task, token, conductor, identity, stop)?;
    let mut client = Client { task, token, link, stop, work: None, prepared: None, failure: None };
    client.open();
    let result = client.obey();
    client.clean_up();
    match (client.failure.take(), result) {
        (Some(failure), _) => Err(failure),
        (None, result) => result,
    }
}

struct Client<'a> {
    task: Task,
    token: &'a Token,
    link: Link,
    stop: &'a Stop,
    /// Until it is cleaned up.
    work: Option<Work>,
    prepared: Option<Ready>,
    /// The first one; the conductor was told.
    failure: Option<ClientError>,
}

struct Ready {
    point: usize,
    round: u32,
    prepared: Prepared,
}

impl Client<'_> {
    fn open(&mut self) {
        match Work::open(&self.task) {
            Ok(work) => {
                let engine = work.engine();
                self.work = Some(work);
                self.link.voice.send(&ToConductor::Opened(engine));
            }
            Err(error) => self.fail(ClientError::Failed(error.to_string())),
        }
    }

    fn fail(&mut self, error: ClientError) {
        if self.failure.is_none() {
            let cause = match &error {
                ClientError::Stopped { signal } => (*signal).to_owned(),
                other => other.to_string(),
            };
            self.link.voice.send(&ToConductor::Failed { cause });
            self.failure = Some(error);
        }
    }

    /// Does what the conductor says until it says that it is over.
    fn obey(&mut self) -> Result<(), ClientError> {
        let mut stopped_at = None;
        loop {
            if let Some(signal) = self.stop.asked() {
                self.fail(ClientError::Stopped { signal });
                if stopped_at.get_or_insert_with(Instant::now).elapsed() > ORDERS {
                    return Ok(());
                }
            }
            match self.link.next(TICK) {
                None => {}
                Some(Command::Prepare { point, round, peer }) => self.prepare(point, round, peer),
                Some(Command::Start) => self.start(),
                Some(Command::Stop) => self.prepared = None,
                Some(Command::CleanUp) => {
                    let cleaned = self.clean_up();
                    self.link.voice.send(&cleaned);
                }
                Some(Command::End { cause: None }) => return Ok(()),
                Some(Command::End { cause: Some(cause) }) => return Err(ClientError::Test(cause)),
                Some(Command::Lost { cause }) => return Err(ClientError::Lost { cause }),
            }
        }
    }

    fn prepare(&mut self, point: usize, round: u32, peer: Option<Peer>) {
        if self.failure.is_some() {
            return;
        }
        self.prepared = None;
        let Some(work) = &mut self.work else { return };
        let voice = &self.link.voice;
        let mut say = |text: &str| voice.send(&ToConductor::Saying { text: text.into() });
        let what = self.task.points.get(point);
        let what = what.ok_or_else(|| EngineError::new("prepare a round", format!("the task has no point {point}")));
        let (task, token, stop) = (&self.task, self.token, self.stop);
        let over = AtomicBool::new(false);
        let readiness = what.and_then(|what| {
            thread::scope(|scope| {
                let watcher = scope.spawn(|| give_up_when_cancelled(voice, stop, &over));
                let readiness = work.prepare(task, token, what, round, peer, &mut say);
                over.store(true, Relaxed);
                watcher.thread().unpark();
                readiness
            })
        });
        match readiness {
            Ok(Readiness { prepared, notes, door }) => {
                self.prepared = Some(Ready { point, round, prepared });
                self.link.voice.send(&ToConductor::Ready { notes, door });
            }
            // The conductor or a signal ended it; the latter is told by `obey`.
            Err(_) if self.link.voice.cancel.load(Relaxed) || self.stop.asked().is_some() => {}
            Err(error) => self.fail(ClientError::Failed(error.to_string())),
        }
    }

    fn start(&mut self) {
        let Some(Ready { point, round, prepared }) = self.prepared.take() else {
            return self.fail(ClientError::Failed("told to start a round that is not prepared".into()));
        };
        let point = self.task.points[point].clone();
        let progress = Progress::new();
        self.link.voice.send(&ToConductor::Started);
        let over = AtomicBool::new(false);
        let (voice, stop) = (&self.link.voice, self.stop);
        let ran = thread::scope(|scope| {
            let reporter = scope.spawn(|| report(voice, stop, &progress, &over));
            let ran = prepared.run(&self.task, &point, round, &progress, &voice.cancel);
            over.store(true, Relaxed);
            reporter.thread().unpark();
            ran
        });
        match ran {
            Ok(ran) => {
                let (report, moved, notes) = (Box::new(ran.report), ran.moved, ran.notes);
                self.link.voice.send(&ToConductor::Done { report, moved, notes });
            }
            // The conductor or a signal ended it; the latter is told by `obey`.
            Err(_) if self.link.voice.cancel.load(Relaxed) => {}
            Err(error) => self.fail(ClientError::Failed(error.to_string())),
        }
    }

    /// Removes what was made, once. Returns what the conductor is to be told of it, and of the whole client.
    fn clean_up(&mut self) -> ToConductor {
        self.prepared = None;
        let Some(mut work) = self.work.take() else {
            return ToConductor::CleanedUp { notes: Vec::new(), problem: None, engine: None };
        };
        let voice = &self.link.voice;
        let mut say = |text: &str| voice.send(&ToConductor::Saying { text: text.into() });
        let problem = work.clean_up(&mut say).err().map(|error| error.to_string());
        ToConductor::CleanedUp { notes: work.notes(), problem, engine: Some(work.engine()) }
    }
}

/// Tells the conductor once a second how a round goes, and ends it when this process is asked to stop.
fn report(voice: &Voice, stop: &Stop, progress: &Progress, over: &AtomicBool) {
    let mut next = Instant::now() + REPORT;
    while !over.load(Relaxed) {
        thread::park_timeout(TICK);
        if stop.asked().is_some() {
            voice.cancel.store(true, Relaxed);
        }
        if Instant::now() >= next {
            next += REPORT;
            voice.send(&ToConductor::Progress(Doing::from(progress.snapshot())));
        }
    }
}

/// Ends a preparation whose round will not happen.
fn give_up_when_cancelled(voice: &Voice, stop: &Stop, over: &AtomicBool) {
    while !over.load(Relaxed) {
        if voice.cancel.load(Relaxed) {
            stop.give_up();
            return;
        }
        thread::park_timeout(TICK);
    }
}
