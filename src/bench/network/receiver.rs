//! The end that reads and counts: one thread per stream.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{GREETING, INTRODUCTION, PATIENCE, TAKEN, end_report, failed, in_threads, is_timeout, thread_cpu};
use crate::bench::engine::EngineError;
use crate::bench::progress::{Progress, Stage, Step};
use crate::bench::protocol::{Door, Nonce, Proof, Token};
use crate::bench::series::Series;
use crate::contract::{ClientRound, DirectionReport, EndedBy, Point, RoundReport};

/// Bytes that one read takes at most and at least: a receiver whose reads follow a tiny block size would be its own limit, and one whose
/// buffer leaves the processor's cache reads memory twice.
const BUFFER: std::ops::RangeInclusive<u64> = (128 << 10)..=(1 << 20);
/// Progress is told after so many reads.
const READS_PER_STEP: u32 = 64;

/// Listens for the streams of one round, and takes those that prove to belong to it.
pub struct Receiver {
    door: Option<JoinHandle<Vec<TcpStream>>>,
    closing: Arc<AtomicBool>,
}

impl Receiver {
    pub fn listen(token: Token, streams: u32) -> Result<(Receiver, Door), EngineError> {
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0))
            .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))
            .map_err(|error| failed("listen for data", &error))?;
        let port = listener.local_addr().map_err(|error| failed("listen for data", &error))?.port();
        let nonce = Nonce::random().map_err(|error| EngineError::new("listen for data", error.to_string()))?;
        let closing = Arc::new(AtomicBool::new(false));
        let door = Door { port, nonce: nonce.clone() };
        let thread = thread::spawn({
            let closing = closing.clone();
            move || accept(&listener, &token, &nonce, streams, &closing)
        });
        Ok((Receiver { door: Some(thread), closing }, door))
    }

    /// Reads until every stream has ended. Returns the round's report and all bytes that came.
    pub fn run(
        mut self,
        point: &Point,
        client: u32,
        op_timeout: Duration,
        progress: &Progress,
        cancel: &AtomicBool,
    ) -> Result<(RoundReport, u64), EngineError> {
        let Some(door) = self.door.take() else {
            return Err(EngineError::new("receive", "the streams are gone"));
        };
        // The sender is ready, so all streams were taken.
        let streams = door.join().map_err(|_| EngineError::new("take the streams", "its thread panicked"))?;
        let round = Round::new(point, op_timeout, progress, cancel);
        progress.reset();
        progress.enter(Stage::RampUp);
        let counts = in_threads(&streams, |stream, _| round.read_stream(stream))?;
        progress.enter(Stage::Idle);
        round.report(client, counts)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.closing.store(true, Relaxed);
    }
}

fn accept(listener: &TcpListener, token: &Token, nonce: &Nonce, streams: u32, closing: &AtomicBool) -> Vec<TcpStream> {
    let mut taken: Vec<Option<TcpStream>> = (0..streams).map(|_| None).collect();
    while taken.iter().any(Option::is_none) && !closing.load(Relaxed) {
        let mut ready = [PollFd::new(listener, PollFlags::IN)];
        let timeout = Timespec { tv_sec: 0, tv_nsec: PATIENCE.as_nanos() as i64 };
        if !matches!(poll(&mut ready, Some(&timeout)), Ok(1..)) {
            continue;
        }
        let Ok((stream, _)) = listener.accept() else { continue };
        if let Some(number) = introduced(&stream, token, nonce)
            && let Some(place) = taken.get_mut(number as usize)
            && place.is_none()
            && (&stream).write_all(&[TAKEN]).is_ok()
        {
            *place = Some(stream);
        }
    }
    taken.into_iter().flatten().collect()
}

/// The number of a stream that proves to know the token.
fn introduced(stream: &TcpStream, token: &Token, nonce: &Nonce) -> Option<u32> {
    stream.set_read_timeout(Some(GREETING)).ok()?;
    let mut bytes = [0; INTRODUCTION];
    let mut reader = stream;
    reader.read_exact(&mut bytes).ok()?;
    let (number, proof) = bytes.split_at(4);
    let number = u32::from_be_bytes(number.try_into().ok()?);
    let proof = Proof::from_bytes(proof.try_into().ok()?);
    proof.is(&token.prove_stream(nonce, number)).then_some(number)
}

/// What the streams of a round share.
struct Round<'a> {
    point: &'a Point,
    ramp: u64,
    end: u64,
    op_timeout: Duration,
    progress: &'a Progress,
    cancel: &'a AtomicBool,
    /// When the first byte came, on any stream.
    first: OnceLock<Instant>,
}

/// What one stream brought.
struct Count {
    /// Since the first byte, ramp and tail included.
    all: u64,
    /// Within the window.
    bytes: u64,
    series: Series,
    cpu: Duration,
    /// When its last byte came, in nanoseconds since the first of all.
    last: u64,
}

