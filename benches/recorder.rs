//! What measuring costs: nanoseconds for one recorded operation, and for one operation through the whole runner over the engine that
//! does nothing. Exits with 1 when recording takes 50 ns or more.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cephbench::api::Op;
use cephbench::bench::engine::Direction;
use cephbench::bench::null;
use cephbench::bench::recorder::Recorder;
use cephbench::bench::runner::{self, Progress};
use cephbench::contract::{NullTarget, Point};

const OPERATIONS: u64 = 20_000_000;
const ROUNDS: usize = 5;
const MOST_NANOS: f64 = 50.0;

fn main() -> ExitCode {
    let recording = median((0..ROUNDS).map(|_| record()).collect());
    println!("recorder: {recording:.1} ns per operation (median of {ROUNDS} rounds, {OPERATIONS} operations each)");
    for depth in [1, 32] {
        let whole = median((0..ROUNDS).map(|_| run(depth)).collect());
        println!("runner over the null engine, depth {depth}: {whole:.1} ns per operation");
    }
    if recording < MOST_NANOS { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Latencies that spread over three decades, as on a device under load.
fn record() -> f64 {
    let mut recorder = Recorder::new(&[Direction::Read], 60_000_000_000);
    let mut state = 1u64;
    let began = Instant::now();
    for index in 0..OPERATIONS {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let latency = 10_000 + (state >> (40 + (state & 7)));
        recorder.completed(Direction::Read, black_box(index * 1000), black_box(latency), 4096);
    }
    let nanos = began.elapsed().as_nanos() as f64 / OPERATIONS as f64;
    let recorded = recorder.finish(OPERATIONS * 1000).read.expect("reads were recorded");
    assert_eq!(recorded.ops, OPERATIONS);
    nanos
}

fn run(depth: u32) -> f64 {
    let point = Point {
        op: Some(Op::RandRead),
        block_size: 4096,
        object_size: None,
        queue_depth: depth,
        jobs: 1,
        link: None,
        ramp_up_micros: 100_000,
        duration_micros: 500_000,
        bytes: None,
        rounds: 1,
    };
    let mut load = null::open(&NullTarget { size: 1 << 40 });
    let round = load.prepare(&point, 0, &mut |_| ()).expect("nothing to prepare");
    let cancel = AtomicBool::new(false);
    let report = runner::run(round.engines, &point, 0, Duration::from_secs(30), &Progress::new(), &cancel);
    let report = report.expect("a round that can't fail");
    report.elapsed_micros as f64 * 1000.0 / report.clients[0].ops as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
