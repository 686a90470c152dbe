//! Bytes over TCP from one client to another. The receiver counts: what it read within its window is the figure, and what the sender
//! handed to its kernel is held against it. No operations of a known latency, so no histogram.
//!
//! A link's bytes stand under `write`, the direction seen from its source. The receiver's window begins a ramp after the first byte came;
//! the sender goes on for a moment beyond its own time, so that the receiver's window is always full.

mod receiver;
mod sender;

use std::io;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

pub use receiver::Receiver;
pub use sender::{Sender, Sent};

// Both ends may live in one process, so the process's would count twice.
use super::cpu::thread as thread_cpu;
use super::engine::EngineError;
use super::gate::Gate;
use crate::contract::{ClientRound, EndedBy, RoundReport};

/// What a new data connection sends: its stream's number and the proof for it.
const INTRODUCTION: usize = 4 + 32;
/// What the receiver answers to one that it takes.
const TAKEN: u8 = 1;
/// How long a new data connection may take to say who it is.
const GREETING: Duration = Duration::from_secs(5);
/// How long a blocked stream may go without looking whether the round was cancelled.
const PATIENCE: Duration = Duration::from_millis(200);

fn failed(act: impl Into<String>, cause: &io::Error) -> EngineError {
    EngineError::new(act, super::errno::io_text(cause))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// Does the work of each stream in a thread of its own, all of them from one instant on. If a thread can't be had, none begins.
fn in_threads<S: Sync, R: Send>(
    streams: &[S],
    work: impl Fn(&S, Instant) -> Result<R, EngineError> + Sync,
) -> Result<Vec<R>, EngineError> {
    let (gate, work) = (Gate::default(), &work);
    let wait_and_work = &|stream| gate.wait().map(|began| work(stream, *began));
    thread::scope(|scope| {
        let mut handles = Vec::with_capacity(streams.len());
        for (number, stream) in streams.iter().enumerate() {
            let thread = thread::Builder::new().name(format!("stream-{number}"));
            match thread.spawn_scoped(scope, move || wait_and_work(stream)) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    gate.send_away();
                    return Err(failed(format!("start the thread of stream {}", number + 1), &error));
                }
            }
        }
        gate.open(handles.len(), Instant::now);
        handles.into_iter().filter_map(|handle| handle.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// One end's part of a round, without directions.
fn end_report(client: ClientRound, ended_by: EndedBy) -> RoundReport {
    RoundReport {
        elapsed_micros: client.elapsed_micros,
        ended_by,
        seconds_per_sample: 1,
        cpu_micros: client.cpu_micros,
        clients: vec![client],
        ..RoundReport::default()
    }
}

#[cfg(test)]
mod tests;
