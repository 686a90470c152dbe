//! Counts what each thread allocates: an allocator counts, and an engine in a job's thread reads the count. Shared by the programs that hold
//! the measured path to nothing; what librados takes from the C allocator is its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use cephbench::bench::engine::{Capabilities, Completion, Engine, EngineError, Operation};
use cephbench::bench::load::Load;
use cephbench::bench::runner::{self, Progress};
use cephbench::contract::Point;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches a thread-local without a destructor only.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Passes all on, and notes how much its thread allocated between its first reap and its last.
struct Watching {
    inner: Box<dyn Engine>,
    first: Option<u64>,
    reaps: u64,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    allocations: AtomicU64,
    reaps: AtomicU64,
}

impl Engine for Watching {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn prepare(&mut self, queue_depth: u32, block_size: u32) -> Result<(), EngineError> {
        self.inner.prepare(queue_depth, block_size)
    }

    fn submit(&mut self, operation: Operation) -> Result<(), EngineError> {
        self.inner.submit(operation)
    }

    fn reap(&mut self, done: &mut Vec<Completion>, timeout: Duration) -> Result<(), EngineError> {
        self.inner.reap(done, timeout)?;
        let now = ALLOCATIONS.with(Cell::get);
        let first = *self.first.get_or_insert(now);
        self.reaps += 1;
        self.seen.allocations.fetch_max(now - first, Relaxed);
        self.seen.reaps.fetch_max(self.reaps, Relaxed);
        Ok(())
    }

    fn finish(&mut self, timeout: Duration) -> Result<(), EngineError> {
        self.inner.finish(timeout)
    }
}

/// One round of a point: nothing may be allocated between the first reap of a job and its last.
pub fn assert_nothing_allocates(load: &mut dyn Load, point: &Point) {
    let seen = Arc::new(Seen::default());
    let round = load.prepare(point, 0, &mut |_| ()).expect("a load that can be prepared");
    let engines = round
        .engines
        .into_iter()
        .map(|inner| Box::new(Watching { inner, first: None, reaps: 0, seen: seen.clone() }) as Box<dyn Engine>)
        .collect();
    let cancel = AtomicBool::new(false);
    runner::run(engines, point, 0, Duration::from_secs(30), &Progress::new(), &cancel).expect("a whole round");
    assert!(seen.reaps.load(Relaxed) > 10, "too little was measured to say anything");
    assert_eq!(seen.allocations.load(Relaxed), 0, "allocations in the measured path of {:?}", point.op);
}

/// A count that is always zero would pass everything.
pub fn assert_the_count_counts() {
    let before = ALLOCATIONS.with(Cell::get);
    drop(std::hint::black_box(vec![1u8; 100]));
    assert!(ALLOCATIONS.with(Cell::get) > before);
}
