//! What a client is told.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;

use super::ceph_client::user_name;
use super::names::Role;
use super::plan_config_map::StoredError;
use super::pod::{KEY_FILE, host_mount};
use super::run_context::RunContext;
use crate::contract::{DeviceTarget, FileTarget, NetworkTarget, RadosTarget, Target, Task, VERSION};
use crate::plan::{PlannedKind, points_for};

/// Key of the task in the ConfigMap, and name of its file in the pod.
pub const TASK_KEY: &str = "task.json";

/// An OSD that freezes is called down after some 20 s and its clients go on after half a minute: that is a stall, not an error.
const OP_TIMEOUT_SECONDS: u64 = 60;
const CONNECT_TIMEOUT_SECONDS: u64 = 30;

pub fn build_task_config_map(context: &RunContext, test: usize, client: u32) -> Result<ConfigMap, StoredError> {
    let task = task(context, test, client);
    let json = serde_json::to_string(&task)
        .map_err(|error| StoredError::Write { what: "the task", cause: error.to_string() })?;
    let name = context.names().client(&task.test, client);
    Ok(ConfigMap {
        metadata: context.test_metadata(name, Role::Task, test),
        data: Some(BTreeMap::from([(TASK_KEY.to_owned(), json)])),
        binary_data: None,
        immutable: Some(true),
    })
}

fn task(context: &RunContext, test: usize, client: u32) -> Task {
    let (planned, prepared) = context.test(test);
    Task {
        version: VERSION,
        run: context.names().run().into(),
        test: planned.name.clone(),
        client,
        nodes: prepared.nodes.clone(),
        target: target(context, test),
        points: points_for(planned, &prepared.nodes),
        prepare_timeout_seconds: prepared.prepare_seconds,
        op_timeout_seconds: OP_TIMEOUT_SECONDS,
    }
}

fn target(context: &RunContext, test: usize) -> Target {
    let (planned, _) = context.test(test);
    match &planned.kind {
        PlannedKind::File { directory, size } => {
            Target::File(FileTarget { directory: host_mount(directory), size: *size })
        }
        PlannedKind::Device { path } => Target::Device(DeviceTarget { path: path.clone() }),
        PlannedKind::Network => Target::Network(NetworkTarget { loopback: one_node(context, test) }),
        PlannedKind::Rados(_) => Target::Rados(RadosTarget {
            mon_host: Some(context.frozen.prepared.mon_host.clone()),
            conf: None,
            user: user_name(context, test),
            key_file: KEY_FILE.into(),
            pool: context.pool(test).unwrap_or_default(),
            namespace: context.rados_namespace(test),
            cluster_version: context.frozen.prepared.ceph_version.clone(),
            connect_timeout_seconds: CONNECT_TIMEOUT_SECONDS,
        }),
    }
}

/// Clients that were all asked onto one node can only measure that node.
fn one_node(context: &RunContext, test: usize) -> bool {
    let nodes = &context.test(test).1.nodes;
    nodes.iter().all(|node| Some(node) == nodes.first())
}
