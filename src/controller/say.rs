//! Writes the status, and tells what is new in it in Events.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::events::v1::Event;
use kube::api::Api;

use super::context::Context;
use super::error::{ControllerError, During};
use super::notices::notices;
use super::observe::{Look, read_plan};
use super::progress::progress_of;
use super::status::{Sources, status};
use super::write::post;
use crate::api::{BenchmarkStatus, CephBenchmark, TestStatus};
use crate::plan::decide::Say;
use crate::plan::frozen::Frozen;
use crate::resources::{Notice, Severity, build_event, digest_of, read_result_config_map};

/// Events first: an operator that is killed in between tells them again under the same names, and they stay one.
pub async fn say(context: &Context, look: &Look, what: &Say) -> Result<(), ControllerError> {
    let previous = look.benchmark.status.clone().unwrap_or_default();
    let frozen = spoken_of(context, look, what).await?;
    let (results, kept) = match &frozen {
        Some(frozen) => stored(context, look, frozen).await?,
        None => (Vec::new(), Vec::new()),
    };
    let sources = Sources {
        observed: &look.observed,
        previous: &previous,
        uid: &look.owner.uid,
        frozen: frozen.as_deref(),
        results,
        kept,
        gates: look.validated.as_ref().map_or(&[], |validated| validated.gates.as_slice()),
        fsid: look.lease.fsid.as_deref(),
    };
    let next = status(&sources, what);
    for notice in notices(&previous, &next, what) {
        tell(context, look, &notice).await?;
    }
    tracing::info!(
        benchmark = look.owner.name,
        namespace = look.owner.namespace,
        run = next.run.as_ref().map_or(0, |run| run.number),
        phase = ?next.phase,
        cause = next.message.as_deref().unwrap_or_default(),
        "status"
    );
    write(context, look, next).await
}

/// Writes how far the run is, where that has changed.
pub async fn say_progress(context: &Context, look: &Look) -> Result<(), ControllerError> {
    let Some(status) = &look.benchmark.status else { return Ok(()) };
    let progress = progress_of(&look.observed, look.frozen.as_deref());
    if progress.is_none() || status.progress.as_ref().map(|p| &p.text) == progress.as_ref().map(|p| &p.text) {
        return Ok(());
    }
    write(context, look, BenchmarkStatus { progress, ..status.clone() }).await
}

/// Tells what stays behind when nobody can remove it any more.
pub async fn give_up(context: &Context, look: &Look, left: &[String]) -> Result<(), ControllerError> {
    let notice = Notice {
        severity: Severity::Warning,
        reason: "LeftBehind",
        note: format!("nobody serves the Ceph cluster any more; left behind: {}", left.join("; ")),
        occasion: "deletion".into(),
    };
    tell(context, look, &notice).await
}

/// Tells what a test leaves on a node or in a pool because nobody could remove it.
pub async fn tell_left(context: &Context, look: &Look, left: &[String]) -> Result<(), ControllerError> {
    for what in left {
        let notice = Notice {
            severity: Severity::Warning,
            reason: "LeftBehind",
            note: format!("left behind by a client that was killed: {what}"),
            occasion: what.clone(),
        };
        tell(context, look, &notice).await?;
    }
    Ok(())
}

/// The run that a status speaks of: the one that is going, or the last.
async fn spoken_of(context: &Context, look: &Look, what: &Say) -> Result<Option<Arc<Frozen>>, ControllerError> {
    match what {
        Say::Judged { number, left: _ } => match look.records.plans.iter().find(|plan| plan.number == *number) {
            Some(plan) => Ok(Some(read_plan(context, &look.owner, plan).await?)),
            None => Ok(None),
        },
        Say::Going { .. } | Say::Finished { .. } | Say::Cancelled { .. } => Ok(look.frozen.clone()),
        Say::Invalid { .. } | Say::Suspended | Say::Queued { .. } | Say::Refused { .. } | Say::Leaving { .. } => {
            Ok(None)
        }
    }
}

type Stored = (Vec<Option<TestStatus>>, Vec<(String, String)>);

/// The results of a run with all their points, and the names and digests of what holds them.
async fn stored(context: &Context, look: &Look, frozen: &Frozen) -> Result<Stored, ControllerError> {
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &look.owner.namespace);
    let mut results = vec![None; frozen.prepared.plan.tests.len()];
    let mut kept = Vec::new();
    for (test, record) in look.records.of_run(frozen.number) {
        let config_map = api.get(&record.name).await.during(|| format!("get ConfigMap {}", record.name))?;
        let digest = digest_of(config_map.metadata.annotations.as_ref()).unwrap_or_default().to_owned();
        kept.push((record.name.clone(), digest));
        let result = read_result_config_map(&config_map)?;
        if let Some(slot) = results.get_mut(test) {
            *slot = Some(result.status);
        }
    }
    Ok((results, kept))
}

/// An Event that is there already was told before. One that the API server does not take (of a quota, of a namespace that is going) is only
/// logged: nothing else waits for it.
async fn tell(context: &Context, look: &Look, notice: &Notice) -> Result<(), ControllerError> {
    let api: Api<Event> = Api::namespaced(context.client.clone(), &look.owner.namespace);
    let event = build_event(&look.owner, notice, &context.identity, look.observed.now);
    match api.create(&post(), &event).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        Err(kube::Error::Api(status)) => {
            let (reason, note) = (notice.reason, &notice.note);
            tracing::warn!(benchmark = look.owner.name, error = status.message, reason, note, "an Event can't be told");
            Ok(())
        }
        Err(error) => Err(error).during(|| format!("tell Event {}", notice.reason)),
    }
}

/// With the resource version that was seen: what was decided on an older look is not written over a newer one.
async fn write(context: &Context, look: &Look, status: BenchmarkStatus) -> Result<(), ControllerError> {
    let api: Api<CephBenchmark> = Api::namespaced(context.client.clone(), &look.owner.namespace);
    let mut object = look.benchmark.clone();
    object.status = Some(status);
    object.metadata.managed_fields = None;
    api.replace_status(&look.owner.name, &post(), &object).await.during(|| "write the status".into())?;
    Ok(())
}
