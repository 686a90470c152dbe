//! One round: all its clients prepare, start on one word, run, and hand back what they measured.

use std::time::{Duration, Instant};

use super::ensemble::Ensemble;
use super::events::{Event, Place};
use super::failure::{Failure, Waiting};
use crate::bench::protocol::{Door, Peer, ToClient, ToConductor};
use crate::contract::{EndedBy, Link, PointReport, RoundReport, Task};
use crate::results::merge_clients;

/// How long after its planned time a round may end, beyond its longest operation.
const RUN_GRACE: Duration = Duration::from_secs(30);

/// What one client handed back.
struct Part {
    client: u32,
    report: RoundReport,
    moved: u64,
}

/// Runs one round and adds it to `into`.
pub fn run(
    task: &Task,
    ensemble: &mut Ensemble,
    index: usize,
    round: u32,
    into: &mut PointReport,
) -> Result<(), Failure> {
    let point = &task.points[index];
    let place = Place { point, index, points: task.points.len(), round };
    ensemble.tell(Event::Preparing(place));
    let clients = match point.link {
        None => {
            let everybody = ensemble.everybody();
            prepare(task, ensemble, index, round, &everybody, None, into)?;
            everybody
        }
        Some(link) => prepare_link(task, ensemble, index, round, link, into)?,
    };
    // Round trips of clients that did nothing but prepare so far may not be known yet.
    ensemble.ping_all();
    ensemble.tell(Event::Started(place));
    let (parts, spread) = measure(task, ensemble, index, &clients, into)?;
    if let Some(link) = point.link {
        check_link_bytes(ensemble, link, &parts)?;
    }
    let merged = merge_clients(parts.into_iter().map(|part| part.report).collect());
    let mut report = merged.map_err(|error| Failure::Test { cause: error.to_string() })?;
    report.start_spread_micros = spread.as_micros() as u64;
    ensemble.tell(Event::Done { place, round: &report });
    into.rounds.push(report);
    Ok(())
}

/// Waits until these clients are ready. Returns where the last of them listens, if it does.
fn prepare(
    task: &Task,
    ensemble: &mut Ensemble,
    index: usize,
    round: u32,
    clients: &[u32],
    peer: Option<Peer>,
    into: &mut PointReport,
) -> Result<Option<Door>, Failure> {
    let until = Instant::now() + Duration::from_secs(task.prepare_timeout_seconds);
    for client in clients {
        ensemble.send(*client, &ToClient::Prepare { point: index, round, peer: peer.clone() });
    }
    let mut open = None;
    ensemble.gather(clients, Waiting::Preparation, until, |_, client, _, message| match message {
        ToConductor::Ready { notes, door } => {
            add_notes(into, notes);
            open = door;
            Ok(true)
        }
        other => Err(Failure::unexpected(client, &other)),
    })?;
    Ok(open)
}

/// The receiver listens first; the sender connects to it.
fn prepare_link(
    task: &Task,
    ensemble: &mut Ensemble,
    index: usize,
    round: u32,
    link: Link,
    into: &mut PointReport,
) -> Result<Vec<u32>, Failure> {
    check_link(task, ensemble, link)?;
    let Link { source, target, streams: _ } = link;
    let door = prepare(task, ensemble, index, round, &[target], None, into)?;
    let Some(Door { port, nonce }) = door else {
        return Err(Failure::Client { client: target, cause: "it is ready but does not listen".into() });
    };
    let address = (ensemble.address(target), port).into();
    prepare(task, ensemble, index, round, &[source], Some(Peer { address, nonce }), into)?;
    Ok(vec![target, source])
}

