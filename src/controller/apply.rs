//! Does one step. Thin: it builds, writes, and leaves the next step to the next look.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::{Api, Patch, PatchParams};
use kube::{Resource, ResourceExt};
use rand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::collect::{Expected, failed, read_log, result};
use super::context::Context;
use super::error::{ControllerError, During};
use super::observe::Look;
use super::say::{give_up, say, tell_left};
use super::write::{create, delete, delete_named};
use super::{cluster_lease, write};
use crate::api::CephBenchmark;
use crate::plan::decide::{Say, Step, Target, ThingKind, patience, to_sweep};
use crate::plan::frozen::{Frozen, RunKey};
use crate::plan::policy::Denied;
use crate::resources::names::{FINALIZER, RunNames};
use crate::resources::rook::{CephBlockPool, CephClient};
use crate::resources::{
    RunContext, build_block_pool, build_ceph_client, build_job, build_left_config_map, build_network_policy,
    build_plan_config_map, build_result_config_map, build_sweeper_job, build_sweeps_config_map, build_task_config_map,
    build_token_secret, list_of,
};
use crate::results::artifact::StoredTest;

/// Does the step. Waiting is the caller's.
pub async fn apply(context: &Context, look: &Look, step: &Step) -> Result<(), ControllerError> {
    match step {
        Step::Wait { .. } | Step::Rest => Ok(()),
        Step::Say(what) => say(context, look, what).await,
        Step::TakeLease => cluster_lease::take(context, look).await,
        Step::ReleaseLease => cluster_lease::release(context, look).await,
        Step::AddFinalizer => finalizers(context, look, true).await,
        Step::RemoveFinalizer => finalizers(context, look, false).await,
        Step::Freeze { number, key } => begin(context, look, *number, key).await,
        Step::Prune { runs } => prune(context, look, runs).await,
        Step::GiveUp { left } => {
            give_up(context, look, left).await?;
            finalizers(context, look, false).await
        }
        Step::Delete { kind, things } => remove(context, look, *kind, things).await,
        Step::NoteLeft { test, left } => {
            tell_left(context, look, left).await?;
            let run = look.run_context(context)?;
            create_or_not(context, look, &build_left_config_map(&run, *test, left), String::new()).await
        }
        Step::NoteSweeps { test, clients } => {
            let run = look.run_context(context)?;
            create_or_not(context, look, &build_sweeps_config_map(&run, *test, clients), list_of(clients)).await
        }
        Step::CreateSweeper { test, client } => {
            let run = look.run_context(context)?;
            tracing::info!(benchmark = look.owner.name, test, client, "sweeping up after a client that was killed");
            create_or_not(context, look, &build_sweeper_job(&run, *test, *client), String::new()).await
        }
        Step::RecordFailure { test, cause } => {
            let run = look.run_context(context)?;
            let status = failed(&run.test(*test).0.name, cause);
            store(context, look, *test, StoredTest { status, report: None }).await
        }
        Step::Collect { test, last_try } => collect(context, look, *test, *last_try).await,
        Step::CreateNetworkPolicy { test }
        | Step::CreatePool { test }
        | Step::CreateUser { test }
        | Step::CreateTasks { test }
        | Step::CreateConductor { test }
        | Step::CreateClients { test, .. } => prepare_or_end(context, look, step, *test).await,
    }
}

/// A plan that the API server does not take is refused: others wait for their turn.
async fn begin(context: &Context, look: &Look, number: i64, key: &RunKey) -> Result<(), ControllerError> {
    let act = &look.owner.uid;
    match freeze(context, look, number, key).await {
        Err(error) if context.tries.is_hopeless(act, &error, Instant::now()) => {
            let (key, message) = (key.clone(), error.to_string());
            say(context, look, &Say::Refused { number, key, reason: "NotAccepted".into(), message }).await
        }
        done => {
            done?;
            context.tries.worked(act);
            Ok(())
        }
    }
}

