//! Conductor and clients in one process, over real connections on loopback.

use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;

use super::*;
use crate::api::Op;
use crate::bench::client::{self, ClientError, Identity};
use crate::bench::protocol::{
    Claim, Hello, MAX_GREETING, Nonce, PROTOCOL, Register, read_frame, task_digest, write_frame,
};
use crate::contract::{EndedBy, Link, NetworkTarget, NullTarget, Point, Target};

fn point(op: Op, millis: u64, rounds: u32) -> Point {
    Point {
        op: Some(op),
        block_size: 4096,
        object_size: None,
        queue_depth: 4,
        jobs: 1,
        link: None,
        ramp_up_micros: 50_000,
        duration_micros: millis * 1000,
        bytes: None,
        rounds,
    }
}

fn link(source: u32, target: u32, streams: u32) -> Point {
    Point { op: None, block_size: 128 << 10, link: Some(Link { source, target, streams }), ..point(Op::Read, 300, 1) }
}

fn task(clients: u32, target: Target, points: Vec<Point>) -> Task {
    Task {
        version: VERSION,
        run: "run".into(),
        test: "test".into(),
        client: 0,
        nodes: (0..clients).map(|client| format!("node{client}")).collect(),
        target,
        points,
        prepare_timeout_seconds: 10,
        op_timeout_seconds: 5,
    }
}

fn null(clients: u32, points: Vec<Point>) -> Task {
    task(clients, Target::Null(NullTarget { size: 1 << 30 }), points)
}

fn identity(client: u32) -> Identity {
    Identity { uid: format!("uid{client}"), advertise: None }
}

/// Runs the test with all its clients. `meddle` gets the conductor's address and the clients' stops, while it goes.
fn play(
    task: &Task,
    meddle: impl FnOnce(&str, &Token, &[Stop]) + Send,
) -> (Report, Vec<Result<(), ClientError>>, Vec<String>) {
    let token = Token::random().expect("the system has random bytes");
    let conductor = Conductor::bind(task.clone(), token.clone()).expect("loopback");
    let address = conductor.loopback().to_string();
    let stops: Vec<Stop> = task.nodes.iter().map(|_| Stop::new()).collect();
    let lines = Mutex::new(Vec::new());
    let mut observe = |event: Event| lines.lock().expect("no holder panics").extend(text_of(&event));
    let never = Stop::new();
    let (report, results) = thread::scope(|scope| {
        let handles: Vec<_> = stops
            .iter()
            .enumerate()
            .map(|(client, stop)| {
                let task = Task { client: client as u32, ..task.clone() };
                let (token, address) = (&token, &address);
                scope.spawn(move || client::run(task, token, address, &identity(client as u32), stop))
            })
            .collect();
        scope.spawn(|| meddle(&address, &token, &stops));
        let report = conductor.run(&never, &mut observe);
        (report, handles.into_iter().map(|handle| handle.join().expect("no client panics")).collect())
    });
    (report, results, lines.into_inner().expect("no holder panics"))
}

fn failure(report: &Report) -> &str {
    match &report.outcome {
        Outcome::Failed(cause) => cause,
        Outcome::Complete => panic!("it is complete"),
    }
}

#[test]
fn every_round_of_every_point_is_run_by_all_and_merged() {
    let task = null(3, vec![point(Op::Read, 300, 2), point(Op::RandWrite, 200, 1)]);
    let (report, results, lines) = play(&task, |_, _, _| {});
    assert_eq!(report.outcome, Outcome::Complete);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(report.points.iter().map(|point| point.rounds.len()).collect::<Vec<_>>(), [2, 1]);
    for point in &report.points {
        for round in &point.rounds {
            let direction = round.read.as_ref().or(round.write.as_ref()).expect("it moved something");
            assert_eq!(round.clients.iter().map(|client| client.client).collect::<Vec<_>>(), [0, 1, 2]);
            assert_eq!(direction.ops, round.clients.iter().map(|client| client.ops).sum::<u64>());
            assert!(round.clients.iter().all(|client| client.ops > 0));
            assert!(direction.histogram.is_some());
            assert_eq!(round.elapsed_micros, point.point.duration_micros);
            assert!(round.start_spread_micros < 100_000, "{}", round.start_spread_micros);
        }
    }
    let nodes: Vec<_> = report.clients.iter().map(|client| (client.node.as_str(), client.pod_uid.as_str())).collect();
    assert_eq!(nodes, [("node0", "uid0"), ("node1", "uid1"), ("node2", "uid2")]);
    assert!(lines.iter().any(|line| line.starts_with("point 1 of 2, round 2 of 2: read depth 4")), "{lines:?}");
}

