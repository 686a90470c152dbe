//! Which engine serves a file or device: io_uring where it may be used, else libaio, else threads, and why.

use std::io;

use crate::bench::engine::{Engine, EngineError};
use crate::bench::errno;
use crate::sys::{aio, uring};

use super::io_uring::{self, UringEngine};
use super::libaio::{self, AioEngine};
use super::region::Region;
use super::threads::{self, ThreadsEngine};

/// Threads over all jobs that the last fallback starts at most.
const MAX_THREADS: u64 = 4096;

/// An engine for files, from the best to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    IoUring,
    Libaio,
    Threads,
}

impl Kind {
    fn next(self) -> Option<Kind> {
        match self {
            Kind::IoUring => Some(Kind::Libaio),
            Kind::Libaio => Some(Kind::Threads),
            Kind::Threads => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::IoUring => io_uring::NAME,
            Kind::Libaio => libaio::NAME,
            Kind::Threads => threads::NAME,
        }
    }

    fn probe(self) -> Result<(), String> {
        match self {
            Kind::IoUring => uring::probe().map_err(|error| uring_text(&error)),
            Kind::Libaio => aio::probe().map_err(|error| format!("{}: {}", libaio::NAME, errno::io_text(&error))),
            Kind::Threads => Ok(()),
        }
    }

    fn make(self, region: Region) -> Box<dyn Engine> {
        match self {
            Kind::IoUring => Box::new(UringEngine::new(region)),
            Kind::Libaio => Box::new(AioEngine::new(region)),
            Kind::Threads => Box::new(ThreadsEngine::new(region)),
        }
    }
}

/// The engine in use. It only ever gets worse: what failed once is not tried again.
pub struct Choice {
    kind: Kind,
    /// Why not a better one.
    reasons: Vec<String>,
    /// How many of them were known before anything was to be done.
    known: usize,
    /// What the engine in use lacks.
    lack: Option<String>,
}

impl Choice {
    /// The best engine that this process may use.
    pub fn new() -> Choice {
        let mut choice = Choice { kind: Kind::IoUring, reasons: Vec::new(), known: 0, lack: None };
        if let Err(reason) = choice.kind.probe() {
            choice.fall_back(reason);
        }
        choice.known = choice.reasons.len();
        choice
    }

    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    pub fn reason(&self) -> Option<String> {
        self.reasons_from(0)
    }

    /// What sets the engines made last apart from those of other points: a fallback that was found out late, what they lack.
    pub fn note(&self) -> Option<String> {
        self.reasons_from(self.known).map(|reasons| format!("measured with {}: {reasons}", self.name()))
    }

    fn reasons_from(&self, first: usize) -> Option<String> {
        let reasons: Vec<&str> = self.reasons[first..].iter().chain(&self.lack).map(String::as_str).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// Engines over these regions, prepared. What one kind can't do at this depth and size, the next is asked for.
    pub fn engines(
        &mut self,
        regions: &[Region],
        queue_depth: u32,
        block_size: u32,
    ) -> Result<Vec<Box<dyn Engine>>, EngineError> {
        loop {
            match self.prepare(regions, queue_depth, block_size) {
                Ok(engines) => {
                    self.lack = engines.iter().find_map(|engine| engine.capabilities().reason);
                    return Ok(engines);
                }
                Err(error) => {
                    let failed = error.to_string();
                    if !self.fall_back(failed) {
                        return Err(match self.reason() {
                            Some(before) => EngineError::new(error.act, format!("{}; before: {before}", error.cause)),
                            None => error,
                        });
                    }
                }
            }
        }
    }

    fn prepare(
        &self,
        regions: &[Region],
        queue_depth: u32,
        block_size: u32,
    ) -> Result<Vec<Box<dyn Engine>>, EngineError> {
        let threads = regions.len() as u64 * u64::from(queue_depth);
        if self.kind == Kind::Threads && threads > MAX_THREADS {
            let cause =
                format!("queueDepth × jobs is {threads}, and one thread for each is possible up to {MAX_THREADS}");
            return Err(EngineError::new(threads::NAME, cause));
        }
        regions
            .iter()
            .map(|region| {
                let mut engine = self.kind.make(region.clone());
                engine.prepare(queue_depth, block_size)?;
                Ok(engine)
            })
            .collect()
    }

    /// To the next kind that works. False when there is none.
    fn fall_back(&mut self, reason: String) -> bool {
        match self.kind.next() {
            Some(next) => {
                self.reasons.push(reason);
                self.kind = next;
                match next.probe() {
                    Ok(()) => true,
                    Err(reason) => self.fall_back(reason),
                }
            }
            None => false,
        }
    }
}

impl Default for Choice {
    fn default() -> Choice {
        Choice::new()
    }
}

/// What keeps a process from io_uring.
fn uring_text(error: &io::Error) -> String {
    let cause = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => match std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled") {
            Ok(setting) if setting.trim() != "0" => {
                format!(": kernel.io_uring_disabled is {}", setting.trim())
            }
            Ok(_) | Err(_) => ": forbidden, most likely by the container runtime's seccomp profile".into(),
        },
        Some(libc::ENOSYS) => ": hidden by a seccomp profile, or a kernel older than 5.11".into(),
        Some(_) | None => String::new(),
    };
    format!("{}: {}{cause}", io_uring::NAME, io_uring::memory_text(error, "a ring"))
}
