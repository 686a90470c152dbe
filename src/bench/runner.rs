//! One round of one client: starts the jobs together, gives them their window, and makes one report of what they recorded. What a job
//! does in its window is [`super::job`]'s; what clients measured together is merged elsewhere.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::api::Op;
use crate::contract::{ClientRound, EndedBy, Point, RoundReport};

use super::engine::{Engine, EngineError, check_block};
use super::job::{Job, Shared, Stopped};
use super::pattern::{self, Pattern};
pub use super::progress::{Progress, Snapshot, Stage};
use super::recorder::Recorder;

/// Rounds that this process has run: each draws other blocks than those before, and the same when all is run again.
static ROUNDS: AtomicU64 = AtomicU64::new(0);

/// Runs one round of a point over engines that are prepared, one thread for each.
///
/// Operations count when they complete within the window: from the end of the ramp to the end of the duration, or to the byte cap or to
/// errors that end the round before. Failures are counted at any time. An operation that takes longer than `op_timeout` is a failure and
/// ends the round. `cancel` ends it within about a second, as an error: a part of a window is no result.
pub fn run(
    engines: Vec<Box<dyn Engine>>,
    point: &Point,
    client: u32,
    op_timeout: Duration,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<RoundReport, EngineError> {
    let jobs = make_jobs(engines, point, client)?;
    progress.reset();
    let round = Round {
        ready: Barrier::new(jobs.len() + 1),
        go: Barrier::new(jobs.len() + 1),
        shared: OnceLock::new(),
        counting: AtomicUsize::new(jobs.len()),
        watcher: thread::current(),
    };
    let (ends, cpu) = thread::scope(|scope| {
        let handles: Vec<_> = jobs.into_iter().map(|job| scope.spawn(|| round.run_job(job))).collect();
        round.ready.wait();
        let shared = round.shared.get_or_init(|| share(point, op_timeout, progress, cancel));
        progress.enter(Stage::RampUp);
        round.go.wait();
        let cpu = round.watch(shared);
        let ends: Vec<_> = handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        (ends, cpu)
    });
    progress.enter(Stage::Idle);
    let shared = round.shared.get().expect("set before the start");
    let ends = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
    if cancel.load(Relaxed) {
        return Err(cancelled(shared));
    }
    Ok(report(ends, shared, point, client, cpu))
}

fn make_jobs(engines: Vec<Box<dyn Engine>>, point: &Point, client: u32) -> Result<Vec<Job>, EngineError> {
    let op = point.op.ok_or_else(|| EngineError::new("start a round", "the point has no op"))?;
    let block = check_block(point.block_size)?;
    if engines.is_empty() {
        return Err(EngineError::new("start a round", "the point has no jobs"));
    }
    let round = ROUNDS.fetch_add(1, Relaxed);
    engines
        .into_iter()
        .enumerate()
        .map(|(index, engine)| make_job(engine, op, block, point, pattern::seed(client, index as u32, round)))
        .collect()
}

fn make_job(engine: Box<dyn Engine>, op: Op, block: u32, point: &Point, seed: u64) -> Result<Job, EngineError> {
    let able = engine.capabilities();
    if point.queue_depth == 0 || point.queue_depth > able.max_queue_depth {
        return Err(EngineError::new(
            format!("use queueDepth {} with {}", point.queue_depth, able.name),
            format!("1 to {} are possible", able.max_queue_depth),
        ));
    }
    let pattern = Pattern::new(op, able.size, point.block_size, seed).ok_or_else(|| {
        let cause = format!("a job's part of the target has {} bytes, less than one block", able.size);
        EngineError::new(format!("use blockSize {}", point.block_size), cause)
    })?;
    let direction = pattern::direction(op);
    let recorder = Recorder::new(&[direction], point.duration_micros.saturating_mul(1000));
    Ok(Job::new(engine, pattern, recorder, direction, block, point.queue_depth))
}

fn share<'a>(point: &Point, op_timeout: Duration, progress: &'a Progress, cancel: &'a AtomicBool) -> Shared<'a> {
    let ramp_end = point.ramp_up_micros.saturating_mul(1000);
    Shared {
        started: Instant::now(),
        ramp_end,
        end: ramp_end.saturating_add(point.duration_micros.saturating_mul(1000)),
        budget: point.bytes.map(AtomicU64::new),
        op_timeout,
        stop: AtomicBool::new(false),
        cancel,
        progress,
    }
}

/// What the threads of a round meet at.
struct Round<'a> {
    ready: Barrier,
    go: Barrier,
    /// Set when all are ready, before they go.
    shared: OnceLock<Shared<'a>>,
    /// Jobs whose window isn't over.
    counting: AtomicUsize,
    /// The thread that watches the window, woken when the last job stops counting.
    watcher: Thread,
}

