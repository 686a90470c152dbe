//! Turns a client's Job, pods and Events into its state. Pure. An exit code or a phase never says that a client succeeded: only a report
//! does. And the Job's own conditions don't say that it goes on: a container that somebody put into the pod may never end.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{
    ContainerState, ContainerStateTerminated, ContainerStatus, Pod, PodCondition, PodStatus,
};
use k8s_openapi::jiff::Timestamp;

use super::foreign::with_foreign_containers;
use super::warning::Warnings;
use crate::contract::{AgentOutcome, Termination};
use crate::plan::decide::{ClientState, Trouble};
use crate::resources::{BENCH, REPORT};

/// What was seen of a client.
pub struct Seen<'a> {
    pub job: Option<&'a Job>,
    /// A Job may start a pod twice.
    pub pods: Vec<&'a Pod>,
    /// What Events say of a Job or pod that does not get on.
    pub warnings: Warnings,
    /// Where the conductor said that it listens.
    pub address: Option<String>,
    pub now: Timestamp,
}

pub fn client_state(seen: Seen) -> ClientState {
    let Some(job) = seen.job else { return ClientState::Absent };
    let made = job.metadata.creation_timestamp.as_ref().map_or(seen.now, |time| time.0);
    if let Some(deleted) = &job.metadata.deletion_timestamp {
        return ClientState::Lost { at: deleted.0, cause: "its Job was deleted".into(), killed: false };
    }
    match pod_of(&seen.pods) {
        Some(pod) => of_pod(pod, made, seen.warnings, seen.address),
        None => match failed(job) {
            Some((at, cause)) => ClientState::Lost { at: at.unwrap_or(seen.now), cause, killed: true },
            None => ClientState::Starting { since: made, trouble: told(seen.warnings, made) },
        },
    }
}

/// The pod that counts: one that stays before one that goes, the older before the younger.
pub fn pod_of<'a>(pods: &[&'a Pod]) -> Option<&'a Pod> {
    let rank = |pod: &&&Pod| {
        let metadata = &pod.metadata;
        (metadata.deletion_timestamp.is_some(), metadata.creation_timestamp.as_ref().map(|time| time.0))
    };
    pods.iter().min_by_key(rank).copied()
}

/// Why a Job without a pod will not have one any more.
fn failed(job: &Job) -> Option<(Option<Timestamp>, String)> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let condition = conditions.iter().find(|condition| condition.type_ == "Failed" && condition.status == "True")?;
    let at = condition.last_transition_time.as_ref().map(|time| time.0);
    let cause = match condition.reason.as_deref() {
        Some("BackoffLimitExceeded") => "its pod was deleted".to_owned(),
        Some(reason) => {
            format!("its Job failed: {reason}: {}", condition.message.as_deref().unwrap_or("without a message"))
        }
        None => "its Job failed".to_owned(),
    };
    Some((at, cause))
}

fn told(warnings: Warnings, made: Timestamp) -> Option<Trouble> {
    let (cause, since) = warnings.now?;
    Some(Trouble { cause, since: since.unwrap_or(made), hopeless: false })
}

fn of_pod(pod: &Pod, made: Timestamp, warnings: Warnings, address: Option<String>) -> ClientState {
    let unknown = PodStatus::default();
    let status = pod.status.as_ref().unwrap_or(&unknown);
    if let Some(ended) = bench_ended(status) {
        return ended;
    }
    if let Some(deleted) = &pod.metadata.deletion_timestamp {
        return ClientState::Lost { at: deleted.0, cause: gone(status, "its pod was deleted"), killed: true };
    }
    if status.phase.as_deref() == Some("Failed") {
        let at = pod.metadata.creation_timestamp.as_ref().map_or(made, |time| time.0);
        return ClientState::Lost { at, cause: failed_before_bench(status), killed: false };
    }
    let bench = container(status, BENCH).and_then(|container| container.state.as_ref());
    if let Some(running) = bench.and_then(|state| state.running.as_ref()) {
        let since = running.started_at.as_ref().map_or(made, |time| time.0);
        return ClientState::Running { since, address };
    }
    let failed = warnings.failed;
    let trouble = unschedulable(status, made).or_else(|| waiting(status, failed, made)).or(told(warnings, made));
    ClientState::Starting { since: made, trouble }
}

fn container<'a>(status: &'a PodStatus, name: &str) -> Option<&'a ContainerStatus> {
    status.container_statuses.as_ref()?.iter().find(|container| container.name == name)
}

fn is_terminated(state: Option<&ContainerState>) -> bool {
    state.is_some_and(|state| state.terminated.is_some())
}