/// A link whose ends are one machine crosses no network: its figures would be memory's.
fn check_link(task: &Task, ensemble: &Ensemble, link: Link) -> Result<(), Failure> {
    let crate::contract::Target::Network(network) = &task.target else {
        return Err(Failure::Test { cause: "a point has a link, but the test is not of the network".into() });
    };
    let clients = task.nodes.len();
    let Link { source, target, streams: _ } = link;
    if source as usize >= clients || target as usize >= clients || source == target {
        let cause = format!("a link from client {source} to client {target}: the test has {clients} clients");
        return Err(Failure::Test { cause });
    }
    if network.loopback {
        return Ok(());
    }
    let (from, to) = (ensemble.address(source), ensemble.address(target));
    let (source, target) = (ensemble.name(source), ensemble.name(target));
    if task.nodes[link.source as usize] == task.nodes[link.target as usize] {
        let cause = format!("{source} and {target} are on one node: traffic between them crosses no network");
        return Err(Failure::Test { cause });
    }
    if from == to {
        let cause = format!("{source} and {target} have one address, {to}: traffic between them crosses no network");
        return Err(Failure::Test { cause });
    }
    if to.is_loopback() {
        let cause =
            format!("{target} is known by {to} only, which {source} can't reach: it needs POD_IP or --advertise");
        return Err(Failure::Test { cause });
    }
    Ok(())
}

/// Starts these clients and waits until all have ended. Returns what they measured, and how far apart they began.
fn measure(
    task: &Task,
    ensemble: &mut Ensemble,
    index: usize,
    clients: &[u32],
    into: &mut PointReport,
) -> Result<(Vec<Part>, Duration), Failure> {
    let point = &task.points[index];
    let (ramp, duration) = (Duration::from_micros(point.ramp_up_micros), Duration::from_micros(point.duration_micros));
    let until = Instant::now() + ramp + duration + Duration::from_secs(task.op_timeout_seconds) + RUN_GRACE;
    let mut parts: Vec<Part> = Vec::new();
    let mut starts: Vec<Instant> = Vec::new();
    ensemble.start(clients, ramp, duration);
    ensemble.gather(clients, Waiting::Round, until, |ensemble, client, at, message| match message {
        ToConductor::Started => {
            // It was said half a round trip before it was heard. A round trip that was never measured shifts nothing.
            let trip = ensemble.round_trip(client);
            let shift = if trip == Duration::MAX { Duration::ZERO } else { trip / 2 };
            starts.push(at.checked_sub(shift).unwrap_or(at));
            Ok(false)
        }
        ToConductor::Done { report, moved, notes } => {
            if let Some(cause) = errors_text(&report) {
                return Err(Failure::Client { client, cause });
            }
            add_notes(into, notes);
            parts.push(Part { client, report: *report, moved });
            Ok(true)
        }
        other => Err(Failure::unexpected(client, &other)),
    })?;
    ensemble.end_round();
    let spread = match (starts.iter().min(), starts.iter().max()) {
        (Some(first), Some(last)) => *last - *first,
        _ => Duration::ZERO,
    };
    Ok((parts, spread))
}

/// The errors that ended a client's round, in words.
fn errors_text(report: &RoundReport) -> Option<String> {
    match report.ended_by {
        EndedBy::Duration | EndedBy::Bytes => None,
        EndedBy::Errors => Some(match report.errors.as_slice() {
            [] => "errors ended its round".into(),
            errors => {
                errors.iter().map(|e| format!("{} ({} times)", e.message, e.count)).collect::<Vec<_>>().join(", ")
            }
        }),
    }
}

/// Every byte that went in came out: TCP loses none, so a difference means that somebody counts wrongly.
fn check_link_bytes(ensemble: &Ensemble, link: Link, parts: &[Part]) -> Result<(), Failure> {
    let moved = |client: u32| parts.iter().find(|part| part.client == client).map(|part| part.moved);
    let (sent, received) = (moved(link.source), moved(link.target));
    if sent == received {
        return Ok(());
    }
    let bytes = |count: Option<u64>| count.map_or("nothing".into(), |count| format!("{count} bytes"));
    let (source, target) = (ensemble.name(link.source), ensemble.name(link.target));
    let cause = format!("{source} sent {}, {target} received {}", bytes(sent), bytes(received));
    Err(Failure::Test { cause })
}

fn add_notes(into: &mut PointReport, notes: Vec<String>) {
    for note in notes {
        if !into.notes.contains(&note) {
            into.notes.push(note);
        }
    }
}
