//! `cephbench run` and `plan` as black boxes: shape, invariants and exit codes, never speed.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cephbench");

/// A directory on a disk, for test files, and the benchmark's file beside it.
struct Place {
    data: TempDir,
    spec: TempDir,
}

impl Place {
    fn new() -> Place {
        let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory on a disk");
        Place { data, spec: tempfile::tempdir().expect("a temporary directory") }
    }

    /// `DATA` in the spec becomes the data directory.
    fn write(&self, spec: &str) -> std::path::PathBuf {
        let data = self.data.path().to_str().expect("UTF-8");
        let spec = spec.replace("DATA", data).replace('\n', "\n  ");
        let yaml = format!(
            "apiVersion: cephbench.io/v1alpha1\nkind: CephBenchmark\nmetadata: {{name: sample, namespace: n}}\nspec:\n  {spec}\n"
        );
        let path = self.spec.path().join("benchmark.yaml");
        fs::write(&path, yaml).expect("writable");
        path
    }

    fn run(&self, spec: &str, output: &str) -> Output {
        Command::new(PROGRAM).args(["run", "-o", output, "-f"]).arg(self.write(spec)).output().expect("it starts")
    }

    fn left(&self) -> usize {
        fs::read_dir(self.data.path()).expect("it is there").count()
    }
}

fn object(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn condition<'a>(object: &'a Value, name: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array().expect("conditions are always there");
    conditions.iter().find(|condition| condition["type"] == name).expect("every condition is there")
}

