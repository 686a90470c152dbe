//! What a point is called in messages and tables.

use crate::api::{Op, PointStatus};
use crate::units::bytes_text;

/// An operation as it is written in a spec.
pub fn op_text(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::RandRead => "randread",
        Op::RandWrite => "randwrite",
    }
}

/// A point in a few words: `randwrite 4 KiB, depth 32, 2 jobs`, or `node1 → node2, 4 streams`.
pub fn point_text(point: &PointStatus) -> String {
    let mut parts = Vec::new();
    match (&point.source, &point.target) {
        (Some(source), Some(target)) => parts.push(format!("{source} → {target}")),
        (Some(_), None) | (None, Some(_)) | (None, None) => {
            let op = point.op.map_or("", op_text);
            parts.push(format!("{op} {}", bytes_text(point.block_size.max(0) as u64)).trim_start().to_owned());
        }
    }
    if let Some(size) = point.object_size.filter(|size| *size != point.block_size) {
        parts.push(format!("objects of {}", bytes_text(size.max(0) as u64)));
    }
    if let Some(depth) = point.queue_depth {
        parts.push(format!("depth {depth}"));
    }
    if let Some(jobs) = point.jobs {
        parts.push(counted(jobs, "job"));
    }
    if let Some(streams) = point.streams {
        parts.push(counted(streams, "stream"));
    }
    parts.join(", ")
}

pub fn counted(count: i64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
