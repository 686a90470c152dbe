//! One test: its kind and its workload together, expanded into points.
//!
//! The order of measuring: object size, block size, jobs, queue depth, and innermost the ops in the order given, so that a read follows
//! the write whose data it reads.

use super::super::problem::{Problems, written};
use super::super::{ClientPods, PlannedKind, PlannedTest};
use super::kind::{self, ReadKind};
use super::sweep::{self, Bounds, MAX_POINTS, RADOS_DEFAULT_BYTES};
use super::times::{self, Times};
use super::{clients, fit};
use crate::api::{Kind, NodeSelection, Op, Test, Workload};
use crate::contract::{Link, Point};
use crate::units::{self, quantity_text};

const BLOCK_SIZES: Bounds = Bounds { min: 512, max: 64 << 20, multiple: 512 };
const SEND_SIZES: Bounds = Bounds { min: 1, max: 64 << 20, multiple: 1 };
const DEFAULT_BLOCK_SIZE: u64 = 4 << 20;
const DEFAULT_SEND_SIZE: u64 = 128 << 10;
const DEFAULT_QUEUE_DEPTH: u32 = 16;
const MAX_QUEUE_DEPTH: u32 = 1024;
const MAX_JOBS: u32 = 256;

/// The lists of one test, read.
pub(super) struct Lists {
    /// Empty for network.
    pub(super) ops: Vec<Op>,
    /// RADOS only.
    pub(super) object_sizes: Option<Vec<u64>>,
    /// Absent for RADOS: the object size.
    pub(super) block_sizes: Option<Vec<u64>>,
    pub(super) queue_depths: Vec<u32>,
    pub(super) jobs: Vec<u32>,
    /// Network only.
    pub(super) streams: Option<Vec<u32>>,
}

pub(super) fn plan(
    field: &str,
    test: &Test,
    pods: ClientPods,
    defaults: &Times,
    problems: &mut Problems,
) -> Option<PlannedTest> {
    let before = problems.0.len();
    if let Some(overrides) = &test.clients {
        clients::check(&format!("{field}.clients"), overrides, problems);
    }
    let silent = Workload::default();
    let workload = test.workload.as_ref().unwrap_or(&silent);
    let at = format!("{field}.workload");
    let times = times::of_workload(&at, workload, defaults, problems);
    let mut read = kind::read(field, &test.kind, problems);
    let bytes_field = format!("{at}.bytes");
    let bytes = workload.bytes.as_ref().map(|bytes| problems.keep(&bytes_field, written(bytes), units::bytes(bytes)));
    let bytes = bytes.flatten();
    let fits = check_product(&at, &test.kind, workload, &read, problems);
    let lists = lists(&at, workload, &mut read, problems)?;
    if let Some(written) = workload.bytes.as_ref().map(written) {
        check_bytes(&bytes_field, written, bytes?, &lists, problems);
    }
    if !fits {
        return None;
    }
    let kind = read.kind?;
    let points = match kind {
        PlannedKind::Network => network_points(&lists, &times, bytes),
        PlannedKind::File { .. } | PlannedKind::Device { .. } | PlannedKind::Rados(_) => {
            storage_points(&kind, &lists, &times, bytes)
        }
    };
    fit::check_buffers(&at, &points, &pods, problems);
    let mut notes = Vec::new();
    match &kind {
        PlannedKind::File { size, .. } => {
            let asked = read.asked.as_ref().expect("a file's size was read");
            fit::check_file(&format!("{field}.disk.file.size"), asked, *size, &points, &mut notes, problems);
        }
        PlannedKind::Device { .. } => {}
        PlannedKind::Network => check_two_clients(field, &pods, problems),
        PlannedKind::Rados(_) => {
            fit::check_objects(&format!("{field}.rados.objectSize"), &lists, &BLOCK_SIZES, problems);
            if workload.bytes.is_none() && lists.ops.contains(&Op::Write) {
                let cap = quantity_text(RADOS_DEFAULT_BYTES);
                notes.push(format!(
                    "a round of writes ends at {cap} per client at the latest (default of workload.bytes)"
                ));
            }
        }
    }
    let fine = problems.0.len() == before;
    fine.then(|| PlannedTest { name: test.name.clone(), kind, points, clients: pods, notes })
}

fn lists(at: &str, workload: &Workload, kind: &mut ReadKind, problems: &mut Problems) -> Option<Lists> {
    let block_field = format!("{at}.blockSize");
    if kind.name == "network" {
        refuse_for_network(at, workload, problems);
        let block_sizes = sweep::sizes(&block_field, &workload.block_size, &SEND_SIZES, DEFAULT_SEND_SIZE, problems)?;
        return Some(Lists {
            ops: Vec::new(),
            object_sizes: None,
            block_sizes: Some(block_sizes),
            queue_depths: vec![1],
            jobs: vec![1],
            streams: Some(kind.streams.take()?),
        });
    }
    let given = if workload.op.is_empty() { kind.default_ops } else { &workload.op };
    let ops = sweep::ops(&format!("{at}.op"), given, kind.name, kind.ops, problems);
    let rados = kind.name == "rados";
    let block_sizes = sweep::sizes(&block_field, &workload.block_size, &BLOCK_SIZES, DEFAULT_BLOCK_SIZE, problems);
    let depth_field = format!("{at}.queueDepth");
    let queue_depths =
        sweep::numbers(&depth_field, &workload.queue_depth, MAX_QUEUE_DEPTH, DEFAULT_QUEUE_DEPTH, problems);
    let jobs = sweep::numbers(&format!("{at}.jobs"), &workload.jobs, MAX_JOBS, 1, problems);
    Some(Lists {
        ops: ops?,
        object_sizes: if rados { Some(kind.object_sizes.take()?) } else { None },
        block_sizes: if rados && workload.block_size.is_empty() { None } else { Some(block_sizes?) },
        queue_depths: queue_depths?,
        jobs: jobs?,
        streams: None,
    })
}

