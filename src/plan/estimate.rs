//! What a test will take, before anything runs: points, time, bytes, space and memory.

use super::validate::{RADOS_DEFAULT_BYTES, buffers};
use super::{PlannedKind, PlannedTest};
use crate::api::Op;
use crate::contract::Point;

/// What a client writes for reads from RADOS that no write went before, if the point has no byte cap.
pub const RADOS_PREFILL_BYTES: u64 = 1 << 30;
/// Small objects take long to write: no more of them are made for reads.
pub const RADOS_PREFILL_OBJECTS: u64 = 16_384;

/// Upper bounds where there are any; over all points and rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub points: u64,
    /// Ramps and measuring. Preparation (filling a file, making a pool) comes on top and is not known beforehand.
    pub seconds: u64,
    /// Written to storage by all clients, preparation included. Absent when only time ends the writing.
    pub bytes_written_max: Option<u64>,
    /// Read from storage by all clients. Absent when only time ends the reading.
    pub bytes_read_max: Option<u64>,
    /// Disk: needed on each node for its clients' files. RADOS: needed in the pool for all clients, before replication.
    pub space: u64,
    /// Buffers of one client at its largest point, librados' copy of what it writes included.
    pub buffer_memory: u64,
}

/// What `test` will take with this many clients, `perNode` of them on each node.
pub fn estimate(test: &PlannedTest, clients: u32) -> Estimate {
    let count = u64::from(clients);
    let times = match &test.kind {
        PlannedKind::Network => {
            let nodes = count / u64::from(test.clients.per_node.max(1));
            // The first client of each node stands for it; those of one node are paired with each other.
            let ends = if nodes < 2 { count } else { nodes };
            ends * ends.saturating_sub(1)
        }
        PlannedKind::File { .. } | PlannedKind::Device { .. } | PlannedKind::Rados(_) => 1,
    };
    let micros = |point: &Point| u64::from(point.rounds).saturating_mul(point.ramp_up_micros + point.duration_micros);
    let measuring = test.points.iter().fold(0u64, |sum, point| sum.saturating_add(micros(point)));
    let (prefill, space) = match &test.kind {
        PlannedKind::File { size, .. } => {
            (size.saturating_mul(count), size.saturating_mul(u64::from(test.clients.per_node)))
        }
        PlannedKind::Device { .. } | PlannedKind::Network => (0, 0),
        PlannedKind::Rados(_) => rados(&test.points, count),
    };
    Estimate {
        points: times * test.points.len() as u64,
        seconds: measuring.saturating_mul(times).div_ceil(1_000_000),
        bytes_written_max: moved(test, count, |op| matches!(op, Op::Write | Op::RandWrite))
            .map(|bytes| bytes.saturating_add(prefill)),
        bytes_read_max: moved(test, count, |op| matches!(op, Op::Read | Op::RandRead)),
        space,
        buffer_memory: test
            .points
            .iter()
            .map(|point| buffers(point).saturating_mul(copies(&test.kind)))
            .max()
            .unwrap_or(0),
    }
}

/// librados copies what it is given to write and keeps the copy until the answer, to send it again if it must.
fn copies(kind: &PlannedKind) -> u64 {
    match kind {
        PlannedKind::Rados(_) => 2,
        PlannedKind::File { .. } | PlannedKind::Device { .. } | PlannedKind::Network => 1,
    }
}

/// Bytes that all rounds of the chosen ops may move. Absent when one of them has no cap.
fn moved(test: &PlannedTest, clients: u64, chosen: impl Fn(Op) -> bool) -> Option<u64> {
    let caps = test.points.iter().filter(|point| point.op.is_some_and(&chosen)).map(|point| {
        let rounds = u64::from(point.rounds);
        point.bytes.map(|bytes| bytes.saturating_mul(rounds).saturating_mul(clients))
    });
    caps.into_iter().try_fold(0u64, |sum, cap| Some(sum.saturating_add(cap?)))
}

