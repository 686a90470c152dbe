//! A small cluster in memory: keeps what the steps make, lets Rook and the kubelets do their part as time passes, and can cut a step off
//! after any of its writes, as SIGKILL does.

use std::collections::BTreeMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::super::*;
use crate::api::{OnFailure, Phase, TestPhase};
use crate::plan::frozen::{Needs, Remains, RunKey};

pub const CLIENTS: usize = 3;
const MEASURE: i64 = 10;
/// The note of what to sweep, among the tasks.
const NOTE: usize = 9;

#[derive(Clone, Debug)]
struct Pod {
    started: Timestamp,
    ended: Option<Timestamp>,
}

#[derive(Clone, Debug)]
pub struct World {
    pub now: Timestamp,
    pub generation: i64,
    pub key: Option<RunKey>,
    pub suspend: bool,
    pub deleting: bool,
    pub gone: bool,
    pub finalizer: bool,
    pub recorded: Recorded,
    pub lease: Lease,
    pub frozen: BTreeMap<i64, RunKey>,
    pub results: BTreeMap<(i64, usize), TestEnd>,
    pub things: Vec<Thing>,
    made: BTreeMap<String, Timestamp>,
    pods: BTreeMap<(i64, usize, usize), Pod>,
    pub secret: bool,
    pub needs: Vec<Needs>,
    pub home: Home,
    pub refusal: Option<Refusal>,
    /// Conductors started, by run and test: more than one is a doubled measurement.
    pub conductors: BTreeMap<(i64, usize), usize>,
    /// Every phase that the status went through.
    pub phases: Vec<Phase>,
    pub gave_up: Vec<String>,
    /// Pools that are never let go.
    pub pool_is_stuck: bool,
    /// Clients of every test that are taken to have been killed.
    pub killed: Vec<u32>,
    pub remains: Remains,
    pub sweepers_hang: bool,
    noted: BTreeMap<(i64, usize), Vec<u32>>,
    /// Sweepers started, by run, test and client.
    pub swept: BTreeMap<(i64, usize, u32), usize>,
    /// What sweepers could not remove, by run and test.
    pub left: BTreeMap<(i64, usize), Vec<String>>,
    /// Writes left before the operator is killed.
    pub fuse: Option<usize>,
    pub writes: usize,
}

/// The operator was killed.
pub struct Killed;

impl World {
    pub fn new() -> Self {
        World {
            now: Timestamp::from_second(1_800_000_000).expect("in range"),
            generation: 1,
            key: Some(RunKey { spec_hash: "a".into(), trigger: None }),
            suspend: false,
            deleting: false,
            gone: false,
            finalizer: false,
            recorded: Recorded { observed_generation: -1, ..Recorded::default() },
            lease: Lease::Free,
            frozen: BTreeMap::new(),
            results: BTreeMap::new(),
            things: Vec::new(),
            made: BTreeMap::new(),
            pods: BTreeMap::new(),
            secret: false,
            needs: vec![Needs { pool: false, user: false }, Needs { pool: true, user: true }],
            home: Home::default(),
            refusal: None,
            conductors: BTreeMap::new(),
            phases: Vec::new(),
            gave_up: Vec::new(),
            pool_is_stuck: false,
            killed: Vec::new(),
            remains: Remains::Nothing,
            sweepers_hang: false,
            noted: BTreeMap::new(),
            swept: BTreeMap::new(),
            left: BTreeMap::new(),
            fuse: None,
            writes: 0,
        }
    }

    pub fn edit(&mut self, hash: &str) {
        self.key = Some(RunKey { spec_hash: hash.into(), trigger: None });
        self.generation += 1;
    }

    pub fn look(&self) -> Observed {
        let finished = |number: i64| {
            self.recorded.run.as_ref().is_some_and(|run| run.number > number || (run.number == number && run.finished))
        };
        let active = self.frozen.iter().next_back().filter(|(number, _)| !finished(**number));
        let mut observed = Observed {
            now: self.now,
            generation: self.generation,
            deleting: self.deleting,
            finalizer: self.finalizer,
            suspend: self.suspend,
            wanted: self.key.clone().map_or(Wanted::Invalid("spec.x: wrong".into()), Wanted::Valid),
            recorded: self.recorded.clone(),
            lease: self.lease.clone(),
            run: active.map(|(number, key)| self.run(*number, key)),
            things: self.things.clone(),
            records: self.frozen.keys().map(|number| self.record(*number)).collect(),
            preflight: Preflight::Skipped,
            home: self.home.clone(),
        };
        if wants_preflight(&observed) {
            observed.preflight = self.refusal.clone().map_or(Preflight::Ready, Preflight::Refused);
        }
        observed
    }

