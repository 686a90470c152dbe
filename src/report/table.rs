//! A benchmark as text for people: what was measured, the figures of each test, what speaks against them, and the gates. No colours: the
//! text goes to terminals, files and logs alike.

use std::time::Duration;

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::columns::columns;
use crate::api::{
    BenchmarkStatus, CephBenchmark, ClusterStatus, GateStatus, RunStatus, TestStatus, ValidityVerdict, Verdict,
};
use crate::results::point_text;
use crate::units::time_text;

/// Lines of reasons under one test's table; the rest is counted.
const MAX_REASONS: usize = 12;

/// The whole of a benchmark's status as text, with a line end.
pub fn table(benchmark: &CephBenchmark) -> String {
    status_table(&benchmark.metadata, benchmark.status.as_ref())
}

/// As [`table`], of a benchmark whose spec need not be understood.
pub fn status_table(metadata: &ObjectMeta, status: Option<&BenchmarkStatus>) -> String {
    let Some(status) = status else {
        return format!("{}: not looked at yet\n", title(metadata));
    };
    let mut text = header(metadata, status);
    for test in &status.tests {
        text.push('\n');
        text.push_str(&test_text(test));
    }
    if !status.gates.is_empty() {
        text.push('\n');
        text.push_str(&gates_text(&status.gates));
    }
    text
}

