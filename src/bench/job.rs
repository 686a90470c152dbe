//! One job of a round: keeps its engine at the point's depth, times each operation from its submission to its completion, and records
//! what completes within the window. When the window begins and ends is the runner's to say.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::cpu;
use super::engine::{Completion, Direction, Engine, EngineError, Operation};
use super::pattern::Pattern;
use super::progress::{Progress, Step};
use super::recorder::{Failure, Recorder};

/// How often a job looks up from its work: progress, a stop, operations that hang.
const LOOK_NANOS: u64 = 50_000_000;

/// How long operations in flight are waited for after a cancellation, and an engine's own finish at any time.
const FINISH: Duration = Duration::from_secs(1);

/// Failures without a success between them that end a round, and failures in all.
const MAX_BURST: u32 = 64;
const MAX_FAILURES: u64 = 1000;

/// Errors after which the next operation can only fail too, or should not be tried.
const POINTLESS: &[i32] = &[
    libc::ENOSPC,
    libc::EDQUOT,
    libc::EROFS,
    libc::EPERM,
    libc::EACCES,
    libc::EBADF,
    libc::EINVAL,
    libc::EFBIG,
    libc::ENXIO,
    libc::ENODEV,
    libc::ENOMEDIUM,
    libc::ENOTCONN,
    libc::ESHUTDOWN,
    libc::EOPNOTSUPP,
];

const NOT_IN_FLIGHT: u64 = u64::MAX;

/// What the jobs of a round share. Times are nanoseconds since the common start.
pub(super) struct Shared {
    pub started: Instant,
    /// Moved forward only, by a byte cap of which the ramp may not use more.
    pub ramp_end: AtomicU64,
    pub duration: u64,
    pub budget: Option<Budget>,
    pub op_timeout: Duration,
    /// Set by the first job that ends the round for all.
    pub stop: AtomicBool,
    pub cancelled: AtomicBool,
    pub progress: Progress,
}

/// A byte cap of a round.
pub(super) struct Budget {
    /// Bytes that may still be submitted.
    left: AtomicU64,
    /// The ramp ends when less is left: a quarter of the cap is used, and the window has the rest.
    for_window: u64,
}

impl Budget {
    pub fn new(bytes: u64) -> Budget {
        Budget { left: AtomicU64::new(bytes), for_window: bytes - bytes / 4 }
    }
}

impl Shared {
    pub fn now(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    #[inline]
    pub fn ramp_end(&self) -> u64 {
        self.ramp_end.load(Relaxed)
    }

    #[inline]
    pub fn end(&self) -> u64 {
        self.ramp_end().saturating_add(self.duration)
    }

    /// Takes the bytes of an operation that begins now out of the budget, or nothing if they are too many.
    #[inline]
    fn take(&self, bytes: u32, now: u64) -> bool {
        let Some(Budget { left, for_window }) = &self.budget else { return true };
        let bytes = u64::from(bytes);
        let Ok(before) = left.try_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)) else { return false };
        if before - bytes < *for_window && now < self.ramp_end() {
            self.ramp_end.fetch_min(now, Relaxed);
        }
        true
    }

    fn over(&self) -> bool {
        self.stop.load(Relaxed) || self.cancelled.load(Relaxed)
    }
}

/// Why a job stopped counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    Duration,
    Bytes,
    /// By its own errors.
    Errors,
    /// By another job's end, or by a cancellation.
    Told,
}

pub(super) struct Job {
    pub engine: Box<dyn Engine>,
    pub pattern: Pattern,
    pub recorder: Recorder,
    pub direction: Direction,
    pub block: u32,
    /// When the operation of each slot was submitted.
    submitted: Vec<u64>,
    done: Vec<Completion>,
    in_flight: u32,
    in_flight_told: u32,
    pub depth_seen: u32,
    burst: u32,
    failures: u64,
    step: Step,
    next_look: u64,
    /// End of the last operation that counted.
    pub last_counted: u64,
    /// CPU time of the job's thread when the window began and when counting stopped.
    cpu: Option<(Duration, Duration)>,
}

