//! Which objects a client has: their names, where an offset falls, and what is left of a round. Pure arithmetic, no librados.
//!
//! Each client numbers its objects of a size from 0, whatever job writes them: `cephbench.RUN.TEST.CLIENT.SIZE.NUMBER`. With J jobs, job j
//! of a round writes every J-th number, so that any number of jobs can read them afterwards.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Failed operations that a ledger tells apart. After more, none of the job's objects is trusted.
const MAX_FAILURES: usize = 4096;

/// The names of one client's objects.
#[derive(Clone, Debug)]
pub struct Names {
    prefix: String,
}

impl Names {
    pub fn new(run: &str, test: &str, client: u32) -> Self {
        Self { prefix: format!("cephbench.{run}.{test}.{client}.") }
    }

    /// What all of the client's names begin with, and no other client's.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub fn of_size(&self, object_size: u64) -> Name {
        Name::new(&format!("{}{object_size}.", self.prefix))
    }
}

/// A name whose number can be changed without allocating.
#[derive(Clone)]
pub struct Name {
    text: Vec<u8>,
    stem: usize,
}

impl Name {
    fn new(stem: &str) -> Self {
        // No run, test or client is named with a NUL; one that came in all the same would end the name early.
        let mut text: Vec<u8> = stem.bytes().filter(|byte| *byte != 0).collect();
        let stem = text.len();
        text.reserve(DIGITS + 1);
        Self { text, stem }
    }

    /// A name as it stands.
    pub fn exact(name: &str) -> Self {
        let mut name = Self::new(name);
        name.text.push(0);
        name
    }

    pub fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.text).expect("one NUL, at the end")
    }

    /// The name of the object with this number.
    pub fn number(&mut self, number: u64) -> &CStr {
        let mut digits = [0; DIGITS];
        let mut first = DIGITS;
        let mut rest = number;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.text.truncate(self.stem);
        self.text.extend_from_slice(&digits[first..]);
        self.text.push(0);
        self.as_c_str()
    }
}

/// Decimal digits of the largest u64.
const DIGITS: usize = 20;

/// The objects that one job works on, laid end to end.
#[derive(Clone, Debug)]
pub struct Extent {
    numbers: Numbers,
    block_size: u64,
    blocks_per_object: u64,
    first_block: u64,
    blocks: u64,
}

#[derive(Clone, Debug)]
enum Numbers {
    /// Objects that are yet to be written: no end.
    New {
        first: u64,
        step: u64,
    },
    Written(Arc<[u64]>),
}

/// Blocks of an extent without an end: more than any run moves, and the bytes still fit.
const ENDLESS_BYTES: u64 = 1 << 62;

impl Extent {
    /// New objects, numbered `first`, `first + step` and so on, each holding so many blocks.
    pub fn new_objects(first: u64, step: u64, blocks_per_object: u64, block_size: u64) -> Self {
        let blocks = ENDLESS_BYTES / block_size;
        Self { numbers: Numbers::New { first, step }, block_size, blocks_per_object, first_block: 0, blocks }
    }

    /// All blocks of these objects.
    pub fn whole(numbers: Arc<[u64]>, blocks_per_object: u64, block_size: u64) -> Self {
        let blocks = numbers.len() as u64 * blocks_per_object;
        Self { numbers: Numbers::Written(numbers), block_size, blocks_per_object, first_block: 0, blocks }
    }

    /// This job's share of the blocks, one after the other; with fewer blocks than jobs, one block that others read too.
    pub fn share(mut self, job: u64, jobs: u64) -> Self {
        let part = |index: u64| (u128::from(self.blocks) * u128::from(index) / u128::from(jobs)) as u64;
        let (first, end) = (part(job), part(job + 1));
        (self.first_block, self.blocks) =
            if first < end { (first, end - first) } else { (first.min(self.blocks - 1), 1) };
        self
    }

    pub fn bytes(&self) -> u64 {
        self.blocks * self.block_size
    }

