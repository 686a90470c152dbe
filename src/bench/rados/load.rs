//! What a client keeps between rounds: which objects of which size it has written, so that a write starts on none, a read finds some, and the
//! end finds all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::api::Op;
use crate::bench::engine::{Engine, EngineError};
use crate::bench::engines::rados::{RadosEngine, Work};
use crate::bench::load::{Load, PreparedRound};
use crate::bench::{pattern, stop};
use crate::contract::{Point, Target, Task};
use crate::plan::{RADOS_PREFILL_BYTES, RADOS_PREFILL_OBJECTS};
use crate::sys::librados::IoContext;
use crate::units::bytes_text;

use super::batch::{Batch, Halt, Kept};
use super::connect::Connection;
use super::leftovers::{self, Left};
use super::objects::{Extent, Ledger, Names, ObjectSet};

static NEVER: AtomicBool = AtomicBool::new(false);

pub(super) struct RadosLoad {
    connection: Connection,
    context: Arc<IoContext>,
    names: Names,
    /// A pool made for the run goes with all that is in it.
    pool_goes: bool,
    points: Vec<Point>,
    /// By object size.
    sets: BTreeMap<u64, ObjectSet>,
    /// The write round that was handed out last.
    writing: Option<Writing>,
    /// Ends fills and removals before a round early.
    cancel: &'static AtomicBool,
    client: u32,
    /// Engines and fills so far: each has content of its own.
    writes: u64,
}

/// A write round whose engines are at work until the next call.
struct Writing {
    object_size: u64,
    jobs: Vec<(Extent, Arc<Ledger>)>,
}

impl RadosLoad {
    pub fn new(connection: Connection, context: Arc<IoContext>, task: &Task) -> Self {
        Self {
            connection,
            context,
            names: Names::new(&task.run, &task.test, task.client),
            pool_goes: matches!(&task.target, Target::Rados(target) if target.namespace.is_empty()),
            points: task.points.clone(),
            sets: BTreeMap::new(),
            writing: None,
            cancel: stop::asked(),
            client: task.client,
            writes: 0,
        }
    }

    pub fn probe(&self) -> Result<(), EngineError> {
        super::probe(&self.connection, &self.context, &self.names)
    }

    /// Takes in what the last write round did, if there was one.
    fn settle(&mut self) {
        if let Some(Writing { object_size, jobs }) = self.writing.take() {
            self.sets.entry(object_size).or_default().take(&jobs);
        }
    }

    fn prepare_write(&mut self, shape: &Shape, say: &mut dyn FnMut(&str)) -> Result<Vec<Extent>, EngineError> {
        self.remove_set(shape.object_size, say)?;
        let first = self.sets.entry(shape.object_size).or_default().next;
        let jobs = u64::from(shape.jobs);
        let extent = |job| Extent::new_objects(first + job, jobs, shape.blocks_per_object, shape.block_size);
        Ok((0..jobs).map(extent).collect())
    }

    fn prepare_read(
        &mut self,
        shape: &Shape,
        point: &Point,
        notes: &mut Vec<String>,
        say: &mut dyn FnMut(&str),
    ) -> Result<Vec<Extent>, EngineError> {
        let readable = |set: &ObjectSet| !set.whole.is_empty() && set.object_bytes >= shape.block_size;
        if !self.sets.get(&shape.object_size).is_some_and(readable) {
            notes.extend(self.prefill(shape.object_size, point.bytes, say)?);
        }
        let set = &self.sets[&shape.object_size];
        if shape.random {
            notes.extend(narrow_text(set.whole.len() as u64, set.object_bytes, point.bytes));
        }
        let all = Extent::whole(set.whole.clone(), set.object_bytes / shape.block_size, shape.block_size);
        let jobs = u64::from(shape.jobs);
        Ok((0..jobs).map(|job| if shape.random { all.clone() } else { all.clone().share(job, jobs) }).collect())
    }