impl Job {
    pub fn new(
        engine: Box<dyn Engine>,
        pattern: Pattern,
        recorder: Recorder,
        direction: Direction,
        block: u32,
        depth: u32,
    ) -> Job {
        Job {
            engine,
            pattern,
            recorder,
            direction,
            block,
            submitted: vec![NOT_IN_FLIGHT; depth as usize],
            done: Vec::with_capacity(depth as usize),
            in_flight: 0,
            in_flight_told: 0,
            depth_seen: 0,
            burst: 0,
            failures: 0,
            step: Step::default(),
            next_look: LOOK_NANOS,
            last_counted: 0,
            cpu: None,
        }
    }

    /// Works until the window ends, and says why it stopped counting. Operations may be in flight then.
    pub fn work(&mut self, shared: &Shared) -> Result<Stopped, EngineError> {
        let stopped = self.count(shared);
        if let Some((_, after)) = &mut self.cpu {
            *after = cpu::thread();
        }
        stopped
    }

    /// CPU time that the job's thread used in the window.
    pub fn cpu_used(&self) -> Duration {
        self.cpu.map_or(Duration::ZERO, |(before, after)| after.saturating_sub(before))
    }

    fn count(&mut self, shared: &Shared) -> Result<Stopped, EngineError> {
        for slot in 0..self.submitted.len() as u32 {
            if !self.launch(slot, shared)? {
                break;
            }
        }
        let mut now = shared.now();
        loop {
            if self.in_flight == 0 {
                return Ok(Stopped::Bytes);
            }
            let wait = self.next_look.min(shared.end()).saturating_sub(now);
            self.engine.reap(&mut self.done, Duration::from_nanos(wait))?;
            now = shared.now();
            if self.cpu.is_none() && now >= shared.ramp_end() {
                let before = cpu::thread();
                self.cpu = Some((before, before));
            }
            let end = shared.end();
            if now >= end {
                self.recorder.outlasted(self.direction, self.oldest(end).as_nanos() as u64);
                return Ok(Stopped::Duration);
            }
            let mut pointless = false;
            for index in 0..self.done.len() {
                let completion = self.done[index];
                pointless |= self.account(completion, now, shared);
                if !pointless {
                    self.launch(completion.slot, shared)?;
                }
            }
            self.done.clear();
            if now >= self.next_look {
                pointless |= self.look(now, shared);
            }
            if pointless {
                shared.stop.store(true, Relaxed);
                return Ok(Stopped::Errors);
            }
            if shared.over() {
                return Ok(Stopped::Told);
            }
        }
    }

    /// Submits the next operation into a free slot. False when the budget doesn't hold it.
    #[inline]
    fn launch(&mut self, slot: u32, shared: &Shared) -> Result<bool, EngineError> {
        let now = shared.now();
        if !shared.take(self.block, now) {
            return Ok(false);
        }
        let offset = self.pattern.next_offset();
        self.submitted[slot as usize] = now;
        self.engine.submit(Operation { direction: self.direction, slot, offset, length: self.block })?;
        self.in_flight += 1;
        self.depth_seen = self.depth_seen.max(self.in_flight);
        Ok(true)
    }

    /// Books one completion. True when going on is pointless.
    #[inline]
    fn account(&mut self, completion: Completion, now: u64, shared: &Shared) -> bool {
        let submitted = std::mem::replace(&mut self.submitted[completion.slot as usize], NOT_IN_FLIGHT);
        debug_assert_ne!(submitted, NOT_IN_FLIGHT, "a completion for a slot that is not in flight");
        self.in_flight -= 1;
        match completion.result {
            Ok(bytes) if bytes == self.block => {
                let latency = now - submitted;
                if let Some(at) = now.checked_sub(shared.ramp_end()) {
                    self.recorder.completed(self.direction, at, latency, bytes);
                    self.last_counted = now;
                }
                self.burst = 0;
                self.step(bytes, latency);
                false
            }
            Ok(_) => self.fail(Failure::Short, now, shared),
            Err(errno) => self.fail(Failure::Errno(errno), now, shared) | POINTLESS.contains(&errno),
        }
    }

