//! Everything that a decision rests on: what was read live, as plain values. Nothing here is remembered between two looks.

use k8s_openapi::jiff::Timestamp;

use crate::api::{OnFailure, Phase, TestPhase};
use crate::plan::frozen::{Needs, Remains, RunKey};

/// One look at a benchmark and all that belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    pub now: Timestamp,
    pub generation: i64,
    pub deleting: bool,
    pub finalizer: bool,
    pub suspend: bool,
    pub wanted: Wanted,
    pub recorded: Recorded,
    pub lease: Lease,
    /// The run whose frozen plan is there and which the status does not call finished.
    pub run: Option<Run>,
    /// Every object that any run of this benchmark made and that is to go again.
    pub things: Vec<Thing>,
    /// The runs whose frozen plan is there.
    pub records: Vec<Record>,
    pub preflight: Preflight,
    pub home: Home,
}

/// What the spec asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It does not hold together; the text says all that is wrong.
    Invalid(String),
    Valid(RunKey),
}

/// What the status says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    pub observed_generation: i64,
    pub phase: Option<Phase>,
    pub message: Option<String>,
    pub run: Option<RecordedRun>,
    pub tests: Vec<TestPhase>,
    /// Whether it speaks of objects that could not be removed.
    pub left_behind: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRun {
    pub number: i64,
    pub key: RunKey,
    pub finished: bool,
}

/// What is kept of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub number: i64,
    /// Whether it came to its own end: every test has a result, or was skipped after one that failed.
    pub whole: bool,
    /// What its sweepers could not remove: nobody here can.
    pub left: Vec<String>,
}

/// Who has the Ceph cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lease {
    /// It is not known yet which cluster it is.
    Unknown,
    Free,
    Ours,
    /// Namespace and name of the benchmark that has it.
    Other(String),
}

/// Whether a new run could begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preflight {
    /// Not looked at: nothing is to begin.
    Skipped,
    Refused(Refusal),
    Ready,
}

/// Why a run can't begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A word for machines, such as `NoCephCluster`.
    pub reason: String,
    /// Field, value and what would be right.
    pub message: String,
    /// Whether another run that is going could be the cause: then it is asked again when that one has ended.
    pub passing: bool,
}

/// Where the benchmark lives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Home {
    pub namespace_terminating: bool,
    /// The CephCluster of the run is gone: nobody serves pools and users any more.
    pub cluster_gone: bool,
}

/// The run that is going.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub number: i64,
    pub key: RunKey,
    pub on_failure: OnFailure,
    pub network_policy: bool,
    pub tests: Vec<Test>,
}

/// A test of the run that is going.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    pub name: String,
    pub needs: Needs,
    pub pool: Served,
    pub user: Served,
    /// All task ConfigMaps are there.
    pub tasks: bool,
    /// By index; the first is the conductor.
    pub clients: Vec<Client>,
    /// How long the clients may exist in all.
    pub deadline_seconds: u64,
    pub end: Option<TestEnd>,
    /// What its clients leave when they are killed.
    pub remains: Remains,
    /// Clients that were killed and may have left what only the bench can remove: known once the test has ended, or is noted to be stopped.
    pub sweeps: Vec<Sweep>,
    /// What its sweepers could not remove is noted.
    pub left_noted: bool,
}

/// A client that was killed, and what sweeps up after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    pub client: u32,
    /// What may be left, for people.
    pub what: String,
    pub sweeper: Sweeper,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sweeper {
    Absent,
    Working { since: Timestamp },
    Done,
    Failed(String),
}

/// How a test ended, from its stored result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestEnd {
    Completed,
    Error,
}

/// An object that Rook serves: a pool or a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    Absent,
    Making { since: Timestamp, said: Option<String> },
    Ready,
    Failed(String),
    Removing { since: Timestamp },
}

/// A client: its Job and its pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    pub node: String,
    /// When its Job was made; absent while there is none.
    pub job_made: Option<Timestamp>,
    pub state: ClientState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// No Job.
    Absent,
    /// A Job, and no bench that runs yet.
    Starting { since: Timestamp, trouble: Option<Trouble> },
    /// The bench runs. `address` is where a conductor listens, once it said so.
    Running { since: Timestamp, address: Option<String> },
    /// The bench has stopped. `reported`: the report container has stopped as well. `cause`: what the pod says of a bad end. `killed`: the
    /// bench had no time to clean up.
    Ended { at: Timestamp, reported: bool, cause: Option<String>, killed: bool },
    /// It was there and is no more, or never will be. `killed`: its bench may have run and had no time to clean up.
    Lost { at: Timestamp, cause: String, killed: bool },
}

impl ClientState {
    /// Whether its bench ended without a chance to remove what it made.
    pub fn was_killed(&self) -> bool {
        match self {
            ClientState::Ended { at: _, reported: _, cause: _, killed }
            | ClientState::Lost { at: _, cause: _, killed } => *killed,
            ClientState::Absent | ClientState::Starting { .. } | ClientState::Running { .. } => false,
        }
    }
}

/// Why a client does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub cause: String,
    pub since: Timestamp,
    /// Trying again can't help.
    pub hopeless: bool,
}

/// Kinds of objects that go again, in the order of their removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThingKind {
    Job,
    Pod,
    /// While a test's tasks are there, its sweepers may be needed.
    Task,
    Sweeper,
    SweeperPod,
    User,
    Pool,
    /// Last: while it is there, the token Secret may be.
    NetworkPolicy,
}

/// An object that a run made and that is to go again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    pub kind: ThingKind,
    pub name: String,
    pub uid: String,
    /// Number of the run that made it.
    pub run: i64,
    /// Index of the test; absent for what serves the whole run.
    pub test: Option<usize>,
    /// Since when it is being removed.
    pub removing: Option<Timestamp>,
    /// What is said to be in its way.
    pub blocked: Option<String>,
}
