//! A benchmark run on this machine, without Kubernetes: the same spec, planner, conductor, judgement and status as in a cluster. Every
//! test has one client, here; a network test has two, and its traffic crosses no network, which its figures say.

mod bar;
mod estimate;
mod tasks;

use std::path::PathBuf;
use std::thread;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

pub use bar::{Bar, seconds};
pub use estimate::estimate_text;

use super::client::{self, Identity};
use super::conductor::{Conductor, Event};
use super::protocol::{Nonce, Token};
use super::rados;
use super::stop::Stop;
use crate::api::{
    BenchmarkStatus, CephBenchmark, ClusterStatus, OnFailure, Phase, PoolStatus, RunStatus, TestPhase, TestStatus,
};
use crate::contract::{ClusterFacts, Report, Target, Task};
use crate::plan::{PlannedKind, PlannedPool, PlannedTest, Problem, Validated, validate};
use crate::results::{Parts, assemble, assemble_whole, cause_of, digest, judge, phase_of, reasons, unmeasured};

/// How a Ceph cluster is reached from here.
#[derive(Clone, Debug)]
pub struct CephAccess {
    pub conf: PathBuf,
    /// CephX user without `client.`.
    pub user: String,
    pub keyring: PathBuf,
}

/// Told what goes on, for people.
pub trait Watch {
    /// A test begins: how many of how many, and the time its points take.
    fn test(&mut self, test: &PlannedTest, index: usize, tests: usize);
    fn event(&mut self, event: &Event);
    /// A signal ended the run; what it made is being removed.
    fn stopping(&mut self, signal: &str);
}

/// Checks a benchmark, and what this machine can't do.
pub fn check(benchmark: &CephBenchmark) -> Result<Validated, Vec<Problem>> {
    let validated = validate(&benchmark.spec)?;
    let suspended = benchmark.spec.suspend.then(|| Problem {
        field: "spec.suspend".into(),
        value: "true".into(),
        message: "starts no run; leave it out".into(),
    });
    let tests = validated.plan.tests.iter().enumerate().filter_map(local_problem);
    let problems: Vec<Problem> = suspended.into_iter().chain(tests).collect();
    if problems.is_empty() { Ok(validated) } else { Err(problems) }
}

/// Fields that are set and mean nothing here, for people: every test has its one client on this machine.
pub fn without_effect(benchmark: &CephBenchmark) -> Vec<String> {
    let of_tests = benchmark.spec.tests.iter().enumerate();
    let of_tests =
        of_tests.filter(|(_, test)| test.clients.is_some()).map(|(index, _)| format!("spec.tests[{index}].clients"));
    let of_spec = benchmark.spec.clients.is_some().then(|| "spec.clients".to_owned());
    let cluster = benchmark.spec.ceph_cluster.is_some().then(|| "spec.cephCluster".to_owned());
    cluster.into_iter().chain(of_spec).chain(of_tests).collect()
}

fn local_problem((index, test): (usize, &PlannedTest)) -> Option<Problem> {
    match &test.kind {
        PlannedKind::Rados(PlannedPool::Create { .. }) => Some(Problem {
            field: format!("spec.tests[{index}].rados.pool.create"),
            value: String::new(),
            message: "a local run makes no pools; name one that is there, as in `pool: {name: test}`".into(),
        }),
        PlannedKind::Rados(PlannedPool::Existing { .. })
        | PlannedKind::File { .. }
        | PlannedKind::Device { .. }
        | PlannedKind::Network => None,
    }
}

/// The status of a benchmark that can't be measured.
pub fn refused(benchmark: &CephBenchmark, problems: &[Problem]) -> BenchmarkStatus {
    let message = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let parts = Parts {
        generation: generation(benchmark),
        phase: Phase::Error,
        reason: Some(reasons::INVALID_SPEC.into()),
        message: Some(message),
        run: None,
        progress: None,
        cluster: None,
        tests: Vec::new(),
        gates: Vec::new(),
        artifact: None,
        left_behind: Vec::new(),
    };
    assemble(parts, &[], &now())
}