fn bench_ended(status: &PodStatus) -> Option<ClientState> {
    let state = container(status, BENCH)?.state.as_ref()?;
    let terminated = state.terminated.as_ref()?;
    let at = terminated.finished_at.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
    let whole_pod = matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"));
    let reported = whole_pod || container(status, REPORT).is_none_or(|report| is_terminated(report.state.as_ref()));
    let killed = word_of(terminated).is_none();
    Some(ClientState::Ended { at, reported, cause: bad_end(status, terminated), killed })
}

/// The last word of a bench that came to its end, good or bad: it has cleaned up by then.
fn word_of(terminated: &ContainerStateTerminated) -> Option<Termination> {
    serde_json::from_str(terminated.message.as_deref()?).ok()
}

/// What a bench that stopped says of a bad end; without its word, what can be told from outside.
fn bad_end(status: &PodStatus, terminated: &ContainerStateTerminated) -> Option<String> {
    match word_of(terminated) {
        Some(Termination { outcome: AgentOutcome::Complete, .. }) => None,
        Some(Termination { outcome: AgentOutcome::Failed, cause, .. }) => {
            Some(cause.unwrap_or_else(|| "it failed without a cause".into()))
        }
        None => Some(match (terminated.reason.as_deref(), terminated.exit_code) {
            (Some("OOMKilled"), _) => {
                "killed for want of memory (OOMKilled): raise clients.resources.limits.memory".into()
            }
            (_, 0) => gone(status, "the bench stopped without a word"),
            (_, 137) => gone(status, "the bench was killed (SIGKILL)"),
            (_, code) => gone(status, &format!("the bench ended with exit code {code}")),
        }),
    }
}

/// What the pod's status says of its end, after what happened.
fn gone(status: &PodStatus, what: &str) -> String {
    let disruption = status.conditions.iter().flatten().find(|c| c.type_ == "DisruptionTarget" && c.status == "True");
    let told = match (&status.reason, &status.message, disruption) {
        (Some(reason), Some(message), _) => Some(format!("{reason}: {message}")),
        (Some(reason), None, _) => Some(reason.clone()),
        (None, Some(message), _) => Some(message.clone()),
        (None, None, Some(condition)) => condition.message.clone().or_else(|| condition.reason.clone()),
        (None, None, None) => None,
    };
    told.map_or_else(|| what.to_owned(), |told| format!("{what} ({told})"))
}

/// Why a pod failed before its bench ran: one of its init containers, or the node.
fn failed_before_bench(status: &PodStatus) -> String {
    let statuses = status.init_container_statuses.iter().chain(&status.container_statuses).flatten();
    let failed = statuses.filter_map(|container| {
        let terminated = container.state.as_ref()?.terminated.as_ref()?;
        (terminated.exit_code != 0).then(|| {
            let said = terminated.message.as_deref().or(terminated.reason.as_deref()).unwrap_or("without a message");
            let code = terminated.exit_code;
            with_foreign_containers(&format!("container \"{}\" ended with exit code {code}: {said}", container.name))
        })
    });
    failed.into_iter().next().unwrap_or_else(|| gone(status, "its pod failed before the bench ran"))
}

fn scheduled(status: &PodStatus) -> Option<&PodCondition> {
    status.conditions.as_ref()?.iter().find(|condition| condition.type_ == "PodScheduled")
}

fn since(condition: &PodCondition) -> Option<Timestamp> {
    condition.last_transition_time.as_ref().map(|time| time.0)
}

fn unschedulable(status: &PodStatus, made: Timestamp) -> Option<Trouble> {
    let condition = scheduled(status).filter(|condition| condition.status == "False")?;
    let reason = condition.reason.as_deref().unwrap_or("not scheduled");
    let message = condition.message.as_deref().unwrap_or("the scheduler gives no cause");
    let since = since(condition).unwrap_or(made);
    Some(Trouble { cause: format!("{reason}: {message}"), since, hopeless: false })
}

/// Why a container does not start, where its state says so. Since when it does not say: since it `failed` for the first time, or since it
/// could be tried.
fn waiting(status: &PodStatus, failed: Option<Timestamp>, made: Timestamp) -> Option<Trouble> {
    let since = failed.or_else(|| scheduled(status).and_then(since)).unwrap_or(made);
    let statuses = status.init_container_statuses.iter().chain(&status.container_statuses).flatten();
    let mut troubles = statuses.filter_map(|container| {
        let waiting = container.state.as_ref()?.waiting.as_ref()?;
        let reason = waiting.reason.as_deref()?;
        let hopeless = matches!(reason, "InvalidImageName" | "ErrImageNeverPull");
        if matches!(reason, "ContainerCreating" | "PodInitializing") {
            return None;
        }
        let message = waiting.message.as_deref().unwrap_or("without a message");
        let cause = format!("{reason}: container \"{}\", image {}: {message}", container.name, container.image);
        Some(Trouble { cause: with_foreign_containers(&cause), since, hopeless })
    });
    troubles.next()
}

#[cfg(test)]
mod tests;
