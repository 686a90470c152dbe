//! What the operator (or a local run) tells the bench, and what the bench hands back: versioned, serialised as JSON, pure.
//!
//! A [`Task`] goes to each client of a test. The clients' conductor merges what all of them measured into one [`Report`].
//! Times are whole microseconds or nanoseconds and say so in their names; sizes are bytes.

mod agent;
mod cluster;
pub(crate) mod fit;
pub mod histogram;
mod log;

pub use agent::{
    AgentOutcome, CLEANUP_GRACE_SECONDS, EXIT_FAILED, EXIT_STOPPED, NETWORK_STATUS_ENV, POD_IP_ENV, POD_UID_ENV,
    TERMINATION_FILE_ENV, Termination, conductor_port, first_line,
};
pub use cluster::{ClusterFacts, HealthCheck, PgState, PoolFacts};
pub use log::{
    Decoded, LOG_VERSION, LogError, MAX_COMPRESSED, MAX_LINE, Packed, decode_log, pack, report_lines, unpack,
};

use serde::{Deserialize, Serialize};

use crate::api::Op;

/// Version of both formats. A bench refuses a task of another version; the operator refuses a report of another version.
pub const VERSION: u32 = 1;

/// What one client is told.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Task {
    pub version: u32,
    /// Identifies the run, the same for all its clients.
    pub run: String,
    pub test: String,
    /// This client's index, 0 for the conductor.
    pub client: u32,
    /// Nodes of all clients by index; its length is the number of clients. Names as people know them.
    pub nodes: Vec<String>,
    pub target: Target,
    pub points: Vec<Point>,
    /// How long clients may take to register and to prepare, in seconds, before the conductor gives up.
    pub prepare_timeout_seconds: u64,
    /// How long one operation may hang before it counts as failed, in seconds.
    pub op_timeout_seconds: u64,
}

/// What the operations go to.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// Nothing: each operation succeeds at once. Measures the bench itself.
    Null(NullTarget),
    File(FileTarget),
    Device(DeviceTarget),
    Network(NetworkTarget),
    Rados(RadosTarget),
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NullTarget {
    pub size: u64,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileTarget {
    /// As this client sees it. The client works in a subdirectory of its own, named after run, test and client.
    pub directory: String,
    pub size: u64,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeviceTarget {
    pub path: String,
}

/// The points name source and target by client index.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkTarget {
    /// Allows both ends of a link to be one machine. The traffic then crosses no network, and the report says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loopback: bool,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RadosTarget {
    /// Monitors as librados takes them in `mon_host`. Absent: taken from `conf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mon_host: Option<String>,
    /// A ceph.conf to read first; local runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conf: Option<String>,
    /// CephX user without `client.`.
    pub user: String,
    /// File that holds the user's key alone (in a pod), or a keyring (its name then ends in `keyring`).
    pub key_file: String,
    pub pool: String,
    /// RADOS namespace; empty for a pool made for the run.
    pub namespace: String,
    /// Ceph version of the cluster, to explain a key that the library can't read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_version: Option<String>,
    pub connect_timeout_seconds: u64,
}

/// One combination out of a sweep, with everything that a client needs to run it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Point {
    /// Absent for network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Op>,
    pub block_size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_size: Option<u64>,
    pub queue_depth: u32,
    pub jobs: u32,
    /// Network only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    pub ramp_up_micros: u64,
    pub duration_micros: u64,
    /// The most that one client moves in one round, ramp included. The ramp ends when it has used a quarter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    pub rounds: u32,
}

/// Who sends to whom, by client index.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Link {
    pub source: u32,
    pub target: u32,
    pub streams: u32,
}

/// What a test's conductor hands back: everything that was measured, merged over jobs and clients.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Report {
    pub version: u32,
    pub run: String,
    pub test: String,
    pub clients: Vec<ClientReport>,
    /// In the order of the task's points; all of them when `outcome` is complete.
    pub points: Vec<PointReport>,
    pub outcome: Outcome,
}

/// Whether the test ran to its end.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Every round of every point ran its whole window on every client.
    Complete,
    /// It stopped; the text says why. Rounds before are kept.
    Failed(String),
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClientReport {
    pub client: u32,
    pub node: String,
    /// Kubernetes' UID of the pod, or of this process a text of its own.
    pub pod_uid: String,
    /// io_uring, libaio, threads, tcp, librados or null.
    pub engine: String,
    /// Why the engine is not the best one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_reason: Option<String>,
    /// What people should know of this client: data read again, a cache that could not be dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PointReport {
    pub point: Point,
    pub rounds: Vec<RoundReport>,
    /// Notes on this point: data that were read again, a remainder left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One repetition of a point, over all clients.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoundReport {
    /// The measured window: from the end of the ramp to its end, the longest of the clients'.
    pub elapsed_micros: u64,
    pub ended_by: EndedBy,
    /// Latest start of a client minus the earliest, on the conductor's clock.
    pub start_spread_micros: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<DirectionReport>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<DirectionReport>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorCount>,
    /// Second by second over the measured window, all clients added; thinned to 600 samples, each then of `seconds_per_sample`.
    pub series: Vec<Sample>,
    pub seconds_per_sample: u32,
    /// CPU time that the clients' processes used in the window.
    pub cpu_micros: u64,
    pub clients: Vec<ClientRound>,
}

/// What ended a round.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum EndedBy {
    #[default]
    Duration,
    /// The byte cap.
    Bytes,
    /// Too many errors, or one that makes going on pointless.
    Errors,
}

/// Operations of one direction.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DirectionReport {
    /// Operations completed within the window.
    pub ops: u64,
    pub bytes: u64,
    /// Latencies in nanoseconds: HdrHistogram V2 with deflate, base64. Absent where latency has no meaning (network streams).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    /// Exact, beside the histogram's buckets.
    pub min_nanos: u64,
    /// The same. An operation still in flight at the window's end counts with how long it had lasted by then.
    pub max_nanos: u64,
    pub sum_nanos: u64,
    /// Latencies above what the histogram can hold: counted, and the percentiles are then not to be believed.
    pub above_range: u64,
}

/// Operations that failed in one way.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ErrorCount {
    /// Such as `write: No space left on device (ENOSPC)`.
    pub message: String,
    pub count: u64,
}

/// One second, or as many as the series was thinned to.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sample {
    /// Seconds from the start of the window.
    pub second: u32,
    pub ops: u64,
    pub bytes: u64,
    pub errors: u64,
    /// Sum and largest of the latencies of these operations.
    pub latency_sum_nanos: u64,
    pub latency_max_nanos: u64,
}

/// What one client did in a round.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClientRound {
    pub client: u32,
    pub ops: u64,
    pub bytes: u64,
    pub errors: u64,
    pub elapsed_micros: u64,
    pub cpu_micros: u64,
    /// Of that, what the busiest of its jobs' threads used; 0 where jobs have no threads.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub busiest_thread_micros: u64,
    /// Largest number of operations in flight at once, seen by the bench; each job's own, added.
    pub depth_seen: u32,
    /// How often sequential work started over, in the job where it did most often: what was touched since, had been touched before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wraps: u64,
    /// How long the ramp was, where it ended early to leave the window its part of the byte cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_cut_micros: Option<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
