//! The last fallback for files and devices: a thread for each operation in flight, reading and writing synchronously. It works wherever
//! files do, at the price of two wake-ups per operation.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::bench::content::Content;
use crate::bench::engine::{Capabilities, Completion, Direction, Engine, EngineError, Operation};
use crate::bench::errno;
use crate::sys::buffer::Buffers;

use super::region::Region;

pub const NAME: &str = "threads";

const MAX_QUEUE_DEPTH: u32 = 1024;
const STACK_BYTES: usize = 128 * 1024;

pub struct ThreadsEngine {
    region: Region,
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    in_flight: usize,
}

/// Each slot's worker has a box that its next operation is put into.
#[derive(Default)]
struct Shared {
    boxes: Vec<WorkBox>,
    done: Mutex<Vec<Completion>>,
    ready: Condvar,
}

#[derive(Default)]
struct WorkBox {
    work: Mutex<Option<Work>>,
    filled: Condvar,
}

#[derive(Clone, Copy)]
enum Work {
    Do(Operation),
    Stop,
}

/// A worker that panicked leaves nothing half done behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ThreadsEngine {
    pub fn new(region: Region) -> ThreadsEngine {
        ThreadsEngine { region, shared: Arc::default(), workers: Vec::new(), in_flight: 0 }
    }

    fn stop_workers(&self) {
        for work_box in &self.shared.boxes {
            work_box.put(Work::Stop);
        }
    }
}

impl WorkBox {
    fn put(&self, work: Work) {
        *lock(&self.work) = Some(work);
        self.filled.notify_one();
    }

    fn take(&self) -> Work {
        let mut work = lock(&self.work);
        loop {
            match work.take() {
                Some(work) => return work,
                None => work = self.filled.wait(work).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

fn work(index: usize, shared: &Shared, region: &Region, mut buffer: Buffers, mut content: Content) {
    while let Work::Do(operation) = shared.boxes[index].take() {
        let Operation { direction, slot, offset, length } = operation;
        let memory = &mut buffer.slot_mut(0)[..length as usize];
        let position = region.base + offset;
        let moved = match direction {
            Direction::Read => again(|| region.file.read_at(memory, position)),
            Direction::Write => {
                content.stamp(memory);
                again(|| region.file.write_at(memory, position))
            }
        };
        let result = moved.map(|bytes| bytes as u32).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO));
        lock(&shared.done).push(Completion { slot, result });
        shared.ready.notify_one();
    }
}

fn again(mut act: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

impl Engine for ThreadsEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: NAME, reason: None, max_queue_depth: MAX_QUEUE_DEPTH, size: self.region.size }
    }

    fn prepare(&mut self, queue_depth: u32, block_size: u32) -> Result<(), EngineError> {
        let depth = queue_depth as usize;
        self.shared = Arc::new(Shared {
            boxes: (0..depth).map(|_| WorkBox::default()).collect(),
            done: Mutex::new(Vec::with_capacity(depth)),
            ready: Condvar::new(),
        });
        let failed = |act: &str, error: &io::Error| EngineError::new(format!("{NAME}: {act}"), errno::io_text(error));
        for index in 0..depth {
            let mut buffer = Buffers::new(1, block_size as usize).map_err(|error| failed("make a buffer", &error))?;
            let mut content = Content::new(self.region.seed.wrapping_add(index as u64 + 1));
            content.fill(buffer.slot_mut(0));
            let (shared, region) = (self.shared.clone(), self.region.clone());
            let worker = Builder::new()
                .name(format!("io-{index}"))
                .stack_size(STACK_BYTES)
                .spawn(move || work(index, &shared, &region, buffer, content))
                .map_err(|error| failed("start a thread", &error))?;
            self.workers.push(worker);
        }
        Ok(())
    }

    fn submit(&mut self, operation: Operation) -> Result<(), EngineError> {
        let Some(work_box) = self.shared.boxes.get(operation.slot as usize) else {
            return Err(EngineError::new(NAME, "used before it was prepared or after its end"));
        };
        work_box.put(Work::Do(operation));
        self.in_flight += 1;
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>, timeout: Duration) -> Result<(), EngineError> {
        let mut ready = lock(&self.shared.done);
        if ready.is_empty() && self.in_flight > 0 {
            let waited = self.shared.ready.wait_timeout_while(ready, timeout, |ready| ready.is_empty());
            ready = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.in_flight -= ready.len();
        done.append(&mut ready);
        Ok(())
    }

    fn finish(&mut self, timeout: Duration) -> Result<(), EngineError> {
        let deadline = Instant::now() + timeout;
        let mut done = Vec::with_capacity(self.in_flight);
        while self.in_flight > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let cause = format!("{} operations are still in flight", self.in_flight);
                return Err(EngineError::new(format!("{NAME}: finish"), cause));
            }
            self.reap(&mut done, left)?;
            done.clear();
        }
        self.stop_workers();
        for worker in self.workers.drain(..) {
            worker.join().map_err(|_| EngineError::new(format!("{NAME}: finish"), "a thread panicked"))?;
        }
        Ok(())
    }
}

impl Drop for ThreadsEngine {
    /// Threads that hang keep what they need and are left behind.
    fn drop(&mut self) {
        self.stop_workers();
    }
}
