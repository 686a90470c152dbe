//! What an engine is to the runner: something that takes operations and gives back completions. Timing, ramp, depth and deadline are
//! the runner's; an engine never looks at a clock.
//!
//! One engine value serves one job of one client for one point. The load makes and prepares it, on any thread; from the first submit to
//! the finish it belongs to one thread, the job's.

use std::time::Duration;

/// Whether an operation reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
}

/// One operation. `slot` is below the point's queue depth and not in flight; it names the buffer to use and comes back in the completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    pub direction: Direction,
    pub slot: u32,
    /// Bytes from the start of the job's target. For RADOS: over the job's objects laid end to end.
    pub offset: u64,
    pub length: u32,
}

/// An operation that ended: bytes moved, or an errno (positive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub slot: u32,
    pub result: Result<u32, i32>,
}

/// What an engine is and can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Such as `io_uring`.
    pub name: &'static str,
    /// Why this and not a better one.
    pub reason: Option<String>,
    /// Largest number of operations in flight.
    pub max_queue_depth: u32,
    /// Bytes that offsets may range over.
    pub size: u64,
}

/// An engine that could not do what it was asked. Operations that fail are completions, not this.
#[derive(Debug, thiserror::Error)]
#[error("{act}: {cause}")]
pub struct EngineError {
    /// What was tried, with the name of the thing: `open /var/tmp/x with O_DIRECT`.
    pub act: String,
    pub cause: String,
}

impl EngineError {
    pub fn new(act: impl Into<String>, cause: impl Into<String>) -> EngineError {
        EngineError { act: act.into(), cause: cause.into() }
    }
}

/// A block size as engines take it.
pub fn check_block(block_size: u64) -> Result<u32, EngineError> {
    u32::try_from(block_size)
        .ok()
        .filter(|block_size| *block_size > 0 && *block_size <= 1 << 30)
        .ok_or_else(|| EngineError::new(format!("use blockSize {block_size}"), "1 to 1073741824 bytes are possible"))
}

pub trait Engine: Send {
    fn capabilities(&self) -> Capabilities;

    /// Makes everything ready that must not be timed: buffers, registrations. Called by the load, once, before the engine goes to the
    /// runner.
    fn prepare(&mut self, queue_depth: u32, block_size: u32) -> Result<(), EngineError>;

    /// Queues an operation. It may start at once or at the next [`Engine::reap`].
    fn submit(&mut self, operation: Operation) -> Result<(), EngineError>;

    /// Starts all that was queued and pushes completions to `done`: at least one if anything is in flight, waiting at most `timeout`.
    /// Returns with nothing only when the timeout passed. Must not allocate beyond `done`'s capacity.
    fn reap(&mut self, done: &mut Vec<Completion>, timeout: Duration) -> Result<(), EngineError>;

    /// What an error of an operation means on this target, beyond its name: whose quota, which cap.
    fn explain(&self, _errno: i32) -> Option<String> {
        None
    }

    /// Waits for what is in flight, at most `timeout`, and lets go of everything. What is still in flight then is abandoned safely.
    fn finish(&mut self, timeout: Duration) -> Result<(), EngineError>;
}
