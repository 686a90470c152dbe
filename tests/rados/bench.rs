//! The bench as its conductor drives it: tasks, points, rounds.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cephbench::api::Op;
use cephbench::bench::engine::EngineError;
use cephbench::bench::load::Load;
use cephbench::bench::{rados, runner};
use cephbench::contract::{Point, RadosTarget, RoundReport, Target, Task, VERSION};

use crate::ceph::Ceph;

pub const KIB: u64 = 1024;
pub const MIB: u64 = 1024 * KIB;

pub const OP_TIMEOUT_SECONDS: u64 = 5;

pub fn target(ceph: &Ceph, user: &str, key_file: &Path, pool: &str, namespace: &str) -> RadosTarget {
    let address = ceph.address();
    RadosTarget {
        // As Rook's ConfigMap becomes it, whether the monitor speaks v1 or not.
        mon_host: Some(format!("[v2:{address}:3300,v1:{address}:6789]")),
        conf: None,
        user: user.into(),
        key_file: key_file.to_str().expect("UTF-8").into(),
        pool: pool.into(),
        namespace: namespace.into(),
        cluster_version: Some("16.2.15".into()),
        connect_timeout_seconds: 10,
    }
}

pub fn task(target: &RadosTarget, points: &[Point]) -> Task {
    Task {
        version: VERSION,
        run: format!("r{}", std::process::id()),
        test: "pool".into(),
        client: 0,
        nodes: vec!["here".into()],
        target: Target::Rados(target.clone()),
        points: points.to_vec(),
        prepare_timeout_seconds: 60,
        op_timeout_seconds: OP_TIMEOUT_SECONDS,
    }
}

pub fn point(op: Op, block_size: u64, object_size: u64) -> Point {
    Point {
        op: Some(op),
        block_size,
        object_size: Some(object_size),
        queue_depth: 8,
        jobs: 1,
        link: None,
        ramp_up_micros: 0,
        duration_micros: 20_000_000,
        bytes: None,
        rounds: 1,
    }
}

pub fn open(task: &Task, target: &RadosTarget) -> Result<Box<dyn Load>, EngineError> {
    rados::open(task, target)
}

/// One round, and what was said of it beforehand.
pub fn round(load: &mut dyn Load, point: &Point) -> (RoundReport, Vec<String>) {
    let prepared = load.prepare(point, 0, &mut |_| {}).expect("prepares");
    let op_timeout = Duration::from_secs(OP_TIMEOUT_SECONDS);
    let progress = runner::Progress::new();
    let report = runner::run(prepared.engines, point, 0, op_timeout, &progress, &AtomicBool::new(false));
    (report.expect("a round"), prepared.notes)
}