fn title(metadata: &ObjectMeta) -> String {
    let name = metadata.name.as_deref().unwrap_or("benchmark");
    match &metadata.namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

fn header(metadata: &ObjectMeta, status: &BenchmarkStatus) -> String {
    let phase = status.phase.map_or_else(|| "not begun".to_owned(), |phase| format!("{phase:?}"));
    let mut text = format!("{}: {phase}\n", title(metadata));
    if let Some(message) = &status.message {
        text.push_str(&format!("  {message}\n"));
    }
    if let Some(run) = &status.run {
        text.push_str(&format!("  run {}\n", run_text(run)));
    }
    if let Some(cluster) = status.cluster.as_ref().map(cluster_text).filter(|text| !text.is_empty()) {
        text.push_str(&format!("  cluster {cluster}\n"));
    }
    if let Some(progress) = status.progress.as_ref().filter(|_| status.run.as_ref().is_some_and(going)) {
        text.push_str(&format!("  progress {}\n", progress.text));
    }
    text
}

fn going(run: &RunStatus) -> bool {
    run.completion_time.is_none()
}

fn run_text(run: &RunStatus) -> String {
    let mut text = run.number.to_string();
    if let Some(trigger) = &run.trigger {
        text.push_str(&format!(", trigger {trigger:?}"));
    }
    text.push_str(&format!(", began {}", run.start_time.0.strftime("%Y-%m-%d %H:%M:%SZ")));
    if let Some(end) = &run.completion_time {
        let seconds = (end.0.as_second() - run.start_time.0.as_second()).max(0) as u64;
        text.push_str(&format!(", took {}", time_text(Duration::from_secs(seconds))));
    }
    text
}

fn cluster_text(cluster: &ClusterStatus) -> String {
    let ClusterStatus { name, fsid, ceph_version, osds, hosts, nodes, pools, network, health } = cluster;
    let mut parts = Vec::new();
    parts.extend(name.clone());
    parts.extend(ceph_version.as_ref().map(|version| format!("Ceph {version}")));
    parts.extend(osds.map(|osds| format!("{osds} OSDs")));
    parts.extend(hosts.map(|hosts| format!("{hosts} CRUSH hosts")));
    parts.extend(nodes.map(|nodes| format!("{nodes} nodes")));
    parts.extend(network.as_ref().map(|network| format!("network {network}")));
    parts.extend(health.clone());
    parts.extend(pools.iter().map(|pool| {
        let size = pool.size.map(|size| format!(", size {size}")).unwrap_or_default();
        let pg_num = pool.pg_num.map(|pg_num| format!(", {pg_num} PGs")).unwrap_or_default();
        format!("pool {}{size}{pg_num}", pool.name)
    }));
    parts.extend(fsid.as_ref().map(|fsid| format!("fsid {fsid}")));
    parts.join("; ")
}

fn test_text(test: &TestStatus) -> String {
    let mut text = format!("{}: {:?}", test.name, test.phase);
    if let Some(engine) = &test.engine {
        text.push_str(&format!(", {}", engine.name));
        if let Some(reason) = &engine.reason {
            text.push_str(&format!(" ({reason})"));
        }
    }
    text.push('\n');
    if let Some(message) = &test.message {
        text.push_str(&format!("  {message}\n"));
    }
    if !test.points.is_empty() {
        let columns = columns(&test.points);
        let mut table = new_table();
        table.set_header(columns.iter().map(|column| cell(column.title, column.alignment)));
        for point in &test.points {
            table.add_row(
                columns.iter().map(|column| cell(&(column.text)(point).unwrap_or_default(), column.alignment)),
            );
        }
        text.push_str(&table_text(table));
    }
    if let Some(omitted) = test.points_omitted.filter(|omitted| *omitted > 0) {
        text.push_str(&format!("  {omitted} more points are in the artifact only\n"));
    }
    text.push_str(&reasons_text(test));
    text
}

/// The code of reasons whose words say what they are.
const NOTE: &str = "Note";

/// What is to be known of the points: a reason that many points have is said once, with its first point. Notes are the same only where their
/// words are.
fn reasons_text(test: &TestStatus) -> String {
    let mut lines: Vec<(String, usize)> = Vec::new();
    let mut known: Vec<((ValidityVerdict, &str, &str), usize)> = Vec::new();
    for (index, point) in test.points.iter().enumerate() {
        for reason in &point.validity.reasons {
            let words = if reason.code == NOTE { reason.message.as_str() } else { "" };
            let key = (point.validity.verdict, reason.code.as_str(), words);
            match known.iter_mut().zip(&mut lines).find(|((seen, _), _)| *seen == key) {
                // Several rounds of one point are one point.
                Some(((_, last), _)) if *last == index => {}
                Some(((_, last), (_, others))) => {
                    *last = index;
                    *others += 1;
                }
                None => {
                    known.push((key, index));
                    lines.push((format!("{}: {}: {}", reason.code, point_text(point), reason.message), 0));
                }
            }
        }
    }
    let more = lines.len().saturating_sub(MAX_REASONS);
    let mut text = String::new();
    for (line, others) in lines.into_iter().take(MAX_REASONS) {
        text.push_str(&format!("  {line}"));
        match others {
            0 => {}
            1 => text.push_str(" (and 1 more point)"),
            _ => text.push_str(&format!(" (and {others} more points)")),
        }
        text.push('\n');
    }
    if more > 0 {
        text.push_str(&format!("  and {more} more reasons\n"));
    }
    text
}

fn gates_text(gates: &[GateStatus]) -> String {
    let mut table = new_table();
    table.set_header(["gate", "verdict", "observed", "wanted"].map(|title| cell(title, CellAlignment::Left)));
    for gate in gates {
        let observed = gate.observed.as_deref().unwrap_or("-");
        let verdict = verdict_text(gate.verdict);
        table.add_row([&gate.name, verdict, observed, &gate.wanted].map(|text| cell(text, CellAlignment::Left)));
    }
    let mut text = format!("gates\n{}", table_text(table));
    for gate in gates {
        if let Some(message) = &gate.message {
            text.push_str(&format!("  {}: {message}\n", gate.name));
        }
    }
    text
}

fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "Passed",
        Verdict::Failed => "Failed",
        Verdict::Inconclusive => "Inconclusive",
    }
}

/// Lines only under the header, so that a test's table fits a terminal.
fn new_table() -> Table {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// The table as lines of text, indented under its title.
fn table_text(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table.lines().map(|line| format!("  {}\n", line.trim_end())).collect()
}

fn cell(text: &str, alignment: CellAlignment) -> Cell {
    Cell::new(text).set_alignment(alignment)
}
