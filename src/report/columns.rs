//! The columns of a test's table: what each shows, and which apply to the points at hand.

use comfy_table::CellAlignment;

use crate::api::{Latency, PointStatus, ValidityVerdict};
use crate::results::op_text;
use crate::units::{bytes_text, latency_text};

/// One column. Its text is absent for a point that has nothing to show there.
pub(super) struct Column {
    pub title: &'static str,
    pub alignment: CellAlignment,
    pub text: fn(&PointStatus) -> Option<String>,
}

/// The columns in which at least one of these points has something to show.
pub(super) fn columns(points: &[PointStatus]) -> Vec<Column> {
    all().into_iter().filter(|column| points.iter().any(|point| (column.text)(point).is_some())).collect()
}

fn all() -> Vec<Column> {
    vec![
        left("op", |point| point.op.map(|op| op_text(op).to_owned())),
        left("source → target", |point| Some(format!("{} → {}", point.source.as_ref()?, point.target.as_ref()?))),
        right("block", |point| Some(bytes_text(point.block_size.max(0) as u64))),
        right("object", |point| point.object_size.map(|size| bytes_text(size.max(0) as u64))),
        right("depth", |point| count(point.queue_depth)),
        right("jobs", |point| count(point.jobs)),
        right("streams", |point| count(point.streams)),
        right("clients", |point| count(Some(point.clients))),
        right("MiB/s", |point| {
            let bandwidth = point.bandwidth.as_ref().filter(|_| point.source.is_none())?;
            Some(format!("{:.1}", bandwidth.bytes_per_second as f64 / f64::from(1 << 20)))
        }),
        right("bandwidth", |point| {
            point.bandwidth.as_ref().filter(|_| point.source.is_some()).map(|bandwidth| bandwidth.text.clone())
        }),
        right("IOPS", |point| point.iops.map(iops_text)),
        right("mean", |point| latency(point, |latency| latency.mean_micros)),
        right("p50", |point| latency(point, |latency| latency.p50_micros)),
        right("p99", |point| latency(point, |latency| latency.p99_micros)),
        right("p99.9", |point| latency(point, |latency| latency.p999_micros)),
        right("max", |point| latency(point, |latency| latency.max_micros)),
        right("errors", |point| count(Some(point.errors))),
        left("validity", |point| Some(verdict_text(point.validity.verdict).to_owned())),
    ]
}

fn left(title: &'static str, text: fn(&PointStatus) -> Option<String>) -> Column {
    Column { title, alignment: CellAlignment::Left, text }
}

fn right(title: &'static str, text: fn(&PointStatus) -> Option<String>) -> Column {
    Column { title, alignment: CellAlignment::Right, text }
}

fn count(count: Option<i64>) -> Option<String> {
    count.map(|count| count.to_string())
}

fn latency(point: &PointStatus, pick: fn(&Latency) -> f64) -> Option<String> {
    point.latency.as_ref().map(|latency| latency_text(pick(latency)))
}

/// Small rates keep their decimals: 4 MiB operations on hard disks come to a few per second.
fn iops_text(iops: f64) -> String {
    if iops < 100.0 { format!("{iops:.1}") } else { format!("{iops:.0}") }
}

fn verdict_text(verdict: ValidityVerdict) -> &'static str {
    match verdict {
        ValidityVerdict::Valid => "Valid",
        ValidityVerdict::Suspect => "Suspect",
        ValidityVerdict::Invalid => "Invalid",
    }
}