/// Runs all tests, one after the other, and returns the status with figures and verdicts.
pub fn run(
    benchmark: &CephBenchmark,
    validated: &Validated,
    ceph: &CephAccess,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> BenchmarkStatus {
    let start_time = now();
    let plan = &validated.plan;
    let mut run = Run { id: run_id(), ceph, stop, watch, left_behind: Vec::new(), cluster: None };
    let mut tests: Vec<TestStatus> = Vec::new();
    for (index, test) in plan.tests.iter().enumerate() {
        let abort = plan.on_failure == OnFailure::Abort && tests.iter().any(|test| test.phase == TestPhase::Error);
        if abort || stop.asked().is_some() {
            tests.push(unmeasured(&test.name, TestPhase::Skipped, None));
            continue;
        }
        run.watch.test(test, index, plan.tests.len());
        tests.push(run.test(test));
    }
    let gates = judge(&validated.gates, &tests);
    let (phase, reason) = match stop.asked() {
        Some(_) => (Phase::Cancelled, None),
        None => {
            let phase = phase_of(&tests, &gates);
            (phase, (phase == Phase::Error).then(|| reasons::TEST_ERROR.to_owned()))
        }
    };
    let message = match stop.asked() {
        Some(signal) => Some(format!("stopped by {signal}")),
        None => cause_of(&tests, &gates),
    };
    let parts = Parts {
        generation: generation(benchmark),
        phase,
        reason,
        message,
        run: Some(RunStatus {
            number: 1,
            trigger: benchmark.spec.trigger.clone(),
            spec_hash: plan.spec_hash.clone(),
            start_time,
            completion_time: Some(now()),
        }),
        progress: None,
        cluster: run.cluster,
        tests,
        gates,
        artifact: None,
        left_behind: run.left_behind,
    };
    assemble_whole(parts, &[], &now())
}

fn generation(benchmark: &CephBenchmark) -> i64 {
    benchmark.metadata.generation.unwrap_or(1)
}

fn now() -> Time {
    Time(Timestamp::now())
}

/// Eight random hexadecimal digits keep two runs on one machine, or in one pool, apart.
fn run_id() -> String {
    let random = Nonce::random().map_or([0; 4], |nonce| {
        let bytes = nonce.bytes();
        [bytes[0], bytes[1], bytes[2], bytes[3]]
    });
    format!("local-{:08x}", u32::from_be_bytes(random))
}

struct Run<'a> {
    id: String,
    ceph: &'a CephAccess,
    stop: &'a Stop,
    watch: &'a mut dyn Watch,
    left_behind: Vec<String>,
    cluster: Option<ClusterStatus>,
}

impl Run<'_> {
    fn test(&mut self, test: &PlannedTest) -> TestStatus {
        let task = tasks::build(&self.id, test, self.ceph);
        if let Target::Rados(target) = &task.target
            && let Ok(facts) = rados::facts(target)
        {
            learn(self.cluster.get_or_insert_default(), facts);
        }
        match self.conduct(&task) {
            Ok(report) => digest(&report, test),
            Err(cause) => unmeasured(&test.name, TestPhase::Error, Some(cause)),
        }
    }

    /// Conductor and clients, all in this process.
    fn conduct(&mut self, task: &Task) -> Result<Report, String> {
        let token = Token::random().map_err(|error| error.to_string())?;
        let conductor = Conductor::bind(task.clone(), token.clone()).map_err(|error| error.to_string())?;
        let address = conductor.loopback().to_string();
        // Clients hear of a signal from the conductor, which says how far the test was.
        let deaf = Stop::new();
        let (watch, left_behind, stop) = (&mut *self.watch, &mut self.left_behind, self.stop);
        let mut observe = |event: Event| {
            if let (Event::CleaningUp, Some(signal)) = (&event, stop.asked()) {
                watch.stopping(signal);
            }
            if let Event::NotCleaned { client, problem, .. } = &event {
                left_behind.push(format!("{}, client {client}: {problem}", task.test));
            }
            watch.event(&event);
        };
        let report = thread::scope(|scope| {
            let mut clients = Vec::new();
            for client in 0..task.nodes.len() as u32 {
                let task = Task { client, ..task.clone() };
                let identity = Identity { uid: format!("{}-{client}", self.id), advertise: None };
                let (token, address, deaf) = (&token, &address, &deaf);
                clients.push(scope.spawn(move || client::run(task, token, address, &identity, deaf)));
            }
            let report = conductor.run(self.stop, &mut observe);
            // What became of each client, a panic included, stands in the report.
            clients.into_iter().for_each(|client| drop(client.join()));
            report
        });
        Ok(report)
    }
}

/// What one test's client saw of the cluster; the pools of all tests are kept.
fn learn(status: &mut ClusterStatus, facts: ClusterFacts) {
    let ClusterFacts { fsid, health, osd_versions, osds, hosts, pool, .. } = facts;
    status.fsid = Some(fsid);
    status.ceph_version = (!osd_versions.is_empty()).then(|| osd_versions.join(", "));
    status.osds = Some(osds.into());
    status.hosts = Some(hosts.into());
    status.health = Some(health);
    let Some(pool) = pool else { return };
    if status.pools.iter().all(|known| known.name != pool.name) {
        let (size, pg_num) = (Some(pool.size.into()), Some(pool.pg_num.into()));
        status.pools.push(PoolStatus { name: pool.name, size, pg_num, created: false });
    }
}
