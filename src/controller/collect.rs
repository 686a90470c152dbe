//! From a conductor's log to a result: read, verify, digest. What is not a whole, verified report of the right test over its whole window is
//! the test's error, with what is known of the cause.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{Api, LogParams};

use super::context::Context;
use super::error::{ControllerError, During};
use super::observe::Look;
use crate::api::{TestPhase, TestStatus};
use crate::contract::{Decoded, LogError, MAX_COMPRESSED, Outcome, Termination, decode_log};
use crate::plan::PlannedTest;
use crate::plan::decide::{Client, ClientState};
use crate::plan::frozen::PreparedTest;
use crate::resources::{BENCH, REPORT};
use crate::results::artifact::StoredTest;
use crate::results::{digest, unmeasured};

/// Room for a report of the largest size as text, and for lines of others.
const LOG_BYTES: i64 = (MAX_COMPRESSED as i64) * 2;

/// Reads the log of the conductor's report container.
pub async fn read_log(context: &Context, look: &Look) -> Result<String, ControllerError> {
    let pod = look.clients.pods.first().and_then(Option::as_ref);
    let pod = pod.ok_or_else(|| ControllerError::Missing("the conductor has no pod".into()))?;
    let api: Api<Pod> = Api::namespaced(context.client.clone(), &look.owner.namespace);
    let name = pod.name_any();
    let params = LogParams { container: Some(REPORT.into()), limit_bytes: Some(LOG_BYTES), ..LogParams::default() };
    api.logs(&name, &params).await.during(|| format!("read the log of {name}"))
}

/// What a report has to be to count.
pub struct Expected<'a> {
    pub run: &'a str,
    pub planned: &'a PlannedTest,
    pub prepared: &'a PreparedTest,
}

/// The result of a test from its conductor's log and from what its pods say.
pub fn result(log: &str, expected: &Expected, clients: &[Client], pods: &[Option<Pod>]) -> StoredTest {
    let conductor = pods.first().and_then(Option::as_ref);
    match decode_log(log.as_bytes()).map_err(Unusable::Log).and_then(|decoded| checked(decoded, expected, conductor)) {
        Ok(decoded) => {
            let mut status = digest(&decoded.report, expected.planned);
            if status.phase == TestPhase::Error || decoded.report.outcome != Outcome::Complete {
                status.phase = TestPhase::Error;
                status.message = with_pods_causes(status.message, clients);
            }
            StoredTest { status, report: Some(decoded.report) }
        }
        Err(unusable) => StoredTest {
            status: failed(&expected.planned.name, &stopped(&unusable, expected, clients, conductor, log)),
            report: None,
        },
    }
}

/// A test that could not run.
pub fn failed(name: &str, cause: &str) -> TestStatus {
    unmeasured(name, TestPhase::Error, Some(cause.into()))
}

#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("{0}")]
    Log(LogError),
    #[error("it is of run {0} and test {1}")]
    OfAnother(String, String),
    #[error("it is of clients on [{}], and the run's are on [{}]", .found.join(", "), .planned.join(", "))]
    Clients { found: Vec<String>, planned: Vec<String> },
    #[error("its digest is {found}, and the bench said {told}")]
    Digest { found: String, told: String },
}

fn checked(decoded: Decoded, expected: &Expected, conductor: Option<&Pod>) -> Result<Decoded, Unusable> {
    let report = &decoded.report;
    if report.run != expected.run || report.test != expected.planned.name {
        return Err(Unusable::OfAnother(report.run.clone(), report.test.clone()));
    }
    // A test that failed may not have met all of them.
    let nodes: Vec<&String> = report.clients.iter().map(|client| &client.node).collect();
    if report.outcome == Outcome::Complete && !nodes.iter().copied().eq(&expected.prepared.nodes) {
        let found = nodes.into_iter().cloned().collect();
        return Err(Unusable::Clients { found, planned: expected.prepared.nodes.clone() });
    }
    // The bench's own word stands where the log can't reach it.
    if let Some(told) = conductor.and_then(termination).and_then(|termination| termination.digest)
        && told != decoded.packed.digest
    {
        return Err(Unusable::Digest { found: decoded.packed.digest, told });
    }
    Ok(decoded)
}

fn termination(pod: &Pod) -> Option<Termination> {
    serde_json::from_str(bench_end(pod)?.message.as_deref()?).ok()
}

fn bench_end(pod: &Pod) -> Option<&k8s_openapi::api::core::v1::ContainerStateTerminated> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    statuses.iter().find(|container| container.name == BENCH)?.state.as_ref()?.terminated.as_ref()
}

/// What is said of a conductor that left no whole report: how long its bench ran of what was planned, and why.
fn stopped(unusable: &Unusable, expected: &Expected, clients: &[Client], conductor: Option<&Pod>, log: &str) -> String {
    let node = clients.first().map_or("its node", |client| client.node.as_str());
    let planned = expected.prepared.seconds;
    let ran = conductor.and_then(bench_end).and_then(|end| {
        let (started, finished): (Timestamp, Timestamp) = (end.started_at.as_ref()?.0, end.finished_at.as_ref()?.0);
        Some(finished.as_second() - started.as_second())
    });
    let after = match ran {
        Some(ran) if ran < planned as i64 => format!("stopped at {ran} of {planned} s"),
        Some(ran) => format!("stopped after {ran} s"),
        None => "stopped".into(),
    };
    let told = format!("client 0 on {node} {after}: no whole report: {unusable}{}", said_instead(unusable, log));
    with_pods_causes(Some(told), clients).unwrap_or_default()
}

/// What the report container said in place of a report.
fn said_instead(unusable: &Unusable, log: &str) -> String {
    const LONGEST: usize = 200;
    match (unusable, log.lines().find(|line| !line.trim().is_empty())) {
        (Unusable::Log(LogError::NoReport), Some(line)) => {
            format!(", but: {}", line.chars().take(LONGEST).collect::<String>())
        }
        _ => String::new(),
    }
}

/// Adds what the pods say of clients that ended badly: the conductor only sees that a connection broke.
fn with_pods_causes(message: Option<String>, clients: &[Client]) -> Option<String> {
    let cause = |(index, client): (usize, &Client)| match &client.state {
        ClientState::Ended { at: _, reported: _, cause: Some(cause), killed: _ }
        | ClientState::Lost { at: _, cause, killed: _ } => {
            let title = format!("client {index} on {}", client.node);
            // The conductor's words differ from the client's own; their end is the same.
            let end = cause.rsplit(": ").next().unwrap_or(cause);
            let told_already =
                message.as_deref().is_some_and(|message| message.contains(&title) && message.contains(end));
            (!told_already).then(|| format!("{title}: {cause}"))
        }
        ClientState::Absent
        | ClientState::Starting { .. }
        | ClientState::Running { .. }
        | ClientState::Ended { at: _, reported: _, cause: None, killed: _ } => None,
    };
    let causes: Vec<String> = clients.iter().enumerate().filter_map(cause).collect();
    message.clone().into_iter().chain(causes).reduce(|all, one| format!("{all}; {one}"))
}

#[cfg(test)]
mod tests;
