//! Rounds over engines that do nothing, and over one that follows a script. Nothing here depends on speed.

use std::collections::VecDeque;
use std::sync::Arc;

use super::*;
use crate::bench::engine::{Capabilities, Completion, Operation};
use crate::bench::engines::null::NullEngine;
use crate::contract::DirectionReport;
use crate::contract::histogram;

const BLOCK: u64 = 4096;
const TIMEOUT: Duration = Duration::from_secs(30);

fn point(op: Op, depth: u32, jobs: u32, millis: u64) -> Point {
    Point {
        op: Some(op),
        block_size: BLOCK,
        object_size: None,
        queue_depth: depth,
        jobs,
        link: None,
        ramp_up_micros: 0,
        duration_micros: millis * 1000,
        bytes: None,
        rounds: 1,
    }
}

fn run_over(
    engine: impl Fn() -> Box<dyn Engine>,
    point: &Point,
    timeout: Duration,
) -> (Result<RoundReport, EngineError>, Snapshot) {
    let engines = (0..point.jobs).map(|_| engine()).collect();
    let progress = Progress::new();
    let report = run(engines, point, 3, timeout, &progress, &AtomicBool::new(false));
    (report, progress.snapshot())
}

fn null() -> Box<dyn Engine> {
    Box::new(NullEngine::new(1 << 30))
}

/// What each operation of a [`Scripted`] engine does.
#[derive(Clone, Copy)]
enum Act {
    Succeed,
    Fail(i32),
    MoveShort,
    /// Succeeds no sooner than so long after its submission.
    Linger(Duration),
    Hang,
}

/// Decides what the n-th operation does.
type Script = Arc<dyn Fn(u64) -> Act + Send + Sync>;

/// Completes one operation per reap, a millisecond later, as its script says. It checks that the depth is kept.
struct Scripted {
    script: Script,
    depth: usize,
    ops: u64,
    queue: VecDeque<(u32, Act, Instant)>,
}

fn scripted(depth: u32, script: impl Fn(u64) -> Act + Send + Sync + 'static) -> impl Fn() -> Box<dyn Engine> {
    let script: Script = Arc::new(script);
    move || Box::new(Scripted { script: script.clone(), depth: depth as usize, ops: 0, queue: VecDeque::new() })
}

impl Engine for Scripted {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: "scripted", reason: None, max_queue_depth: 1024, size: 1 << 20 }
    }

    fn prepare(&mut self, _: u32, _: u32) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, operation: Operation) -> Result<(), EngineError> {
        assert!(self.queue.iter().all(|(slot, _, _)| *slot != operation.slot), "a slot in flight twice");
        self.queue.push_back((operation.slot, (self.script)(self.ops), Instant::now()));
        self.ops += 1;
        assert!(self.queue.len() <= self.depth, "deeper than asked for");
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>, timeout: Duration) -> Result<(), EngineError> {
        std::thread::sleep(Duration::from_millis(1));
        let ready = |act: &Act, since: &Instant| match act {
            Act::Succeed | Act::Fail(_) | Act::MoveShort => true,
            Act::Linger(time) => since.elapsed() >= *time,
            Act::Hang => false,
        };
        let next = self.queue.iter().position(|(_, act, since)| ready(act, since));
        let Some(index) = next else {
            std::thread::sleep(timeout);
            return Ok(());
        };
        let (slot, act, _) = self.queue.remove(index).expect("an index just found");
        let result = match act {
            Act::Succeed | Act::Linger(_) => Ok(BLOCK as u32),
            Act::Fail(errno) => Err(errno),
            Act::MoveShort => Ok(512),
            Act::Hang => unreachable!("skipped above"),
        };
        done.push(Completion { slot, result });
        Ok(())
    }

    fn finish(&mut self, _: Duration) -> Result<(), EngineError> {
        Ok(())
    }
}

/// What holds for every direction that was measured (case D9).
fn check(direction: &DirectionReport) {
    assert!(direction.ops > 0);
    assert_eq!(direction.bytes, direction.ops * BLOCK);
    let histogram = histogram::decode(direction.histogram.as_deref().expect("operations")).expect("what was encoded");
    assert_eq!(histogram.len(), direction.ops);
    let mean = direction.sum_nanos / direction.ops;
    assert!(direction.min_nanos <= mean && mean <= direction.max_nanos);
    let quantiles = [0.0, 0.5, 0.95, 0.99, 0.999, 1.0]
        .map(|q| histogram.value_at_quantile(q).clamp(direction.min_nanos, direction.max_nanos));
    assert!(quantiles.is_sorted(), "{quantiles:?}");
}

