//! Nothing allocates while operations are measured: an allocator counts per thread, and an engine in the job's thread reads the count.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use cephbench::api::Op;
use cephbench::bench::disk;
use cephbench::bench::engine::{Capabilities, Completion, Engine, EngineError, Operation};
use cephbench::bench::load::Load;
use cephbench::bench::runner::{self, Progress};
use cephbench::contract::{FileTarget, NullTarget, Point, Target, Task, VERSION};

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

fn assert_nothing_allocates(load: &mut dyn Load, op: Op) {
    let point = Point {
        op: Some(op),
        block_size: 4096,
        object_size: None,
        queue_depth: 8,
        jobs: 2,
        link: None,
        ramp_up_micros: 100_000,
        duration_micros: 1_300_000,
        bytes: None,
        rounds: 1,
    };
    let seen = Arc::new(Seen::default());
    let round = load.prepare(&point, 0, &mut |_| ()).expect("a load that can be prepared");
    let engines = round
        .engines
        .into_iter()
        .map(|inner| Box::new(Watching { inner, first: None, reaps: 0, seen: seen.clone() }) as Box<dyn Engine>)
        .collect();
    let cancel = AtomicBool::new(false);
    runner::run(engines, &point, 0, Duration::from_secs(30), &Progress::new(), &cancel).expect("a whole round");
    assert!(seen.reaps.load(Relaxed) > 10, "too little was measured to say anything");
    assert_eq!(seen.allocations.load(Relaxed), 0, "allocations in the measured path");
}

#[test]
fn the_count_is_not_always_zero() {
    let before = ALLOCATIONS.with(Cell::get);
    drop(std::hint::black_box(vec![1u8; 100]));
    assert!(ALLOCATIONS.with(Cell::get) > before);
}

#[test]
fn runner_and_recorder() {
    let mut load = cephbench::bench::null::open(&NullTarget { size: 1 << 30 });
    for op in [Op::Read, Op::RandWrite] {
        assert_nothing_allocates(load.as_mut(), op);
    }
}

/// With the engine that this machine allows, which is io_uring wherever it can be.
#[test]
fn files() {
    let directory = tempfile::tempdir_in("/var/tmp").expect("a directory on a disk");
    let target = FileTarget { directory: directory.path().to_str().expect("text").into(), size: 16 << 20 };
    let task = Task {
        version: VERSION,
        run: "run".into(),
        test: "disk".into(),
        client: 0,
        nodes: vec!["here".into()],
        target: Target::File(target.clone()),
        points: Vec::new(),
        prepare_timeout_seconds: 60,
        op_timeout_seconds: 30,
    };
    let mut load = disk::open_file(&task, &target).expect("a disk");
    for op in [Op::RandRead, Op::Write] {
        assert_nothing_allocates(load.as_mut(), op);
    }
    load.clean_up(&mut |_| ()).expect("it is empty");
}
