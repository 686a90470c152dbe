//! Nothing allocates while operations are measured, whatever the engine of this machine is.

mod counting;

use cephbench::api::Op;
use cephbench::bench::disk;
use cephbench::contract::{FileTarget, NullTarget, Point, Target, Task, VERSION};

use counting::{assert_nothing_allocates, assert_the_count_counts};

fn point(op: Op) -> Point {
    Point {
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
    }
}

#[test]
fn the_count_is_not_always_zero() {
    assert_the_count_counts();
}

#[test]
fn runner_and_recorder() {
    let mut load = cephbench::bench::null::open(&NullTarget { size: 1 << 30 });
    for op in [Op::Read, Op::RandWrite] {
        assert_nothing_allocates(load.as_mut(), &point(op));
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
        assert_nothing_allocates(load.as_mut(), &point(op));
    }
    load.clean_up(&mut |_| ()).expect("it is empty");
}
