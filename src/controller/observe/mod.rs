//! One live look at a benchmark and all that belongs to it. Decisions rest on this, never on a cache.

mod clients;
mod lease;
mod records;
mod served;
mod survey;
mod sweeps;
mod things;

use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::jiff::Timestamp;
use kube::api::Api;
use kube::core::DeserializeGuard;

use super::context::Context;
use super::error::{ControllerError, During, found};
use crate::api::{CephBenchmark, TestPhase};
use crate::plan::decide::{
    Home, Lease, Observed, Preflight, Recorded, RecordedRun, Run, Test, Wanted, wants_preflight,
};
use crate::plan::frozen::{Frozen, Prepared, RunKey};
use crate::plan::preflight;
use crate::plan::{Validated, validate};
use crate::resources::names::{FINALIZER, Owner};
use crate::resources::rook::CephCluster;
use crate::resources::{RunContext, names};
use crate::results::reasons;

pub use clients::SeenClients;
pub use records::{Records, plan as read_plan};

/// What was seen: the plain values that a decision rests on, and the objects that applying it needs.
pub struct Look {
    pub observed: Observed,
    pub benchmark: CephBenchmark,
    pub owner: Owner,
    pub validated: Option<Validated>,
    pub records: Records,
    /// The run that is going.
    pub frozen: Option<Arc<Frozen>>,
    /// What a run that is to begin would rest on.
    pub prepared: Option<Prepared>,
    pub lease: lease::SeenLease,
    pub clients: SeenClients,
}

async fn benchmark(
    context: &Context,
    namespace: &str,
    name: &str,
) -> Result<Option<(CephBenchmark, Owner)>, ControllerError> {
    let api: Api<DeserializeGuard<CephBenchmark>> = Api::namespaced(context.client.clone(), namespace);
    let Some(guarded) = found(api.get(name).await).during(|| format!("get CephBenchmark {namespace}/{name}"))? else {
        return Ok(None);
    };
    let benchmark = guarded.0.map_err(|invalid| ControllerError::Unreadable(invalid.to_string()))?;
    let uid = benchmark.metadata.uid.clone().unwrap_or_default();
    Ok(Some((benchmark, Owner { namespace: namespace.into(), name: name.into(), uid })))
}

/// `None` when the benchmark is gone.
pub async fn look(context: &Context, namespace: &str, name: &str) -> Result<Option<Look>, ControllerError> {
    let Some((benchmark, owner)) = benchmark(context, namespace, name).await? else { return Ok(None) };
    let (validated, wanted) = wanted(&benchmark);
    let recorded = recorded(&benchmark);
    let deleting = benchmark.metadata.deletion_timestamp.is_some();
    // A namespace that goes takes the operator's rights in it along at any time.
    let going = deleting && is_terminating(context, namespace).await?;
    let records = unless_gone(going, records::list(context, &owner).await)?;
    let finalizer = benchmark.metadata.finalizers.iter().flatten().any(|finalizer| finalizer == FINALIZER);
    let newest = records.newest_plan();
    let active = newest.filter(|plan| !is_finished(&recorded, plan.number));
    // Without a finalizer and without a run nothing was made that is to go again.
    let empty = !finalizer && active.is_none();
    let things = if empty { Ok(things::Things::default()) } else { things::list(context, &owner).await };
    let things = unless_gone(going, things)?.with_tasks(&records);
    let frozen = match (active, newest) {
        (Some(plan), _) => unless_gone(going, readable(records::plan(context, &owner, plan).await))?,
        (None, Some(plan)) if finalizer => unless_gone(going, readable(records::plan(context, &owner, plan).await))?,
        (None, _) => None,
    };
    let home = Home {
        namespace_terminating: going,
        cluster_gone: (deleting || recorded.left_behind)
            && unless_gone(going, cluster_is_gone(context, &owner, frozen.as_deref()).await)?,
    };
    let frozen = frozen.filter(|_| active.is_some());
    let mut look = Look {
        observed: Observed {
            now: Timestamp::now(),
            generation: benchmark.metadata.generation.unwrap_or(0),
            deleting,
            finalizer,
            suspend: benchmark.spec.suspend,
            wanted,
            recorded,
            lease: Lease::Unknown,
            run: None,
            things: things.to_observed(&records),
            records: records.to_observed(),
            preflight: Preflight::Skipped,
            home,
        },
        benchmark,
        owner,
        validated,
        records,
        frozen,
        prepared: None,
        lease: lease::SeenLease::default(),
        clients: SeenClients::default(),
    };
    look.see_run(context, &things).await?;
    look.see_preflight(context).await?;
    look.see_lease(context).await?;
    Ok(Some(look))
}