/// What can't be created is the test's end: the API server will say the same again.
async fn prepare_or_end(context: &Context, look: &Look, step: &Step, test: usize) -> Result<(), ControllerError> {
    let run = look.run_context(context)?;
    let act = run.names().result(test);
    match prepare(context, look, step).await {
        Err(error) if context.tries.is_hopeless(&act, &error, Instant::now()) => {
            let status = failed(&run.test(test).0.name, &error.to_string());
            store(context, look, test, StoredTest { status, report: None }).await
        }
        done => {
            done?;
            context.tries.worked(&act);
            Ok(())
        }
    }
}

/// Creates what cleaning is better with. Nothing that can't be made keeps it up: `told` is then remembered in its place, or else the error.
async fn create_or_not<K>(context: &Context, look: &Look, object: &K, told: String) -> Result<(), ControllerError>
where
    K: Clone + Debug + DeserializeOwned + Resource<DynamicType = (), Scope = NamespaceResourceScope> + Serialize,
{
    match create(context, &look.owner, object).await {
        Err(error) if context.tries.is_hopeless(&object.name_any(), &error, Instant::now()) => {
            tracing::warn!(benchmark = look.owner.name, %error, "going on without it");
            let told = if told.is_empty() { error.to_string() } else { told };
            context.tries.do_without(object.name_any(), told);
            Ok(())
        }
        done => done,
    }
}