const WHOLE: &str = "\
trigger: one
defaults: {rampUp: 100ms, duration: 1s, rounds: 2}
tests:
- name: disk
  disk: {file: {directory: DATA, size: \"8388608\"}}
  workload: {op: [write, randread], blockSize: [4Ki], queueDepth: [4], jobs: [2]}
- name: network
  network: {streams: [1, 2]}
  workload: {rounds: 1}
gates:
- {name: no-errors, test: disk, metric: errors, max: 0}
- {name: some, test: network, metric: bandwidth, min: 1Ki}
";

#[test]
fn the_whole_object_is_printed_and_nothing_else() {
    let place = Place::new();
    let output = place.run(WHOLE, "json");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let object = object(&output);
    assert_eq!(object["apiVersion"], "cephbench.io/v1alpha1");
    assert_eq!(object["kind"], "CephBenchmark");
    assert_eq!(object["metadata"], json!({"name": "sample", "namespace": "n"}));
    // Case D7: every field reads back as it was written.
    assert_eq!(object["spec"]["tests"][0]["disk"]["file"]["size"], "8388608");
    assert_eq!(object["spec"]["tests"][0]["workload"]["blockSize"], json!(["4Ki"]));
    assert_eq!(object["spec"]["defaults"], json!({"rampUp": "100ms", "duration": "1s", "rounds": 2}));

    let status = &object["status"];
    assert_eq!(status["phase"], "Passed");
    assert_eq!(status["run"]["trigger"], "one");
    assert_eq!(status["gatesSummary"], "2/2");
    assert_eq!(condition(&object, "Ready")["status"], "True");
    assert_eq!(condition(&object, "Stalled")["status"], "False");
    let points = |test: usize| status["tests"][test]["points"].as_array().expect("points").clone();
    for point in points(0).iter().chain(&points(1)) {
        assert!(point["bandwidth"]["bytesPerSecond"].as_i64().expect("an integer") > 0, "{point}");
        assert_eq!(point["errors"], 0);
        assert_ne!(point["validity"]["verdict"], "Invalid", "{point}");
    }
    let disk = &points(0)[0];
    assert_eq!((&disk["op"], &disk["blockSize"], &disk["jobs"]), (&json!("write"), &json!(4096), &json!(2)));
    let latency = |name: &str| disk["latency"][name].as_f64().expect("a number");
    assert!(latency("p50Micros") <= latency("p99Micros") && latency("p99Micros") <= latency("maxMicros"));
    assert_eq!(disk["rounds"].as_array().map(Vec::len), Some(2));
    assert_eq!(points(1).len(), 4);
    assert_eq!(points(1)[0]["source"], "loopback-0");
    assert!(points(1)[0].get("latency").is_none() && points(1)[0].get("iops").is_none());
    assert_eq!(place.left(), 0, "files remain");
}

#[test]
fn a_table_for_people_and_yaml_for_others() {
    let place = Place::new();
    let table = place.run(WHOLE, "table");
    let text = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(text.starts_with("n/sample: Passed\n") && text.contains("loopback-0 → loopback-1"), "{text}");
    let yaml: Value = serde_yaml_ng::from_slice(&place.run(WHOLE, "yaml").stdout).expect("YAML");
    assert_eq!(yaml["status"]["phase"], "Passed");
}

const SHORT: &str = "defaults: {rampUp: 0s, duration: 1s, rounds: 1}\n";

#[test]
fn a_gate_that_fails_exits_with_1() {
    let place = Place::new();
    let spec = format!(
        "{SHORT}tests: [{{name: n, network: {{}}}}]\ngates: [{{name: g, test: n, metric: bandwidth, min: 1Pi}}]"
    );
    let output = place.run(&spec, "json");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(object(&output)["status"]["gates"][0]["verdict"], "Failed");
}

#[test]
fn a_test_that_can_not_run_is_an_error_and_the_next_runs_unless_aborted() {
    let place = Place::new();
    let tests = "tests:\n- {name: memory, disk: {file: {directory: /dev/shm, size: 8Mi}}}\n- {name: n, network: {}}\n";
    let output = place.run(&format!("{SHORT}{tests}"), "json");
    assert_eq!(output.status.code(), Some(2));
    let status = &object(&output)["status"];
    assert_eq!(status["phase"], "Error");
    assert!(status["message"].as_str().is_some_and(|message| message.contains("tmpfs")), "{status}");
    assert_eq!((&status["tests"][0]["phase"], &status["tests"][1]["phase"]), (&json!("Error"), &json!("Completed")));

    let output = place.run(&format!("onFailure: Abort\n{SHORT}{tests}"), "json");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(object(&output)["status"]["tests"][1]["phase"], "Skipped");
}

#[test]
fn ctrl_c_cleans_up_and_exits_with_2() {
    let place = Place::new();
    let spec = "tests:\n- {name: d, disk: {file: {directory: DATA, size: 8Mi}}, workload: {op: [write]}}\n- {name: n, network: {}}\n";
    let child = Command::new(PROGRAM)
        .args(["run", "-o", "json", "-f"])
        .arg(place.write(spec))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    // More than fills the file: it measures.
    until_it_wrote(&child, 32 << 20);
    let asked = Instant::now();
    signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().expect("it ends");
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    assert_eq!(output.status.code(), Some(2));
    let status = &object(&output)["status"];
    assert_eq!(status["phase"], "Cancelled");
    let message = status["tests"][0]["message"].as_str().expect("it says where it was");
    assert!(message.contains("stopped") && message.contains("SIGINT"), "{message}");
    assert_eq!(status["tests"][1]["phase"], "Skipped");
    assert_eq!(place.left(), 0, "files remain");
}

/// A link is busy all the time: it never waits for anything.
#[test]
fn ctrl_c_ends_a_network_test() {
    let place = Place::new();
    let child = Command::new(PROGRAM)
        .args(["run", "-f"])
        .arg(place.write("defaults: {rampUp: 0s, duration: 60s}\ntests:\n- {name: n, network: {}}\n"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    until_it_worked(&child, 50);
    let asked = Instant::now();
    signal(&child, rustix::process::Signal::INT);
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(2));
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
}

/// Waits until a process has used so many hundredths of a second of CPU: it measures then.
fn until_it_worked(child: &Child, ticks: u64) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it runs");
        let fields: Vec<&str> = stat.rsplit(')').next().expect("fields after the name").split_whitespace().collect();
        let used: u64 = fields[11..13].iter().map(|text| text.parse::<u64>().expect("a number")).sum();
        if used >= ticks {
            return;
        }
        assert!(Instant::now() < deadline, "{stat}");
        thread::yield_now();
    }
}

/// Filling a file can take longer than measuring it.
#[test]
fn ctrl_c_ends_a_preparation_too() {
    let place = Place::new();
    let spec = "tests:\n- {name: d, disk: {file: {directory: DATA, size: 2Gi}}}\n";
    let mut child = Command::new(PROGRAM)
        .args(["run", "-f"])
        .arg(place.write(spec))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    until_it_wrote(&child, 1 << 20);
    let asked = Instant::now();
    signal(&child, rustix::process::Signal::TERM);
    assert_eq!(child.wait().expect("it ends").code(), Some(2));
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(place.left(), 0, "files remain");
}

/// Waits until the kernel has counted so many bytes that a process wrote: it is at work then.
fn until_it_wrote(child: &Child, bytes: u64) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let counters = fs::read_to_string(format!("/proc/{}/io", child.id())).expect("it runs");
        let written = counters.lines().find_map(|line| line.strip_prefix("write_bytes: "));
        if written.expect("the kernel counts them").parse::<u64>().expect("a number") >= bytes {
            return;
        }
        assert!(Instant::now() < deadline, "{counters}");
        thread::yield_now();
    }
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).expect("it runs");
}