    /// Writes objects for reads that have none. What is said of it belongs into the notes.
    fn prefill(
        &mut self,
        object_size: u64,
        bytes: Option<u64>,
        say: &mut dyn FnMut(&str),
    ) -> Result<Option<String>, EngineError> {
        self.remove_set(object_size, say)?;
        let first = self.sets.entry(object_size).or_default().next;
        let wanted = (bytes.unwrap_or(RADOS_PREFILL_BYTES) / object_size).max(1);
        let count = wanted.min(RADOS_PREFILL_OBJECTS);
        let numbers: Vec<u64> = (first..first + count).collect();
        let set = self.sets.entry(object_size).or_default();
        // Before they are written: a fill that fails leaves objects to remove.
        *set =
            ObjectSet { next: first + count, begun: numbers.clone(), whole: Arc::default(), object_bytes: object_size };
        let name = self.names.of_size(object_size);
        let seed = self.next_seed(0);
        let filled = self.batch(say).fill(name, &numbers, object_size, seed);
        filled.map_err(|halt| EngineError::new("write the objects to read", self.halt_text(halt)))?;
        let set = self.sets.entry(object_size).or_default();
        set.whole = numbers.into();
        let total = bytes_text(count * object_size);
        let short = format!(
            "{count} objects of {} ({total}) were written for reads, no more because they are small",
            bytes_text(object_size)
        );
        Ok((count < wanted).then_some(short))
    }

    fn remove_set(&mut self, object_size: u64, say: &mut dyn FnMut(&str)) -> Result<(), EngineError> {
        let numbers = match self.sets.get_mut(&object_size) {
            Some(set) => {
                set.whole = Arc::default();
                std::mem::take(&mut set.begun)
            }
            None => return Ok(()),
        };
        let name = self.names.of_size(object_size);
        let removed = self.batch(say).remove_numbers(name, &numbers);
        let Err(Kept { indices, first }) = removed else { return Ok(()) };
        let numbers: Vec<u64> = indices.into_iter().map(|index| numbers[index]).collect();
        let act = format!("remove {} objects of an earlier round", numbers.len());
        self.sets.entry(object_size).or_default().begun = numbers;
        Err(EngineError::new(act, self.halt_text(first)))
    }

    /// Sizes whose objects no later point reads before it writes them anew: they only take space.
    fn useless_sizes(&self, point: &Point) -> Vec<u64> {
        let later = self.points.iter().position(|known| known == point).map_or(&[][..], |at| &self.points[at + 1..]);
        let wanted = |size: u64| {
            let next = later.iter().find(|point| size_of(point) == size);
            next.is_some_and(|point| reads(point.op))
        };
        self.sets.keys().copied().filter(|size| *size != size_of(point) && !wanted(*size)).collect()
    }

    /// A seed for content that no other client, job or round has.
    fn next_seed(&mut self, job: usize) -> u64 {
        self.writes += 1;
        pattern::seed(self.client, job as u32, self.writes)
    }

    fn batch<'a>(&'a self, say: &'a mut dyn FnMut(&str)) -> Batch<'a> {
        let patience = leftovers::patience(&self.connection.situation);
        Batch { context: &self.context, patience, cancel: self.cancel, say }
    }

    fn halt_text(&self, halt: Halt) -> String {
        match halt {
            Halt::Failed(number) => self.connection.situation.operation(number),
            Halt::Cancelled => "stopped".into(),
        }
    }
}

impl Load for RadosLoad {
    fn engine(&self) -> (&'static str, Option<String>) {
        ("librados", None)
    }

    fn notes(&self) -> Vec<String> {
        vec![format!("librados {}", self.connection.situation.library_version)]
    }

    fn prepare(&mut self, point: &Point, _round: u32, say: &mut dyn FnMut(&str)) -> Result<PreparedRound, EngineError> {
        self.settle();
        let shape = Shape::of(point)?;
        for size in self.useless_sizes(point) {
            self.remove_set(size, say)?;
        }
        let mut notes = Vec::new();
        let extents = if shape.writes {
            self.prepare_write(&shape, say)?
        } else {
            self.prepare_read(&shape, point, &mut notes, say)?
        };
        let round: Vec<_> = extents.into_iter().map(|extent| (extent, Ledger::new())).collect();
        let mut engines: Vec<Box<dyn Engine>> = Vec::with_capacity(round.len());
        for (job, (extent, ledger)) in round.iter().enumerate() {
            let work = Work {
                extent: extent.clone(),
                name: self.names.of_size(shape.object_size),
                object_size: shape.object_size,
                ledger: ledger.clone(),
                seed: self.next_seed(job),
            };
            let mut engine = RadosEngine::new(self.context.clone(), self.connection.situation.clone(), work);
            engine.prepare(point.queue_depth, shape.block_size as u32)?;
            engines.push(Box::new(engine));
        }
        if shape.writes {
            self.writing = Some(Writing { object_size: shape.object_size, jobs: round });
        }
        Ok(PreparedRound { engines, notes })
    }

