//! The end that writes: one thread per stream, each with a buffer of its own that is written again and again.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::{PATIENCE, TAKEN, end_report, failed, in_threads, is_timeout, thread_cpu};
use crate::bench::content;
use crate::bench::engine::EngineError;
use crate::bench::progress::{Progress, Stage};
use crate::bench::protocol::{Peer, Token};
use crate::contract::{ClientRound, EndedBy, Point, RoundReport};
use crate::sys::tcp::retransmitted_segments;

/// How long the sender goes on beyond its time, so that the receiver, who began later, sees its window full.
const TAIL: Duration = Duration::from_millis(100);

/// Streams that are connected and taken.
pub struct Sender {
    streams: Vec<TcpStream>,
    buffers: Vec<Vec<u8>>,
}

/// What a sender did in a round.
pub struct Sent {
    /// The sender's own count stands in its client's entry; the figure is the receiver's.
    pub report: RoundReport,
    /// All bytes since the start.
    pub moved: u64,
    /// Segments that were sent again, on all streams.
    pub retransmits: u64,
}

impl Sender {
    pub fn connect(
        token: &Token,
        peer: &Peer,
        streams: u32,
        block_size: u64,
        timeout: Duration,
    ) -> Result<Sender, EngineError> {
        let connected = (0..streams).map(|number| connect(token, peer, number, timeout));
        let streams = connected.collect::<Result<Vec<_>, _>>()?;
        let buffers = (0..streams.len()).map(|number| noise(block_size as usize, number as u64)).collect();
        Ok(Sender { streams, buffers })
    }

    /// Writes for the point's time, or up to its bytes, then waits until the receiver has read all.
    pub fn run(
        self,
        point: &Point,
        client: u32,
        op_timeout: Duration,
        progress: &Progress,
        cancel: &AtomicBool,
    ) -> Result<Sent, EngineError> {
        let Sender { streams, buffers } = self;
        let (ramp, duration) =
            (Duration::from_micros(point.ramp_up_micros), Duration::from_micros(point.duration_micros));
        let budget = AtomicU64::new(point.bytes.unwrap_or(u64::MAX));
        // The sender tells only where it is: both ends' bytes in one line would count twice.
        progress.reset();
        progress.enter(Stage::RampUp);
        let pairs: Vec<(&TcpStream, Vec<u8>)> = streams.iter().zip(buffers).collect();
        let counts = in_threads(&pairs, |(stream, buffer), started| {
            let window = Window { begin: started + ramp, end: started + ramp + duration };
            let round = Round { window, budget: &budget, op_timeout, progress, cancel };
            round.write_stream(stream, buffer)
        })?;
        progress.enter(Stage::Idle);
        let mut retransmits = 0;
        for stream in &streams {
            retransmits += retransmitted_segments(stream).map_err(|error| failed("ask for TCP_INFO", &error))?;
        }
        Ok(report(point, client, &counts, retransmits))
    }
}

fn connect(token: &Token, peer: &Peer, number: u32, timeout: Duration) -> Result<TcpStream, EngineError> {
    let act = format!("connect stream {} to {}", number + 1, peer.address);
    let explain = |error: std::io::Error| failed(act.clone(), &error);
    let mut stream = TcpStream::connect_timeout(&peer.address, timeout).map_err(explain)?;
    stream.set_read_timeout(Some(timeout)).map_err(explain)?;
    stream.write_all(&number.to_be_bytes()).map_err(explain)?;
    stream.write_all(token.prove_stream(&peer.nonce, number).bytes()).map_err(explain)?;
    let mut answer = [0];
    stream.read_exact(&mut answer).map_err(explain)?;
    if answer != [TAKEN] {
        return Err(EngineError::new(act, "the receiver does not take it"));
    }
    stream.set_write_timeout(Some(PATIENCE)).map_err(explain)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(explain)?;
    Ok(stream)
}

/// Bytes that nothing on the way can compress.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    content::fill(&mut bytes, seed);
    bytes
}

struct Window {
    begin: Instant,
    end: Instant,
}

struct Round<'a> {
    window: Window,
    budget: &'a AtomicU64,
    op_timeout: Duration,
    progress: &'a Progress,
    cancel: &'a AtomicBool,
}

/// What one stream took.
#[derive(Default)]
struct Count {
    all: u64,
    bytes: u64,
    cpu: Duration,
    /// The part of the window that it wrote in.
    elapsed: Duration,
    by_bytes: bool,
}

