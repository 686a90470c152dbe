//! The Job of a client: one pod, one try.

use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::names::Role;
use super::pod::{build_pod_template, build_sweeper_template};
use super::run_context::RunContext;

/// How long a sweeper works at most.
const SWEEP_SECONDS: u64 = 120;

/// The conductor gets no address: it is the one to be connected to.
pub fn build_job(context: &RunContext, test: usize, client: u32, conductor: Option<&str>) -> Job {
    let (planned, prepared) = context.test(test);
    let mut metadata = context.test_metadata(context.names().client(&planned.name, client), Role::Client, test);
    metadata.labels.get_or_insert_default().insert(super::names::CLIENT.into(), client.to_string());
    let template = build_pod_template(context, test, client, conductor);
    one_try(metadata, prepared.deadline_seconds, template)
}

/// The Job that removes what a client left that was killed, on its node and with its rights.
pub fn build_sweeper_job(context: &RunContext, test: usize, client: u32) -> Job {
    let (planned, _) = context.test(test);
    let mut metadata = context.test_metadata(context.names().sweeper(&planned.name, client), Role::Sweeper, test);
    metadata.labels.get_or_insert_default().insert(super::names::CLIENT.into(), client.to_string());
    one_try(metadata, SWEEP_SECONDS, build_sweeper_template(context, test, client))
}

/// The operator gives up first and knows why; the deadline is for the case that there is no operator.
fn one_try(metadata: ObjectMeta, seconds: u64, template: PodTemplateSpec) -> Job {
    let spec = JobSpec {
        active_deadline_seconds: Some(i64::try_from(seconds + 120).unwrap_or(i64::MAX)),
        backoff_limit: Some(0),
        completions: Some(1),
        parallelism: Some(1),
        pod_replacement_policy: Some("Failed".into()),
        template,
        ..JobSpec::default()
    };
    Job { metadata, spec: Some(spec), status: None }
}
