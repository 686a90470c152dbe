//! The conductor of a test: admits its clients, takes them through every round of every point together, merges what they measured, and
//! makes one report of it, whatever happens. It measures nothing itself and has no load: the first client is a client like the others.
//!
//! ```text
//! register → opened → (prepare → ready → start → started → done) per round → clean up → end
//! ```

mod door;
mod ensemble;
mod events;
mod failure;
mod lines;
mod round;
mod words;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use events::{Event, Line};
pub use lines::text_of;

use self::door::Door;
use self::ensemble::{CleanedUp, Ensemble};
use self::failure::{Failure, Waiting};
use super::protocol::{EngineUsed, ToClient, ToConductor, Token};
use super::stop::Stop;
use crate::contract::{CLEANUP_GRACE_SECONDS, ClientReport, Outcome, PointReport, Report, Task, VERSION};

#[derive(Debug, thiserror::Error)]
pub enum ConductorError {
    #[error("listen for clients: {0}")]
    Listen(#[source] io::Error),
}

pub struct Conductor {
    task: Arc<Task>,
    token: Token,
    listener: TcpListener,
    port: u16,
}

impl Conductor {
    /// Listens on a port of the kernel's choice, on all addresses of both families where the machine has both.
    pub fn bind(task: Task, token: Token) -> Result<Conductor, ConductorError> {
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0))
            .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))
            .map_err(ConductorError::Listen)?;
        let port = listener.local_addr().map_err(ConductorError::Listen)?.port();
        Ok(Conductor { task: Arc::new(task), token, listener, port })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where a client of the conductor's own process finds it.
    pub fn loopback(&self) -> SocketAddr {
        match self.listener.local_addr() {
            Ok(SocketAddr::V4(_)) => (Ipv4Addr::LOCALHOST, self.port).into(),
            // A socket for both families takes IPv4 even where IPv6 has no loopback address.
            Ok(SocketAddr::V6(_)) | Err(_) => (Ipv4Addr::LOCALHOST, self.port).into(),
        }
    }

    /// Runs the test to its end. `observe` is told what happens, for people.
    pub fn run(self, stop: &Stop, observe: &mut dyn FnMut(Event)) -> Report {
        let Conductor { task, token, listener, port: _ } = self;
        let (door, events) = Door::open(listener, task.clone(), token);
        let mut ensemble = Ensemble::new(task.clone(), events, stop, observe);
        let mut measured = Measured::default();
        let failure = measure(&task, &mut ensemble, &mut measured).err();
        let cause = failure.as_ref().map(|failure| ensemble.explain(failure));
        finish(&task, &mut ensemble, &mut measured, failure.as_ref(), cause.as_deref());
        door.close();
        Report {
            version: VERSION,
            run: task.run.clone(),
            test: task.test.clone(),
            clients: measured.clients,
            points: measured.points,
            outcome: cause.map_or(Outcome::Complete, Outcome::Failed),
        }
    }
}

/// What the report will hold: grows as the test goes, and is kept when it fails.
#[derive(Default)]
struct Measured {
    clients: Vec<ClientReport>,
    points: Vec<PointReport>,
}

fn measure(task: &Task, ensemble: &mut Ensemble, measured: &mut Measured) -> Result<(), Failure> {
    let timeout = Duration::from_secs(task.prepare_timeout_seconds);
    ensemble.wait_for_registrations(Instant::now() + timeout)?;
    open(task, ensemble, measured, Instant::now() + timeout)?;
    for (index, point) in task.points.iter().enumerate() {
        measured.points.push(PointReport { point: point.clone(), rounds: Vec::new(), notes: Vec::new() });
        for number in 0..point.rounds {
            let into = measured.points.last_mut().expect("pushed above");
            round::run(task, ensemble, index, number, into)?;
        }
    }
    Ok(())
}

/// Waits until every client has its target open.
fn open(task: &Task, ensemble: &mut Ensemble, measured: &mut Measured, until: Instant) -> Result<(), Failure> {
    let everybody = ensemble.everybody();
    ensemble.gather(&everybody, Waiting::Opening, until, |ensemble, client, _, message| match message {
        ToConductor::Opened(EngineUsed { name, reason }) => {
            measured.clients.push(ClientReport {
                client,
                node: task.nodes[client as usize].clone(),
                pod_uid: ensemble.uid(client),
                engine: name,
                engine_reason: reason,
                notes: Vec::new(),
            });
            Ok(true)
        }
        other => Err(Failure::unexpected(client, &other)),
    })?;
    measured.clients.sort_by_key(|client| client.client);
    Ok(())
}

/// Stops what is going, asks every client that is there to clean up, and tells them the end. Failures here are told, not returned: the
/// test's outcome is known.
fn finish(
    task: &Task,
    ensemble: &mut Ensemble,
    measured: &mut Measured,
    failure: Option<&Failure>,
    cause: Option<&str>,
) {
    let patience = match failure {
        Some(Failure::Stopped { .. }) => Duration::from_secs(CLEANUP_GRACE_SECONDS),
        Some(_) | None => Duration::from_secs(task.prepare_timeout_seconds + task.op_timeout_seconds),
    };
    let until = Instant::now() + patience;
    if failure.is_some() {
        ensemble.send_all(&ToClient::Stop);
    }
    ensemble.tell(Event::CleaningUp);
    for (client, CleanedUp { mut notes, problem, engine }) in ensemble.clean_up(until) {
        if let Some(problem) = problem {
            let node = &task.nodes[client as usize];
            ensemble.tell(Event::NotCleaned { client, node, problem: &problem });
            notes.push(format!("clean-up: {problem}"));
        }
        if let Some(report) = measured.clients.iter_mut().find(|report| report.client == client) {
            report.notes.extend(notes);
            if let Some(EngineUsed { name, reason }) = engine {
                (report.engine, report.engine_reason) = (name, reason);
            }
        }
    }
    ensemble.dismiss(cause);
}

#[cfg(test)]
mod tests;