#[test]
fn all_counts_add_up() {
    let (report, seen) = run_over(null, &point(Op::RandRead, 8, 3, 120), TIMEOUT);
    let report = report.expect("a whole round");
    let read = report.read.as_ref().expect("reads");
    check(read);
    assert_eq!(report.write, None);
    assert_eq!((report.elapsed_micros, report.ended_by), (120_000, EndedBy::Duration));
    assert_eq!(report.errors, []);
    assert_eq!((report.series.len(), report.seconds_per_sample), (1, 1));
    let sample = report.series[0];
    assert_eq!((sample.ops, sample.bytes, sample.errors), (read.ops, read.bytes, 0));
    assert_eq!(sample.latency_sum_nanos, read.sum_nanos);
    // Operations in flight at the end are in the whole maximum alone.
    assert!(sample.latency_max_nanos <= read.max_nanos);
    assert!(report.cpu_micros > 0);
    let [client] = &report.clients[..] else { panic!("one client") };
    assert_eq!((client.client, client.ops, client.bytes, client.errors), (3, read.ops, read.bytes, 0));
    assert_eq!((client.depth_seen, client.elapsed_micros, client.wraps), (24, 120_000, 0));
    assert_eq!(client.cpu_micros, report.cpu_micros);
    assert!(client.busiest_thread_micros > 0 && client.busiest_thread_micros <= 130_000, "{client:?}");
    assert!(seen.ops >= read.ops && seen.ops <= read.ops + 24, "{} of {}", read.ops, seen.ops);
    assert_eq!((seen.bytes, seen.in_flight, seen.stage), (seen.ops * BLOCK, 0, Stage::Idle));
}

#[test]
fn the_ramp_is_not_counted() {
    let mut point = point(Op::Write, 1, 1, 100);
    point.ramp_up_micros = 100_000;
    let (report, seen) = run_over(scripted(1, |_| Act::Succeed), &point, TIMEOUT);
    let report = report.expect("a whole round");
    let write = report.write.as_ref().expect("writes");
    check(write);
    // One operation takes at least a millisecond.
    assert!(write.ops <= 101 && seen.ops > write.ops, "{} of {}", write.ops, seen.ops);
    assert!(write.min_nanos >= 1_000_000);
    assert_eq!(report.elapsed_micros, 100_000);
}

#[test]
fn a_job_that_waits_is_not_busy() {
    let report = run_over(scripted(1, |_| Act::Succeed), &point(Op::Read, 1, 2, 200), TIMEOUT).0.expect("a round");
    let client = &report.clients[0];
    assert!(client.busiest_thread_micros < 100_000, "{client:?}");
}

#[test]
fn the_byte_cap_is_exact_over_all_jobs() {
    let mut point = point(Op::Write, 4, 3, 600_000);
    point.bytes = Some(1001 * BLOCK + 17);
    let (report, seen) = run_over(null, &point, TIMEOUT);
    let report = report.expect("a whole round");
    let write = report.write.as_ref().expect("writes");
    check(write);
    assert_eq!((write.ops, seen.ops, report.ended_by), (1001, 1001, EndedBy::Bytes));
    assert!(report.elapsed_micros > 0 && report.elapsed_micros < 600_000_000);
}

/// Whatever the ramp would have taken, the window has three quarters of the cap.
#[test]
fn a_cap_that_the_ramp_would_use_up_ends_the_ramp() {
    let mut point = point(Op::Write, 4, 2, 600_000);
    (point.bytes, point.ramp_up_micros) = (Some(400 * BLOCK), 60_000_000);
    let (report, seen) = run_over(scripted(4, |_| Act::Succeed), &point, TIMEOUT);
    let report = report.expect("a whole round");
    let write = report.write.as_ref().expect("writes");
    check(write);
    assert!((300..=310).contains(&write.ops) && seen.ops == 400, "{} of {}", write.ops, seen.ops);
    assert_eq!(report.ended_by, EndedBy::Bytes);
    assert!(report.elapsed_micros > 0 && report.elapsed_micros < 60_000_000);
    assert!(report.clients[0].ramp_cut_micros.is_some_and(|ramp| ramp < 60_000_000), "{:?}", report.clients);
}

