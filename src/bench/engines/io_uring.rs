//! The engine of choice for files and devices: io_uring with the file and, where the memlock limit allows, the buffers registered.

use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use crate::bench::content::Content;
use crate::bench::engine::{Capabilities, Completion, Direction, Engine, EngineError, Operation};
use crate::bench::errno;
use crate::sys::uring::Ring;
use crate::units::bytes_text;

use super::region::{Region, result, way};

pub const NAME: &str = "io_uring";

/// The most entries that the kernel's rings take.
const MAX_QUEUE_DEPTH: u32 = 16384;

pub struct UringEngine {
    region: Region,
    content: Content,
    ring: Option<Ring>,
    reason: Option<String>,
}

impl UringEngine {
    pub fn new(region: Region) -> UringEngine {
        let content = Content::new(region.seed);
        UringEngine { region, content, ring: None, reason: None }
    }

    fn ring(&mut self) -> Result<&mut Ring, EngineError> {
        self.ring.as_mut().ok_or_else(|| EngineError::new(NAME, "used before it was prepared or after its end"))
    }
}

fn failed(act: &str, error: &std::io::Error) -> EngineError {
    EngineError::new(format!("{NAME}: {act}"), errno::io_text(error))
}

impl Engine for UringEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            name: NAME,
            reason: self.reason.clone(),
            max_queue_depth: MAX_QUEUE_DEPTH,
            size: self.region.size,
        }
    }

    fn prepare(&mut self, queue_depth: u32, block_size: u32) -> Result<(), EngineError> {
        let made = Ring::new(self.region.file.clone(), queue_depth, block_size);
        let (mut ring, unregistered) = made.map_err(|error| {
            EngineError::new(format!("{NAME}: make a ring"), memory_text(&error, &format!("a ring of {queue_depth}")))
        })?;
        self.reason = unregistered.map(|why| {
            let wanted = format!("{queue_depth} buffers of {} per job", bytes_text(u64::from(block_size)));
            format!("buffers not registered: {}", memory_text(&why.0, &wanted))
        });
        for slot in 0..queue_depth {
            self.content.fill(ring.slot_mut(slot).map_err(|error| failed("fill buffers", &error))?);
        }
        self.ring = Some(ring);
        Ok(())
    }

    #[inline]
    fn submit(&mut self, operation: Operation) -> Result<(), EngineError> {
        let Operation { direction, slot, offset, length } = operation;
        let position = self.region.base + offset;
        let Some(ring) = &mut self.ring else { return self.ring().map(drop) };
        if direction == Direction::Write {
            let buffer = ring.slot_mut(slot).map_err(|error| failed("submit", &error))?;
            self.content.stamp(&mut buffer[..length as usize]);
        }
        ring.push(way(direction), slot, position, length).map_err(|error| failed("submit", &error))
    }

    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>, timeout: Duration) -> Result<(), EngineError> {
        self.ring()?
            .wait(timeout, |slot, kernel| done.push(Completion { slot, result: result(kernel) }))
            .map_err(|error| failed("wait", &error))
    }

    fn finish(&mut self, timeout: Duration) -> Result<(), EngineError> {
        let Some(mut ring) = self.ring.take() else { return Ok(()) };
        let deadline = std::time::Instant::now() + timeout;
        while ring.in_flight() > 0 {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Err(EngineError::new(
                    format!("{NAME}: finish"),
                    format!("{} operations are still in flight", ring.in_flight()),
                ));
            }
            ring.wait(left, |_, _| ()).map_err(|error| failed("finish", &error))?;
        }
        Ok(())
    }
}

/// The text of an error, and what a lack of memory means here.
pub(super) fn memory_text(error: &std::io::Error, wanted: &str) -> String {
    let cause = errno::io_text(error);
    match (error.raw_os_error(), getrlimit(Resource::Memlock).current) {
        (Some(libc::ENOMEM), Some(limit)) => {
            format!(
                "{cause}: the memlock limit of {} is too small for {wanted}, or another limit on memory is",
                bytes_text(limit)
            )
        }
        (Some(_) | None, Some(_) | None) => cause,
    }
}