fn refuse_for_network(at: &str, workload: &Workload, problems: &mut Problems) {
    let has = "network has blockSize, rampUp, duration, bytes and rounds, and its own streams; leave this out";
    if !workload.op.is_empty() {
        let ops: Vec<&str> = workload.op.iter().map(|op| sweep::op_name(*op)).collect();
        problems.add(format!("{at}.op"), format!("[{}]", ops.join(", ")), has);
    }
    for (name, list) in [("queueDepth", &workload.queue_depth), ("jobs", &workload.jobs)] {
        if !list.is_empty() {
            problems.add(format!("{at}.{name}"), format!("{list:?}"), has);
        }
    }
}

/// The product of the lists as they are written, before anything is expanded.
fn check_product(at: &str, kind: &Kind, workload: &Workload, read: &ReadKind, problems: &mut Problems) -> bool {
    let (objects, streams) = match kind {
        Kind::Rados(rados) => (rados.object_size.len(), 0),
        Kind::Network(network) => (0, network.streams.len()),
        Kind::Disk(_) => (0, 0),
    };
    let ops = if workload.op.is_empty() { read.default_ops.len() } else { workload.op.len() };
    let lengths = [
        ("objectSize", objects.max(1)),
        ("blockSize", workload.block_size.len().max(1)),
        ("jobs", workload.jobs.len().max(1)),
        ("queueDepth", workload.queue_depth.len().max(1)),
        ("streams", streams.max(1)),
        ("op", ops.max(1)),
    ];
    let product = lengths.iter().fold(1usize, |product, (_, length)| product.saturating_mul(*length));
    if product <= MAX_POINTS {
        return true;
    }
    let long: Vec<&(&str, usize)> = lengths.iter().filter(|(_, length)| *length > 1).collect();
    let names: Vec<&str> = long.iter().map(|(name, _)| *name).collect();
    let numbers: Vec<String> = long.iter().map(|(_, length)| length.to_string()).collect();
    problems.add(
        at,
        format!("{} = {product}", numbers.join(" × ")),
        format!(
            "points out of {}; at most {MAX_POINTS} in one test: shorten a list or split the test",
            names.join(" × ")
        ),
    );
    false
}

fn check_bytes(field: &str, written: String, bytes: u64, lists: &Lists, problems: &mut Problems) {
    let sizes = lists.block_sizes.as_ref().or(lists.object_sizes.as_ref());
    if let Some(largest) = sizes.into_iter().flatten().max().filter(|largest| bytes < **largest) {
        let message = format!("is less than one operation; at least {}", quantity_text(*largest));
        problems.add(field, written, message);
    }
}

fn storage_points(kind: &PlannedKind, lists: &Lists, times: &Times, bytes: Option<u64>) -> Vec<Point> {
    let rados = matches!(kind, PlannedKind::Rados(_));
    let mut points = Vec::new();
    let objects: Vec<Option<u64>> =
        lists.object_sizes.as_ref().map_or(vec![None], |sizes| sizes.iter().copied().map(Some).collect());
    for object_size in objects {
        let of_the_object = || object_size.into_iter().collect();
        let block_sizes: Vec<u64> = lists.block_sizes.clone().unwrap_or_else(of_the_object);
        for &block_size in &block_sizes {
            for &jobs in &lists.jobs {
                for &queue_depth in &lists.queue_depths {
                    for &op in &lists.ops {
                        let default = (rados && op == Op::Write).then_some(RADOS_DEFAULT_BYTES);
                        points.push(Point {
                            op: Some(op),
                            object_size,
                            queue_depth,
                            jobs,
                            bytes: bytes.or(default),
                            ..point(block_size, times)
                        });
                    }
                }
            }
        }
    }
    points
}

fn network_points(lists: &Lists, times: &Times, bytes: Option<u64>) -> Vec<Point> {
    let mut points = Vec::new();
    for &block_size in lists.block_sizes.iter().flatten() {
        for &streams in lists.streams.iter().flatten() {
            let link = Some(Link { source: 0, target: 1, streams });
            points.push(Point { link, bytes, ..point(block_size, times) });
        }
    }
    points
}

fn point(block_size: u64, times: &Times) -> Point {
    let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).expect("times are at most a week");
    Point {
        op: None,
        block_size,
        object_size: None,
        queue_depth: 1,
        jobs: 1,
        link: None,
        ramp_up_micros: micros(times.ramp_up),
        duration_micros: micros(times.duration),
        bytes: None,
        rounds: times.rounds,
    }
}

fn check_two_clients(field: &str, pods: &ClientPods, problems: &mut Problems) {
    if let Some(NodeSelection::Names(names)) = &pods.spec.nodes
        && names.len() == 1
        && pods.per_node == 1
    {
        let message = "network measures between two clients: name another node, or set perNode: 2 for loopback";
        problems.add(format!("{field}.network"), format!("one client, on {}", names[0]), message);
    }
}
