//! The tests of a run, one after the other: what the next one needs, and what its clients say.

use super::clean::{Cleaning, Scope, clean};
use super::observed::{Client, ClientState, Lease, Observed, Run, Served, Test, TestEnd, ThingKind, Trouble};
use super::patience::{self, seconds_between};
use super::step::{Say, Step};
use crate::api::{Phase, TestPhase};

pub(super) fn step(observed: &Observed, run: &Run) -> Step {
    if observed.lease == Lease::Free {
        return Step::TakeLease;
    }
    if !observed.finalizer {
        return Step::AddFinalizer;
    }
    let Some(current) = run.current() else {
        return Step::Wait { seconds: 1, reason: "all tests have ended".into() };
    };
    if let Some(say) = to_say(observed, run, current) {
        return Step::Say(say);
    }
    for earlier in 0..current {
        match clean(observed, Scope::Test { run: run.number, test: earlier }) {
            Cleaning::Next(step) => return step,
            Cleaning::Done { left: _ } => {}
        }
    }
    let test = &run.tests[current];
    match next(observed, run, current, test) {
        Ok(step) => step,
        Err(Failure(cause)) => Step::RecordFailure { test: current, cause },
    }
}

/// Why a test can't go on.
struct Failure(String);

/// The status, where it says something else than what is.
fn to_say(observed: &Observed, run: &Run, current: usize) -> Option<Say> {
    let recorded = &observed.recorded;
    let running = all_running(&run.tests[current]) || was_running(observed, run, current);
    let tests = phases(run, |index| match index {
        index if index > current => TestPhase::Pending,
        _ if running => TestPhase::Running,
        _ => TestPhase::Preparing,
    });
    let begun = running || run.tests.iter().any(|test| test.end.is_some());
    let phase = if begun { Phase::Running } else { Phase::Preparing };
    let said = recorded.is_of(run)
        && recorded.phase == Some(phase)
        && recorded.tests == tests
        && recorded.observed_generation == observed.generation;
    if said { None } else { Some(Say::Going { phase, tests, message: None }) }
}

/// The phase of each test: from its result where it has one, else from `open`.
pub(super) fn phases(run: &Run, open: impl Fn(usize) -> TestPhase) -> Vec<TestPhase> {
    let phase = |(index, test): (usize, &Test)| match test.end {
        Some(TestEnd::Completed) => TestPhase::Completed,
        Some(TestEnd::Error) => TestPhase::Error,
        None => open(index),
    };
    run.tests.iter().enumerate().map(phase).collect()
}

fn all_running(test: &Test) -> bool {
    let listens = |client: &Client| matches!(client.state, ClientState::Running { since: _, address: Some(_) });
    let runs = |client: &Client| matches!(client.state, ClientState::Running { .. });
    test.clients.first().is_some_and(listens) && test.clients.iter().all(runs)
}

/// A test that was Running stays so until it has a result.
fn was_running(observed: &Observed, run: &Run, test: usize) -> bool {
    observed.recorded.is_of(run) && observed.recorded.tests.get(test) == Some(&TestPhase::Running)
}

fn next(observed: &Observed, run: &Run, index: usize, test: &Test) -> Result<Step, Failure> {
    let Some(conductor) = test.clients.first() else {
        return Err(Failure("no client to run it on".into()));
    };
    match &conductor.state {
        ClientState::Absent => {
            if was_running(observed, run, index) || test.clients.iter().any(|client| client.job_made.is_some()) {
                return Err(Failure(format!("the Job of client 0 on {} was deleted by somebody else", conductor.node)));
            }
            prepare(observed, run, index, test)
        }
        ClientState::Starting { .. } => {
            starting(observed, test)?;
            Ok(wait(format!("client 0 starts on {}", conductor.node)))
        }
        ClientState::Running { since, address: None } => {
            in_time(observed, test)?;
            if seconds_between(*since, observed.now) > patience::ADDRESS {
                return Err(Failure(format!(
                    "client 0 on {} runs and has not said within {} s where it listens",
                    conductor.node,
                    patience::ADDRESS
                )));
            }
            Ok(wait(format!("client 0 on {} is to say where it listens", conductor.node)))
        }
        ClientState::Running { since: _, address: Some(address) } => others(observed, run, index, test, address),
        ClientState::Ended { at, reported, cause: _, killed: _ } => {
            let waited = seconds_between(*at, observed.now);
            if *reported || waited > patience::REPORT {
                return Ok(Step::Collect { test: index, last_try: waited > 2 * patience::REPORT });
            }
            Ok(wait("the report is being written".into()))
        }
        ClientState::Lost { at: _, cause, killed: _ } => Err(Failure(describe(0, conductor, cause))),
    }
}

