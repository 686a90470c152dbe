//! Two network namespaces joined by a link that is shaped in both directions, and a bench in each.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cephbench::contract::{Link as Ends, NetworkTarget, Point, Report, Target, Task, VERSION, conductor_port, unpack};
use tempfile::TempDir;

/// Rate of the link, in either direction.
pub const MEGABITS: u64 = 200;
const PATIENCE: Duration = Duration::from_secs(60);

static LINKS: AtomicU32 = AtomicU32::new(0);

#[derive(Clone, Copy)]
pub enum Family {
    V4,
    V6,
}

/// Why links can't be made here.
pub fn missing() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("they need root".into());
    }
    for program in ["ip", "tc"] {
        if Command::new(program).arg("-V").output().is_err() {
            return Some(format!("they need the program {program} (Debian: iproute2)"));
        }
    }
    let name = format!("cephbench-{}-try", std::process::id());
    let made = Command::new("ip").args(["netns", "add", &name]).output().ok()?;
    if !made.status.success() {
        return Some("network namespaces can't be made here".into());
    }
    ip(&["netns", "del", &name]);
    None
}

fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().expect("it starts");
    assert!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Removed when dropped.
pub struct Link {
    namespaces: [String; 2],
    addresses: [&'static str; 2],
    files: TempDir,
}

impl Link {
    pub fn new(family: Family) -> Link {
        let number = LINKS.fetch_add(1, Ordering::Relaxed);
        let namespaces = [0, 1].map(|end| format!("cephbench-{}-{number}-{end}", std::process::id()));
        let addresses = match family {
            Family::V4 => ["10.99.0.1", "10.99.0.2"],
            Family::V6 => ["fd99::1", "fd99::2"],
        };
        for namespace in &namespaces {
            ip(&["netns", "add", namespace]);
            ip(&["-n", namespace, "link", "set", "lo", "up"]);
        }
        let [left, right] = &namespaces;
        let link = Link { namespaces: namespaces.clone(), addresses, files: tempfile::tempdir().expect("a directory") };
        ip(&["link", "add", "wire", "netns", left, "type", "veth", "peer", "name", "wire", "netns", right]);
        for (namespace, address) in namespaces.iter().zip(addresses) {
            match family {
                Family::V4 => ip(&["-n", namespace, "addr", "add", &format!("{address}/24"), "dev", "wire"]),
                Family::V6 => ip(&["-n", namespace, "addr", "add", &format!("{address}/64"), "dev", "wire", "nodad"]),
            }
            ip(&["-n", namespace, "link", "set", "wire", "up"]);
            let shape = format!("qdisc add dev wire root tbf rate {MEGABITS}mbit burst 128kb latency 50ms");
            let words = ["netns", "exec", namespace, "tc"].into_iter().chain(shape.split(' '));
            ip(&words.collect::<Vec<_>>());
        }
        link
    }

    /// Bytes that each end's interface has received.
    pub fn counted(&self) -> [u64; 2] {
        [0, 1].map(|end| {
            let path = "/sys/class/net/wire/statistics/rx_bytes";
            let output = Command::new("ip")
                .args(["netns", "exec", &self.namespaces[end], "cat", path])
                .output()
                .expect("it starts");
            String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
        })
    }

    /// Nothing passes any more, and nobody is told.
    pub fn cut(&self) {
        ip(&["-n", &self.namespaces[1], "link", "set", "wire", "down"]);
    }

    pub fn measure(&self, pairs: &[(u32, u32, u32)], seconds: u64) -> Report {
        self.measure_while(pairs, seconds, |_| {})
    }

    /// Measures source, target and streams of each pair; `meddle` is called while the first is measured.
    pub fn measure_while(&self, pairs: &[(u32, u32, u32)], seconds: u64, meddle: impl FnOnce(&Link)) -> Report {
        let task = task(pairs, seconds);
        let token = self.files.path().join("token");
        fs::write(&token, "the token of this run").expect("writable");
        let (mut conductor, log) = self.start(&task, 0, &token, None);
        let port = wait_for(&log, conductor_port);
        let address = match self.addresses[0] {
            v6 if v6.contains(':') => format!("[{v6}]:{port}"),
            v4 => format!("{v4}:{port}"),
        };
        let (mut other, _) = self.start(&task, 1, &token, Some(&address));
        wait_for(&log, |log| log.contains("    1  ").then_some(()));
        meddle(self);
        let until = Instant::now() + PATIENCE + Duration::from_secs(seconds);
        while conductor.try_wait().expect("a child of ours").is_none() {
            assert!(Instant::now() < until, "it does not end: {}", fs::read_to_string(&log).unwrap_or_default());
            thread::sleep(Duration::from_millis(50));
        }
        let _ = other.kill();
        let _ = other.wait();
        let packed = fs::read(self.files.path().join("0/report.json.gz")).expect("a report");
        unpack(&packed).expect("it is whole")
    }

    fn start(&self, task: &Task, end: u32, token: &Path, conductor: Option<&str>) -> (Child, std::path::PathBuf) {
        let path = |name: &str| self.files.path().join(format!("{name}{end}"));
        let task = Task { client: end, ..task.clone() };
        fs::write(path("task"), serde_json::to_vec(&task).expect("plain data")).expect("writable");
        let log = fs::File::create(path("log")).expect("writable");
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespaces[end as usize], env!("CARGO_BIN_EXE_cephbench")]);
        command.args(["agent", "run", "--task"]).arg(path("task")).arg("--token").arg(token);
        command.arg("--dir").arg(self.files.path().join(end.to_string()));
        command.env("POD_UID", format!("pod{end}")).env("POD_IP", self.addresses[end as usize]);
        command.env("TERMINATION_LOG", path("message"));
        if let Some(conductor) = conductor {
            command.args(["--conductor", conductor]);
        }
        (command.stdout(Stdio::from(log)).spawn().expect("it starts"), path("log"))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        for namespace in &self.namespaces {
            let _ = Command::new("ip").args(["netns", "del", namespace]).output();
        }
    }
}

fn wait_for<T>(log: &Path, found: impl Fn(&str) -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        let text = fs::read_to_string(log).unwrap_or_default();
        if let Some(found) = found(&text) {
            return found;
        }
        assert!(Instant::now() < until, "it does not come: {text}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn task(pairs: &[(u32, u32, u32)], seconds: u64) -> Task {
    let point = |&(source, target, streams): &(u32, u32, u32)| Point {
        op: None,
        block_size: 128 << 10,
        object_size: None,
        queue_depth: 1,
        jobs: 1,
        link: Some(Ends { source, target, streams }),
        ramp_up_micros: seconds * 500_000,
        duration_micros: seconds * 1_000_000,
        bytes: None,
        rounds: 1,
    };
    Task {
        version: VERSION,
        run: "run".into(),
        test: "test".into(),
        client: 0,
        nodes: vec!["node0".into(), "node1".into()],
        target: Target::Network(NetworkTarget { loopback: false }),
        points: pairs.iter().map(point).collect(),
        prepare_timeout_seconds: 30,
        op_timeout_seconds: 10,
    }
}
