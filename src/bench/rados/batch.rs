//! Work on many objects that nobody times: filling before reads, removing after writes. Keeps librados busy, says how far it is, and ends
//! when nothing succeeds any more or when it is told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::bench::content::Content;
use crate::sys::librados::{IoContext, Pipeline, WriteHint};
use crate::units::bytes_text;

use super::objects::Name;

const REMOVALS_AT_ONCE: u32 = 64;
const FILL_BLOCK: u64 = 4 << 20;
const FILL_BUFFERS: u64 = 16 << 20;
const FILLS_AT_ONCE: u64 = 64;

const SAY_EVERY: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How a batch ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The errno of an operation that failed.
    Failed(i32),
    /// Told to stop.
    Cancelled,
}

/// What all batches of a client share.
pub struct Batch<'a> {
    pub context: &'a Arc<IoContext>,
    /// How long no operation may succeed before the rest is given up.
    pub patience: Duration,
    pub cancel: &'a AtomicBool,
    pub say: &'a mut dyn FnMut(&str),
}

/// What a removal could not remove, by its index, and why: the error of the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub indices: Vec<usize>,
    pub first: Halt,
}

/// One write of a fill.
#[derive(Clone, Copy)]
struct Piece {
    number: u64,
    offset: u64,
    length: u32,
}

impl Batch<'_> {
    /// Writes whole objects. Any failure ends it: what can't be filled can't be read.
    pub fn fill(&mut self, mut name: Name, numbers: &[u64], object_bytes: u64, seed: u64) -> Result<(), Halt> {
        let block = object_bytes.min(FILL_BLOCK);
        let depth = (FILL_BUFFERS / block).clamp(4, FILLS_AT_ONCE) as u32;
        let mut pipeline = Pipeline::new(self.context.clone(), depth, block as u32);
        let mut content = Content::new(seed);
        for slot in 0..depth {
            content.fill(pipeline.buffer(slot));
        }
        let hint = Some(WriteHint { object_size: object_bytes, write_size: block });
        let pieces = numbers.iter().flat_map(|number| {
            (0..object_bytes).step_by(block as usize).map(|offset| {
                let length = block.min(object_bytes - offset) as u32;
                Piece { number: *number, offset, length }
            })
        });
        let total = numbers.len() as u64 * object_bytes;
        let mut written = 0;
        let submit = |pipeline: &mut Pipeline, slot, piece: Piece| {
            content.stamp(pipeline.buffer(slot));
            pipeline.write(slot, name.number(piece.number), piece.offset, piece.length, hint);
        };
        let mut failure = None;
        let halted = self.work(&mut pipeline, depth, pieces, submit, |piece, result| {
            match result {
                Ok(_) => written += u64::from(piece.length),
                Err(errno) => _ = failure.get_or_insert(Halt::Failed(errno)),
            }
            let progress = format!("writing objects to read: {} of {}", bytes_text(written), bytes_text(total));
            (failure.is_none(), progress)
        });
        failure.or(halted).map_or(Ok(()), Err)
    }

    /// Removes objects by their numbers.
    pub fn remove_numbers(&mut self, mut name: Name, numbers: &[u64]) -> Result<(), Kept> {
        self.remove(numbers.len(), |pipeline, slot, index| pipeline.remove(slot, name.number(numbers[index])))
    }

    /// Removes so many objects, each submitted by its index; those that aren't there are removed already. Goes on after failures, as long
    /// as anything succeeds.
    pub fn remove(&mut self, count: usize, submit: impl FnMut(&mut Pipeline, u32, usize)) -> Result<(), Kept> {
        let mut pipeline = Pipeline::new(self.context.clone(), REMOVALS_AT_ONCE, 0);
        let mut gone = vec![false; count];
        let mut gone_count = 0;
        let mut first = None;
        let halted = self.work(&mut pipeline, REMOVALS_AT_ONCE, 0..count, submit, |index, result| {
            match result {
                Ok(_) | Err(libc::ENOENT) => {
                    gone[index] = true;
                    gone_count += 1;
                }
                Err(errno) => _ = first.get_or_insert(Halt::Failed(errno)),
            }
            (true, format!("removing objects: {gone_count} of {count}"))
        });
        let indices: Vec<usize> = (0..count).filter(|index| !gone[*index]).collect();
        match first.or(halted) {
            Some(first) if !indices.is_empty() => Err(Kept { indices, first }),
            _ => Ok(()),
        }
    }

    /// Keeps `depth` pieces in flight until all ended, `ended` wants no more, nothing succeeds for too long, or it is cancelled. What is in
    /// flight at the end is waited for, and librados bounds that.
    fn work<P: Copy>(
        &mut self,
        pipeline: &mut Pipeline,
        depth: u32,
        mut pieces: impl Iterator<Item = P>,
        mut submit: impl FnMut(&mut Pipeline, u32, P),
        mut ended: impl FnMut(P, Result<u32, i32>) -> (bool, String),
    ) -> Option<Halt> {
        let mut slots: Vec<Option<P>> = vec![None; depth as usize];
        let mut free: Vec<u32> = (0..depth).collect();
        let (mut last_success, mut last_said) = (Instant::now(), Instant::now());
        let mut halt = None;
        let mut wanted = true;
        loop {
            while wanted && halt.is_none() {
                let Some(slot) = free.pop() else { break };
                let Some(piece) = pieces.next() else {
                    free.push(slot);
                    wanted = false;
                    break;
                };
                slots[slot as usize] = Some(piece);
                submit(pipeline, slot, piece);
            }
            if free.len() == depth as usize {
                return halt;
            }
            let mut progress = None;
            pipeline.reap(LOOK_EVERY, |end| {
                let piece = slots[end.slot as usize].take().expect("only submitted slots end");
                free.push(end.slot);
                if matches!(end.result, Ok(_) | Err(libc::ENOENT)) {
                    last_success = Instant::now();
                } else if last_success.elapsed() > self.patience {
                    halt = halt.or(end.result.err().map(Halt::Failed));
                }
                let (go_on, said) = ended(piece, end.result);
                wanted &= go_on;
                progress = Some(said);
            });
            if self.cancel.load(Ordering::Relaxed) {
                halt = halt.or(Some(Halt::Cancelled));
            }
            if let Some(progress) = progress.filter(|_| last_said.elapsed() >= SAY_EVERY) {
                last_said = Instant::now();
                (self.say)(&progress);
            }
        }
    }
}
