//! One round of one client: starts the jobs together, gives them their window, and makes one report of what they recorded. What a job
//! does in its window is [`super::job`]'s; what clients measured together is merged elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use crate::api::Op;
use crate::contract::{ClientRound, EndedBy, Point, RoundReport};

use super::cpu;
use super::engine::{Engine, EngineError, check_block};
use super::errno;
use super::gate::Gate;
use super::job::{Budget, Job, Shared, Stopped};
use super::pattern::{self, Pattern};
pub use super::progress::{Progress, Snapshot, Stage};
use super::recorder::Recorder;

/// Rounds that this process has run: each draws other blocks than those before, and the same when all is run again.
static ROUNDS: AtomicU64 = AtomicU64::new(0);

/// How often the watching thread looks up: progress, a cancellation, the deadline.
const LOOK: Duration = Duration::from_millis(50);

/// How much longer than an operation may take a job may need to end, and how long after a cancellation.
const GRACE: Duration = Duration::from_secs(5);
const CANCEL_GRACE: Duration = Duration::from_secs(3);

/// Runs one round of a point over engines that are prepared, one thread for each.
///
/// Operations count when they complete within the window: from the end of the ramp to the end of the duration, or to the byte cap or to
/// errors that end the round before. The ramp ends early when it has used a quarter of the byte cap. Failures are counted at any time. An operation that takes longer than `op_timeout` is a failure and
/// ends the round; a thread that hangs in its engine beyond that is left behind, and the round is an error. `cancel` ends it within
/// seconds, as an error: a part of a window is no result.
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
    let gate = Arc::new(Gate::default());
    let count = jobs.len();
    let words = start(jobs, &gate)?;
    progress.enter(Stage::RampUp);
    let shared = gate.open(count, || share(point, op_timeout));
    let mut watch = Watch { shared: &shared, words, count, progress, cancel, over: None };
    let watched = watch.watch();
    progress.mirror(&shared.progress);
    progress.enter(Stage::Idle);
    let (ends, cpu) = watched?;
    Ok(report(ends, &shared, point, client, cpu))
}

/// A thread for each job, which waits at the gate. If one can't be had, all are sent away.
fn start(jobs: Vec<Job>, gate: &Arc<Gate<Shared>>) -> Result<Receiver<Word>, EngineError> {
    // Room for both words of each job: saying them neither waits nor allocates.
    let (sender, words) = mpsc::sync_channel(2 * jobs.len());
    for (index, job) in jobs.into_iter().enumerate() {
        let (gate_of_job, sender) = (gate.clone(), sender.clone());
        let spawned =
            thread::Builder::new().name(format!("job-{index}")).spawn(move || run_job(job, &gate_of_job, &sender));
        if let Err(error) = spawned {
            gate.send_away();
            return Err(EngineError::new(format!("start the thread of job {index}"), errno::io_text(&error)));
        }
    }
    Ok(words)
}

fn run_job(mut job: Job, gate: &Gate<Shared>, words: &SyncSender<Word>) {
    let Some(shared) = gate.wait() else { return };
    let stopped = job.work(&shared);
    if stopped.is_err() {
        shared.stop.store(true, Relaxed);
    }
    // Nobody listens any more when the round was given up.
    let _ = words.send(Word::Counted);
    let end = stopped.and_then(|stopped| {
        let hung_late = job.drain(stopped, &shared)?;
        Ok(JobEnd { job, stopped, hung_late })
    });
    let _ = words.send(Word::Ended(Box::new(end)));
}

/// What a job's thread tells the watching one.
enum Word {
    /// It counts no more operations.
    Counted,
    Ended(Box<Result<JobEnd, EngineError>>),
}

/// What became of one job.
struct JobEnd {
    job: Job,
    stopped: Stopped,
    hung_late: bool,
}

/// The thread that started the round, while its jobs work.
struct Watch<'a> {
    shared: &'a Shared,
    words: Receiver<Word>,
    count: usize,
    progress: &'a Progress,
    cancel: &'a AtomicBool,
    /// Since when no job should count any more.
    over: Option<u64>,
}