/// What a test needs before its first pod.
fn prepare(observed: &Observed, run: &Run, index: usize, test: &Test) -> Result<Step, Failure> {
    let pool = Needed { needed: test.needs.pool, state: &test.pool, kind: ThingKind::Pool, patience: patience::POOL };
    let user = Needed { needed: test.needs.user, state: &test.user, kind: ThingKind::User, patience: patience::USER };
    if !run.network_policy {
        return Ok(Step::CreateNetworkPolicy { test: index });
    }
    if let Some(step) = pool.served(observed, Step::CreatePool { test: index })? {
        return Ok(step);
    }
    if let Some(step) = user.served(observed, Step::CreateUser { test: index })? {
        return Ok(step);
    }
    if !test.tasks {
        return Ok(Step::CreateTasks { test: index });
    }
    Ok(Step::CreateConductor { test: index })
}

/// A pool or a user that Rook is to make.
struct Needed<'a> {
    needed: bool,
    state: &'a Served,
    kind: ThingKind,
    patience: i64,
}

impl Needed<'_> {
    /// The step that brings it nearer; nothing when it is there or not needed.
    fn served(&self, observed: &Observed, create: Step) -> Result<Option<Step>, Failure> {
        let kind = self.kind.word();
        if !self.needed {
            return Ok(None);
        }
        match self.state {
            Served::Ready => Ok(None),
            Served::Absent => Ok(Some(create)),
            Served::Removing { since } if seconds_between(*since, observed.now) > patience::REMOVAL => {
                Err(Failure(format!("a {kind} of the needed name is being removed and does not go")))
            }
            Served::Removing { since: _ } => Ok(Some(wait(format!("a {kind} of the same name is being removed")))),
            Served::Failed(cause) => Err(Failure(format!("Rook could not make the {kind}: {cause}"))),
            Served::Making { since, said } => {
                if seconds_between(*since, observed.now) > self.patience {
                    let said = said.as_deref().map(|said| format!(" (it says: {said})")).unwrap_or_default();
                    return Err(Failure(format!(
                        "Rook has not made the {kind} within {} s{said}: is its operator running?",
                        self.patience
                    )));
                }
                Ok(Some(wait(format!("Rook makes the {kind}"))))
            }
        }
    }
}

/// The clients after the conductor: those that are missing, those in trouble.
fn others(observed: &Observed, run: &Run, index: usize, test: &Test, address: &str) -> Result<Step, Failure> {
    let missing: Vec<u32> = (0_u32..)
        .zip(&test.clients)
        .filter(|(_, client)| client.state == ClientState::Absent)
        .map(|(index, _)| index)
        .collect();
    starting(observed, test)?;
    in_time(observed, test)?;
    for (number, client) in test.clients.iter().enumerate().skip(1) {
        match &client.state {
            ClientState::Absent | ClientState::Starting { .. } | ClientState::Running { .. } => {}
            // The conductor notices too, and knows more: its report comes first.
            ClientState::Ended { at, reported: _, cause: Some(cause), killed: _ }
            | ClientState::Lost { at, cause, killed: _ } => {
                if seconds_between(*at, observed.now) > patience::EXPLANATION {
                    return Err(Failure(describe(number, client, cause)));
                }
            }
            ClientState::Ended { at: _, reported: _, cause: None, killed: _ } => {}
        }
    }
    if missing.is_empty() {
        return Ok(wait("the clients measure".into()));
    }
    if was_running(observed, run, index) {
        let names: Vec<String> = missing.iter().map(|client| client.to_string()).collect();
        return Err(Failure(format!("the Job of client {} was deleted by somebody else", names.join(", "))));
    }
    Ok(Step::CreateClients { test: index, clients: missing, address: address.into() })
}

/// Fails when a client has not started for too long, with the cause that is known.
fn starting(observed: &Observed, test: &Test) -> Result<(), Failure> {
    for (number, client) in test.clients.iter().enumerate() {
        let ClientState::Starting { since, trouble } = &client.state else { continue };
        let waited = seconds_between(*since, observed.now);
        let lasts = |trouble: &Trouble| seconds_between(trouble.since, observed.now) > patience::TROUBLE;
        match trouble {
            Some(trouble) if trouble.hopeless || lasts(trouble) => {
                return Err(Failure(describe(number, client, &trouble.cause)));
            }
            Some(_) => {}
            None if waited > patience::START => {
                return Err(Failure(describe(number, client, &format!("its pod did not start within {waited} s"))));
            }
            None => {}
        }
    }
    Ok(())
}

/// Fails when the clients have been there for longer than the test may take.
fn in_time(observed: &Observed, test: &Test) -> Result<(), Failure> {
    let Some(begun) = test.clients.first().and_then(|conductor| conductor.job_made) else { return Ok(()) };
    let waited = seconds_between(begun, observed.now);
    if waited > i64::try_from(test.deadline_seconds).unwrap_or(i64::MAX) {
        return Err(Failure(format!(
            "it did not end within {} s, the time planned for it and for its preparation",
            test.deadline_seconds
        )));
    }
    Ok(())
}

fn describe(number: usize, client: &Client, cause: &str) -> String {
    format!("client {number} on {}: {cause}", client.node)
}

fn wait(reason: String) -> Step {
    Step::Wait { seconds: 1, reason }
}