impl<'a> Round<'a> {
    fn new(point: &'a Point, op_timeout: Duration, progress: &'a Progress, cancel: &'a AtomicBool) -> Round<'a> {
        let ramp = point.ramp_up_micros.saturating_mul(1000);
        let end = ramp.saturating_add(point.duration_micros.saturating_mul(1000));
        Round { point, ramp, end, op_timeout, progress, cancel, first: OnceLock::new() }
    }

    fn read_stream(&self, stream: &TcpStream) -> Result<Count, EngineError> {
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| failed("receive", &error))?;
        let mut buffer = vec![0; self.point.block_size.clamp(*BUFFER.start(), *BUFFER.end()) as usize];
        let mut count =
            Count { all: 0, bytes: 0, series: Series::new(self.end - self.ramp), cpu: Duration::ZERO, last: 0 };
        let mut heard = Instant::now();
        let mut cpu = Cpu::default();
        let mut step = Step::default();
        let mut reads = 0;
        let mut reader = stream;
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => {
                    let now = Instant::now();
                    heard = now;
                    let first = *self.first.get_or_init(|| now);
                    let at = now.saturating_duration_since(first).as_nanos() as u64;
                    let length = length as u64;
                    count.all += length;
                    count.last = at;
                    cpu.at(at, self);
                    if at >= self.ramp && at < self.end {
                        count.bytes += length;
                        count.series.at(at - self.ramp).bytes += length;
                    }
                    step.bytes += length;
                    reads += 1;
                    if reads % READS_PER_STEP == 0 {
                        self.tell(&mut step, at);
                    }
                }
                Err(error) if is_timeout(&error) => {
                    if self.cancel.load(Relaxed) {
                        return Err(EngineError::new("receive", "cancelled"));
                    }
                    if heard.elapsed() > self.op_timeout {
                        let cause = format!("nothing came for {} s", self.op_timeout.as_secs());
                        return Err(EngineError::new("receive", cause));
                    }
                }
                Err(error) => return Err(failed("receive", &error)),
            }
        }
        self.tell(&mut step, count.last);
        count.cpu = cpu.used();
        Ok(count)
    }

    fn tell(&self, step: &mut Step, at: u64) {
        self.progress.add(step, 0);
        let stage = if at < self.ramp { Stage::RampUp } else { Stage::Measuring };
        self.progress.enter(stage);
    }

    fn report(&self, client: u32, counts: Vec<Count>) -> Result<(RoundReport, u64), EngineError> {
        let last = counts.iter().map(|count| count.last).max().unwrap_or(0);
        let (elapsed, ended_by) = match (last >= self.end, self.point.bytes) {
            (true, _) => (self.end - self.ramp, EndedBy::Duration),
            (false, Some(_)) => (last.saturating_sub(self.ramp), EndedBy::Bytes),
            (false, None) => {
                let seconds = |nanos: u64| nanos as f64 / 1e9;
                let cause = format!("the sender ended after {:.1} of {:.1} s", seconds(last), seconds(self.end));
                return Err(EngineError::new("receive", cause));
            }
        };
        let all = counts.iter().map(|count| count.all).sum();
        let bytes: u64 = counts.iter().map(|count| count.bytes).sum();
        let cpu: Duration = counts.iter().map(|count| count.cpu).sum();
        let mut sum = Series::new(self.end - self.ramp);
        for count in counts {
            sum.merge(count.series);
        }
        let (mut series, seconds_per_sample) = sum.finish(elapsed);
        for sample in &mut series {
            sample.ops = sample.bytes / self.point.block_size;
        }
        let ops = bytes / self.point.block_size;
        let client = ClientRound {
            client,
            ops,
            bytes,
            elapsed_micros: elapsed.div_ceil(1000),
            cpu_micros: cpu.as_micros() as u64,
            ..ClientRound::default()
        };
        let report = RoundReport {
            write: Some(DirectionReport { ops, bytes, ..DirectionReport::default() }),
            series,
            seconds_per_sample,
            ..end_report(client, ended_by)
        };
        Ok((report, all))
    }
}

/// CPU time of a thread between the ends of the window, read at the first moments seen beyond them.
#[derive(Default)]
struct Cpu {
    begin: Option<Duration>,
    end: Option<Duration>,
}

impl Cpu {
    fn at(&mut self, at: u64, round: &Round) {
        if self.begin.is_none() && at >= round.ramp {
            self.begin = Some(thread_cpu());
        }
        if self.end.is_none() && at >= round.end {
            self.end = Some(thread_cpu());
        }
    }

    fn used(&self) -> Duration {
        let Some(begin) = self.begin else { return Duration::ZERO };
        self.end.unwrap_or_else(thread_cpu).saturating_sub(begin)
    }
}
