//! The engine that does nothing: each operation succeeds at the next reap. What a round over it costs is the bench's own cost.

use std::time::Duration;

use crate::bench::engine::{Capabilities, Completion, Engine, EngineError, Operation};

pub struct NullEngine {
    size: u64,
    ready: Vec<Completion>,
}

impl NullEngine {
    /// Offsets may range over `size` bytes.
    pub fn new(size: u64) -> NullEngine {
        NullEngine { size, ready: Vec::new() }
    }
}

impl Engine for NullEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: "null", reason: None, max_queue_depth: u32::MAX, size: self.size }
    }

    fn prepare(&mut self, queue_depth: u32, _block_size: u32) -> Result<(), EngineError> {
        self.ready.reserve(queue_depth as usize);
        Ok(())
    }

    fn submit(&mut self, operation: Operation) -> Result<(), EngineError> {
        self.ready.push(Completion { slot: operation.slot, result: Ok(operation.length) });
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>, _timeout: Duration) -> Result<(), EngineError> {
        done.append(&mut self.ready);
        Ok(())
    }

    fn finish(&mut self, _timeout: Duration) -> Result<(), EngineError> {
        self.ready.clear();
        Ok(())
    }
}
