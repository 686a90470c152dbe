//! Pods of one test as processes, each with the directory that its containers would share.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cephbench::api::Op;
use cephbench::contract::{
    FileTarget, NullTarget, Point, Report, Target, Task, Termination, VERSION, conductor_port, decode_log,
};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(60);

pub fn null_target() -> Target {
    Target::Null(NullTarget { size: 1 << 30 })
}

pub fn file_target(directory: &Path) -> Target {
    Target::File(FileTarget { directory: directory.to_str().expect("UTF-8").into(), size: 8 << 20 })
}

pub fn point(millis: u64, rounds: u32) -> Point {
    Point {
        op: Some(Op::Read),
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

pub struct Pods {
    pub task: Task,
    root: TempDir,
    token: PathBuf,
    directory_per_client: bool,
    tokens: RefCell<u32>,
}

impl Pods {
    pub fn new(clients: u32, target: Target, points: Vec<Point>) -> Pods {
        let root = tempfile::tempdir().expect("a temporary directory");
        let task = Task {
            version: VERSION,
            run: "run".into(),
            test: "test".into(),
            client: 0,
            nodes: (0..clients).map(|client| format!("node{client}")).collect(),
            target,
            points,
            prepare_timeout_seconds: 30,
            op_timeout_seconds: 10,
        };
        let token = root.path().join("token");
        fs::write(&token, "the token of this run, long enough").expect("writable");
        Pods { task, root, token, directory_per_client: false, tokens: RefCell::new(0) }
    }

    /// Each client's file lies in a subdirectory of its own.
    pub fn directory_per_client(&mut self) {
        self.directory_per_client = true;
    }

    pub fn token(&self) -> &Path {
        &self.token
    }

    pub fn write_token(&self, text: &str) -> PathBuf {
        *self.tokens.borrow_mut() += 1;
        let path = self.root.path().join(format!("token-{}", self.tokens.borrow()));
        fs::write(&path, text).expect("writable");
        path
    }

    fn directory(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The conductor first, then the others, who are told its address.
    pub fn start_all(&self) -> Vec<Bench> {
        let conductor = self.start(0, "pod0", None, &self.token, "0");
        let address = conductor.address();
        let mut benches = vec![conductor];
        for client in 1..self.task.nodes.len() as u32 {
            let uid = format!("pod{client}");
            benches.push(self.start(client, &uid, Some(&address), &self.token, &client.to_string()));
        }
        benches
    }

    pub fn start(&self, client: u32, uid: &str, conductor: Option<&str>, token: &Path, name: &str) -> Bench {
        let mut task = Task { client, ..self.task.clone() };
        if let (true, Target::File(target)) = (self.directory_per_client, &mut task.target) {
            target.directory = format!("{}/{client}", target.directory);
            fs::create_dir_all(&target.directory).expect("writable");
        }
        let path = self.root.path().join(format!("task-{name}.json"));
        fs::write(&path, serde_json::to_vec(&task).expect("plain data")).expect("writable");
        let mut command = Command::new(env!("CARGO_BIN_EXE_cephbench"));
        command.args(["agent", "run", "--task"]).arg(&path).arg("--token").arg(token);
        command.arg("--dir").arg(self.directory(name));
        command.env("POD_UID", uid).env("TERMINATION_LOG", self.root.path().join(format!("message-{name}")));
        if let Some(conductor) = conductor {
            command.args(["--conductor", conductor]);
        }
        Bench::start(command)
    }

    /// The report container of a pod: its exit code and standard output.
    pub fn report(&self, client: u32, timeout: &str) -> JoinHandle<(i32, String)> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cephbench"));
        command.args(["agent", "report", "--timeout", timeout, "--dir"]).arg(self.directory(&client.to_string()));
        thread::spawn(move || {
            let output = command.output().expect("it starts");
            let code = output.status.code().expect("it exits");
            (code, String::from_utf8(output.stdout).expect("UTF-8"))
        })
    }

    pub fn read_report(&self, client: u32) -> Report {
        let (code, lines) = self.report(client, "10s").join().expect("it does not panic");
        assert_eq!(code, 0);
        decode_log(lines.as_bytes()).expect("it is whole").report
    }

    pub fn termination(&self, client: u32) -> Termination {
        self.termination_of(&client.to_string())
    }

    pub fn termination_of(&self, name: &str) -> Termination {
        let text = fs::read(self.root.path().join(format!("message-{name}"))).expect("a termination message");
        serde_json::from_slice(&text).expect("it is JSON")
    }
}

/// A bench container that is running. Killed when dropped.
pub struct Bench {
    child: Child,
    log: Arc<(Mutex<String>, Condvar)>,
}

impl Bench {
    fn start(mut command: Command) -> Bench {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        let log = Arc::new((Mutex::new(String::new()), Condvar::new()));
        let shared = log.clone();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let mut text = shared.0.lock().expect("no holder panics");
                text.push_str(&line);
                text.push('\n');
                shared.1.notify_all();
            }
        });
        Bench { child, log }
    }

    pub fn output(&self) -> String {
        self.log.0.lock().expect("no holder panics").clone()
    }

    /// Waits until its log holds a text.
    pub fn wait_for(&self, text: &str) {
        let log = self.log.0.lock().expect("no holder panics");
        let waited = self.log.1.wait_timeout_while(log, PATIENCE, |log| !log.contains(text));
        let (log, result) = waited.expect("no holder panics");
        assert!(!result.timed_out(), "{text:?} did not come: {log}");
    }

    /// Where its conductor listens, on loopback.
    pub fn address(&self) -> String {
        self.wait_for("\n");
        let port = conductor_port(&self.output()).expect("it tells its port first");
        format!("127.0.0.1:{port}")
    }

    pub fn kill(&mut self, signal: i32) {
        let pid = rustix::process::Pid::from_child(&self.child);
        let signal = rustix::process::Signal::from_named_raw(signal).expect("a named signal");
        rustix::process::kill_process(pid, signal).expect("it runs");
    }

    /// Its exit code.
    pub fn wait(&mut self) -> i32 {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                // What it said last is still on its way through the pipe.
                thread::sleep(Duration::from_millis(50));
                return status.code().unwrap_or(-1);
            }
            assert!(Instant::now() < until, "it does not end: {}", self.output());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