/// What a test needs before it runs, and its clients.
async fn prepare(context: &Context, look: &Look, step: &Step) -> Result<(), ControllerError> {
    let run = look.run_context(context)?;
    let owner = &look.owner;
    match step {
        Step::CreateNetworkPolicy { test: _ } => create(context, owner, &build_network_policy(&run)).await,
        Step::CreatePool { test } => match build_block_pool(&run, *test) {
            Some(pool) => create(context, owner, &pool).await,
            None => Ok(()),
        },
        Step::CreateUser { test } => match build_ceph_client(&run, *test) {
            Some(user) => create(context, owner, &user).await,
            None => Ok(()),
        },
        Step::CreateTasks { test } => {
            for (client, _) in (0_u32..).zip(&run.test(*test).1.nodes) {
                create(context, owner, &build_task_config_map(&run, *test, client)?).await?;
            }
            Ok(())
        }
        Step::CreateConductor { test } => {
            // It may have become stricter since the run began.
            if let Err(Denied(why)) = context.config.policy.target(&run.test(*test).0.kind) {
                return Err(ControllerError::Denied(why));
            }
            create_token(context, look, &run).await?;
            create(context, owner, &build_job(&run, *test, 0, None)).await
        }
        Step::CreateClients { test, clients, address } => {
            for client in clients {
                create(context, owner, &build_job(&run, *test, *client, Some(address))).await?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// One that is there stays: it can't be read, and the clients that have it must go on knowing each other.
async fn create_token(context: &Context, look: &Look, run: &RunContext<'_>) -> Result<(), ControllerError> {
    let mut random = [0_u8; 32];
    rand::rng().fill_bytes(&mut random);
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let api: Api<Secret> = Api::namespaced(context.client.clone(), &look.owner.namespace);
    match api.create(&write::post(), &build_token_secret(run, &token)).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        Err(error) => Err(error).during(|| "create the run's token".into()),
    }
}

/// How long a report is tried to be read, whatever time has gone by.
const READING: Duration = Duration::from_secs(patience::REPORT.unsigned_abs());

/// Names the reading of a conductor's log, among what is tried.
fn log_of(look: &Look) -> String {
    let pod = look.clients.pods.first().and_then(Option::as_ref);
    format!("log of {}", pod.map(ResourceExt::name_any).unwrap_or_default())
}

async fn collect(context: &Context, look: &Look, test: usize, last_try: bool) -> Result<(), ControllerError> {
    let run = look.run_context(context)?;
    let (planned, prepared) = run.test(test);
    let names = run.names();
    let expected = Expected { run: names.run(), planned, prepared };
    let stored = match read_log(context, look).await {
        Ok(log) => result(&log, &expected, &look.clients.states, &look.clients.pods),
        // An operator that was away comes late: one read that fails is not yet the end.
        Err(error) if last_try && context.tries.failing_for(&log_of(look), Instant::now()) > READING => {
            let status = failed(&planned.name, &format!("the report could not be read: {error}"));
            StoredTest { status, report: None }
        }
        Err(error) => return Err(error),
    };
    store(context, look, test, stored).await
}

async fn store(context: &Context, look: &Look, test: usize, result: StoredTest) -> Result<(), ControllerError> {
    let run = look.run_context(context)?;
    tracing::info!(
        benchmark = look.owner.name,
        run = run.frozen.number,
        test = result.status.name,
        phase = ?result.status.phase,
        cause = result.status.message.as_deref().unwrap_or_default(),
        "a test has ended"
    );
    let sweeps = to_sweep(run.test(test).0.kind.remains(), &look.clients.states);
    create(context, &look.owner, &build_result_config_map(&run, test, result, &sweeps)?).await
}

async fn freeze(context: &Context, look: &Look, number: i64, key: &RunKey) -> Result<(), ControllerError> {
    let prepared = look.prepared.clone().ok_or_else(|| ControllerError::Missing("preflight found nothing".into()))?;
    let frozen = Frozen { number, key: key.clone(), started: look.observed.now, prepared };
    let run = RunContext { owner: &look.owner, frozen: &frozen, platform: context.platform };
    create(context, &look.owner, &build_plan_config_map(&run, &look.benchmark.spec)?).await
}

/// With the resource version: somebody else's finalizer is never lost.
async fn finalizers(context: &Context, look: &Look, held: bool) -> Result<(), ControllerError> {
    let metadata = &look.benchmark.metadata;
    let others = metadata.finalizers.iter().flatten().filter(|finalizer| *finalizer != FINALIZER).cloned();
    let wanted: Vec<String> = others.chain(held.then(|| FINALIZER.to_owned())).collect();
    let patch = json!({"metadata": {"resourceVersion": metadata.resource_version, "finalizers": wanted}});
    let api: Api<CephBenchmark> = Api::namespaced(context.client.clone(), &look.owner.namespace);
    api.patch_metadata(&look.owner.name, &PatchParams::default(), &Patch::Merge(patch))
        .await
        .during(|| "write the finalizer".into())?;
    Ok(())
}

async fn remove(context: &Context, look: &Look, kind: ThingKind, things: &[Target]) -> Result<(), ControllerError> {
    let owner = &look.owner;
    match kind {
        ThingKind::Job | ThingKind::Sweeper => delete::<Job>(context, owner, things).await,
        ThingKind::Pod | ThingKind::SweeperPod => delete::<Pod>(context, owner, things).await,
        ThingKind::Task => delete::<ConfigMap>(context, owner, things).await,
        ThingKind::User => delete::<CephClient>(context, owner, things).await,
        ThingKind::Pool => delete::<CephBlockPool>(context, owner, things).await,
        ThingKind::NetworkPolicy => {
            // As long as the policy is there the token may be: the token goes first.
            for thing in things {
                let token = RunNames::new(&owner.uid, thing.run).token();
                delete_named::<Secret>(context, owner, &token).await?;
            }
            delete::<NetworkPolicy>(context, owner, things).await
        }
    }
}

/// Results go before their plan: what is found by the plan is not left without it.
async fn prune(context: &Context, look: &Look, runs: &[i64]) -> Result<(), ControllerError> {
    for number in runs {
        for (_, record) in look.records.of_run(*number) {
            delete_named::<ConfigMap>(context, &look.owner, &record.name).await?;
        }
        let names = RunNames::new(&look.owner.uid, *number);
        for test in look.records.with_left(*number) {
            delete_named::<ConfigMap>(context, &look.owner, &names.left(test)).await?;
        }
        delete_named::<ConfigMap>(context, &look.owner, &names.plan()).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
