//! The Job of a client: one pod, one try.

use k8s_openapi::api::batch::v1::{Job, JobSpec};

use super::names::Role;
use super::pod::build_pod_template;
use super::run_context::RunContext;

/// The conductor gets no address: it is the one to be connected to.
pub fn build_job(context: &RunContext, test: usize, client: u32, conductor: Option<&str>) -> Job {
    let (planned, prepared) = context.test(test);
    let mut metadata = context.test_metadata(context.names().client(&planned.name, client), Role::Client, test);
    metadata.labels.get_or_insert_default().insert(super::names::CLIENT.into(), client.to_string());
    // The operator gives up first and knows why; this is for the case that there is no operator.
    let deadline = i64::try_from(prepared.deadline_seconds + 120).unwrap_or(i64::MAX);
    let spec = JobSpec {
        active_deadline_seconds: Some(deadline),
        backoff_limit: Some(0),
        completions: Some(1),
        parallelism: Some(1),
        pod_replacement_policy: Some("Failed".into()),
        template: build_pod_template(context, test, client, conductor),
        ..JobSpec::default()
    };
    Job { metadata, spec: Some(spec), status: None }
}
