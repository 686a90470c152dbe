//! What the status is to say, put together from what was seen and what is stored. Pure.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::progress::progress_of;
use crate::api::{ArtifactStatus, BenchmarkStatus, ClusterStatus, Phase, RunStatus, TestPhase, TestStatus};
use crate::plan::PlannedGate;
use crate::plan::decide::{Observed, Say, Wanted, describe};
use crate::plan::frozen::{Frozen, RunKey};
use crate::resources::names::RunNames;
use crate::results::{Parts, assemble, cause_of, judge, phase_of, progress, reasons, unmeasured};

/// What a status is made from, beside what it is to say.
pub struct Sources<'a> {
    pub observed: &'a Observed,
    /// As it stands.
    pub previous: &'a BenchmarkStatus,
    pub uid: &'a str,
    /// The run that it speaks of.
    pub frozen: Option<&'a Frozen>,
    /// Stored results of that run's tests, by index; with all their points.
    pub results: Vec<Option<TestStatus>>,
    /// Names and digests of what is kept of the run.
    pub kept: Vec<(String, String)>,
    pub gates: &'a [PlannedGate],
    /// fsid of the cluster, where no run has begun.
    pub fsid: Option<&'a str>,
}

pub fn status(sources: &Sources, say: &Say) -> BenchmarkStatus {
    let now = sources.observed.now;
    assemble(parts(sources, say, now), &sources.previous.conditions, &Time(now))
}

fn parts(sources: &Sources, say: &Say, now: Timestamp) -> Parts {
    match say {
        Say::Invalid { message } => Parts {
            reason: Some(reasons::INVALID_SPEC.into()),
            message: Some(message.clone()),
            left_behind: staying(sources),
            ..without_run(sources, Phase::Error)
        },
        Say::Suspended => Parts {
            message: Some("suspended: spec.suspend is set".into()),
            left_behind: staying(sources),
            ..without_run(sources, Phase::Cancelled)
        },
        Say::Queued { behind } => Parts { message: Some(behind.clone()), ..without_run(sources, Phase::Queued) },
        Say::Refused { number, key, reason, message } => Parts {
            reason: Some(reason.clone()),
            message: Some(message.clone()),
            run: Some(run(*number, key, now, Some(now))),
            cluster: sources.fsid.map(|fsid| ClusterStatus { fsid: Some(fsid.into()), ..ClusterStatus::default() }),
            ..without_run(sources, Phase::Error)
        },
        Say::Going { phase, tests, message } => Parts {
            generation: spoken_of(sources),
            message: message.clone(),
            progress: progress_of(sources.observed, sources.frozen),
            ..of_run(sources, *phase, tests, None)
        },
        Say::Finished { tests, left } => Parts { left_behind: left.clone(), ..judged(sources, tests, Some(now)) },
        Say::Judged { number: _, left } => {
            let tests: Vec<TestPhase> = sources.results.iter().map(|result| ended(result.as_ref())).collect();
            let completed = sources.previous.run.as_ref().and_then(|run| run.completion_time.clone());
            Parts {
                generation: sources.observed.generation,
                left_behind: left.clone(),
                ..judged(sources, &tests, Some(completed.map_or(now, |time| time.0)))
            }
        }
        Say::Cancelled { why, tests, left } => Parts {
            generation: spoken_of(sources),
            message: Some(why.clone()),
            left_behind: left.clone(),
            ..of_run(sources, Phase::Cancelled, tests, Some(now))
        },
        Say::Leaving { left } => Parts {
            message: Some(format!("is being deleted; can't be removed: {}", left.join("; "))),
            left_behind: left.clone(),
            ..without_run(sources, Phase::Cancelled)
        },
    }
}

/// What an earlier run made and does not go.
fn staying(sources: &Sources) -> Vec<String> {
    sources.observed.things.iter().map(describe).collect()
}

fn ended(result: Option<&TestStatus>) -> TestPhase {
    result.map_or(TestPhase::Skipped, |status| status.phase)
}