    fn run(&self, number: i64, key: &RunKey) -> Run {
        let tests = self.needs.iter().enumerate().map(|(test, needs)| Test {
            name: format!("test{test}"),
            needs: *needs,
            pool: self.served(number, test, ThingKind::Pool),
            user: self.served(number, test, ThingKind::User),
            tasks: self.thing(number, test, ThingKind::Task, 0).is_some(),
            clients: (0..CLIENTS).map(|client| self.client(number, test, client)).collect(),
            deadline_seconds: 300,
            end: self.results.get(&(number, test)).copied(),
            remains: self.remains,
            sweeps: self.sweeps(number, test),
            left_noted: self.left.contains_key(&(number, test)),
        });
        Run {
            number,
            key: key.clone(),
            on_failure: OnFailure::Continue,
            network_policy: self
                .things
                .iter()
                .any(|t| t.kind == ThingKind::NetworkPolicy && t.run == number && t.removing.is_none()),
            tests: tests.collect(),
        }
    }

    fn record(&self, number: i64) -> Record {
        let ended = |test: usize| self.results.contains_key(&(number, test));
        let left = self.left.iter().filter(|((run, _), _)| *run == number).flat_map(|(_, left)| left.clone());
        Record { number, whole: (0..self.needs.len()).all(ended), left: left.collect() }
    }

    fn name(run: i64, test: Option<usize>, kind: ThingKind, index: usize) -> String {
        format!("{}-{run}-{test:?}-{index}", kind.word())
    }

    fn thing(&self, run: i64, test: usize, kind: ThingKind, index: usize) -> Option<&Thing> {
        let name = Self::name(run, Some(test), kind, index);
        self.things.iter().find(|thing| thing.name == name)
    }

    fn sweeps(&self, number: i64, test: usize) -> Vec<Sweep> {
        let noted = self.thing(number, test, ThingKind::Task, NOTE).map(|_| &self.noted[&(number, test)]);
        let killed = if self.results.contains_key(&(number, test)) { Some(&self.killed) } else { noted };
        killed
            .into_iter()
            .flatten()
            .map(|client| {
                let job = self.thing(number, test, ThingKind::Sweeper, *client as usize);
                let since = job.map(|job| self.made[&job.name]);
                let sweeper = match since {
                    None => Sweeper::Absent,
                    Some(since) if self.sweepers_hang || patience::seconds_between(since, self.now) < 3 => {
                        Sweeper::Working { since }
                    }
                    Some(_) => Sweeper::Done,
                };
                Sweep { client: *client, what: format!("directory of client {client}"), sweeper }
            })
            .collect()
    }

    fn served(&self, run: i64, test: usize, kind: ThingKind) -> Served {
        let Some(thing) = self.thing(run, test, kind, 0) else { return Served::Absent };
        if let Some(since) = thing.removing {
            return Served::Removing { since };
        }
        let since = self.made[&thing.name];
        if patience::seconds_between(since, self.now) < 5 {
            Served::Making { since, said: None }
        } else {
            Served::Ready
        }
    }

    fn client(&self, run: i64, test: usize, client: usize) -> Client {
        let job = self.thing(run, test, ThingKind::Job, client);
        let job_made = job.map(|job| self.made[&job.name]);
        let node = format!("node{client}");
        let pod = self.pods.get(&(run, test, client));
        let state = match (job, pod) {
            (None, _) => ClientState::Absent,
            (Some(job), _) if job.removing.is_some() => {
                ClientState::Lost { at: self.now, cause: "its Job is being deleted".into(), killed: false }
            }
            (Some(job), None) => ClientState::Starting { since: self.made[&job.name], trouble: None },
            (Some(_), Some(Pod { started, ended: None })) => {
                let listens = patience::seconds_between(*started, self.now) >= 1;
                ClientState::Running { since: *started, address: listens.then(|| "10.0.0.1:4000".into()) }
            }
            (Some(_), Some(Pod { started: _, ended: Some(at) })) => {
                ClientState::Ended { at: *at, reported: true, cause: None, killed: false }
            }
        };
        Client { node, job_made, state }
    }

    /// Counts a write; the operator may die right after it.
    fn wrote(&mut self) -> Result<(), Killed> {
        self.writes += 1;
        match &mut self.fuse {
            None => Ok(()),
            Some(left) => {
                *left -= 1;
                if *left == 0 {
                    self.fuse = None;
                    return Err(Killed);
                }
                Ok(())
            }
        }
    }

