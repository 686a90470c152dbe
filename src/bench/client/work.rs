//! What a client works on: the load of its target, or its end of a link; and the round that it has prepared.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::bench::engine::{Engine, EngineError};
use crate::bench::load::Load;
use crate::bench::network::{Receiver, Sender};
use crate::bench::progress::Progress;
use crate::bench::protocol::{Door, EngineUsed, Peer, Token};
use crate::bench::{disk, null, rados, runner};
use crate::contract::{Point, RoundReport, Target, Task};

pub enum Work {
    Load(Box<dyn Load>),
    Network,
}

/// A round that only waits for its start.
pub enum Prepared {
    Engines(Vec<Box<dyn Engine>>),
    Receiver(Receiver),
    Sender(Sender),
}

/// What the conductor is told when a round is prepared.
pub struct Readiness {
    pub prepared: Prepared,
    pub notes: Vec<String>,
    pub door: Option<Door>,
}

/// A round that ran.
pub struct Ran {
    pub report: RoundReport,
    pub moved: u64,
    pub notes: Vec<String>,
}

impl Work {
    pub fn open(task: &Task) -> Result<Work, EngineError> {
        Ok(match &task.target {
            Target::Null(target) => Work::Load(null::open(target)),
            Target::Network(_) => Work::Network,
            Target::File(target) => Work::Load(disk::open_file(task, target)?),
            Target::Device(target) => Work::Load(disk::open_device(task, target)?),
            Target::Rados(target) => Work::Load(rados::open(task, target)?),
        })
    }

    pub fn engine(&self) -> EngineUsed {
        let (name, reason) = match self {
            Work::Load(load) => load.engine(),
            Work::Network => ("tcp", None),
        };
        EngineUsed { name: name.into(), reason }
    }

    pub fn notes(&self) -> Vec<String> {
        match self {
            Work::Load(load) => load.notes(),
            Work::Network => Vec::new(),
        }
    }

    pub fn prepare(
        &mut self,
        task: &Task,
        token: &Token,
        point: &Point,
        round: u32,
        peer: Option<Peer>,
        say: &mut dyn FnMut(&str),
    ) -> Result<Readiness, EngineError> {
        let Work::Load(load) = self else {
            return prepare_link(task, token, point, peer);
        };
        let ready = load.prepare(point, round, say)?;
        Ok(Readiness { prepared: Prepared::Engines(ready.engines), notes: ready.notes, door: None })
    }

    pub fn clean_up(&mut self, say: &mut dyn FnMut(&str)) -> Result<(), EngineError> {
        match self {
            Work::Load(load) => load.clean_up(say),
            Work::Network => Ok(()),
        }
    }
}

fn prepare_link(task: &Task, token: &Token, point: &Point, peer: Option<Peer>) -> Result<Readiness, EngineError> {
    let link = point.link.ok_or_else(|| EngineError::new("prepare a link", "the point has none"))?;
    match peer {
        None => {
            let (receiver, door) = Receiver::listen(token.clone(), link.streams)?;
            let notes = Vec::new();
            Ok(Readiness { prepared: Prepared::Receiver(receiver), notes, door: Some(door) })
        }
        Some(peer) => {
            let timeout = Duration::from_secs(task.op_timeout_seconds);
            let sender = Sender::connect(token, &peer, link.streams, point.block_size, timeout)?;
            let one_machine = matches!(&task.target, Target::Network(network) if network.loopback);
            let notes = match one_machine || peer.address.ip().is_loopback() {
                true => vec!["loopback: both ends are on one machine, the traffic crossed no network".into()],
                false => Vec::new(),
            };
            Ok(Readiness { prepared: Prepared::Sender(sender), notes, door: None })
        }
    }
}

impl Prepared {
    pub fn run(
        self,
        task: &Task,
        point: &Point,
        round: u32,
        progress: &Progress,
        cancel: &AtomicBool,
    ) -> Result<Ran, EngineError> {
        let op_timeout = Duration::from_secs(task.op_timeout_seconds);
        match self {
            Prepared::Engines(engines) => {
                let report = runner::run(engines, point, task.client, op_timeout, progress, cancel)?;
                Ok(Ran { report, moved: progress.snapshot().bytes, notes: Vec::new() })
            }
            Prepared::Receiver(receiver) => {
                let (report, moved) = receiver.run(point, task.client, op_timeout, progress, cancel)?;
                Ok(Ran { report, moved, notes: Vec::new() })
            }
            Prepared::Sender(sender) => {
                let sent = sender.run(point, task.client, op_timeout, progress, cancel)?;
                let notes = match sent.retransmits {
                    0 => Vec::new(),
                    segments => vec![format!("round {}: {segments} segments were sent again", round + 1)],
                };
                Ok(Ran { report: sent.report, moved: sent.moved, notes })
            }
        }
    }
}