impl Round<'_> {
    fn write_stream(&self, stream: &TcpStream, buffer: &[u8]) -> Result<Count, EngineError> {
        let Window { begin, end } = self.window;
        let mut count = Count::default();
        let mut begun = None;
        let mut ended = None;
        let mut now = Instant::now();
        let last = loop {
            if now >= begin && begun.is_none() {
                begun = Some(thread_cpu());
                self.progress.enter(Stage::Measuring);
            }
            if now >= end && ended.is_none() {
                ended = Some(thread_cpu());
            }
            if now >= end + TAIL {
                break now;
            }
            // A write that the kernel takes whole waits for nothing, and so looks at nothing.
            if self.cancel.load(Relaxed) {
                return Err(EngineError::new("send", "cancelled"));
            }
            let granted = self.grant(buffer.len());
            if granted == 0 {
                count.by_bytes = true;
                break now;
            }
            now = self.write_whole(stream, &buffer[..granted])?;
            count.all += granted as u64;
            if now >= begin && now < end {
                count.bytes += granted as u64;
            }
        };
        self.drain(stream)?;
        count.elapsed = last.min(end).saturating_duration_since(begin);
        if let Some(begun) = begun {
            count.cpu = ended.unwrap_or_else(thread_cpu).saturating_sub(begun);
        }
        Ok(count)
    }

    /// How much of a buffer may still be sent under the byte cap.
    fn grant(&self, wanted: usize) -> usize {
        let wanted = wanted as u64;
        let take = |left: u64| Some(left - left.min(wanted));
        let left = self.budget.fetch_update(Relaxed, Relaxed, take).unwrap_or_else(|left| left);
        left.min(wanted) as usize
    }

    /// Returns when the last byte went to the kernel.
    fn write_whole(&self, mut stream: &TcpStream, mut bytes: &[u8]) -> Result<Instant, EngineError> {
        let mut blocked: Option<Instant> = None;
        loop {
            match stream.write(bytes) {
                Ok(length) => {
                    bytes = &bytes[length..];
                    if bytes.is_empty() {
                        return Ok(Instant::now());
                    }
                    blocked = None;
                }
                Err(error) if is_timeout(&error) => {
                    self.check(*blocked.get_or_insert_with(Instant::now), "send")?;
                }
                Err(error) => return Err(failed("send", &error)),
            }
        }
    }

    /// Ends the stream and waits until the receiver has, too: then it has read all.
    fn drain(&self, mut stream: &TcpStream) -> Result<(), EngineError> {
        stream.shutdown(Shutdown::Write).map_err(|error| failed("end a stream", &error))?;
        let since = Instant::now();
        loop {
            match stream.read(&mut [0]) {
                Ok(0) => return Ok(()),
                Ok(_) => return Err(EngineError::new("end a stream", "the receiver sent data")),
                Err(error) if is_timeout(&error) => self.check(since, "end a stream")?,
                Err(error) => return Err(failed("end a stream", &error)),
            }
        }
    }

    fn check(&self, since: Instant, act: &str) -> Result<(), EngineError> {
        if self.cancel.load(Relaxed) {
            return Err(EngineError::new(act, "cancelled"));
        }
        if since.elapsed() > self.op_timeout {
            let cause = format!("the receiver took nothing for {} s", self.op_timeout.as_secs());
            return Err(EngineError::new(act, cause));
        }
        Ok(())
    }
}

fn report(point: &Point, client: u32, counts: &[Count], retransmits: u64) -> Sent {
    let bytes: u64 = counts.iter().map(|count| count.bytes).sum();
    let elapsed = counts.iter().map(|count| count.elapsed).max().unwrap_or_default();
    let cpu: Duration = counts.iter().map(|count| count.cpu).sum();
    let ended_by = if counts.iter().all(|count| count.by_bytes) { EndedBy::Bytes } else { EndedBy::Duration };
    let client = ClientRound {
        client,
        ops: bytes / point.block_size,
        bytes,
        elapsed_micros: elapsed.as_micros() as u64,
        cpu_micros: cpu.as_micros() as u64,
        ..ClientRound::default()
    };
    Sent { report: end_report(client, ended_by), moved: counts.iter().map(|count| count.all).sum(), retransmits }
}