/// What is written for reads that no write of the same object size went before, and what the objects of one point take at most: a write
/// removes those of the round before, another object size those of the last. Each job begins one object more than its bytes fill.
fn rados(points: &[Point], clients: u64) -> (u64, u64) {
    let mut prefill = 0u64;
    let mut space = 0u64;
    let mut there = None;
    for point in points {
        let object_size = point.object_size.unwrap_or(point.block_size);
        let writes = point.op.is_some_and(|op| matches!(op, Op::Write | Op::RandWrite));
        if writes {
            let begun = object_size.saturating_mul(u64::from(point.jobs));
            let bytes = point.bytes.unwrap_or(RADOS_DEFAULT_BYTES).saturating_add(begun);
            space = space.max(bytes.saturating_mul(clients));
        } else if there != Some(object_size) {
            let objects = point.bytes.unwrap_or(RADOS_PREFILL_BYTES) / object_size.max(1);
            let bytes = objects.clamp(1, RADOS_PREFILL_OBJECTS).saturating_mul(object_size).saturating_mul(clients);
            prefill = prefill.saturating_add(bytes);
            space = space.max(bytes);
        }
        there = Some(object_size);
    }
    (prefill, space)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::validate;

    fn estimated(test: &str, clients: u32) -> Estimate {
        let yaml = format!("{{clients: {{perNode: 2}}, tests: [{{name: t, {test}}}]}}");
        let value: serde_json::Value = serde_yaml_ng::from_str(&yaml).expect("YAML");
        let validated = validate(&serde_json::from_value(value).expect("a spec")).expect("a valid spec");
        estimate(&validated.plan.tests[0], clients)
    }

    #[test]
    fn a_file_is_filled_once_and_its_ops_are_bounded_by_bytes_alone() {
        let file = "disk: {file: {directory: /d, size: 1Gi}}";
        let open = estimated(&format!("{file}, workload: {{op: [read, write], queueDepth: [4, 8]}}"), 6);
        assert_eq!((open.points, open.seconds), (4, 4 * 3 * 65));
        assert_eq!((open.bytes_written_max, open.bytes_read_max), (None, None));
        assert_eq!((open.space, open.buffer_memory), (2 << 30, 8 * (4 << 20)));

        let reads = estimated(&format!("{file}, workload: {{bytes: 8Mi, rounds: 2, duration: 1500ms, rampUp: 0s}}"), 6);
        assert_eq!((reads.bytes_written_max, reads.bytes_read_max), (Some(6 << 30), Some(2 * 6 * (8 << 20))));
        assert_eq!(reads.seconds, 3);
    }

    #[test]
    fn a_network_test_measures_every_ordered_pair() {
        let network = estimated("network: {streams: [1, 4]}, workload: {rounds: 1}", 3);
        assert_eq!((network.points, network.seconds), (12, 12 * 65));
        assert_eq!((network.bytes_written_max, network.bytes_read_max, network.space), (Some(0), Some(0), 0));
        assert_eq!(network.buffer_memory, 4 * (128 << 10));
        assert_eq!(estimated("network: {}", 0).points, 0);
        let two_each = "network: {}, clients: {perNode: 2}";
        assert_eq!((estimated(two_each, 6).points, estimated(two_each, 2).points), (6, 2));
    }

    #[test]
    fn rados_holds_the_objects_of_one_point_and_fills_only_for_reads_without_writes() {
        let gib = 1 << 30;
        let mib = 1 << 20;
        let both = estimated("rados: {pool: {name: p}}, workload: {rounds: 2}", 2);
        assert_eq!(both.bytes_written_max, Some(2 * 2 * 4 * gib));
        assert_eq!(both.bytes_read_max, None);
        assert_eq!(both.buffer_memory, 2 * 16 * 4 * mib);
        assert_eq!(both.space, 2 * (4 * gib + 4 * mib));
        let reads = estimated("rados: {pool: {name: p}}, workload: {op: [read, randread], rounds: 1, jobs: [2]}", 2);
        assert_eq!((reads.bytes_written_max, reads.bytes_read_max, reads.space), (Some(2 * gib), None, 2 * gib));
        let rados = "rados: {pool: {name: p}, objectSize: [4Ki, 4Mi]}, workload: {op: [read], bytes: 8Mi, rounds: 1}";
        let capped = estimated(rados, 2);
        assert_eq!((capped.bytes_written_max, capped.bytes_read_max), (Some(2 * 2 * 8 * mib), Some(2 * 2 * 8 * mib)));
        let small = estimated("rados: {pool: {name: p}, objectSize: [4Ki]}, workload: {op: [read]}", 1);
        assert_eq!(small.space, 16_384 * 4096);
    }
}
