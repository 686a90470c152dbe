//! The Ceph to test against, as its administrator sees it: through Ceph's own programs, never through what is tested.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Names its ceph.conf, in a folder as `e2e/ceph/local.sh` makes it; or says `none`, where these tests are run apart from the others.
pub const VARIABLE: &str = "CEPHBENCH_TEST_CEPH_CONF";

#[derive(Clone)]
pub struct Ceph {
    conf: PathBuf,
}

impl Ceph {
    pub fn given() -> Option<Self> {
        std::env::var_os(VARIABLE).filter(|conf| conf != "none").map(|conf| Self { conf: conf.into() })
    }

    pub fn conf(&self) -> &Path {
        &self.conf
    }

    pub fn folder(&self) -> &Path {
        self.conf.parent().expect("a file is in a folder")
    }

    /// Runs one of Ceph's programs as client.admin and returns what it prints.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .arg("--conf")
            .arg(&self.conf)
            .args(arguments)
            .output()
            .unwrap_or_else(|error| panic!("{program} can't be started: {error}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?} failed: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn ceph(&self, command: &str) -> String {
        self.run("ceph", &command.split(' ').collect::<Vec<_>>())
    }

    pub fn ceph_json(&self, command: &str) -> Value {
        serde_json::from_str(&self.ceph(&format!("{command} --format json"))).expect("JSON")
    }

    /// The monitor's address without port.
    pub fn address(&self) -> String {
        let conf = std::fs::read_to_string(&self.conf).expect("the conf can be read");
        let line = conf.lines().find_map(|line| line.strip_prefix("public addr = ")).expect("local.sh writes it");
        line.to_owned()
    }

    pub fn osd_pid(&self, id: u32) -> i32 {
        let file = self.folder().join(format!("run/osd.{id}.pid"));
        std::fs::read_to_string(file).expect("a pid file").trim().parse().expect("a number")
    }

    pub fn signal_osd(&self, id: u32, signal: &str) {
        let status = Command::new("kill").args([signal, &self.osd_pid(id).to_string()]).status().expect("kill");
        assert!(status.success());
    }

    pub fn wait_for(&self, what: &str, seconds: u64, done: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(seconds);
        while !done(self) {
            assert!(Instant::now() < deadline, "gave up waiting for {what} after {seconds} s");
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// A pool of three copies, removed when dropped.
    pub fn pool(&self) -> Pool {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        self.ceph(&format!("osd pool create {name} 16 16"));
        self.ceph(&format!("osd pool application enable {name} cephbench"));
        self.wait_for("the pool's placement groups", 60, |ceph| {
            let status = ceph.ceph_json("status");
            let states = status["pgmap"]["pgs_by_state"].as_array().cloned().unwrap_or_default();
            states.len() == 1 && states[0]["state_name"] == "active+clean"
        });
        Pool { ceph: self.clone(), name }
    }

    /// Makes a user and returns the file with its key alone.
    pub fn user(&self, name: &str, caps: &[&str]) -> PathBuf {
        let entity = format!("client.{name}");
        self.run("ceph", &["auth", "rm", &entity]);
        self.run("ceph", &[&["auth", "get-or-create", &entity], caps].concat());
        let file = self.folder().join(format!("{name}.key"));
        std::fs::write(&file, self.ceph(&format!("auth get-key {entity}"))).expect("the key can be written");
        file
    }
}

pub struct Pool {
    ceph: Ceph,
    pub name: String,
}

impl Pool {
    /// Names of the objects in a namespace.
    pub fn objects(&self, namespace: &str) -> Vec<String> {
        let listed = self.ceph.run("rados", &["--pool", &self.name, "--namespace", namespace, "ls"]);
        listed.lines().map(str::to_owned).collect()
    }

    pub fn rados(&self, namespace: &str, arguments: &[&str]) -> String {
        self.ceph.run("rados", &[&["--pool", &self.name, "--namespace", namespace], arguments].concat())
    }

    /// The pool's line of `rados df`, once the manager knows of at least so many objects.
    pub fn usage(&self, objects: u64) -> Value {
        let mut last = Value::Null;
        for _ in 0..60 {
            let all: Value = serde_json::from_str(&self.ceph.run("rados", &["df", "--format", "json"])).expect("JSON");
            let pools = all["pools"].as_array().expect("pools");
            last = pools.iter().find(|pool| pool["name"] == self.name.as_str()).cloned().unwrap_or_default();
            if last["num_objects"].as_u64() == Some(objects) {
                break;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        last
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let (conf, name) = (self.ceph.conf.as_os_str(), self.name.as_str());
        let mut command = Command::new("ceph");
        command.arg("--conf").arg(conf).args(["osd", "pool", "rm", name, name, "--yes-i-really-really-mean-it"]);
        let removed = command.output().is_ok_and(|output| output.status.success());
        if !removed {
            eprintln!("pool {name} could not be removed");
        }
    }
}