#[test]
fn a_suspended_benchmark_is_not_run_and_what_means_nothing_here_is_named() {
    let place = Place::new();
    let disk = "tests:\n- {name: d, disk: {file: {directory: DATA, size: 8Mi}}, workload: {bytes: 4Mi, rounds: 1}}\n";
    let run = |head: &str| {
        let file = place.write(&format!("{head}\n{disk}"));
        let output = Command::new(PROGRAM).args(["run", "-f"]).arg(file).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run("suspend: true");
    assert!(code == Some(2) && said.contains("spec.suspend: true: starts no run"), "{code:?}: {said}");
    let (code, said) = run("clients: {perNode: 3}");
    assert!(code == Some(0) && said.contains("spec.clients has no effect in a local run"), "{code:?}: {said}");
}

#[test]
fn what_is_wrong_is_refused_with_its_field_before_anything_runs() {
    let place = Place::new();
    let disk = "name: d, disk: {file: {directory: DATA, size: 8Mi}}";
    let many: Vec<String> = (1..=32).map(|depth| depth.to_string()).collect();
    let jobs: Vec<String> = (1..=17).map(|jobs| jobs.to_string()).collect();
    for (spec, field) in [
        (format!("tests: [{{{disk}}}]\nnonsense: 1"), "spec.nonsense"),
        (format!("tests: [{{{disk}, network: {{}}}}]"), "spec.tests[0]"),
        (format!("tests: [{{{disk}, workload: {{blockSize: [4k]}}}}]"), "spec.tests[0].workload.blockSize[0]"),
        (
            format!(
                "tests: [{{{disk}, workload: {{queueDepth: [{}], jobs: [{}]}}}}]",
                many.join(", "),
                jobs.join(", ")
            ),
            "spec.tests[0].workload",
        ),
        (format!("tests: [{{{disk}}}]\ngates: [{{name: g, test: x, metric: errors, max: 0}}]"), "spec.gates[0].test"),
        ("tests: [{name: p, rados: {pool: {create: {}}}}]".into(), "spec.tests[0].rados.pool.create"),
    ] {
        let output = place.run(&spec, "table");
        assert_eq!(output.status.code(), Some(2), "{spec}");
        assert!(stderr(&output).contains(field), "{field} is not in {}", stderr(&output));
        assert_eq!(place.left(), 0);
    }
}

#[test]
fn a_spec_that_can_not_run_here_has_a_status_that_says_so() {
    let place = Place::new();
    let output = place.run("tests: [{name: p, rados: {pool: {create: {}}}}]", "json");
    assert_eq!(output.status.code(), Some(2));
    let object = object(&output);
    assert_eq!(object["status"]["phase"], "Error");
    let stalled = condition(&object, "Stalled");
    assert_eq!((&stalled["status"], &stalled["reason"]), (&json!("True"), &json!("InvalidSpec")));
}

#[test]
fn a_file_that_is_not_there_exits_with_2() {
    let output = Command::new(PROGRAM).args(["run", "-f", "/nonexistent.yaml"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("/nonexistent.yaml"));
}

#[test]
fn ceph_that_is_not_there_is_an_error_that_names_what_is_missing() {
    let place = Place::new();
    let spec = format!("{SHORT}tests: [{{name: p, rados: {{pool: {{name: some}}}}}}]");
    let path = place.write(&spec);
    let output = Command::new(PROGRAM)
        .args(["run", "-o", "json", "--conf", "/nonexistent/ceph.conf", "--keyring", "/nonexistent/keyring", "-f"])
        .arg(path)
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let message = object(&output)["status"]["message"].as_str().expect("a cause").to_owned();
    assert!(message.contains("/nonexistent") || message.contains("librados"), "{message}");
}

#[test]
fn the_plan_shows_what_it_takes_and_runs_nothing() {
    let place = Place::new();
    let output = Command::new(PROGRAM)
        .args(["plan", "--clients", "3", "-f"])
        .arg(place.write(WHOLE))
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["disk: file of 8 MiB in ", "3 clients", "points   12", "space ", "memory ", "2 tests, 2 gates: "] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert_eq!(place.left(), 0);
}

/// The quickstart promises less than a minute, here and on three nodes.
#[test]
fn the_quickstart_is_quick() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests/samples/quickstart.yaml");
    let text = fs::read_to_string(path).expect("it is part of the source");
    let benchmark = cephbench::plan::parse(&text).expect("it is strict YAML");
    let validated = cephbench::plan::validate(&benchmark.spec).expect("it is sound");
    let seconds: u64 = validated.plan.tests.iter().map(|test| cephbench::plan::estimate(test, 3).seconds).sum();
    assert!(seconds <= 45, "{seconds} s of measuring leave too little for the rest of a minute");
}