impl Look {
    /// The context for builders of the run that is going.
    pub fn run_context<'a>(&'a self, context: &'a Context) -> Result<RunContext<'a>, ControllerError> {
        let frozen = self.frozen.as_deref().ok_or_else(|| ControllerError::Missing("no run is going".into()))?;
        Ok(RunContext { owner: &self.owner, frozen, platform: context.platform })
    }

    async fn see_run(&mut self, context: &Context, things: &things::Things) -> Result<(), ControllerError> {
        let Some(frozen) = self.frozen.clone() else { return Ok(()) };
        let now = self.observed.now;
        let names = names::RunNames::new(&self.owner.uid, frozen.number);
        let mut tests = Vec::with_capacity(frozen.prepared.tests.len());
        let mut current_seen = false;
        for (index, (planned, prepared)) in frozen.tests().enumerate() {
            let end = self.records.end(frozen.number, index);
            // Only the clients of the test that is going are looked at closely.
            let current = end.is_none() && !current_seen && !self.observed.deleting;
            current_seen |= current;
            let at = clients::TestPlace { number: frozen.number, index, name: &planned.name };
            let clients = clients::see(context, &self.owner, things, &at, prepared, current, now).await?;
            let object = names.test(&planned.name);
            let swept = sweeps::Swept { names: &names, number: frozen.number, index, planned, prepared };
            let sweeps = sweeps::see(&context.tries, things, &swept, self.records.killed(frozen.number, index), now);
            tests.push(Test {
                name: planned.name.clone(),
                needs: planned.kind.needs(),
                pool: served::pool(&context.tries, things, &object, now),
                user: served::user(&context.tries, things, &object, now),
                tasks: things.has_tasks(frozen.number, index, prepared.nodes.len()),
                clients: clients.states.clone(),
                deadline_seconds: prepared.deadline_seconds,
                end,
                remains: planned.kind.remains(),
                sweeps,
                left_noted: self.records.left_is_noted(frozen.number, index)
                    || context.tries.without(&names.left(index)).is_some(),
            });
            if current {
                self.clients = clients;
            }
        }
        self.observed.run = Some(Run {
            number: frozen.number,
            key: frozen.key.clone(),
            on_failure: frozen.prepared.plan.on_failure,
            network_policy: things.has_network_policy(frozen.number),
            tests,
        });
        Ok(())
    }

    async fn see_preflight(&mut self, context: &Context) -> Result<(), ControllerError> {
        if !wants_preflight(&self.observed) {
            return Ok(());
        }
        let Some(validated) = &self.validated else { return Ok(()) };
        let spec = &self.benchmark.spec;
        let survey = survey::survey(context, &self.owner.namespace).await?;
        self.lease.fsid = preflight::fsid(spec, &survey).map(str::to_owned);
        self.observed.preflight = match preflight::check(spec, &validated.plan, &survey, &context.config) {
            Ok(prepared) => {
                self.prepared = Some(prepared);
                Preflight::Ready
            }
            Err(refusal) => Preflight::Refused(refusal),
        };
        Ok(())
    }

