//! Writes a file full before anything is measured: what was never written reads as zeros without touching a disk, and a first write
//! allocates. Times nothing.

use std::time::{Duration, Instant};

use crate::bench::engine::{Completion, Direction, Engine, EngineError, Operation};
use crate::bench::errno;
use crate::units::bytes_text;

pub const BLOCK: u32 = 1 << 20;
pub const DEPTH: u32 = 8;

const SAY_EVERY: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Fills `size` bytes, a multiple of what direct I/O needs, through a prepared engine. `stopped` is asked often.
pub fn fill(
    engine: &mut dyn Engine,
    size: u64,
    op_timeout: Duration,
    stopped: &dyn Fn() -> bool,
    say: &mut dyn FnMut(&str),
) -> Result<(), EngineError> {
    let mut filling = Filling { engine, size, next: 0, written: 0, lengths: [0; DEPTH as usize], in_flight: 0 };
    let result = filling.run(op_timeout, stopped, say);
    let finished = filling.engine.finish(Duration::from_secs(1));
    result.and(finished)
}

struct Filling<'a> {
    engine: &'a mut dyn Engine,
    size: u64,
    next: u64,
    written: u64,
    /// Bytes of each slot's operation.
    lengths: [u32; DEPTH as usize],
    in_flight: u32,
}

impl Filling<'_> {
    fn run(
        &mut self,
        op_timeout: Duration,
        stopped: &dyn Fn() -> bool,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), EngineError> {
        for slot in 0..DEPTH {
            self.launch(slot)?;
        }
        let mut done = Vec::with_capacity(DEPTH as usize);
        let (mut said, mut moved) = (Instant::now(), Instant::now());
        while self.in_flight > 0 {
            if stopped() {
                return Err(self.failed("stopped".into()));
            }
            self.engine.reap(&mut done, LOOK_EVERY)?;
            let now = Instant::now();
            if !done.is_empty() {
                moved = now;
            } else if now - moved > op_timeout {
                return Err(self.failed(format!("no write completed within {} s", op_timeout.as_secs_f64())));
            }
            for completion in done.drain(..) {
                self.take(completion)?;
                self.launch(completion.slot)?;
            }
            if now - said >= SAY_EVERY {
                said = now;
                say(&format!("prefill: {} of {}", bytes_text(self.written), bytes_text(self.size)));
            }
        }
        Ok(())
    }

    fn launch(&mut self, slot: u32) -> Result<(), EngineError> {
        let length = (self.size - self.next).min(u64::from(BLOCK)) as u32;
        if length == 0 {
            return Ok(());
        }
        self.lengths[slot as usize] = length;
        self.engine.submit(Operation { direction: Direction::Write, slot, offset: self.next, length })?;
        self.next += u64::from(length);
        self.in_flight += 1;
        Ok(())
    }

    fn take(&mut self, completion: Completion) -> Result<(), EngineError> {
        self.in_flight -= 1;
        match completion.result {
            Ok(bytes) if bytes == self.lengths[completion.slot as usize] => {
                self.written += u64::from(bytes);
                Ok(())
            }
            Ok(bytes) => Err(self.failed(format!("a write moved {bytes} bytes only"))),
            Err(errno) => Err(self.failed(errno::text(errno))),
        }
    }

    fn failed(&self, cause: String) -> EngineError {
        EngineError::new(format!("prefill, after {} of {}", bytes_text(self.written), bytes_text(self.size)), cause)
    }
}