    fn make(&mut self, kind: ThingKind, run: i64, test: Option<usize>, index: usize) -> Result<(), Killed> {
        let name = Self::name(run, test, kind, index);
        if !self.things.iter().any(|thing| thing.name == name) {
            self.made.insert(name.clone(), self.now);
            let uid = format!("{name}-{}", self.writes);
            self.things.push(Thing { kind, name, uid, run, test, removing: None, blocked: None });
            if kind == ThingKind::Job && index == 0 {
                *self.conductors.entry((run, test.expect("a job has a test"))).or_default() += 1;
            }
        }
        self.wrote()
    }

    pub fn apply(&mut self, step: Step) -> Result<(), Killed> {
        let run = self.look().run.map_or(0, |run| run.number);
        match step {
            Step::Say(say) => self.say(say),
            Step::TakeLease => {
                assert_eq!(self.lease, Lease::Free);
                self.lease = Lease::Ours;
                self.wrote()
            }
            Step::ReleaseLease => {
                self.lease = Lease::Free;
                self.wrote()
            }
            Step::AddFinalizer => {
                self.finalizer = true;
                self.wrote()
            }
            Step::RemoveFinalizer => {
                self.finalizer = false;
                self.gone = self.deleting;
                self.wrote()
            }
            Step::Freeze { number, key } => {
                assert!(self.finalizer && self.lease == Lease::Ours);
                self.frozen.insert(number, key);
                self.wrote()
            }
            Step::CreateNetworkPolicy { test: _ } => self.make(ThingKind::NetworkPolicy, run, None, 0),
            Step::CreatePool { test } => self.make(ThingKind::Pool, run, Some(test), 0),
            Step::CreateUser { test } => self.make(ThingKind::User, run, Some(test), 0),
            Step::CreateTasks { test } => self.make(ThingKind::Task, run, Some(test), 0),
            Step::CreateConductor { test } => {
                self.secret = true;
                self.wrote()?;
                self.make(ThingKind::Job, run, Some(test), 0)
            }
            Step::CreateClients { test, clients, address } => {
                assert_eq!(address, "10.0.0.1:4000");
                for client in clients {
                    self.make(ThingKind::Job, run, Some(test), client as usize)?;
                }
                Ok(())
            }
            Step::Collect { test, last_try: _ } => self.store(run, test, TestEnd::Completed),
            Step::RecordFailure { test, cause: _ } => self.store(run, test, TestEnd::Error),
            Step::NoteSweeps { test, clients } => {
                self.noted.insert((run, test), clients);
                self.make(ThingKind::Task, run, Some(test), NOTE)
            }
            Step::CreateSweeper { test, client } => {
                assert!(
                    !self.things.iter().any(|t| t.kind == ThingKind::Job && t.test == Some(test)),
                    "clients are gone first"
                );
                *self.swept.entry((run, test, client)).or_default() += 1;
                self.make(ThingKind::Sweeper, run, Some(test), client as usize)
            }
            Step::NoteLeft { test, left } => {
                self.left.insert((run, test), left);
                self.wrote()
            }
            Step::Delete { kind, things } => self.delete(kind, &things),
            Step::Prune { runs } => {
                for number in runs {
                    self.frozen.remove(&number);
                    self.results.retain(|(run, _), _| *run != number);
                    self.wrote()?;
                }
                Ok(())
            }
            Step::GiveUp { left } => {
                self.gave_up = left;
                self.wrote()?;
                self.finalizer = false;
                self.gone = true;
                self.wrote()
            }
            Step::Wait { seconds, reason: _ } => {
                self.pass(seconds as i64);
                Ok(())
            }
            Step::Rest => Ok(()),
        }
    }

    fn store(&mut self, run: i64, test: usize, end: TestEnd) -> Result<(), Killed> {
        self.results.entry((run, test)).or_insert(end);
        self.wrote()
    }

    fn delete(&mut self, kind: ThingKind, targets: &[Target]) -> Result<(), Killed> {
        for target in targets {
            if kind == ThingKind::NetworkPolicy {
                self.secret = false;
                self.wrote()?;
            }
            let now = self.now;
            if let Some(thing) = self.things.iter_mut().find(|thing| thing.uid == target.uid) {
                thing.removing = Some(now);
            }
            self.wrote()?;
        }
        Ok(())
    }