/// What became of one job.
struct JobEnd {
    job: Job,
    stopped: Stopped,
    hung_late: bool,
}

impl Round<'_> {
    fn run_job(&self, mut job: Job) -> Result<JobEnd, EngineError> {
        self.ready.wait();
        self.go.wait();
        let shared = self.shared.get().expect("set before the start");
        let stopped = job.work(shared);
        if stopped.is_err() {
            shared.stop.store(true, Relaxed);
        }
        if self.counting.fetch_sub(1, Relaxed) == 1 {
            self.watcher.unpark();
        }
        let stopped = stopped?;
        let hung_late = job.drain(stopped, shared)?;
        Ok(JobEnd { job, stopped, hung_late })
    }

    /// Waits for the window's two ends, and gives the CPU time that the process used between them.
    fn watch(&self, shared: &Shared) -> Duration {
        self.sleep_until(shared.ramp_end, shared);
        let before = process_cpu();
        shared.progress.enter(Stage::Measuring);
        self.sleep_until(shared.end, shared);
        shared.progress.enter(Stage::Draining);
        process_cpu().saturating_sub(before)
    }

    /// Sleeps until a moment of the round, or until no job counts any more.
    fn sleep_until(&self, moment: u64, shared: &Shared) {
        while self.counting.load(Relaxed) > 0 {
            match moment.saturating_sub(shared.now()) {
                0 => return,
                left => thread::park_timeout(Duration::from_nanos(left)),
            }
        }
    }
}

fn process_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn cancelled(shared: &Shared) -> EngineError {
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    let done = shared.now().min(shared.end).saturating_sub(shared.ramp_end);
    let whole = shared.end - shared.ramp_end;
    EngineError::new("measure", format!("stopped at {:.1} of {:.1} s", seconds(done), seconds(whole)))
}

fn report(ends: Vec<JobEnd>, shared: &Shared, point: &Point, client: u32, cpu: Duration) -> RoundReport {
    let ended_by = ended_by(&ends);
    // A window that ends before its time ends with the last operation that counted, in whichever job.
    let elapsed = match ended_by {
        EndedBy::Duration => shared.end - shared.ramp_end,
        EndedBy::Bytes | EndedBy::Errors if ends.iter().any(|end| end.stopped == Stopped::Duration) => {
            shared.end - shared.ramp_end
        }
        EndedBy::Bytes | EndedBy::Errors => {
            let last = ends.iter().map(|end| end.job.last_counted).max().unwrap_or(0);
            last.saturating_sub(shared.ramp_end)
        }
    };
    let depth_seen = ends.iter().map(|end| end.job.depth_seen).sum();
    let wraps = ends.iter().map(|end| end.job.pattern.wraps()).max().unwrap_or(0);
    let nanos = point.duration_micros.saturating_mul(1000);
    let mut sum = Recorder::new(&[], nanos);
    let mut engines = Vec::with_capacity(ends.len());
    for end in ends {
        sum.merge(end.job.recorder);
        engines.push(end.job.engine);
    }
    let recorded = sum.finish_explained(elapsed, |errno| engines.iter().find_map(|engine| engine.explain(errno)));
    let directions = [&recorded.read, &recorded.write];
    let elapsed_micros = elapsed.div_ceil(1000);
    let cpu_micros = cpu.as_micros() as u64;
    let client_round = ClientRound {
        client,
        ops: directions.iter().filter_map(|direction| direction.as_ref()).map(|direction| direction.ops).sum(),
        bytes: directions.iter().filter_map(|direction| direction.as_ref()).map(|direction| direction.bytes).sum(),
        errors: recorded.errors.iter().map(|error| error.count).sum(),
        elapsed_micros,
        cpu_micros,
        depth_seen,
        wraps,
    };
    RoundReport {
        elapsed_micros,
        ended_by,
        start_spread_micros: 0,
        read: recorded.read,
        write: recorded.write,
        errors: recorded.errors,
        series: recorded.series,
        seconds_per_sample: recorded.seconds_per_sample,
        cpu_micros,
        clients: vec![client_round],
    }
}

/// Errors weigh most, and an operation that hung after the window among them: the next round would meet it.
fn ended_by(ends: &[JobEnd]) -> EndedBy {
    let any = |stopped| ends.iter().any(|end| end.stopped == stopped);
    if any(Stopped::Errors) || ends.iter().any(|end| end.hung_late) {
        EndedBy::Errors
    } else if any(Stopped::Duration) {
        EndedBy::Duration
    } else {
        EndedBy::Bytes
    }
}

#[cfg(test)]
mod tests;
