//! Whether a report is the whole of what was planned. Success is this and nothing else: no exit code, no phase of a pod, no condition of a
//! Job says that a measurement is complete.

use super::label::op_text;
use super::validity::{is_cut, seconds_text};
use crate::contract::{EndedBy, Outcome, Point, PointReport, Report, RoundReport, VERSION};
use crate::plan::{PlannedTest, points_for};
use crate::units::bytes_text;

/// What is missing from a report, or why the bench itself says that it failed. Absent when the report is whole.
pub(super) fn lacking(report: &Report, test: &PlannedTest) -> Option<String> {
    if report.version != VERSION {
        return Some(format!("the report has version {}, not {VERSION}: operator and bench differ", report.version));
    }
    if report.test != test.name {
        return Some(format!("the report is of test {:?}, not of {:?}", report.test, test.name));
    }
    if let Outcome::Failed(cause) = &report.outcome {
        return Some(cause.clone());
    }
    if report.clients.is_empty() {
        return Some("the report names no client".into());
    }
    if let Some(client) = report.clients.iter().enumerate().find(|(index, client)| client.client as usize != *index) {
        return Some(format!("the report lacks client {}", client.0));
    }
    lacking_points(report, test).or_else(|| report.points.iter().find_map(|point| lacking_rounds(report, point)))
}

fn lacking_points(report: &Report, test: &PlannedTest) -> Option<String> {
    let nodes: Vec<String> = report.clients.iter().map(|client| client.node.clone()).collect();
    let planned = points_for(test, &nodes);
    if planned.is_empty() {
        return Some(match test.points.is_empty() {
            true => "nothing was to be measured".into(),
            false => format!("a network test needs two clients, {} took part", nodes.len()),
        });
    }
    let differs = planned.iter().zip(&report.points).position(|(planned, measured)| *planned != measured.point);
    if let Some(index) = differs {
        return Some(format!("point {} of the report is not the one that was planned", index + 1));
    }
    (planned.len() != report.points.len())
        .then(|| format!("the report holds {} of {} points", report.points.len(), planned.len()))
}

fn lacking_rounds(report: &Report, point: &PointReport) -> Option<String> {
    let (measured, planned) = (point.rounds.len(), point.point.rounds as usize);
    if measured != planned {
        return Some(format!("{measured} of {planned} rounds of {}", point_text(&point.point)));
    }
    point.rounds.iter().find_map(|round| match round.ended_by {
        EndedBy::Duration => cut_client(report, &point.point, round),
        EndedBy::Errors => Some(stopped_by_errors(&point.point, round)),
        EndedBy::Bytes => None,
    })
}

fn stopped_by_errors(point: &Point, round: &RoundReport) -> String {
    let most = round.errors.iter().max_by_key(|error| error.count);
    format!(
        "errors ended {} at {} of {} s{}",
        point_text(point),
        seconds_text(round.elapsed_micros),
        seconds_text(point.duration_micros),
        most.map(|error| format!(": {} × {}", error.message, error.count)).unwrap_or_default()
    )
}

/// A client that stopped within a window that had to last its whole time.
fn cut_client(report: &Report, point: &Point, round: &RoundReport) -> Option<String> {
    let cut = round.clients.iter().find(|client| is_cut(client.elapsed_micros, point.duration_micros))?;
    let node = report.clients.get(cut.client as usize).map_or("", |client| &client.node);
    Some(format!(
        "client {} on {node} stopped at {} of {} s of {}",
        cut.client,
        seconds_text(cut.elapsed_micros),
        seconds_text(point.duration_micros),
        point_text(point)
    ))
}

fn point_text(point: &Point) -> String {
    match (point.op, point.link) {
        (Some(op), _) => format!("{} {}, depth {}", op_text(op), bytes_text(point.block_size), point.queue_depth),
        (None, Some(link)) => format!("client {} → {}", link.source, link.target),
        (None, None) => bytes_text(point.block_size),
    }
}
