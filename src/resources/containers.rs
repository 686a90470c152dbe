//! The containers of a client's pod. Each has requests and limits: a namespace with a quota refuses any that has not.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVar, EnvVarSource, ObjectFieldSelector, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::pod::{BIN, TASK, TOKEN, WORK, bench_mounts, mount};
use super::run_context::RunContext;
use super::security::{bench_security, restricted};
use super::task_config_map::TASK_KEY;
use super::token_secret::TOKEN_KEY;
use crate::contract::{NETWORK_STATUS_ENV, POD_IP_ENV, POD_UID_ENV};

pub const INSTALL: &str = "install";
pub const BENCH: &str = "bench";
pub const REPORT: &str = "report";
/// All of them: any other container in a pod was put there by somebody else.
pub const OURS: [&str; 3] = [INSTALL, BENCH, REPORT];

/// How much longer than its test the report container waits for the bench.
const REPORT_PATIENCE_SECONDS: u64 = 60;

/// Copies the bench out of our image to where the Ceph image's container finds it.
pub(super) fn install(context: &RunContext) -> Container {
    Container {
        args: Some(["agent", "install", "--to", BIN].map(str::to_owned).to_vec()),
        volume_mounts: Some(vec![mount("bin", BIN, false)]),
        ..from_our_image(context, INSTALL)
    }
}

pub(super) fn bench(context: &RunContext, test: usize, conductor: Option<&str>) -> Container {
    let files =
        [("--task", format!("{TASK}/{TASK_KEY}")), ("--token", format!("{TOKEN}/{TOKEN_KEY}")), ("--dir", WORK.into())];
    let mut arguments: Vec<String> = vec!["run".into()];
    arguments.extend(files.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]));
    if let Some(address) = conductor {
        arguments.extend(["--conductor".to_owned(), address.to_owned()]);
    }
    in_client_image(context, test, arguments)
}

/// Removes what a client left that was killed. Its container is called as the client's is: it is looked at in the same way.
pub(super) fn sweep(context: &RunContext, test: usize) -> Container {
    in_client_image(context, test, vec!["sweep".into(), "--task".into(), format!("{TASK}/{TASK_KEY}")])
}

fn in_client_image(context: &RunContext, test: usize, arguments: Vec<String>) -> Container {
    let (planned, prepared) = context.test(test);
    let command = [format!("{BIN}/cephbench"), "agent".into()].into_iter().chain(arguments).collect();
    let mut env = vec![from_pod(POD_UID_ENV, "metadata.uid"), from_pod(POD_IP_ENV, "status.podIP")];
    if !prepared.network_annotations.is_empty() {
        env.push(from_pod(NETWORK_STATUS_ENV, NETWORK_STATUS_FIELD));
    }
    Container {
        name: BENCH.into(),
        image: Some(prepared.image.clone()),
        command: Some(command),
        env: Some(env),
        resources: Some(prepared.resources.clone()),
        security_context: Some(bench_security(&planned.kind)),
        // Not from the log: what a library prints at its end may hold a key.
        termination_message_policy: Some("File".into()),
        volume_mounts: Some(bench_mounts(context, test)),
        ..Container::default()
    }
}

/// Waits for the end of the bench, then prints its report.
pub(super) fn report(context: &RunContext, test: usize) -> Container {
    let timeout = context.test(test).1.deadline_seconds + REPORT_PATIENCE_SECONDS;
    let args = ["agent", "report", "--dir", WORK, "--timeout"].map(str::to_owned).into_iter();
    Container {
        args: Some(args.chain([format!("{timeout}s")]).collect()),
        volume_mounts: Some(vec![mount("work", WORK, false)]),
        ..from_our_image(context, REPORT)
    }
}

fn from_our_image(context: &RunContext, name: &str) -> Container {
    Container {
        name: name.into(),
        image: Some(context.frozen.prepared.bench_image.clone()),
        image_pull_policy: context.frozen.prepared.bench_image_pull_policy.clone(),
        resources: Some(small()),
        security_context: Some(restricted()),
        termination_message_policy: Some("File".into()),
        ..Container::default()
    }
}

/// For containers that copy a file or print one.
fn small() -> ResourceRequirements {
    let of = |values: [(&str, &str); 3]| -> Option<BTreeMap<String, Quantity>> {
        Some(values.map(|(key, value)| (key.to_owned(), Quantity(value.into()))).into())
    };
    ResourceRequirements {
        claims: None,
        requests: of([("cpu", "10m"), ("memory", "32Mi"), ("ephemeral-storage", "32Mi")]),
        limits: of([("cpu", "1"), ("memory", "128Mi"), ("ephemeral-storage", "512Mi")]),
    }
}

/// Written by Multus once the pod's networks are there, which is before its containers start.
const NETWORK_STATUS_FIELD: &str = "metadata.annotations['k8s.v1.cni.cncf.io/network-status']";

fn from_pod(name: &str, field: &str) -> EnvVar {
    let field_ref = ObjectFieldSelector { api_version: None, field_path: field.into() };
    EnvVar {
        name: name.into(),
        value: None,
        value_from: Some(EnvVarSource { field_ref: Some(field_ref), ..EnvVarSource::default() }),
    }
}