    async fn see_lease(&mut self, context: &Context) -> Result<(), ControllerError> {
        let of_run = self.frozen.as_ref().map(|frozen| frozen.prepared.fsid.clone());
        if let Some(fsid) = of_run.or(self.lease.fsid.take()) {
            self.lease = lease::see(context, &self.owner, &fsid).await?;
        } else if self.observed.finalizer {
            // A run that is over may have been killed before it gave the cluster back.
            self.lease = lease::held(context, &self.owner).await?.unwrap_or_default();
        }
        self.observed.lease = self.lease.state.clone();
        Ok(())
    }
}

fn wanted(benchmark: &CephBenchmark) -> (Option<Validated>, Wanted) {
    match validate(&benchmark.spec) {
        Ok(validated) => {
            let spec_hash = validated.plan.spec_hash.clone();
            let key = RunKey { spec_hash, trigger: benchmark.spec.trigger.clone() };
            (Some(validated), Wanted::Valid(key))
        }
        Err(problems) => {
            let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
            (None, Wanted::Invalid(told.join("; ")))
        }
    }
}

/// What the status says, as far as decisions go.
fn recorded(benchmark: &CephBenchmark) -> Recorded {
    let Some(status) = &benchmark.status else {
        return Recorded { observed_generation: -1, ..Recorded::default() };
    };
    let left_behind = status
        .conditions
        .iter()
        .any(|condition| condition.type_ == reasons::RUNNING && condition.reason == reasons::LEFT_BEHIND);
    Recorded {
        observed_generation: status.observed_generation,
        phase: status.phase,
        message: status.message.clone(),
        run: status.run.as_ref().map(|run| RecordedRun {
            number: run.number,
            key: RunKey { spec_hash: run.spec_hash.clone(), trigger: run.trigger.clone() },
            finished: run.completion_time.is_some(),
        }),
        tests: status.tests.iter().map(|test| test.phase).collect::<Vec<TestPhase>>(),
        left_behind,
    }
}

fn is_finished(recorded: &Recorded, number: i64) -> bool {
    recorded.run.as_ref().is_some_and(|run| run.number > number || (run.number == number && run.finished))
}

/// Nothing, where a namespace that goes has taken the right to look along: what is left there goes with it.
fn unless_gone<T: Default>(going: bool, seen: Result<T, ControllerError>) -> Result<T, ControllerError> {
    match seen {
        Err(error) if going && error.is_forbidden() => {
            tracing::warn!(%error, "the namespace is going, and with it what was made there");
            Ok(T::default())
        }
        seen => seen,
    }
}

/// Nothing, where the plan was frozen by an operator of another version: what its run made is found by labels, removed, and it begins anew.
fn readable(plan: Result<Arc<Frozen>, ControllerError>) -> Result<Option<Arc<Frozen>>, ControllerError> {
    match plan {
        Ok(plan) => Ok(Some(plan)),
        Err(ControllerError::Stored(error)) => {
            tracing::warn!(%error, "a run can't go on: it is cleaned up");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

async fn is_terminating(context: &Context, name: &str) -> Result<bool, ControllerError> {
    let namespaces: Api<Namespace> = Api::all(context.client.clone());
    let namespace = found(namespaces.get(name).await).during(|| format!("get Namespace {name}"))?;
    Ok(namespace.is_none_or(|namespace| namespace.metadata.deletion_timestamp.is_some()))
}

/// Whether nobody serves any more what was made for a run. Looked at only when something is to go.
async fn cluster_is_gone(context: &Context, owner: &Owner, frozen: Option<&Frozen>) -> Result<bool, ControllerError> {
    let Some(frozen) = frozen else { return Ok(false) };
    let name = &frozen.prepared.cluster_name;
    let clusters: Api<CephCluster> = Api::namespaced(context.client.clone(), &owner.namespace);
    Ok(found(clusters.get(name).await).during(|| format!("get CephCluster {name}"))?.is_none())
}

#[cfg(test)]
mod tests;
