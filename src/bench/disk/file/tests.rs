//! File tests on a real disk: what is left behind, what engine serves where rights are missing, and what a full disk does.

use std::fs::read_dir;
use std::path::Path;
use std::process::Command;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::super::fixtures::{MIB, Mount, directory, point, round, sound_round, task};
use super::*;
use crate::api::Op;
use crate::bench::client::{self, Identity};
use crate::bench::conductor::Conductor;
use crate::bench::protocol::Token;
use crate::bench::stop::Stop;
use crate::contract::{Outcome, Target};
use crate::sys::restrict;

const OPS: [Op; 4] = [Op::Write, Op::Read, Op::RandWrite, Op::RandRead];

fn target(directory: &Path, size: u64) -> FileTarget {
    FileTarget { directory: directory.to_str().expect("text").into(), size }
}

fn open(directory: &Path, size: u64) -> Result<FileLoad, EngineError> {
    FileLoad::open(&task(Vec::new()), &target(directory, size))
}

fn entries(directory: &Path) -> usize {
    read_dir(directory).expect("a directory").count()
}

#[test]
fn a_whole_life_leaves_nothing() {
    let parent = directory();
    let mut load = open(parent.path(), 8 * MIB).expect("a disk");
    let own = parent.path().join("cephbench-run-1-disk-2");
    assert!(own.is_dir());
    let mut said = Vec::new();
    load.prepare(&point(Op::Read), 0, &mut |text| said.push(text.to_owned())).expect("room");
    assert!(said[0].starts_with("prefill: writing 8 MiB in "), "{said:?}");
    for op in OPS {
        sound_round(&mut load, &point(op));
    }
    assert_eq!(load.notes(), [""; 0]);
    load.clean_up(&mut |_| ()).expect("it is empty");
    assert_eq!(entries(parent.path()), 0);
}

#[test]
fn the_file_is_written_full_before_it_is_read() {
    let parent = directory();
    let mut load = open(parent.path(), 3 * MIB + 4096 + 17).expect("a disk");
    load.prepare(&point(Op::Read), 0, &mut |_| ()).expect("room");
    let file = load.file().expect("it is there").clone();
    let mut buffer = Buffers::new(1, (3 * MIB + 4096) as usize).expect("memory");
    let content = buffer.slot_mut(0);
    assert_eq!(file.read_at(content, 0).expect("a read"), content.len());
    let mut blocks: Vec<&[u8]> = content.chunks(4096).collect();
    assert!(blocks.iter().all(|block| block.iter().filter(|byte| **byte == 0).count() < 100), "unwritten blocks");
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len() as u64, (3 * MIB + 4096) / 4096, "blocks that repeat");
    let [note] = &load.notes()[..] else { panic!("{:?}", load.notes()) };
    assert!(note.starts_with("size 3149841:") && note.contains("the last 17 bytes"), "{note}");
}