    /// Number of the object that holds the block at this offset, and the offset within it.
    pub fn locate(&self, offset: u64) -> (u64, u64) {
        let block = self.first_block + offset / self.block_size;
        let index = block / self.blocks_per_object;
        let within = block % self.blocks_per_object * self.block_size;
        match &self.numbers {
            Numbers::New { first, step } => (first + index * step, within),
            Numbers::Written(numbers) => (numbers[index as usize], within),
        }
    }
}

/// What one job of a write round did, shared between its engine and the client that reads or removes the objects later. Blocks are written
/// in order, so that one number tells which were begun.
#[derive(Debug, Default)]
pub struct Ledger {
    begun_bytes: AtomicU64,
    failed: Mutex<Vec<u64>>,
}

impl Ledger {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { begun_bytes: AtomicU64::new(0), failed: Mutex::new(Vec::with_capacity(64)) })
    }

    /// A write at this offset is about to be submitted.
    #[inline]
    pub fn begin(&self, offset: u64, length: u32) {
        self.begun_bytes.store(offset + u64::from(length), Ordering::Relaxed);
    }

    /// A write at this offset failed, or nobody knows.
    #[cold]
    pub fn fail(&self, offset: u64) {
        let mut failed = self.failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if failed.len() <= MAX_FAILURES {
            failed.push(offset);
        }
    }

    /// Numbers of the objects that were begun, and of those that were written whole.
    pub fn settle(&self, extent: &Extent) -> (Vec<u64>, Vec<u64>) {
        let object_bytes = extent.blocks_per_object * extent.block_size;
        let begun_bytes = self.begun_bytes.load(Ordering::Relaxed);
        let begun = begun_bytes.div_ceil(object_bytes);
        let failed = self.failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let whole = if failed.len() > MAX_FAILURES { 0 } else { begun_bytes / object_bytes };
        let mut broken: Vec<u64> = failed.iter().map(|offset| offset / object_bytes).collect();
        broken.sort_unstable();
        let number = |index: u64| extent.locate(index * object_bytes).0;
        let whole = (0..whole).filter(|index| broken.binary_search(index).is_err()).map(number).collect();
        ((0..begun).map(number).collect(), whole)
    }
}

/// A client's objects of one size.
#[derive(Clone, Debug, Default)]
pub struct ObjectSet {
    /// The number that no object had yet.
    pub next: u64,
    /// Objects that may be there.
    pub begun: Vec<u64>,
    /// Objects that were written whole, in the order of writing.
    pub whole: Arc<[u64]>,
    /// Bytes in each of those.
    pub object_bytes: u64,
}