#[test]
fn progress_is_told_each_second() {
    let (report, _, lines) = play(&null(2, vec![point(Op::Read, 2_300, 1)]), |_, _, _| {});
    assert_eq!(report.outcome, Outcome::Complete);
    let seconds = lines.iter().filter(|line| line.trim_start().starts_with(['1', '2'])).count();
    assert_eq!(seconds, 2, "{lines:?}");
}

#[test]
fn a_client_that_does_not_come_is_named_with_its_node() {
    let mut task = null(3, vec![point(Op::Read, 100, 1)]);
    task.prepare_timeout_seconds = 1;
    let token = Token::random().expect("the system has random bytes");
    let conductor = Conductor::bind(task.clone(), token.clone()).expect("loopback");
    let address = conductor.loopback().to_string();
    let stop = Stop::new();
    let (report, result) = thread::scope(|scope| {
        let first = scope.spawn(|| client::run(task, &token, &address, &identity(0), &stop));
        (conductor.run(&Stop::new(), &mut |_| {}), first.join().expect("it does not panic"))
    });
    assert_eq!(failure(&report), "client 1 on node1, client 2 on node2 did not register within 1 s");
    assert!(matches!(result, Err(ClientError::Test(cause)) if cause.contains("client 2 on node2")));
}

#[test]
fn strangers_are_refused_with_the_reason_and_disturb_nothing() {
    let task = null(2, vec![point(Op::Read, 1_500, 1)]);
    let (report, results, _) = play(&task, |address, token, _| {
        thread::sleep(Duration::from_millis(700));
        let never = Stop::new();
        let refused = |client: u32, token: &Token, uid: &str, test: &str| {
            let other = Task { client, test: test.into(), ..task.clone() };
            let identity = Identity { uid: uid.into(), advertise: None };
            let error = client::run(other, token, address, &identity, &never).expect_err("is refused");
            let ClientError::Refused { reason } = error else { panic!("{error}") };
            reason
        };
        let wrong = Token::random().expect("the system has random bytes");
        assert_eq!(refused(1, &wrong, "uid1", "test"), "the token is not the run's");
        assert_eq!(refused(1, token, "other", "test"), "client 1 is pod uid1; a second pod, other, is not taken");
        assert_eq!(refused(1, token, "uid1", "test"), "client 1 (pod uid1) is registered already");
        assert_eq!(refused(7, token, "uid7", "test"), "there is no client 7: the test has 2, counted from 0");
        assert!(refused(0, token, "uid0", "x").starts_with("this is test test of run run"));
        let silent = TcpStream::connect(address).expect("listening");
        let noise = TcpStream::connect(address).expect("listening");
        std::io::Write::write_all(&mut &noise, &[0xff; 64]).expect("connected");
        drop((silent, noise));
    });
    assert_eq!(report.outcome, Outcome::Complete);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

#[test]
fn a_client_of_another_protocol_is_told_both_versions() {
    let task = Arc::new(null(1, vec![point(Op::Read, 100, 1)]));
    let token = Token::random().expect("the system has random bytes");
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let (door, _arrivals) = Door::open(listener, task.clone(), token.clone());
    let mut stream = TcpStream::connect(address).expect("listening");
    let Hello { nonce: theirs, .. } = read_frame(&mut stream, MAX_GREETING).expect("greeted");
    let claim = Claim {
        run: "run".into(),
        test: "test".into(),
        client: 0,
        uid: "u".into(),
        advertise: None,
        task_digest: task_digest(&task),
    };
    let nonce = Nonce::random().expect("the system has random bytes");
    let proof = token.prove_claim(&theirs, &nonce, &claim);
    let register = Register { protocol: PROTOCOL + 1, program: "9.9".into(), nonce, claim, proof };
    write_frame(&mut stream, &register).expect("connected");
    let answer: crate::bench::protocol::Answer = read_frame(&mut stream, MAX_GREETING).expect("answered");
    let crate::bench::protocol::Answer::Refused { reason } = answer else { panic!("it is taken") };
    assert!(reason.starts_with("the client speaks protocol 2 (cephbench 9.9), the conductor 1"), "{reason}");
    door.close();
}

#[test]
fn a_client_that_stops_ends_the_test_and_keeps_the_rounds_before() {
    let task = null(3, vec![point(Op::Read, 100, 1), point(Op::Read, 30_000, 1)]);
    let begun = Instant::now();
    let (report, results, _) = play(&task, |_, _, stops| {
        thread::sleep(Duration::from_millis(2_500));
        stops[2].ask(libc::SIGTERM);
    });
    let cause = failure(&report);
    assert!(cause.starts_with("client 2 on node2 stopped at ") && cause.ends_with(" of 30 s: SIGTERM"), "{cause}");
    assert!(begun.elapsed() < Duration::from_secs(8), "the others did not go on: {:?}", begun.elapsed());
    assert_eq!(report.points.iter().map(|point| point.rounds.len()).collect::<Vec<_>>(), [1, 0]);
    assert!(matches!(results[2], Err(ClientError::Stopped { signal: "SIGTERM" })));
    assert!(matches!(&results[0], Err(ClientError::Test(text)) if text == cause));
}

#[test]
fn a_conductor_that_is_stopped_says_how_far_it_came() {
    let task = null(2, vec![point(Op::Read, 30_000, 1)]);
    let token = Token::random().expect("the system has random bytes");
    let conductor = Conductor::bind(task.clone(), token.clone()).expect("loopback");
    let address = conductor.loopback().to_string();
    let (stop, never) = (Stop::new(), Stop::new());
    let report = thread::scope(|scope| {
        for client in 0..2 {
            let task = Task { client, ..task.clone() };
            let (token, address, never) = (&token, &address, &never);
            scope.spawn(move || client::run(task, token, address, &identity(client), never));
        }
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(1_600));
            stop.ask(libc::SIGTERM);
        });
        conductor.run(&stop, &mut |_| {})
    });
    assert_eq!(failure(&report), "stopped at 1 of 30 s: SIGTERM");
}

