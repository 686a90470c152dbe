//! The bench's `agent` as a black box: real processes on loopback, as the containers of a test's pods are.

mod bench;

use std::fs;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use cephbench::contract::{Outcome, Termination, decode_log};

use bench::{Bench, Pods, file_target, null_target, point};

#[test]
fn a_test_of_three_pods_ends_with_a_whole_report() {
    let pods = Pods::new(3, null_target(), vec![point(300, 2)]);
    let mut benches = pods.start_all();
    let reporter = pods.report(0, "60s");
    for bench in &mut benches {
        assert_eq!(bench.wait(), 0, "{}", bench.output());
    }
    let (code, lines) = reporter.join().expect("it does not panic");
    assert_eq!(code, 0);
    assert!(lines.lines().all(|line| line.starts_with("cephbench-report ")), "nothing but the report");
    let decoded = decode_log(lines.as_bytes()).expect("it is whole");
    assert_eq!(decoded.report.outcome, Outcome::Complete);
    assert_eq!(decoded.report.points[0].rounds.len(), 2);
    let uids: Vec<_> = decoded.report.clients.iter().map(|client| client.pod_uid.as_str()).collect();
    assert_eq!(uids, ["pod0", "pod1", "pod2"]);
    let message = pods.termination(0);
    assert_eq!(message, Termination::new(None, Some(decoded.packed.digest)));
    assert_eq!(pods.termination(2), Termination::new(None, None));

    let log = benches[0].output();
    let first = log.lines().next().expect("it says something");
    assert!(first.starts_with("cephbench conductor listening on port "), "{first}");
    assert!(log.contains("  sec  in flight   started  finished"), "{log}");
}

#[test]
fn a_pod_that_is_killed_is_named_and_the_others_end() {
    let pods = Pods::new(3, null_target(), vec![point(100, 1), point(30_000, 1)]);
    let mut benches = pods.start_all();
    benches[0].wait_for("point 2 of 2, round 1 of 1: read depth 4 jobs 1 4 KiB: 0.05 s ramp");
    benches[0].wait_for("    3  ");
    let killed = Instant::now();
    benches[2].kill(libc::SIGKILL);
    assert_eq!(benches[0].wait(), 1);
    assert_eq!(benches[1].wait(), 1);
    assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());

    let report = pods.read_report(0);
    let Outcome::Failed(cause) = &report.outcome else { panic!("it is complete") };
    let at = cause.strip_prefix("client 2 on node2 stopped at ").and_then(|rest| rest.split_once(' '));
    let (second, rest) = at.expect("it says when");
    assert_eq!(rest, "of 30 s: connection closed");
    assert!((2..=4).contains(&second.parse::<u32>().expect("a number")), "{cause}");
    assert_eq!(report.points.iter().map(|point| point.rounds.len()).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(pods.termination(0).cause.as_deref(), Some(cause.as_str()));
    assert_eq!(pods.termination(1).cause.as_deref(), Some(cause.as_str()));
}

#[test]
fn a_pod_that_freezes_is_noticed() {
    let pods = Pods::new(2, null_target(), vec![point(60_000, 1)]);
    let mut benches = pods.start_all();
    benches[0].wait_for("    1  ");
    benches[1].kill(libc::SIGSTOP);
    let frozen = Instant::now();
    benches[0].wait_for("failed: client 1 on node1 stopped at ");
    assert!(frozen.elapsed() < Duration::from_secs(25), "{:?}", frozen.elapsed());
    assert_eq!(benches[0].wait(), 1);
    let cause = pods.termination(0).cause.expect("it failed");
    assert!(cause.ends_with(" of 60 s: no sign of life for 15 s"), "{cause}");
}

