//! The task of a test's clients on this machine.

use super::CephAccess;
use crate::contract::{DeviceTarget, FileTarget, NetworkTarget, RadosTarget, Target, Task, VERSION};
use crate::plan::{PlannedKind, PlannedPool, PlannedTest, points_for};

const PREPARE_TIMEOUT_SECONDS: u64 = 600;
const OP_TIMEOUT_SECONDS: u64 = 30;
const CONNECT_TIMEOUT_SECONDS: u64 = 30;

/// The first client's task; the others' differ in the index alone.
pub fn build(run: &str, test: &PlannedTest, ceph: &CephAccess) -> Task {
    let nodes = nodes(test);
    Task {
        version: VERSION,
        run: run.into(),
        test: test.name.clone(),
        client: 0,
        target: target(run, test, ceph),
        points: points_for(test, &nodes),
        nodes,
        prepare_timeout_seconds: PREPARE_TIMEOUT_SECONDS,
        op_timeout_seconds: OP_TIMEOUT_SECONDS,
    }
}

/// Names under which clients stand in the results. Those of a link say that it is none.
fn nodes(test: &PlannedTest) -> Vec<String> {
    match test.kind {
        PlannedKind::Network => vec!["loopback-0".into(), "loopback-1".into()],
        PlannedKind::File { .. } | PlannedKind::Device { .. } | PlannedKind::Rados(_) => vec![host_name()],
    }
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn target(run: &str, test: &PlannedTest, ceph: &CephAccess) -> Target {
    match &test.kind {
        PlannedKind::File { directory, size } => Target::File(FileTarget { directory: directory.clone(), size: *size }),
        PlannedKind::Device { path } => Target::Device(DeviceTarget { path: path.clone() }),
        PlannedKind::Network => Target::Network(NetworkTarget { loopback: true }),
        PlannedKind::Rados(pool) => {
            let CephAccess { conf, user, keyring } = ceph;
            Target::Rados(RadosTarget {
                mon_host: None,
                conf: Some(conf.to_string_lossy().into_owned()),
                user: user.clone(),
                key_file: keyring.to_string_lossy().into_owned(),
                pool: match pool {
                    PlannedPool::Existing { name } => name.clone(),
                    // Refused before a run: see `check`.
                    PlannedPool::Create { .. } => String::new(),
                },
                namespace: format!("cephbench-{run}"),
                cluster_version: None,
                connect_timeout_seconds: CONNECT_TIMEOUT_SECONDS,
            })
        }
    }
}

/// Clients of a test on this machine.
pub fn clients(test: &PlannedTest) -> u32 {
    nodes(test).len() as u32
}
