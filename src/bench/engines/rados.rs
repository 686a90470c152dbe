//! Objects through librados, asynchronously: one pipeline per job over the client's one connection. An operation of a block goes to one
//! object; which one is [`Extent`]'s to say. Writes are what rados bench's are, with the same hints to the store.

use std::sync::Arc;
use std::time::Duration;

use crate::bench::content::Content;
use crate::bench::engine::{Capabilities, Completion, Direction, Engine, EngineError, Operation};
use crate::bench::rados::explain::Situation;
use crate::bench::rados::objects::{Extent, Ledger, Name};
use crate::sys::librados::{Ended, IoContext, Pipeline, WriteHint};

/// As many as the plan allows.
const MAX_QUEUE_DEPTH: u32 = 1024;

/// How long operations that were asked to end may take to do so.
const CANCELLED_WITHIN: Duration = Duration::from_secs(2);

pub struct RadosEngine {
    context: Arc<IoContext>,
    situation: Arc<Situation>,
    extent: Extent,
    name: Name,
    /// Bytes of a whole object, told to the store with each write.
    object_size: u64,
    ledger: Arc<Ledger>,
    pipeline: Option<Pipeline>,
    hint: WriteHint,
    content: Content,
    /// Offset of the write in each slot, none while it reads.
    writing: Vec<Option<u64>>,
}

/// What one job does in one round.
pub struct Work {
    pub extent: Extent,
    /// Of the client's objects of this size.
    pub name: Name,
    pub object_size: u64,
    /// Learns what is written.
    pub ledger: Arc<Ledger>,
    /// Makes the content.
    pub seed: u64,
}

impl RadosEngine {
    pub fn new(context: Arc<IoContext>, situation: Arc<Situation>, work: Work) -> Self {
        let Work { extent, name, object_size, ledger, seed } = work;
        Self {
            context,
            situation,
            extent,
            name,
            object_size,
            ledger,
            pipeline: None,
            hint: WriteHint { object_size, write_size: object_size },
            content: Content::new(seed),
            writing: Vec::new(),
        }
    }
}

impl Engine for RadosEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: "librados", reason: None, max_queue_depth: MAX_QUEUE_DEPTH, size: self.extent.bytes() }
    }

    fn prepare(&mut self, queue_depth: u32, block_size: u32) -> Result<(), EngineError> {
        let mut pipeline = Pipeline::new(self.context.clone(), queue_depth, block_size);
        for slot in 0..queue_depth {
            self.content.fill(pipeline.buffer(slot));
        }
        self.hint = WriteHint { object_size: self.object_size, write_size: u64::from(block_size) };
        self.pipeline = Some(pipeline);
        self.writing = vec![None; queue_depth as usize];
        Ok(())
    }

    #[inline]
    fn submit(&mut self, operation: Operation) -> Result<(), EngineError> {
        let Operation { direction, slot, offset, length } = operation;
        let pipeline = self.pipeline.as_mut().ok_or_else(not_prepared)?;
        let (number, within) = self.extent.locate(offset);
        let name = self.name.number(number);
        match direction {
            Direction::Read => pipeline.read(slot, name, within, length),
            Direction::Write => {
                self.ledger.begin(offset, length);
                self.writing[slot as usize] = Some(offset);
                self.content.stamp(&mut pipeline.buffer(slot)[..length as usize]);
                pipeline.write(slot, name, within, length, Some(self.hint));
            }
        }
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>, timeout: Duration) -> Result<(), EngineError> {
        let pipeline = self.pipeline.as_mut().ok_or_else(not_prepared)?;
        pipeline.reap(timeout, |ended| done.push(book(&self.ledger, &mut self.writing, ended)));
        Ok(())
    }

    fn explain(&self, errno: i32) -> Option<String> {
        self.situation.meaning(errno)
    }

    fn finish(&mut self, timeout: Duration) -> Result<(), EngineError> {
        let Some(mut pipeline) = self.pipeline.take() else { return Ok(()) };
        let mut each = |ended| _ = book(&self.ledger, &mut self.writing, ended);
        if pipeline.settle(timeout, &mut each) {
            return Ok(());
        }
        pipeline.cancel();
        if pipeline.settle(CANCELLED_WITHIN, &mut each) {
            return Ok(());
        }
        // What becomes of these nobody will know.
        self.writing.iter().flatten().for_each(|offset| self.ledger.fail(*offset));
        let cause = format!("{} did not end after they were cancelled", pipeline.in_flight());
        Err(EngineError::new("end the operations in flight", cause))
    }
}

#[inline]
fn book(ledger: &Ledger, writing: &mut [Option<u64>], ended: Ended) -> Completion {
    let Ended { slot, result } = ended;
    let offset = writing[slot as usize].take();
    if let (Some(offset), Err(_)) = (offset, &result) {
        ledger.fail(offset);
    }
    Completion { slot, result }
}

fn not_prepared() -> EngineError {
    EngineError::new("use the engine", "it is not prepared")
}
