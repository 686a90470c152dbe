//! Disk loads where the file system doesn't do what it should: it refuses direct I/O or fails. Needs FUSE. One that hangs is a story's:
//! here the kernel would wait for a thread of the process that it keeps waiting.

mod stand_in;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cephbench::api::Op;
use cephbench::bench::disk;
use cephbench::bench::engine::{Engine, EngineError};
use cephbench::bench::load::Load;
use cephbench::bench::runner::{self, Progress};
use cephbench::contract::{EndedBy, FileTarget, NullTarget, Point, RoundReport, Target, Task, VERSION};

use stand_in::{Behaviour, StandIn};

const SIZE: u64 = 4 << 20;

fn task(op_timeout_seconds: u64) -> Task {
    Task {
        version: VERSION,
        run: "run".into(),
        test: "disk".into(),
        client: 0,
        nodes: vec!["here".into()],
        // The target is given beside the task.
        target: Target::Null(NullTarget { size: 0 }),
        points: Vec::new(),
        prepare_timeout_seconds: 60,
        op_timeout_seconds,
    }
}

fn point(op: Op, seconds: u64) -> Point {
    Point {
        op: Some(op),
        block_size: 4096,
        object_size: None,
        queue_depth: 4,
        jobs: 1,
        link: None,
        ramp_up_micros: 0,
        duration_micros: seconds * 1_000_000,
        bytes: None,
        rounds: 1,
    }
}

fn open(at: &Path) -> Result<Box<dyn Load>, EngineError> {
    disk::open_file(&task(1), &FileTarget { directory: at.to_str().expect("text").into(), size: SIZE })
}

fn run(engines: Vec<Box<dyn Engine>>, point: &Point) -> Result<RoundReport, EngineError> {
    runner::run(engines, point, 0, Duration::from_secs(1), &Progress::new(), &AtomicBool::new(false))
}

/// A load whose file is written, and the engines of one round over it.
fn prepared(at: &Path, point: &Point) -> (Box<dyn Load>, Vec<Box<dyn Engine>>) {
    let mut load = open(at).expect("a sound file system");
    let round = load.prepare(point, 0, &mut |_| ()).expect("room");
    (load, round.engines)
}

fn assert_names_directory_and_file_system(error: &EngineError, at: &Path) {
    let text = error.to_string();
    let expected = "is on fuse, which doesn't support direct I/O (";
    assert!(text.contains(at.to_str().expect("text")) && text.contains(expected), "{text}");
    assert!(text.contains("Invalid argument (EINVAL)"), "{text}");
}

/// Case B11.
#[test]
fn direct_io_refused_when_opening_is_told_and_nothing_is_buffered() {
    let Some(stand_in) = StandIn::mount() else { return };
    stand_in.behave(Behaviour::RefuseDirect);
    let Err(error) = open(stand_in.path()) else { panic!("accepted") };
    assert_names_directory_and_file_system(&error, stand_in.path());
    assert!(stand_in.is_empty() && stand_in.buffered_opens() == 0);
}

/// Case B11, where only the first operation shows it.
#[test]
fn direct_io_refused_when_writing_is_told_and_nothing_is_left() {
    let Some(stand_in) = StandIn::mount() else { return };
    stand_in.behave(Behaviour::FailWrites(libc::EINVAL));
    let mut load = open(stand_in.path()).expect("opening succeeds");
    let Err(error) = load.prepare(&point(Op::Read, 1), 0, &mut |_| ()) else { panic!("accepted") };
    assert_names_directory_and_file_system(&error, stand_in.path());
    load.clean_up(&mut |_| ()).expect("it is empty");
    assert!(stand_in.is_empty() && stand_in.buffered_opens() == 0);
}

#[test]
fn a_disk_that_fails_ends_the_round_and_is_named() {
    let Some(stand_in) = StandIn::mount() else { return };
    let cases = [
        (Op::RandRead, Behaviour::FailReads(libc::EIO), "read: Input/output error (EIO)"),
        (Op::Write, Behaviour::FailWrites(libc::ENOSPC), "write: No space left on device (ENOSPC)"),
    ];
    for (op, behaviour, message) in cases {
        stand_in.behave(Behaviour::Sound);
        let point = point(op, 60);
        let (mut load, engines) = prepared(stand_in.path(), &point);
        stand_in.behave(behaviour);
        let report = run(engines, &point).expect("a report");
        assert_eq!((report.ended_by, report.errors[0].message.as_str()), (EndedBy::Errors, message));
        assert!(report.elapsed_micros < 30_000_000, "went on for {} µs", report.elapsed_micros);
        load.clean_up(&mut |_| ()).expect("it is empty");
        assert!(stand_in.is_empty());
    }
}
