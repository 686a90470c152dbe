//! What may be done next. Each step is safe to do again: an operator that was killed in the middle finds what it had done.

use super::observed::ThingKind;
use crate::api::{Phase, TestPhase};
use crate::plan::frozen::RunKey;

/// One thing to do. Tests are named by index.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Write the status.
    Say(Say),
    TakeLease,
    ReleaseLease,
    AddFinalizer,
    RemoveFinalizer,
    /// Store plan and lookups in an immutable ConfigMap: from here on the run exists.
    Freeze {
        number: i64,
        key: RunKey,
    },
    /// Let the run's pods, and only them, talk; for the first test that needs it.
    CreateNetworkPolicy {
        test: usize,
    },
    CreatePool {
        test: usize,
    },
    CreateUser {
        test: usize,
    },
    CreateTasks {
        test: usize,
    },
    /// The token Secret, then the conductor's Job.
    CreateConductor {
        test: usize,
    },
    CreateClients {
        test: usize,
        clients: Vec<u32>,
        address: String,
    },
    /// Read the report, verify it and store the result. With `last_try` a report that can't be read is the test's error.
    Collect {
        test: usize,
        last_try: bool,
    },
    /// Store the result of a test that could not run.
    RecordFailure {
        test: usize,
        cause: String,
    },
    /// Keep in mind which clients of a test that is stopped are to be swept up after.
    NoteSweeps {
        test: usize,
        clients: Vec<u32>,
    },
    /// Remove what a client that was killed left.
    CreateSweeper {
        test: usize,
        client: u32,
    },
    /// Tell what sweepers of a test could not remove, and keep it for the status.
    NoteLeft {
        test: usize,
        left: Vec<String>,
    },
    Delete {
        kind: ThingKind,
        things: Vec<Target>,
    },
    /// Delete plans and results of runs with these numbers.
    Prune {
        runs: Vec<i64>,
    },
    /// Tell in an Event what stays behind, before the finalizer goes.
    GiveUp {
        left: Vec<String>,
    },
    /// Nothing to do for so long, unless something changes before.
    Wait {
        seconds: u64,
        reason: String,
    },
    /// Nothing to do until something changes.
    Rest,
}

/// An object to delete; the UID makes sure that it is still the one that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub name: String,
    pub uid: String,
    pub run: i64,
}

/// What the status is to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Say {
    /// The spec does not hold together.
    Invalid {
        message: String,
    },
    /// No run begins while `suspend` is set.
    Suspended,
    Queued {
        behind: String,
    },
    /// A run that could not begin.
    Refused {
        number: i64,
        key: RunKey,
        reason: String,
        message: String,
    },
    /// The run that is going.
    Going {
        phase: Phase,
        tests: Vec<TestPhase>,
        message: Option<String>,
    },
    /// The run ended by itself.
    Finished {
        tests: Vec<TestPhase>,
        left: Vec<String>,
    },
    /// The run was ended from outside.
    Cancelled {
        why: String,
        tests: Vec<TestPhase>,
        left: Vec<String>,
    },
    /// The last run's results, judged by the gates of today.
    Judged {
        number: i64,
        left: Vec<String>,
    },
    /// The benchmark is being deleted and something stays in the way.
    Leaving {
        left: Vec<String>,
    },
}