    fn clean_up(&mut self, say: &mut dyn FnMut(&str)) -> Result<(), EngineError> {
        if self.pool_goes {
            say("the objects go with the pool, which was made for the run");
            return Ok(());
        }
        self.settle();
        // A stop that ended the rounds must not end this.
        self.cancel = &NEVER;
        let sizes: Vec<u64> = self.sets.keys().copied().collect();
        let failures: Vec<EngineError> = sizes.iter().filter_map(|size| self.remove_set(*size, say).err()).collect();
        let left = leftovers::remove(&mut self.batch(say), self.names.prefix());
        match (left, failures.into_iter().next()) {
            // What the listing removed is gone, whatever failed before.
            (Left::Nothing, _) => Ok(()),
            (Left::Objects { count, why }, _) => {
                let act = format!("remove {}* from pool {}", self.names.prefix(), self.connection.situation.pool);
                Err(EngineError::new(act, leftovers::stay_text(count, why, &self.connection.situation)))
            }
            (Left::Unknown(cause), None) => {
                say(&format!("all objects were removed, but listing the pool to make sure failed: {cause}"));
                Ok(())
            }
            (Left::Unknown(_), Some(failure)) => Err(failure),
        }
    }
}

/// A point's numbers, checked.
struct Shape {
    writes: bool,
    random: bool,
    object_size: u64,
    block_size: u64,
    blocks_per_object: u64,
    jobs: u32,
}

impl Shape {
    fn of(point: &Point) -> Result<Self, EngineError> {
        let (writes, random) = match point.op {
            Some(Op::Write) => (true, false),
            Some(Op::Read) => (false, false),
            Some(Op::RandRead) => (false, true),
            Some(Op::RandWrite) | None => {
                let cause = "rados knows write, read and randread";
                return Err(EngineError::new(format!("measure op {:?}", point.op), cause));
            }
        };
        let block_size = u64::from(crate::bench::engine::check_block(point.block_size)?);
        let object_size = size_of(point);
        let blocks_per_object = object_size / block_size;
        if blocks_per_object == 0 || point.jobs == 0 {
            let act = format!("use blockSize {block_size}, objectSize {object_size} and {} jobs", point.jobs);
            return Err(EngineError::new(act, "an object holds at least one block, and there is at least one job"));
        }
        Ok(Self { writes, random, object_size, block_size, blocks_per_object, jobs: point.jobs })
    }
}

/// What is to be said of random reads over much less than they would be given.
fn narrow_text(objects: u64, object_bytes: u64, bytes: Option<u64>) -> Option<String> {
    let total = objects.saturating_mul(object_bytes);
    let narrow = total < bytes.unwrap_or(RADOS_PREFILL_BYTES) / 4;
    let objects_text = if objects == 1 { "1 object".into() } else { format!("{objects} objects") };
    narrow.then(|| format!("reads range over {objects_text} ({}) only: caches may serve them", bytes_text(total)))
}

fn size_of(point: &Point) -> u64 {
    point.object_size.unwrap_or(point.block_size)
}

fn reads(op: Option<Op>) -> bool {
    match op {
        Some(Op::Read | Op::RandRead) => true,
        Some(Op::Write | Op::RandWrite) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Case A10: a write of a moment leaves a handful of objects.
    #[test]
    fn random_reads_over_a_handful_of_objects_say_so() {
        let text = narrow_text(3, 4 * MIB, None).expect("12 MiB");
        assert_eq!(text, "reads range over 3 objects (12 MiB) only: caches may serve them");
        assert!(narrow_text(1, 4096, Some(MIB)).is_some_and(|text| text.contains("1 object (4 KiB)")));
        assert_eq!(narrow_text(RADOS_PREFILL_BYTES / MIB, MIB, None), None);
        assert_eq!(narrow_text(2, 4 * MIB, Some(32 * MIB)), None);
        assert!(narrow_text(2, 4 * MIB, Some(33 * MIB)).is_some());
    }
}