/// The generation that a run speaks of. One that is replaced, while it is cleaned up and when it has ended, does not speak of what replaces it: whoever waits for that would
/// take its end for theirs.
fn spoken_of(sources: &Sources) -> i64 {
    let observed = sources.observed;
    let replaced = match (&observed.wanted, sources.frozen) {
        (Wanted::Valid(key), Some(frozen)) => *key != frozen.key && !observed.suspend,
        (Wanted::Invalid(_), Some(_)) => true,
        (_, None) => false,
    };
    if replaced { observed.recorded.observed_generation } else { observed.generation }
}

/// The last run stays named, and ended, while another is spoken of.
fn without_run(sources: &Sources, phase: Phase) -> Parts {
    let last = sources
        .previous
        .run
        .clone()
        .map(|run| RunStatus { completion_time: run.completion_time.or(Some(Time(sources.observed.now))), ..run });
    Parts {
        generation: sources.observed.generation,
        phase,
        reason: None,
        message: None,
        run: last,
        progress: None,
        cluster: None,
        tests: Vec::new(),
        gates: Vec::new(),
        artifact: None,
        left_behind: Vec::new(),
    }
}

fn run(number: i64, key: &RunKey, start: Timestamp, completed: Option<Timestamp>) -> RunStatus {
    RunStatus {
        number,
        trigger: key.trigger.clone(),
        spec_hash: key.spec_hash.clone(),
        start_time: Time(start),
        completion_time: completed.map(Time),
    }
}

fn of_run(sources: &Sources, phase: Phase, tests: &[TestPhase], completed: Option<Timestamp>) -> Parts {
    let frozen = sources.frozen;
    Parts {
        run: frozen.map(|frozen| run(frozen.number, &frozen.key, frozen.started, completed)),
        cluster: frozen.map(|frozen| cluster(sources.uid, frozen)),
        tests: test_statuses(sources, tests),
        artifact: completed.and_then(|_| artifact(&sources.kept)),
        ..without_run(sources, phase)
    }
}

/// A run that ended by itself, under the gates of today.
fn judged(sources: &Sources, phases: &[TestPhase], completed: Option<Timestamp>) -> Parts {
    let tests = test_statuses(sources, phases);
    let gates = judge(sources.gates, &tests);
    let phase = phase_of(&tests, &gates);
    let done = tests.iter().filter(|test| test.phase != TestPhase::Skipped).count();
    Parts {
        generation: spoken_of(sources),
        message: cause_of(&tests, &gates),
        progress: Some(progress(done, tests.len(), None, 100, None)),
        gates,
        ..of_run(sources, phase, phases, completed)
    }
}

fn test_statuses(sources: &Sources, phases: &[TestPhase]) -> Vec<TestStatus> {
    let Some(frozen) = sources.frozen else { return Vec::new() };
    let stored = |index: usize| sources.results.get(index).cloned().flatten();
    let planned = frozen.prepared.plan.tests.iter().enumerate();
    planned
        .map(|(index, test)| {
            let phase = phases.get(index).copied().unwrap_or(TestPhase::Pending);
            stored(index).unwrap_or_else(|| unmeasured(&test.name, phase, None))
        })
        .collect()
}

/// The fingerprint, with the pools that the run made under the names that they have in Ceph.
fn cluster(uid: &str, frozen: &Frozen) -> ClusterStatus {
    let names = RunNames::new(uid, frozen.number);
    let mut cluster = frozen.prepared.cluster.clone();
    for pool in cluster.pools.iter_mut().filter(|pool| pool.created) {
        pool.name = names.test(&pool.name);
    }
    cluster
}

fn artifact(kept: &[(String, String)]) -> Option<ArtifactStatus> {
    if kept.is_empty() {
        return None;
    }
    let mut hash = Sha256::new();
    kept.iter().for_each(|(_, digest)| hash.update(digest));
    let digest = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Some(ArtifactStatus { config_maps: kept.iter().map(|(name, _)| name.clone()).collect(), digest })
}

#[cfg(test)]
mod tests;