/// A layer below that skips equal writes, or stores equal blocks once, must find none.
#[test]
fn no_round_writes_what_another_wrote() {
    let parent = directory();
    let mut load = open(parent.path(), MIB).expect("a disk");
    let blocks = |load: &FileLoad| {
        let mut buffer = Buffers::new(1, MIB as usize).expect("memory");
        assert_eq!(load.file().expect("it is there").read_at(buffer.slot_mut(0), 0).expect("a read"), MIB as usize);
        buffer.slot_mut(0).chunks(4096).map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let mut seen = std::collections::HashSet::new();
    for round in 1..=3 {
        // Every block once.
        let write = Point { jobs: 1, bytes: Some(MIB), duration_micros: 60_000_000, ..point(Op::Write) };
        sound_round(&mut load, &write);
        seen.extend(blocks(&load));
        assert_eq!(seen.len(), 256 * round, "different blocks");
    }
}

#[test]
fn the_end_of_the_load_without_a_clean_up_leaves_nothing_either() {
    let parent = directory();
    let mut load = open(parent.path(), MIB).expect("a disk");
    load.prepare(&point(Op::Read), 0, &mut |_| ()).expect("room");
    drop(load);
    assert_eq!(entries(parent.path()), 0);
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in ["", "../x", "a/b", "a b"] {
        let mut task = task(Vec::new());
        task.test = name.into();
        let error = own_name(&task).expect_err("a name that leads elsewhere");
        assert!(error.act.contains(&format!("test {name:?}")), "{error}");
    }
}

#[test]
fn blocks_that_do_not_fit_are_refused() {
    let parent = directory();
    let Err(error) = open(parent.path(), 4095) else { panic!("accepted") };
    assert!(error.cause.contains("4095 bytes"), "{error}");
    let mut load = open(parent.path(), MIB).expect("a disk");
    let large = Point { block_size: MIB, ..point(Op::Read) };
    assert!(round(&mut load, &large).expect_err("two jobs").to_string().contains("2 jobs"));
    let odd = Point { block_size: 1000, ..point(Op::Read) };
    let error = round(&mut load, &odd).expect_err("direct I/O").to_string();
    assert!(error.starts_with("use blockSize 1000 in ") && error.contains("multiples of 4096"), "{error}");
}

/// Case of a disk that fills between the check and the prefill.
#[test]
fn a_full_disk_is_named_and_left_as_it_was() {
    let parent = directory();
    let Some(mount) = Mount::ext4(parent.path(), 64 * MIB) else { return };
    let mut load = open(&mount.path, 40 * MIB).expect("it fits by now");
    let other = mount.path.join("other");
    std::fs::write(&other, vec![1u8; 30 * MIB as usize]).expect("room");
    let Err(error) = load.prepare(&point(Op::Read), 0, &mut |_| ()) else { panic!("70 MiB on 64") };
    let place = mount.path.to_str().expect("text");
    assert!(error.act.contains("40 MiB") && error.act.contains(place), "{error}");
    assert_eq!(error.cause, "No space left on device (ENOSPC)");
    load.clean_up(&mut |_| ()).expect("it is empty");
    drop(load);
    std::fs::remove_file(other).expect("it is there");
    let Err(error) = open(&mount.path, 64 * MIB) else { panic!("accepted") };
    assert!(error.cause.contains("needed"), "{error}");
    drop(open(&mount.path, 50 * MIB).expect("the space is free again"));
}

/// Runs a test of this binary again as a process of its own, restricted for good.
fn in_a_child(test: &str, restricted: impl FnOnce()) {
    const CHILD: &str = "CEPHBENCH_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        restricted();
        return;
    }
    let name = format!("bench::disk::file::tests::{test}");
    let output = Command::new(std::env::current_exe().expect("this binary"))
        .args([&*name, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .expect("this binary again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

fn every_op_works(engine: &str, reason: impl Fn(Option<String>)) {
    let parent = directory();
    let mut load = open(parent.path(), 4 * MIB).expect("a disk");
    for op in OPS {
        sound_round(&mut load, &point(op));
        assert_eq!(load.engine().0, engine, "{:?}", load.engine());
        reason(load.engine().1);
    }
    load.clean_up(&mut |_| ()).expect("it is empty");
    assert_eq!(entries(parent.path()), 0);
}

const IO_URING: [libc::c_long; 3] = [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// As under the default seccomp profile of container runtimes.
#[test]
fn without_io_uring_libaio_serves() {
    in_a_child("without_io_uring_libaio_serves", || {
        restrict::forbid(&IO_URING, libc::EPERM).expect("a filter");
        every_op_works("libaio", |reason| {
            let reason = reason.expect("not the best engine");
            assert!(reason.starts_with("io_uring: Operation not permitted (EPERM): "), "{reason}");
            assert!(reason.contains("seccomp") || reason.contains("io_uring_disabled"), "{reason}");
        });
    });
}

#[test]
fn without_both_threads_serve() {
    in_a_child("without_both_threads_serve", || {
        restrict::forbid(&IO_URING, libc::ENOSYS).expect("a filter");
        restrict::forbid(&[libc::SYS_io_setup], libc::EPERM).expect("a filter");
        every_op_works("threads", |reason| {
            let reason = reason.expect("the last engine");
            assert!(reason.starts_with("io_uring: Function not implemented (ENOSYS): "), "{reason}");
            assert!(reason.ends_with("; libaio: Operation not permitted (EPERM)"), "{reason}");
        });
    });
}

/// io_uring that may be set up and then not used falls back too.
#[test]
fn a_ring_that_can_not_be_used_is_no_ring() {
    in_a_child("a_ring_that_can_not_be_used_is_no_ring", || {
        restrict::forbid(&[libc::SYS_io_uring_register], libc::EPERM).expect("a filter");
        every_op_works("libaio", |reason| {
            assert!(reason.as_deref().is_some_and(|text| text.starts_with("io_uring: ")), "{reason:?}");
        });
    });
}

fn limit_locked_memory(bytes: u64) {
    let limit = Some(bytes);
    setrlimit(Resource::Memlock, Rlimit { current: limit, maximum: limit }).expect("a lower limit");
    restrict::drop_ipc_lock().expect("fewer rights");
}

/// A small memlock limit leaves io_uring, with buffers that are not registered.
#[test]
fn a_small_memlock_limit_is_told() {
    in_a_child("a_small_memlock_limit_is_told", || {
        limit_locked_memory(128 << 10);
        let parent = directory();
        let mut load = open(parent.path(), 4 * MIB).expect("a disk");
        for op in OPS {
            sound_round(&mut load, &Point { block_size: 64 << 10, ..point(op) });
            let (engine, reason) = load.engine();
            let reason = reason.expect("buffers are not registered");
            assert_eq!(engine, "io_uring", "{reason}");
            let expected = "buffers not registered: Cannot allocate memory (ENOMEM): the memlock limit of 128 KiB is too \
                small for 4 buffers of 64 KiB";
            assert!(reason.starts_with(expected), "{reason}");
        }
    });
}

/// What is found out only when a round is prepared stands in the report, and with the point that it is about.
#[test]
fn the_report_tells_what_the_engine_lacked() {
    in_a_child("the_report_tells_what_the_engine_lacked", || {
        limit_locked_memory(128 << 10);
        let parent = directory();
        let large = Point { block_size: 64 << 10, ..point(Op::Read) };
        let task = Task {
            client: 0,
            nodes: vec!["a".into()],
            target: Target::File(target(parent.path(), 4 * MIB)),
            ..task(vec![point(Op::Read), large])
        };
        let token = Token::random().expect("the system has random bytes");
        let conductor = Conductor::bind(task.clone(), token.clone()).expect("loopback");
        let address = conductor.loopback().to_string();
        let (identity, never) = (Identity { uid: "u".into(), advertise: None }, Stop::new());
        let report = std::thread::scope(|scope| {
            scope.spawn(|| client::run(task.clone(), &token, &address, &identity, &never));
            conductor.run(&never, &mut |_| ())
        });
        assert_eq!(report.outcome, Outcome::Complete);
        let reason = report.clients[0].engine_reason.as_deref().expect("buffers are not registered");
        assert!(reason.starts_with("buffers not registered: "), "{reason}");
        assert_eq!(report.points[1].notes, [format!("measured with io_uring: {reason}")]);
        assert!(!report.points[0].notes.contains(&report.points[1].notes[0]), "{:?}", report.points[0].notes);
    });
}

/// Newer kernels count the rings themselves.
#[test]
fn a_memlock_limit_too_small_for_rings_is_told() {
    in_a_child("a_memlock_limit_too_small_for_rings_is_told", || {
        limit_locked_memory(0);
        let parent = directory();
        let mut load = open(parent.path(), 4 * MIB).expect("a disk");
        sound_round(&mut load, &point(Op::RandRead));
        let (engine, reason) = load.engine();
        let reason = reason.expect("locked memory is missing");
        assert!(reason.contains("Cannot allocate memory (ENOMEM): the memlock limit of 0 B is too small"), "{reason}");
        assert!(matches!(engine, "libaio" | "io_uring"), "{engine}: {reason}");
    });
}

#[test]
fn unrestricted_the_best_engine_serves() {
    if crate::sys::uring::probe().is_err() {
        eprintln!("io_uring is forbidden here: not tried");
        return;
    }
    every_op_works("io_uring", |_| ());
}