#[test]
fn a_ramp_that_leaves_enough_of_the_cap_is_whole() {
    let mut point = point(Op::Write, 1, 1, 100);
    (point.bytes, point.ramp_up_micros) = (Some(4000 * BLOCK), 100_000);
    let report = run_over(scripted(1, |_| Act::Succeed), &point, TIMEOUT).0.expect("a whole round");
    assert_eq!((report.elapsed_micros, report.ended_by), (100_000, EndedBy::Duration));
    assert_eq!(report.clients[0].ramp_cut_micros, None);
}

#[test]
fn sequential_work_that_starts_over_says_so() {
    // 256 blocks of 4 KiB in the scripted engine's MiB.
    let mut point = point(Op::Read, 16, 1, 60_000);
    point.bytes = Some(300 * BLOCK);
    let report = run_over(scripted(16, |_| Act::Succeed), &point, TIMEOUT).0.expect("a round");
    assert_eq!(report.clients[0].wraps, 1);
    assert_eq!(report.clients[0].depth_seen, 16);
}

#[test]
fn a_full_disk_ends_the_round_and_is_named() {
    let script = |n| if n < 5 { Act::Succeed } else { Act::Fail(libc::ENOSPC) };
    let report = run_over(scripted(1, script), &point(Op::Write, 1, 1, 60_000), TIMEOUT).0.expect("a report");
    assert_eq!(report.ended_by, EndedBy::Errors);
    assert_eq!(report.errors.len(), 1);
    assert_eq!(report.errors[0].message, "write: No space left on device (ENOSPC)");
    assert_eq!((report.errors[0].count, report.clients[0].errors), (1, 1));
    let write = report.write.expect("writes");
    assert_eq!(write.ops, 5);
    assert!(report.elapsed_micros < 60_000_000);
}

#[test]
fn errors_in_a_row_end_the_round() {
    let report = run_over(scripted(4, |_| Act::Fail(libc::EIO)), &point(Op::Read, 4, 2, 60_000), TIMEOUT).0;
    let report = report.expect("a report");
    assert_eq!(report.ended_by, EndedBy::Errors);
    assert_eq!(report.errors[0].message, "read: Input/output error (EIO)");
    assert!(report.errors[0].count >= 64 && report.errors[0].count <= 2 * 68, "{:?}", report.errors);
    assert_eq!(report.read, Some(DirectionReport::default()));
}

#[test]
fn an_error_now_and_then_is_counted_and_the_round_goes_on() {
    let script = |n| match n % 10 {
        3 => Act::Fail(libc::EIO),
        7 => Act::MoveShort,
        _ => Act::Succeed,
    };
    let report = run_over(scripted(2, script), &point(Op::Read, 2, 1, 150), TIMEOUT).0.expect("a report");
    assert_eq!((report.ended_by, report.elapsed_micros), (EndedBy::Duration, 150_000));
    let mut messages: Vec<&str> = report.errors.iter().map(|error| error.message.as_str()).collect();
    messages.sort_unstable();
    assert_eq!(messages, ["read: Input/output error (EIO)", "read: fewer bytes moved than asked for"]);
    check(report.read.as_ref().expect("reads"));
}

#[test]
fn an_operation_that_hangs_is_an_error_and_ends_the_round() {
    let script = |n| if n == 3 { Act::Hang } else { Act::Succeed };
    let began = Instant::now();
    let point = point(Op::Read, 2, 2, 60_000);
    let report = run_over(scripted(2, script), &point, Duration::from_millis(300)).0.expect("a report");
    assert!(began.elapsed() < Duration::from_secs(30), "waited for the whole window");
    assert_eq!(report.ended_by, EndedBy::Errors);
    assert_eq!(report.errors[0].message, "read: no completion within 0.3 s");
    assert!((1..=2).contains(&report.errors[0].count), "{:?}", report.errors);
    assert!(report.elapsed_micros >= 250_000);
}

#[test]
fn an_operation_that_hangs_beyond_the_window_is_an_error() {
    let script = |n| if n == 3 { Act::Hang } else { Act::Succeed };
    let report = run_over(scripted(2, script), &point(Op::Read, 2, 1, 100), Duration::from_millis(400)).0;
    let report = report.expect("a report");
    assert_eq!((report.ended_by, report.elapsed_micros), (EndedBy::Errors, 100_000));
    assert_eq!((report.errors[0].count, report.series[0].errors), (1, 0));
}