impl ObjectSet {
    /// Takes in what the jobs of a write round did.
    pub fn take(&mut self, round: &[(Extent, Arc<Ledger>)]) {
        let mut whole = self.whole.to_vec();
        for (extent, ledger) in round {
            let (begun, written) = ledger.settle(extent);
            self.begun.extend(begun);
            whole.extend(written);
            self.object_bytes = extent.blocks_per_object * extent.block_size;
        }
        whole.sort_unstable();
        self.whole = whole.into();
        self.next = self.begun.iter().max().map_or(self.next, |last| self.next.max(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;

    #[test]
    fn names_hold_run_test_client_size_and_number() {
        let names = Names::new("r-1", "pool", 2);
        let mut name = names.of_size(4 * MIB);
        assert_eq!(name.number(0), c"cephbench.r-1.pool.2.4194304.0");
        assert_eq!(name.number(u64::MAX), c"cephbench.r-1.pool.2.4194304.18446744073709551615");
        assert_eq!(name.number(17), c"cephbench.r-1.pool.2.4194304.17");
        assert!(!Names::new("r-1", "pool", 21).prefix().starts_with(names.prefix()), "client 21 is not client 2");
        assert_eq!(Name::exact("one\0two").as_c_str(), c"onetwo");
    }

    #[test]
    fn jobs_of_a_write_round_share_the_numbers() {
        let job = |job: u64| Extent::new_objects(10 + job, 3, 1024, 4 * KIB);
        assert_eq!(job(0).locate(0), (10, 0));
        assert_eq!(job(0).locate(4 * MIB - 4 * KIB), (10, 4 * MIB - 4 * KIB));
        assert_eq!(job(0).locate(4 * MIB), (13, 0));
        assert_eq!(job(2).locate(8 * MIB + 4 * KIB), (18, 4 * KIB));
    }

    #[test]
    fn a_block_never_spans_two_objects() {
        // 4 MiB hold one block of 3 MiB; the last MiB of each object stays unused.
        let extent = Extent::new_objects(0, 1, 1, 3 * MIB);
        assert_eq!(extent.locate(3 * MIB), (1, 0));
    }

    /// Case A10.
    #[test]
    fn random_reads_reach_every_block_of_every_object_alike() {
        let numbers: Arc<[u64]> = (0..64).map(|index| index * 3).collect();
        let extent = Extent::whole(numbers.clone(), 1024, 4 * KIB);
        assert_eq!(extent.bytes(), 64 * 4 * MIB);
        let mut reached = std::collections::BTreeMap::new();
        for offset in (0..extent.bytes()).step_by(4 * KIB as usize) {
            let (number, within) = extent.locate(offset);
            assert!(within < 4 * MIB && within.is_multiple_of(4 * KIB));
            reached.entry(number).or_insert_with(std::collections::BTreeSet::new).insert(within);
        }
        assert_eq!(reached.keys().copied().collect::<Vec<_>>(), numbers.to_vec());
        assert!(reached.values().all(|blocks| blocks.len() == 1024));
    }

    #[test]
    fn the_jobs_of_a_sequential_read_cover_every_block_once() {
        let numbers: Arc<[u64]> = (0..5).collect();
        for jobs in [1, 2, 3, 7, 16] {
            let mut seen = Vec::new();
            for job in 0..jobs {
                let extent = Extent::whole(numbers.clone(), 4, MIB).share(job, jobs);
                seen.extend((0..extent.bytes()).step_by(MIB as usize).map(|offset| extent.locate(offset)));
            }
            let all: Vec<_> = (0..5).flat_map(|number| (0..4).map(move |block| (number, block * MIB))).collect();
            assert_eq!(seen, all, "{jobs} jobs");
        }
    }

    #[test]
    fn more_jobs_than_blocks_read_the_same_blocks() {
        let numbers: Arc<[u64]> = [7].into();
        for job in 0..5 {
            let extent = Extent::whole(numbers.clone(), 2, MIB).share(job, 5);
            assert_eq!(extent.bytes(), MIB, "job {job}");
            assert_eq!(extent.locate(0).0, 7);
        }
    }

    #[test]
    fn only_objects_written_whole_are_kept_for_reading() {
        let extent = Extent::new_objects(1, 2, 4, MIB);
        let ledger = Ledger::new();
        for block in 0..14 {
            ledger.begin(block * MIB, MIB as u32);
        }
        // In the second object; the fourth is half written.
        ledger.fail(5 * MIB);
        let (begun, whole) = ledger.settle(&extent);
        assert_eq!(begun, [1, 3, 5, 7]);
        assert_eq!(whole, [1, 5]);
    }

    #[test]
    fn a_job_with_too_many_failures_leaves_nothing_to_read_but_all_to_remove() {
        let extent = Extent::new_objects(0, 1, 1, MIB);
        let ledger = Ledger::new();
        for block in 0..10_000 {
            ledger.begin(block * MIB, MIB as u32);
            ledger.fail(block * MIB);
        }
        let (begun, whole) = ledger.settle(&extent);
        assert_eq!((begun.len(), whole.len()), (10_000, 0));
    }

    #[test]
    fn a_set_takes_uneven_jobs_and_counts_on() {
        let jobs: Vec<_> = (0..2).map(|job| (Extent::new_objects(job, 2, 2, MIB), Ledger::new())).collect();
        jobs[0].1.begin(5 * MIB, MIB as u32);
        jobs[1].1.begin(MIB, MIB as u32);
        let mut set = ObjectSet::default();
        set.take(&jobs);
        assert_eq!(set.begun, [0, 2, 4, 1]);
        assert_eq!(set.whole[..], [0, 1, 2, 4]);
        assert_eq!((set.next, set.object_bytes), (5, 2 * MIB));
    }
}
