//! What is kept of runs: their frozen plans and results. Listed without their contents; those are read where they are needed.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams};
use kube::core::PartialObjectMeta;

use super::super::context::Context;
use super::super::error::{ControllerError, During};
use crate::api::OnFailure;
use crate::plan::decide::{Record, TestEnd, current_test};
use crate::plan::frozen::Frozen;
use crate::resources::names::{BENCHMARK_UID, Owner, ROLE, RUN, Role, TEST};
use crate::resources::{end_of, left_of, outline_of, read_plan_config_map, sweeps_of};

/// The ConfigMaps of a benchmark.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// By number.
    pub plans: Vec<PlanRecord>,
    /// By run and test.
    pub results: BTreeMap<(i64, usize), ResultRecord>,
    /// Clients of tests that were stopped which are to be swept up after, by run and test.
    stopped: BTreeMap<(i64, usize), Vec<u32>>,
    /// What sweepers could not remove, by run and test.
    left: BTreeMap<(i64, usize), Vec<String>>,
    /// Tasks, and notes of what to sweep, which go again with their test.
    pub tasks: Vec<PartialObjectMeta<ConfigMap>>,
}

#[derive(Clone, Debug)]
pub struct PlanRecord {
    pub number: i64,
    pub name: String,
    pub uid: String,
    /// Number of its tests, and what an error of one does to the rest.
    outline: Option<(usize, OnFailure)>,
}

#[derive(Clone, Debug)]
pub struct ResultRecord {
    pub name: String,
    pub end: TestEnd,
    /// Clients whose remains are to be swept up.
    killed: Vec<u32>,
}

impl Records {
    pub fn newest_plan(&self) -> Option<&PlanRecord> {
        self.plans.iter().max_by_key(|plan| plan.number)
    }

    pub(super) fn to_observed(&self) -> Vec<Record> {
        let whole = |plan: &PlanRecord| {
            plan.outline.is_some_and(|(tests, on_failure)| {
                let ends: Vec<Option<TestEnd>> = (0..tests).map(|test| self.end(plan.number, test)).collect();
                current_test(&ends, on_failure).is_none()
            })
        };
        let left = |number: i64| self.left.iter().filter(move |((run, _), _)| *run == number);
        let left = |number: i64| left(number).flat_map(|(_, left)| left.iter().cloned()).collect();
        self.plans
            .iter()
            .map(|plan| Record { number: plan.number, whole: whole(plan), left: left(plan.number) })
            .collect()
    }

    pub fn end(&self, number: i64, test: usize) -> Option<TestEnd> {
        self.results.get(&(number, test)).map(|result| result.end)
    }

    pub(super) fn killed(&self, number: i64, test: usize) -> &[u32] {
        let stopped = || self.stopped.get(&(number, test)).map_or(&[][..], Vec::as_slice);
        self.results.get(&(number, test)).map_or_else(stopped, |result| result.killed.as_slice())
    }

    pub(super) fn left_is_noted(&self, number: i64, test: usize) -> bool {
        self.left.contains_key(&(number, test))
    }

    /// Tests of a run whose sweepers left something.
    pub fn with_left(&self, number: i64) -> impl Iterator<Item = usize> {
        self.left.keys().filter(move |(run, _)| *run == number).map(|(_, test)| *test)
    }

    /// The results of a run, by test.
    pub fn of_run(&self, number: i64) -> impl Iterator<Item = (usize, &ResultRecord)> {
        self.results.iter().filter(move |((run, _), _)| *run == number).map(|((_, test), result)| (*test, result))
    }
}

/// Lists by the label with the benchmark's UID.
pub(super) fn of_benchmark(owner: &Owner) -> ListParams {
    ListParams::default().labels(&format!("{BENCHMARK_UID}={}", owner.uid))
}

pub(super) async fn list(context: &Context, owner: &Owner) -> Result<Records, ControllerError> {
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &owner.namespace);
    let listed = api.list_metadata(&of_benchmark(owner)).await.during(|| "list ConfigMaps".into())?;
    let mut records = Records::default();
    for object in listed.items {
        let label = |key: &str| object.metadata.labels.as_ref().and_then(|labels| labels.get(key)).cloned();
        let Some(number) = label(RUN).and_then(|number| number.parse::<i64>().ok()) else { continue };
        let role = label(ROLE).unwrap_or_default();
        let name = object.metadata.name.clone().unwrap_or_default();
        let test = label(TEST).and_then(|test| test.parse::<usize>().ok());
        let going = object.metadata.deletion_timestamp.is_some();
        if role == Role::Plan.word() && !going {
            let uid = object.metadata.uid.clone().unwrap_or_default();
            let outline = outline_of(object.metadata.annotations.as_ref());
            records.plans.push(PlanRecord { number, name, uid, outline });
        } else if let (true, Some(test), false) = (role == Role::Result.word(), test, going) {
            let annotations = object.metadata.annotations.as_ref();
            records.results.insert(
                (number, test),
                ResultRecord { name, end: end_of(annotations), killed: sweeps_of(annotations) },
            );
        } else if let (true, Some(test)) = (role == Role::Sweeps.word(), test) {
            records.stopped.insert((number, test), sweeps_of(object.metadata.annotations.as_ref()));
            records.tasks.push(object);
        } else if let (true, Some(test), false) = (role == Role::Left.word(), test, going) {
            records.left.insert((number, test), left_of(object.metadata.annotations.as_ref()));
        } else if role == Role::Task.word() {
            records.tasks.push(object);
        }
    }
    records.plans.sort_by_key(|plan| plan.number);
    Ok(records)
}

pub async fn plan(context: &Context, owner: &Owner, record: &PlanRecord) -> Result<Arc<Frozen>, ControllerError> {
    if let Some(known) = context.known_plan(&record.uid) {
        return Ok(known);
    }
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &owner.namespace);
    let config_map = api.get(&record.name).await.during(|| format!("get ConfigMap {}", record.name))?;
    let frozen = Arc::new(read_plan_config_map(&config_map)?);
    context.remember_plan(&record.uid, frozen.clone());
    Ok(frozen)
}
