//! The first fallback for files and devices: Linux's older asynchronous I/O, for where io_uring is forbidden.

use std::time::Duration;

use crate::bench::content::Content;
use crate::bench::engine::{Capabilities, Completion, Direction, Engine, EngineError, Operation};
use crate::bench::errno;
use crate::sys::aio::Aio;

use super::region::{Region, result, way};

pub const NAME: &str = "libaio";

/// A context is refused beyond `fs.aio-max-nr`, 65536 unless set, over all of a machine.
const MAX_QUEUE_DEPTH: u32 = 65536;

pub struct AioEngine {
    region: Region,
    content: Content,
    aio: Option<Aio>,
}

impl AioEngine {
    pub fn new(region: Region) -> AioEngine {
        let content = Content::new(region.seed);
        AioEngine { region, content, aio: None }
    }

    fn aio(&mut self) -> Result<&mut Aio, EngineError> {
        self.aio.as_mut().ok_or_else(|| EngineError::new(NAME, "used before it was prepared or after its end"))
    }
}

fn failed(act: &str, error: &std::io::Error) -> EngineError {
    EngineError::new(format!("{NAME}: {act}"), errno::io_text(error))
}

impl Engine for AioEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: NAME, reason: None, max_queue_depth: MAX_QUEUE_DEPTH, size: self.region.size }
    }

    fn prepare(&mut self, queue_depth: u32, block_size: u32) -> Result<(), EngineError> {
        let made = Aio::new(self.region.file.clone(), queue_depth, block_size);
        let mut aio = made.map_err(|error| failed("make a context", &error))?;
        for slot in 0..queue_depth {
            self.content.fill(aio.slot_mut(slot).map_err(|error| failed("fill buffers", &error))?);
        }
        self.aio = Some(aio);
        Ok(())
    }

    #[inline]
    fn submit(&mut self, operation: Operation) -> Result<(), EngineError> {
        let Operation { direction, slot, offset, length } = operation;
        let position = self.region.base + offset;
        let Some(aio) = &mut self.aio else { return self.aio().map(drop) };
        if direction == Direction::Write {
            let buffer = aio.slot_mut(slot).map_err(|error| failed("submit", &error))?;
            self.content.stamp(&mut buffer[..length as usize]);
        }
        aio.push(way(direction), slot, position, length).map_err(|error| failed("submit", &error))
    }

    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>, timeout: Duration) -> Result<(), EngineError> {
        self.aio()?
            .wait(timeout, |slot, kernel| done.push(Completion { slot, result: result(kernel) }))
            .map_err(|error| failed("wait", &error))
    }

    fn finish(&mut self, timeout: Duration) -> Result<(), EngineError> {
        let Some(mut aio) = self.aio.take() else { return Ok(()) };
        let deadline = std::time::Instant::now() + timeout;
        while aio.in_flight() > 0 {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Err(EngineError::new(
                    format!("{NAME}: finish"),
                    format!("{} operations are still in flight", aio.in_flight()),
                ));
            }
            aio.wait(left, |_, _| ()).map_err(|error| failed("finish", &error))?;
        }
        Ok(())
    }
}