    /// Books a failure. True when there were too many.
    #[cold]
    fn fail(&mut self, failure: Failure, now: u64, shared: &Shared) -> bool {
        let at = now.checked_sub(shared.ramp_end()).filter(|_| now < shared.end());
        self.recorder.failed(self.direction, failure, at);
        self.step.errors += 1;
        self.failures += 1;
        self.burst += 1;
        if at.is_some() {
            self.last_counted = now;
        }
        self.burst >= MAX_BURST || self.failures >= MAX_FAILURES
    }

    /// Tells how far the job is and looks for operations that hang. True when one does.
    #[cold]
    fn look(&mut self, now: u64, shared: &Shared) -> bool {
        self.next_look = now + LOOK_NANOS;
        self.tell(shared);
        self.fail_hung(now, shared)
    }

    fn tell(&mut self, shared: &Shared) {
        let change = i64::from(self.in_flight) - i64::from(self.in_flight_told);
        self.in_flight_told = self.in_flight;
        shared.progress.add(&mut self.step, change);
    }

    /// Counts each operation that is in flight for longer than allowed as failed. True when there is one: the round is then over, so
    /// none is counted twice.
    fn fail_hung(&mut self, now: u64, shared: &Shared) -> bool {
        let timeout = shared.op_timeout.as_nanos() as u64;
        let hung = |submitted: &&u64| **submitted != NOT_IN_FLIGHT && now.saturating_sub(**submitted) > timeout;
        let count = self.submitted.iter().filter(hung).count();
        for _ in 0..count {
            self.fail(Failure::Hung(shared.op_timeout), now, shared);
        }
        count > 0
    }

    /// Waits for what is in flight after the window and lets go of the engine. Successes no longer count; failures do. An operation that
    /// hangs, told by true, ends the wait, and so does a cancellation.
    pub fn drain(&mut self, stopped: Stopped, shared: &Shared) -> Result<bool, EngineError> {
        let mut hung = false;
        let mut now = shared.now();
        // Those that hung in the window are counted already.
        let mut abandon = stopped == Stopped::Errors && self.oldest(now) > shared.op_timeout;
        let mut give_up = None;
        loop {
            for index in 0..self.done.len() {
                self.settle(self.done[index], now, shared);
            }
            self.done.clear();
            self.tell(shared);
            if self.in_flight == 0 || abandon {
                break;
            }
            if shared.cancelled.load(Relaxed) {
                let give_up = *give_up.get_or_insert(now + FINISH.as_nanos() as u64);
                abandon = now >= give_up;
            }
            if !abandon && self.fail_hung(now, shared) {
                (hung, abandon) = (true, true);
            }
            if !abandon {
                self.engine.reap(&mut self.done, Duration::from_nanos(LOOK_NANOS))?;
                now = shared.now();
            }
        }
        self.tell(shared);
        if abandon {
            // What hangs may hang in here as well; the failures counted say more than this error would.
            let _ = self.engine.finish(Duration::ZERO);
            return Ok(hung);
        }
        self.engine.finish(FINISH)?;
        Ok(hung)
    }

    fn settle(&mut self, completion: Completion, now: u64, shared: &Shared) {
        let submitted = std::mem::replace(&mut self.submitted[completion.slot as usize], NOT_IN_FLIGHT);
        self.in_flight -= 1;
        match completion.result {
            Ok(bytes) if bytes == self.block => self.step(bytes, now.saturating_sub(submitted)),
            Ok(_) => _ = self.fail(Failure::Short, now, shared),
            Err(errno) => _ = self.fail(Failure::Errno(errno), now, shared),
        }
    }

    #[inline]
    fn step(&mut self, bytes: u32, latency: u64) {
        self.step.ops += 1;
        self.step.bytes += u64::from(bytes);
        self.step.latency_sum_nanos += latency;
        self.step.last_latency_nanos = latency;
    }

    fn oldest(&self, now: u64) -> Duration {
        let oldest = self.submitted.iter().filter(|at| **at != NOT_IN_FLIGHT).min();
        Duration::from_nanos(oldest.map_or(0, |at| now.saturating_sub(*at)))
    }
}
