//! From a target to a connected client: the settings that keep librados quiet and bound every wait, and errors that say what is wrong.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use crate::bench::engine::EngineError;
use crate::contract::RadosTarget;
use crate::sys::librados::{self, Cluster, Functions, IoContext, RadosError};

use super::explain::Situation;
use super::key::{self, KeyFile};

/// librados' own bound is believed for so much longer before the thread that connects is left behind.
const GRACE: Duration = Duration::from_secs(5);

/// What librados is prepared for at once: it would hold back what exceeds its throttles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    pub operations: u64,
    pub bytes: u64,
}

impl InFlight {
    /// librados' own limits, at the least.
    pub const DEFAULT: Self = Self { operations: 1024, bytes: 100 << 20 };

    pub fn or_default(self) -> Self {
        Self { operations: self.operations.max(Self::DEFAULT.operations), bytes: self.bytes.max(Self::DEFAULT.bytes) }
    }
}

/// A connected client, and what is known when it fails.
pub struct Connection {
    pub cluster: Arc<Cluster>,
    pub situation: Arc<Situation>,
}

impl Connection {
    /// Opens the target's pool and namespace.
    pub fn open_pool(&self) -> Result<Arc<IoContext>, EngineError> {
        let Situation { pool, namespace, .. } = &*self.situation;
        IoContext::new(self.cluster.clone(), pool, namespace)
            .map(Arc::new)
            .map_err(|error| EngineError::new(format!("open pool {pool}"), self.situation.pool(error.errno)))
    }
}

/// How long librados lets an operation take: a second less than the runner does, so that it ends as a failure that is counted rather
/// than as one that hangs.
pub fn op_timeout_seconds(task_seconds: u64) -> u64 {
    task_seconds.saturating_sub(1).max(1)
}

/// Connects within the target's timeout.
pub fn connect(target: &RadosTarget, op_timeout_seconds: u64, in_flight: InFlight) -> Result<Connection, EngineError> {
    let functions = librados::functions().map_err(|error| EngineError::new("open librados", error.to_string()))?;
    let entity = format!("client.{}", target.user);
    let key_file = read_key_file(&target.key_file, &entity)?;
    let act = format!("connect as {entity}");
    let cluster = configure(functions, target, &entity, key_file, op_timeout_seconds, in_flight).map_err(|error| {
        EngineError::new(act.clone(), format!("{}: {}", error.call, crate::bench::errno::text(error.errno)))
    })?;
    let situation = Situation {
        entity,
        key_file: target.key_file.clone(),
        key_type: key_file.key_type(),
        monitors: cluster.get("mon_host").unwrap_or_default(),
        connect_timeout_seconds: target.connect_timeout_seconds,
        op_timeout_seconds,
        library_version: librados::version(functions),
        cluster_version: target.cluster_version.clone(),
        pool: target.pool.clone(),
        namespace: target.namespace.clone(),
    };
    match connect_bounded(cluster, Duration::from_secs(target.connect_timeout_seconds) + GRACE) {
        Ok(cluster) => Ok(Connection { cluster, situation: Arc::new(situation) }),
        Err(number) => Err(EngineError::new(act, situation.connect(number))),
    }
}

fn read_key_file(path: &str, entity: &str) -> Result<KeyFile, EngineError> {
    let act = || format!("read the key of {entity} from {path}");
    let text =
        std::fs::read_to_string(path).map_err(|error| EngineError::new(act(), crate::bench::errno::io_text(&error)))?;
    key::judge(path, &text, entity).map_err(|cause| EngineError::new(act(), cause))
}

fn configure(
    functions: &'static Functions,
    target: &RadosTarget,
    entity: &str,
    key_file: KeyFile,
    op_timeout_seconds: u64,
    in_flight: InFlight,
) -> Result<Cluster, RadosError> {
    let cluster = Cluster::new(functions, entity)?;
    if let Some(conf) = &target.conf {
        cluster.read_conf(conf)?;
    }
    if let Some(mon_host) = &target.mon_host {
        cluster.set("mon_host", mon_host)?;
    }
    match key_file {
        KeyFile::Key(_) => cluster.set("keyfile", &target.key_file)?,
        KeyFile::Keyring(_) => cluster.set("keyring", &target.key_file)?,
    }
    let connect_timeout = target.connect_timeout_seconds.max(1).to_string();
    let in_flight = in_flight.or_default();
    let settings = [
        ("client_mount_timeout", connect_timeout.as_str()),
        ("rados_mon_op_timeout", connect_timeout.as_str()),
        ("rados_osd_op_timeout", &op_timeout_seconds.to_string()),
        ("objecter_inflight_ops", &in_flight.operations.to_string()),
        ("objecter_inflight_op_bytes", &in_flight.bytes.to_string()),
        // A key that it can't decode goes to its log in full.
        ("log_file", ""),
        ("log_to_stderr", "false"),
        ("err_to_stderr", "false"),
        ("log_to_syslog", "false"),
        ("err_to_syslog", "false"),
        ("admin_socket", ""),
    ];
    for (option, value) in settings {
        cluster.set(option, value)?;
    }
    // Older libraries don't know all of these.
    for option in ["log_to_file", "log_to_journald", "err_to_journald", "log_to_graylog", "err_to_graylog"] {
        let _ = cluster.set(option, "false");
    }
    Ok(cluster)
}

/// Connects on a thread of its own: a look-up of names may take longer than any of librados' timeouts.
fn connect_bounded(cluster: Cluster, timeout: Duration) -> Result<Arc<Cluster>, i32> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let result = cluster.connect().map(|()| cluster).map_err(|error| error.errno);
        // Nobody may wait for it any more.
        let _ = send.send(result);
    });
    match receive.recv_timeout(timeout) {
        Ok(result) => result.map(Arc::new),
        Err(mpsc::RecvTimeoutError::Timeout | mpsc::RecvTimeoutError::Disconnected) => Err(libc::ETIMEDOUT),
    }
}
