//! Brings one benchmark on, step by step, until there is something to wait for.

use std::sync::Arc;
use std::time::Duration;

use kube::core::DeserializeGuard;
use kube::runtime::controller::Action;
use kube::{Resource, ResourceExt};

use super::apply::apply;
use super::context::Context;
use super::error::ControllerError;
use super::observe::look;
use super::say::say_progress;
use crate::api::CephBenchmark;
use crate::plan::decide::{Step, decide};

/// Steps at once: others are to have their turn.
const MOST_STEPS: usize = 64;
/// Before the steps that are left: should they never end, they are not all that the operator does.
const BREATH: Duration = Duration::from_secs(1);
/// Between looks at a benchmark that nothing is expected of.
const REST: Duration = Duration::from_secs(600);
const AFTER_ERROR: Duration = Duration::from_secs(3);

pub async fn reconcile(
    object: Arc<DeserializeGuard<CephBenchmark>>,
    context: Arc<Context>,
) -> Result<Action, ControllerError> {
    let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
    for _ in 0..MOST_STEPS {
        let Some(look) = look(&context, &namespace, &name).await? else { return Ok(Action::await_change()) };
        let step = decide(&look.observed);
        tracing::debug!(benchmark = name, ?step, "next");
        match &step {
            Step::Rest => return Ok(Action::requeue(REST)),
            Step::Wait { seconds, reason: _ } => {
                if look.frozen.is_some() && context.progress_is_due(&look.owner.uid) {
                    ignoring_conflicts(say_progress(&context, &look).await)?;
                }
                return Ok(Action::requeue(Duration::from_secs(*seconds)));
            }
            _ => ignoring_conflicts(apply(&context, &look, &step).await)?,
        }
    }
    Ok(Action::requeue(BREATH))
}

/// Somebody wrote meanwhile: the next look sees what.
fn ignoring_conflicts(result: Result<(), ControllerError>) -> Result<(), ControllerError> {
    match result {
        Err(error) if error.is_conflict() => {
            tracing::debug!(%error, "looking again");
            Ok(())
        }
        other => other,
    }
}

pub fn on_error(object: Arc<DeserializeGuard<CephBenchmark>>, error: &ControllerError, _: Arc<Context>) -> Action {
    let benchmark = object.meta().name.as_deref().unwrap_or_default();
    tracing::warn!(benchmark, %error, "can't go on now");
    match error {
        // Only a change of the object, or of the operator, helps.
        ControllerError::Unreadable(_) => Action::requeue(REST),
        ControllerError::Api { .. }
        | ControllerError::Foreign { .. }
        | ControllerError::Stored(_)
        | ControllerError::Missing(_)
        | ControllerError::Denied(_) => Action::requeue(AFTER_ERROR),
    }
}
