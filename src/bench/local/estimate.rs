//! What a benchmark will take, as text, before anything runs.

use std::fmt::Write;
use std::time::Duration;

use crate::api::Op;
use crate::contract::Point;
use crate::plan::{Estimate, PlannedKind, PlannedPool, PlannedTest, Validated, estimate, points_for};
use crate::results::{counted, op_text};
use crate::units::{bytes_text, time_text};

/// Points of a test that are listed; the rest is counted.
const MAX_LISTED: usize = 16;

/// Every test with its points, time, bytes, space and memory, then the whole. `clients` is how many a test has; a network test has at
/// least two.
pub fn estimate_text(validated: &Validated, clients: u32) -> String {
    let mut text = String::new();
    let mut seconds = 0;
    for test in &validated.plan.tests {
        let clients = of_test(test, clients);
        let estimate = estimate(test, clients);
        seconds += estimate.seconds;
        text += &test_text(test, clients, &estimate);
        text.push('\n');
    }
    let tests = validated.plan.tests.len();
    let gates = validated.gates.len();
    let time = time_text(Duration::from_secs(seconds));
    let (tests, gates) = (counted(tests as i64, "test"), counted(gates as i64, "gate"));
    let _ = writeln!(text, "{tests}, {gates}: {time}, preparations on top");
    text
}

fn of_test(test: &PlannedTest, clients: u32) -> u32 {
    match test.kind {
        PlannedKind::Network => clients.max(2).max(test.clients.per_node),
        PlannedKind::File { .. } | PlannedKind::Device { .. } | PlannedKind::Rados(_) => {
            clients.max(test.clients.per_node)
        }
    }
}

fn test_text(test: &PlannedTest, clients: u32, estimate: &Estimate) -> String {
    let Estimate { points, seconds, bytes_written_max, bytes_read_max, space, buffer_memory } = *estimate;
    let mut text = format!("{}: {}, {}\n", test.name, kind_text(&test.kind), counted(clients.into(), "client"));
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<8} {value}");
    };
    let most = |bytes: Option<u64>| match bytes {
        Some(bytes) => format!("at most {}", bytes_text(bytes)),
        None => "as much as the time allows".into(),
    };
    row("points", points.to_string());
    row("time", time_text(Duration::from_secs(seconds)));
    match test.kind {
        PlannedKind::Network => {}
        PlannedKind::File { .. } => {
            row("written", most(bytes_written_max));
            row("read", most(bytes_read_max));
            row("space", format!("{} on each node", bytes_text(space)));
        }
        PlannedKind::Device { .. } => row("read", most(bytes_read_max)),
        PlannedKind::Rados(_) => {
            row("written", most(bytes_written_max));
            row("read", most(bytes_read_max));
            row("space", format!("{} in the pool, before replication", bytes_text(space)));
        }
    }
    row("memory", format!("{} of buffers per client", bytes_text(buffer_memory)));
    let nodes: Vec<String> =
        (0..clients).map(|client| format!("node {}", client / test.clients.per_node.max(1))).collect();
    let listed = points_for(test, &nodes);
    for point in listed.iter().take(MAX_LISTED) {
        row("", point_text(point));
    }
    if listed.len() > MAX_LISTED {
        row("", format!("and {} more", listed.len() - MAX_LISTED));
    }
    for note in &test.notes {
        row("note", note.clone());
    }
    let writes = |point: &Point| matches!(point.op, Some(Op::Write | Op::RandWrite));
    if matches!(test.kind, PlannedKind::Device { .. }) && test.points.iter().any(writes) {
        row("note", "the test will be refused: devices are opened for reading only".into());
    }
    text
}

fn kind_text(kind: &PlannedKind) -> String {
    match kind {
        PlannedKind::File { directory, size } => format!("file of {} in {directory}", bytes_text(*size)),
        PlannedKind::Device { path } => format!("device {path}, reading only"),
        PlannedKind::Network => "TCP, every ordered pair".into(),
        PlannedKind::Rados(PlannedPool::Create { size, .. }) => format!("a pool of its own with {size} copies"),
        PlannedKind::Rados(PlannedPool::Existing { name }) => format!("pool {name}"),
    }
}

fn point_text(point: &Point) -> String {
    let seconds = |micros: u64| time_text(Duration::from_micros(micros));
    let what = match (point.link, point.op) {
        (Some(link), _) => {
            format!("client {} → {}, {}", link.source, link.target, counted(link.streams.into(), "stream"))
        }
        (None, Some(op)) => format!("{} depth {} jobs {}", op_text(op), point.queue_depth, point.jobs),
        (None, None) => String::new(),
    };
    let object = point.object_size.map_or(String::new(), |size| format!(" of {} objects", bytes_text(size)));
    let Point { rounds, ramp_up_micros, duration_micros, .. } = *point;
    let cap = point.bytes.map_or(String::new(), |bytes| format!(" or {}", bytes_text(bytes)));
    format!(
        "{what}, {}{object}: {rounds} × ({} ramp + {}{cap})",
        bytes_text(point.block_size),
        seconds(ramp_up_micros),
        seconds(duration_micros)
    )
}