/// Operations that end after the window are not counted, but how long they had lasted by then is not hidden.
#[test]
fn a_stall_at_the_end_is_in_the_longest_latency() {
    let script = |n| if n == 3 { Act::Linger(Duration::from_millis(400)) } else { Act::Succeed };
    let report = run_over(scripted(2, script), &point(Op::Read, 2, 1, 300), TIMEOUT).0.expect("a whole round");
    let read = report.read.as_ref().expect("reads");
    check(read);
    assert_eq!((report.errors.len(), report.ended_by), (0, EndedBy::Duration));
    assert!((200_000_000..=300_000_000).contains(&read.max_nanos), "{}", read.max_nanos);
}

#[test]
fn a_cancelled_round_is_an_error_at_once() {
    let (progress, cancel) = (Progress::new(), AtomicBool::new(false));
    let engines = (0..2).map(|_| scripted(2, |n| if n == 9 { Act::Hang } else { Act::Succeed })()).collect();
    let began = Instant::now();
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            while progress.snapshot().ops == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            cancel.store(true, Relaxed);
        });
        run(engines, &point(Op::Read, 2, 2, 600_000), 0, TIMEOUT, &progress, &cancel).expect_err("cancelled")
    });
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(error.cause.starts_with("stopped at ") && error.cause.ends_with(" of 600.0 s"), "{error}");
}

/// Fails at the second reap.
struct Broken(u32);

impl Engine for Broken {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: "broken", reason: None, max_queue_depth: 4, size: 1 << 20 }
    }

    fn prepare(&mut self, _: u32, _: u32) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, _: Operation) -> Result<(), EngineError> {
        Ok(())
    }

    fn reap(&mut self, _: &mut Vec<Completion>, _: Duration) -> Result<(), EngineError> {
        self.0 += 1;
        if self.0 == 2 { Err(EngineError::new("reap", "broken")) } else { Ok(()) }
    }

    fn finish(&mut self, _: Duration) -> Result<(), EngineError> {
        Ok(())
    }
}

#[test]
fn an_engine_that_breaks_ends_the_round_for_all() {
    let engines: Vec<Box<dyn Engine>> = vec![null(), Box::new(Broken(0))];
    let progress = Progress::new();
    let error = run(engines, &point(Op::Read, 2, 2, 600_000), 0, TIMEOUT, &progress, &AtomicBool::new(false))
        .expect_err("a broken engine");
    assert_eq!(error.to_string(), "reap: broken");
}

/// Never comes back from its second reap.
struct Stuck(u32);

impl Engine for Stuck {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: "stuck", reason: None, max_queue_depth: 4, size: 1 << 20 }
    }

    fn prepare(&mut self, _: u32, _: u32) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, _: Operation) -> Result<(), EngineError> {
        Ok(())
    }

    fn reap(&mut self, _: &mut Vec<Completion>, _: Duration) -> Result<(), EngineError> {
        self.0 += 1;
        if self.0 < 2 {
            return Ok(());
        }
        loop {
            thread::park();
        }
    }

    fn finish(&mut self, _: Duration) -> Result<(), EngineError> {
        Ok(())
    }
}

#[test]
fn a_thread_that_hangs_is_left_behind() {
    let engines: Vec<Box<dyn Engine>> = vec![null(), Box::new(Stuck(0))];
    let (progress, began) = (Progress::new(), Instant::now());
    let timeout = Duration::from_millis(100);
    let error = run(engines, &point(Op::Read, 2, 2, 100), 0, timeout, &progress, &AtomicBool::new(false));
    assert_eq!(error.expect_err("it hangs").to_string(), "measure: 1 of 2 jobs hang in their engine");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn points_that_can_not_run_are_refused() {
    let refused = |change: &dyn Fn(&mut Point)| {
        let mut point = point(Op::Read, 4, 1, 10);
        change(&mut point);
        run_over(|| Box::new(Broken(0)), &point, TIMEOUT).0.expect_err("refused").to_string()
    };
    assert_eq!(refused(&|point| point.op = None), "start a round: the point has no op");
    assert_eq!(refused(&|point| point.jobs = 0), "start a round: the point has no jobs");
    assert_eq!(refused(&|point| point.queue_depth = 5), "use queueDepth 5 with broken: 1 to 4 are possible");
    assert_eq!(
        refused(&|point| point.block_size = 2 << 20),
        "use blockSize 2097152: a job's part of the target has 1048576 bytes, less than one block"
    );
    assert!(refused(&|point| point.block_size = 0).starts_with("use blockSize 0: "));
}