fn network(loopback: bool, points: Vec<Point>) -> Task {
    task(2, Target::Network(NetworkTarget { loopback }), points)
}

#[test]
fn a_link_counts_what_the_receiver_got() {
    let mut capped = link(1, 0, 2);
    capped.bytes = Some(10_000_001);
    capped.ramp_up_micros = 0;
    capped.duration_micros = 5_000_000;
    let (report, results, _) = play(&network(true, vec![link(0, 1, 1), link(1, 0, 3), capped]), |_, _, _| {});
    assert_eq!(report.outcome, Outcome::Complete, "{results:?}");
    for point in &report.points {
        let round = &point.rounds[0];
        let write = round.write.as_ref().expect("a link's bytes stand under write");
        assert!(write.bytes > 0 && write.histogram.is_none() && round.read.is_none());
        assert_eq!(round.series.iter().map(|sample| sample.bytes).sum::<u64>(), write.bytes);
        let Link { source, target, .. } = point.point.link.expect("asked for");
        let of = |client: u32| round.clients.iter().find(|c| c.client == client).expect("both ends are there");
        assert_eq!(of(target).bytes, write.bytes);
        assert!(round.cpu_micros > 0 && of(source).cpu_micros > 0 && of(target).cpu_micros > 0);
        assert!(point.notes.iter().any(|note| note.starts_with("loopback")), "{:?}", point.notes);
        if point.point.bytes.is_none() {
            let difference = of(source).bytes.abs_diff(write.bytes) as f64 / write.bytes as f64;
            assert!(difference < 0.1, "the sender's count is near: {difference}");
            assert_eq!((round.ended_by, round.elapsed_micros), (EndedBy::Duration, 300_000));
        }
    }
    let capped = &report.points[2].rounds[0];
    assert_eq!(capped.ended_by, EndedBy::Bytes);
    assert_eq!(capped.write.as_ref().map(|write| write.bytes), Some(10_000_001));
    assert!(report.clients.iter().all(|client| client.engine == "tcp"));
}

#[test]
fn a_link_within_one_machine_is_refused_unless_asked_for() {
    let (report, _, _) = play(&network(false, vec![link(0, 1, 1)]), |_, _, _| {});
    let cause = failure(&report);
    assert!(cause.contains("have one address, 127.0.0.1: traffic between them crosses no network"), "{cause}");

    let mut one_node = network(false, vec![link(0, 1, 1)]);
    one_node.nodes = vec!["same".into(), "same".into()];
    let (report, _, _) = play(&one_node, |_, _, _| {});
    assert!(failure(&report).contains("are on one node"), "{}", failure(&report));
}
