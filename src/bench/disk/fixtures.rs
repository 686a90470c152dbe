//! What the tests of disk loads share: a task, a point, a round, and what needs root to be tried.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::api::Op;
use crate::bench::engine::EngineError;
use crate::bench::load::Load;
use crate::bench::runner::{self, Progress};
use crate::contract::{DirectionReport, NullTarget, Point, RoundReport, Target, Task, VERSION};

pub const MIB: u64 = 1 << 20;

pub fn task(points: Vec<Point>) -> Task {
    Task {
        version: VERSION,
        run: "run-1".into(),
        test: "disk".into(),
        client: 2,
        nodes: vec!["a".into(), "b".into(), "c".into()],
        // The target is given beside the task.
        target: Target::Null(NullTarget { size: 0 }),
        points,
        prepare_timeout_seconds: 60,
        op_timeout_seconds: 30,
    }
}

/// Two jobs of depth 4 for a fifth of a second.
pub fn point(op: Op) -> Point {
    Point {
        op: Some(op),
        block_size: 4096,
        object_size: None,
        queue_depth: 4,
        jobs: 2,
        link: None,
        ramp_up_micros: 0,
        duration_micros: 200_000,
        bytes: None,
        rounds: 1,
    }
}

pub fn round(load: &mut dyn Load, point: &Point) -> Result<RoundReport, EngineError> {
    let prepared = load.prepare(point, 0, &mut |_| ())?;
    assert_eq!(prepared.engines.len(), point.jobs as usize);
    let (timeout, cancel) = (Duration::from_secs(30), AtomicBool::new(false));
    runner::run(prepared.engines, point, 2, timeout, &Progress::new(), &cancel)
}

/// A round whose figures fit together.
pub fn sound_round(load: &mut dyn Load, point: &Point) -> DirectionReport {
    let report = round(load, point).expect("a whole round");
    assert_eq!(report.errors, []);
    assert_eq!(report.clients[0].depth_seen, point.queue_depth * point.jobs);
    let direction = report.read.or(report.write).expect("one direction");
    assert!(direction.ops > 0 && direction.bytes == direction.ops * point.block_size);
    assert!(direction.min_nanos > 0 && direction.min_nanos <= direction.max_nanos);
    direction
}

/// A directory on a disk.
pub fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").expect("a directory on a disk")
}

/// A loop device over a file, let go when dropped. None where this process may not make one.
pub struct Loop {
    pub path: PathBuf,
}

impl Loop {
    pub fn over(file: &Path) -> Option<Loop> {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(file).output().ok()?;
        if !output.status.success() {
            eprintln!("no loop device here ({}): not tried", String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        Some(Loop { path: String::from_utf8_lossy(&output.stdout).trim().into() })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}

/// A small file system of its own, unmounted when dropped.
pub struct Mount {
    pub path: PathBuf,
    _device: Loop,
}

impl Mount {
    /// An ext4 of so many bytes, made of a file in a directory that outlives it.
    pub fn ext4(directory: &Path, size: u64) -> Option<Mount> {
        let image = directory.join("image");
        std::fs::File::create(&image).expect("a file").set_len(size).expect("room");
        let device = Loop::over(&image)?;
        let path = directory.join("mount");
        std::fs::create_dir(&path).expect("a directory");
        run(Command::new("mkfs.ext4").args(["-q", "-m", "0", "-O", "^has_journal"]).arg(&device.path));
        run(Command::new("mount").arg(&device.path).arg(&path));
        Some(Mount { path, _device: device })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.path).status();
    }
}

fn run(command: &mut Command) {
    let output = command.output().expect("a program that is there");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