impl Watch<'_> {
    /// Waits for all jobs, and gives what became of them and the CPU time that the process used in the window.
    fn watch(&mut self) -> Result<(Vec<JobEnd>, Duration), EngineError> {
        let (mut ends, mut error, mut counted, mut ended) = (Vec::new(), None, 0, 0);
        let (mut before, mut after) = (None, None);
        while ended < self.count {
            match self.words.recv_timeout(self.nap()) {
                Ok(Word::Counted) => counted += 1,
                Ok(Word::Ended(end)) => {
                    ended += 1;
                    match *end {
                        Ok(end) => ends.push(end),
                        Err(failed) => error = error.or(Some(failed)),
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(EngineError::new("measure", "a job's thread panicked"));
                }
            }
            let now = self.shared.now();
            if now >= self.shared.ramp_end() && before.is_none() {
                before = Some(cpu::process());
                self.progress.enter(Stage::Measuring);
            }
            if (now >= self.shared.end() || counted == self.count) && after.is_none() {
                after = Some(cpu::process());
                self.progress.enter(Stage::Draining);
            }
            self.progress.mirror(&self.shared.progress);
            self.look_at_the_clock(now, ended).map_err(|hang| error.take().unwrap_or(hang))?;
        }
        match error {
            Some(error) => Err(error),
            None if self.shared.cancelled.load(Relaxed) => Err(cancelled(self.shared)),
            None => Ok((ends, after.zip(before).map_or(Duration::ZERO, |(after, before)| after - before))),
        }
    }

    /// Until the next look, or the next end of the window if that is sooner.
    fn nap(&self) -> Duration {
        let now = self.shared.now();
        let ends = [self.shared.ramp_end(), self.shared.end()].into_iter().filter(|end| *end > now);
        ends.map(|end| Duration::from_nanos(end - now)).min().unwrap_or(LOOK).min(LOOK)
    }

    /// Passes a cancellation on, and gives up jobs that don't end.
    fn look_at_the_clock(&mut self, now: u64, ended: usize) -> Result<(), EngineError> {
        if self.cancel.load(Relaxed) && !self.shared.cancelled.swap(true, Relaxed) {
            self.over = Some(now);
        }
        if self.over.is_none() && (now >= self.shared.end() || self.shared.stop.load(Relaxed)) {
            self.over = Some(now);
        }
        let was_cancelled = self.shared.cancelled.load(Relaxed);
        let grace = if was_cancelled { CANCEL_GRACE } else { self.shared.op_timeout + GRACE };
        match self.over {
            Some(over) if now > over.saturating_add(grace.as_nanos() as u64) => {
                // Whoever still comes back finds the round over.
                self.shared.cancelled.store(true, Relaxed);
                let hanging = self.count - ended;
                if was_cancelled {
                    return Err(cancelled(self.shared));
                }
                Err(EngineError::new("measure", format!("{hanging} of {} jobs hang in their engine", self.count)))
            }
            Some(_) | None => Ok(()),
        }
    }
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

fn share(point: &Point, op_timeout: Duration) -> Shared {
    Shared {
        started: Instant::now(),
        ramp_end: AtomicU64::new(point.ramp_up_micros.saturating_mul(1000)),
        duration: point.duration_micros.saturating_mul(1000),
        budget: point.bytes.map(Budget::new),
        op_timeout,
        stop: AtomicBool::new(false),
        cancelled: AtomicBool::new(false),
        progress: Progress::new(),
    }
}

fn cancelled(shared: &Shared) -> EngineError {
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    let done = shared.now().min(shared.end()).saturating_sub(shared.ramp_end());
    EngineError::new("measure", format!("stopped at {:.1} of {:.1} s", seconds(done), seconds(shared.duration)))
}

fn report(ends: Vec<JobEnd>, shared: &Shared, point: &Point, client: u32, cpu: Duration) -> RoundReport {
    let ended_by = ended_by(&ends);
    // A window that ends before its time ends with the last operation that counted, in whichever job.
    let elapsed = match ended_by {
        EndedBy::Duration => shared.duration,
        EndedBy::Bytes | EndedBy::Errors if ends.iter().any(|end| end.stopped == Stopped::Duration) => shared.duration,
        EndedBy::Bytes | EndedBy::Errors => {
            let last = ends.iter().map(|end| end.job.last_counted).max().unwrap_or(0);
            last.saturating_sub(shared.ramp_end())
        }
    };
    let depth_seen = ends.iter().map(|end| end.job.depth_seen).sum();
    let busiest = ends.iter().map(|end| end.job.cpu_used()).max().unwrap_or_default();
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
        busiest_thread_micros: busiest.as_micros() as u64,
        depth_seen,
        wraps,
        ramp_cut_micros: Some(shared.ramp_end() / 1000).filter(|ramp| *ramp < point.ramp_up_micros),
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