/// Case C1: half a window is no result, whatever exit code a container has.
#[test]
fn sigterm_ends_the_bench_with_what_it_measured_and_removes_its_files() {
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory on a disk");
    let pods = Pods::new(2, file_target(data.path()), vec![point(100, 1), point(30_000, 1)]);
    let mut benches = pods.start_all();
    benches[0].wait_for("point 2 of 2, round 1 of 1: read depth 4 jobs 1 4 KiB: 0.05 s ramp");
    benches[0].wait_for("    2  ");
    benches[0].kill(libc::SIGTERM);
    assert_eq!(benches[0].wait(), 143);
    assert_eq!(benches[1].wait(), 1);
    let report = pods.read_report(0);
    let Outcome::Failed(cause) = &report.outcome else { panic!("half a window is complete") };
    let second = cause.strip_prefix("stopped at ").and_then(|rest| rest.strip_suffix(" of 30 s: SIGTERM"));
    assert!((1..=3).contains(&second.expect("it says when").parse::<u32>().expect("a number")), "{cause}");
    assert_eq!(report.points.iter().map(|point| point.rounds.len()).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(fs::read_dir(data.path()).expect("it is there").count(), 0, "files remain");
}

#[test]
fn a_conductor_that_is_killed_leaves_no_report_and_its_clients_clean_up() {
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory on a disk");
    let mut pods = Pods::new(2, file_target(data.path()), vec![point(30_000, 1)]);
    pods.directory_per_client();
    let mut benches = pods.start_all();
    let reporter = pods.report(0, "60s");
    benches[0].wait_for("    1  ");
    benches[0].kill(libc::SIGKILL);
    assert_eq!(benches[1].wait(), 1);
    assert_eq!(pods.termination(1).cause.as_deref(), Some("the conductor is lost: connection closed"));
    assert_eq!(fs::read_dir(data.path().join("1")).expect("it is there").count(), 0, "files remain");
    assert_eq!(reporter.join().expect("it does not panic"), (1, String::new()));
}

#[test]
fn a_wrong_token_and_a_second_pod_are_refused_and_disturb_nothing() {
    let pods = Pods::new(2, null_target(), vec![point(3_000, 1)]);
    let mut benches = pods.start_all();
    benches[0].wait_for("    1  ");
    let address = benches[0].address();
    let wrong = pods.write_token("another token of some length");
    let mut stranger = pods.start(1, "pod1", Some(&address), &wrong, "stranger");
    let mut twin = pods.start(1, "twin", Some(&address), pods.token(), "twin");
    assert_eq!(stranger.wait(), 1);
    assert_eq!(twin.wait(), 1);
    assert!(
        stranger.output().contains("refused by the conductor: the token is not the run's"),
        "{}",
        stranger.output()
    );
    assert!(twin.output().contains("client 1 is pod pod1; a second pod, twin, is not taken"), "{}", twin.output());
    assert_eq!(benches[0].wait(), 0, "{}", benches[0].output());
    assert_eq!(benches[1].wait(), 0);
    assert_eq!(pods.read_report(0).outcome, Outcome::Complete);
}

#[test]
fn pods_that_do_not_come_are_named() {
    let mut pods = Pods::new(2, null_target(), vec![point(100, 1)]);
    pods.task.prepare_timeout_seconds = 1;
    let mut conductor = pods.start(0, "pod0", None, pods.token(), "0");
    assert_eq!(conductor.wait(), 1);
    assert_eq!(pods.termination(0).cause.as_deref(), Some("client 1 on node1 did not register within 1 s"));
}

#[test]
fn a_bench_that_never_starts_leaves_the_report_container_waiting_only_so_long() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let begun = Instant::now();
    Command::new(env!("CARGO_BIN_EXE_cephbench"))
        .args(["agent", "report", "--timeout", "1s", "--dir"])
        .arg(directory.path())
        .assert()
        .code(1)
        .stdout("")
        .stderr("no report: the bench did not start within 1 s\n");
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_can_not_be_run_says_why_in_the_termination_message() {
    let pods = Pods::new(2, null_target(), vec![point(100, 1)]);
    let cause = |bench: &mut Bench, name: &str| {
        assert_eq!(bench.wait(), 1);
        pods.termination_of(name).cause.expect("it failed")
    };
    let mut lonely = pods.start(1, "pod1", None, pods.token(), "lonely");
    assert_eq!(cause(&mut lonely, "lonely"), "client 1 needs --conductor ADDRESS:PORT: only client 0 conducts");
    let short = pods.write_token("short");
    let mut unsafe_one = pods.start(0, "pod0", None, &short, "short");
    assert!(cause(&mut unsafe_one, "short").ends_with("has 5 bytes, at least 16 are needed"));

    let mut newer = Pods::new(1, null_target(), vec![point(100, 1)]);
    newer.task.version = 2;
    let mut bench = newer.start(0, "pod0", None, newer.token(), "newer");
    assert_eq!(bench.wait(), 1);
    let cause = newer.termination_of("newer").cause.expect("it failed");
    assert_eq!(cause, "the task has version 2, this program takes version 1");
}

#[test]
fn a_directory_of_memory_is_refused_before_anything_is_measured() {
    let pods = Pods::new(1, file_target(std::path::Path::new("/dev/shm")), vec![point(100, 1)]);
    let mut bench = pods.start(0, "pod0", None, pods.token(), "0");
    assert_eq!(bench.wait(), 1);
    let cause = pods.termination(0).cause.expect("it failed");
    assert!(cause.starts_with("client 0 on node0: ") && cause.contains("tmpfs"), "{cause}");
}

#[test]
fn install_prefers_the_build_for_images_with_ceph() {
    let image = tempfile::tempdir().expect("a temporary directory");
    let shared = tempfile::tempdir().expect("a temporary directory");
    let program = image.path().join("cephbench");
    fs::copy(env!("CARGO_BIN_EXE_cephbench"), &program).expect("copied");
    let install = || {
        Command::new(&program).args(["agent", "install", "--to"]).arg(shared.path()).assert().success();
        fs::read(shared.path().join("cephbench")).expect("installed")
    };
    assert_eq!(install(), fs::read(&program).expect("readable"));
    fs::write(image.path().join("cephbench-glibc"), "the other build").expect("writable");
    assert_eq!(install(), b"the other build");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(shared.path().join("cephbench")).expect("installed").permissions(),
    );
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(fs::read_dir(shared.path()).expect("readable").count(), 1);
}
