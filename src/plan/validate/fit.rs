//! Whether what is measured fits what it is measured on: blocks into files and objects, buffers into memory.

use std::collections::BTreeSet;

use super::super::ClientPods;
use super::super::problem::Problems;
use super::kind::Asked;
use super::sweep::Bounds;
use super::test::Lists;
use crate::contract::Point;
use crate::units::{self, bytes_text, grouped, quantity_text};

/// Buffers of one client, at most.
const MAX_BUFFERS: u64 = 8 << 30;
/// Notes on bytes left out, at most; a sweep could have hundreds.
const MAX_NOTES: usize = 4;

/// Bytes of buffers that a client holds at a point. Bounded by the lists' own bounds, far below an overflow.
pub(in crate::plan) fn buffers(point: &Point) -> u64 {
    let streams = point.link.map_or(1, |link| link.streams);
    u64::from(point.queue_depth) * u64::from(point.jobs) * u64::from(streams) * point.block_size
}

pub(super) fn check_buffers(at: &str, points: &[Point], pods: &ClientPods, problems: &mut Problems) {
    let Some(worst) = points.iter().max_by_key(|point| buffers(point)) else { return };
    let needed = buffers(worst);
    if needed > MAX_BUFFERS {
        let Point { queue_depth, jobs, block_size, .. } = worst;
        let streams = worst.link.map(|link| format!("streams {} × ", link.streams));
        let factors = streams.unwrap_or_else(|| format!("queueDepth {queue_depth} × jobs {jobs} × "));
        let value = format!("{factors}blockSize {} = {}", quantity_text(*block_size), bytes_text(needed));
        problems.add(at, value, format!("of buffers in each client; at most {}", bytes_text(MAX_BUFFERS)));
        return;
    }
    let limits = pods.spec.resources.as_ref().and_then(|resources| resources.limits.as_ref());
    if let Some(limit) = limits.and_then(|limits| limits.get("memory"))
        && units::resource(&limit.0).is_ok_and(|nanos| nanos / 1_000_000_000 < u128::from(needed))
    {
        let message = format!("is clients.resources.limits.memory; the buffers alone need {}", bytes_text(needed));
        problems.add(at, limit.0.clone(), message);
    }
}

/// Each job has its own part of the file, as large for all, in whole blocks. `size` is what was asked for in whole pages.
pub(super) fn check_file(
    field: &str,
    asked: &Asked,
    size: u64,
    points: &[Point],
    notes: &mut Vec<String>,
    problems: &mut Problems,
) {
    let Some(worst) = points.iter().max_by_key(|point| point.block_size * u64::from(point.jobs)) else { return };
    let needed = worst.block_size * u64::from(worst.jobs);
    if size < needed {
        let each = if worst.jobs == 1 { String::new() } else { format!(" for each of {} jobs", worst.jobs) };
        let block = quantity_text(worst.block_size);
        let message = format!("has no room for a block of {block}{each}; at least {}", quantity_text(needed));
        problems.add(field, &asked.text, message);
        return;
    }
    let combinations: BTreeSet<(u64, u32)> = points.iter().map(|point| (point.block_size, point.jobs)).collect();
    let mut left_out = 0;
    for (block_size, jobs) in combinations {
        let blocks = size / u64::from(jobs) / block_size;
        let rest = asked.bytes - blocks * block_size * u64::from(jobs);
        if rest == 0 {
            continue;
        }
        left_out += 1;
        if left_out <= MAX_NOTES {
            notes.push(format!(
                "size {} is {} bytes: with blockSize {} and jobs {jobs}, {} blocks per job are used and {} bytes are left out",
                asked.text,
                grouped(asked.bytes),
                quantity_text(block_size),
                grouped(blocks),
                grouped(rest),
            ));
        }
    }
    if left_out > MAX_NOTES {
        notes.push(format!("{} more combinations of blockSize and jobs leave bytes out", left_out - MAX_NOTES));
    }
}

/// Objects are whole blocks. Without block sizes, an object is one block.
pub(super) fn check_objects(field: &str, lists: &Lists, bounds: &Bounds, problems: &mut Problems) {
    for (index, object_size) in lists.object_sizes.iter().flatten().enumerate() {
        let at = format!("{field}[{index}]");
        let text = quantity_text(*object_size);
        match &lists.block_sizes {
            None if *object_size > bounds.max => {
                let max = quantity_text(bounds.max);
                problems.add(
                    at,
                    text,
                    format!("is the block size too, and blocks are at most {max}; set workload.blockSize"),
                );
            }
            None => {}
            Some(block_sizes) => {
                let odd = block_sizes.iter().filter(|block_size| !object_size.is_multiple_of(**block_size));
                let odd: Vec<String> = odd.map(|block_size| quantity_text(*block_size)).collect();
                if !odd.is_empty() {
                    problems.add(
                        at,
                        text,
                        format!("is no multiple of blockSize {}; objects are whole blocks", odd.join(", ")),
                    );
                }
            }
        }
    }
}