    fn say(&mut self, say: Say) -> Result<(), Killed> {
        let started = self.frozen.iter().next_back().map(|(number, key)| (*number, key.clone()));
        let staying: Vec<String> = self.things.iter().map(describe).collect();
        let recorded = &mut self.recorded;
        recorded.observed_generation = self.generation;
        recorded.message = None;
        let (phase, left) = match say {
            Say::Invalid { message } => {
                recorded.message = Some(message);
                (Phase::Error, staying)
            }
            Say::Suspended => (Phase::Cancelled, staying),
            Say::Queued { behind } => {
                recorded.message = Some(behind);
                (Phase::Queued, Vec::new())
            }
            Say::Refused { number, key, reason: _, message } => {
                recorded.message = Some(message);
                recorded.run = Some(RecordedRun { number, key, finished: true });
                (Phase::Error, Vec::new())
            }
            Say::Going { phase, tests, message } => {
                let (number, key) = started.expect("a run goes only when it is frozen");
                recorded.run = Some(RecordedRun { number, key, finished: false });
                recorded.tests = tests;
                recorded.message = message;
                (phase, Vec::new())
            }
            Say::Finished { tests, left } => {
                let failed = tests.iter().any(|phase| *phase != TestPhase::Completed);
                recorded.tests = tests;
                recorded.run.as_mut().expect("it went").finished = true;
                (if failed { Phase::Error } else { Phase::Passed }, left)
            }
            Say::Cancelled { why: _, tests, left } => {
                recorded.tests = tests;
                recorded.run.as_mut().expect("it went").finished = true;
                (Phase::Cancelled, left)
            }
            Say::Judged { number, left } => {
                assert_eq!(recorded.run.as_ref().map(|run| run.number), Some(number));
                (Phase::Passed, left)
            }
            Say::Leaving { left } => (recorded.phase.unwrap_or(Phase::Error), left),
        };
        recorded.left_behind = !left.is_empty();
        recorded.phase = Some(phase);
        if self.phases.last() != Some(&phase) {
            self.phases.push(phase);
        }
        self.wrote()
    }

    pub fn pass(&mut self, seconds: i64) {
        for _ in 0..seconds {
            self.now += SignedDuration::from_secs(1);
            self.tick();
        }
    }

    /// One second of everybody else's work.
    fn tick(&mut self) {
        let now = self.now;
        let stuck = self.pool_is_stuck;
        let goes = |thing: &Thing| {
            let since = thing.removing.is_some_and(|since| patience::seconds_between(since, now) >= 2);
            since && !(stuck && thing.kind == ThingKind::Pool)
        };
        for job in self.things.iter().filter(|thing| thing.kind == ThingKind::Job) {
            let Some(test) = job.test else { continue };
            let client = job.name.rsplit('-').next().and_then(|index| index.parse().ok()).expect("names end in it");
            if goes(job) {
                self.pods.remove(&(job.run, test, client));
            } else if job.removing.is_none() && patience::seconds_between(self.made[&job.name], now) >= 2 {
                self.pods.entry((job.run, test, client)).or_insert(Pod { started: now, ended: None });
            }
        }
        self.things.retain(|thing| !goes(thing));
        let groups: Vec<(i64, usize)> = self.pods.keys().map(|(run, test, _)| (*run, *test)).collect();
        for (run, test) in groups {
            let of_test: Vec<(i64, usize, usize)> = (0..CLIENTS).map(|client| (run, test, client)).collect();
            let started: Option<Timestamp> = of_test
                .iter()
                .map(|key| self.pods.get(key).map(|pod| pod.started))
                .collect::<Option<Vec<_>>>()
                .and_then(|s| s.into_iter().max());
            if started.is_some_and(|started| patience::seconds_between(started, now) >= MEASURE) {
                for key in of_test {
                    if let Some(pod) = self.pods.get_mut(&key) {
                        pod.ended.get_or_insert(now);
                    }
                }
            }
        }
    }

    /// Goes on, through a kill if the fuse says so, until nothing is left to do.
    pub fn settle(&mut self) {
        for _ in 0..2_000 {
            if self.gone {
                return;
            }
            let step = decide(&self.look());
            if step == Step::Rest {
                return;
            }
            // Killed or not: the next look starts from nothing but the world.
            let _ = self.apply(step);
        }
        panic!("it does not settle: {:?}", decide(&self.look()));
    }

    pub fn assert_nothing_left(&self) {
        assert_eq!(self.things, Vec::new());
        assert!(!self.secret, "the token is left");
        assert!(!self.finalizer, "the finalizer is left");
        assert_eq!(self.lease, Lease::Free);
    }
}
