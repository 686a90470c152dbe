//! What the operator writes back. Bytes per second are integers, other figures have at most two decimals.
//! A field that was not measured is absent: never 0, NaN or a sentinel.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Op;

#[derive(Clone, Debug, Default, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BenchmarkStatus {
    /// The generation that this status speaks of; −1 before the first look.
    #[serde(default = "unobserved")]
    pub observed_generation: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The cause, for people, where the phase alone does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunStatus>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterStatus>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestStatus>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateStatus>,
    /// Gates that passed, of all, for people: `3/4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates_summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactStatus>,
}

fn unobserved() -> i64 {
    -1
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema, Serialize)]
pub enum Phase {
    /// Another run has the Ceph cluster.
    Queued,
    /// Makes ready what the next test needs.
    Preparing,
    /// Clients measure.
    Running,
    /// Removes what the run made.
    Cleaning,
    /// Every test ran and every gate passed.
    Passed,
    /// A gate failed.
    Failed,
    /// Something could not run.
    Error,
    /// A gate could not be judged.
    Inconclusive,
    /// Suspended, or replaced by another measurement.
    Cancelled,
}

/// One execution.
#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    /// Counts from 1.
    pub number: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Hash of what is measured: two runs with the same one measured the same.
    pub spec_hash: String,
    pub start_time: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub tests_done: i64,
    pub tests: i64,
    /// Name of the test that is going.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// Planned time that has passed, 0 to 100.
    pub percent: i64,
    /// For people: `1/3 pool 45%`.
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_completion: Option<Time>,
}

/// What was measured: the cluster's fingerprint at the start of the run.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// Name of the CephCluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceph_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub osds: Option<i64>,
    /// CRUSH hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<i64>,
    /// Kubernetes nodes that run OSDs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolStatus>,
    /// Pod, Host or Multus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolStatus {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pg_num: Option<i64>,
    /// Whether the run made it.
    pub created: bool,
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TestStatus {
    pub name: String,
    pub phase: TestPhase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// One line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineStatus>,
    /// The first 64 points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<PointStatus>,
    /// Points that are in the artifact only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_omitted: Option<i64>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema, Serialize)]
pub enum TestPhase {
    Pending,
    Preparing,
    Running,
    Cleaning,
    /// Measured whole.
    Completed,
    /// Could not run, or not to the end.
    Error,
    /// Not begun, because the run ended before it.
    Skipped,
}

/// What moved the data.
#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineStatus {
    /// io_uring, libaio, threads, tcp, librados or null.
    pub name: String,
    /// Why it is not the best one, where it isn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One combination out of a test's sweep, and what was measured there, over all clients and rounds.
#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PointStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Op>,
    /// Bytes.
    pub block_size: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<i64>,
    pub clients: i64,
    /// Bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_size: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<i64>,
    /// Node that sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Node that receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    pub ops: i64,
    pub errors: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    pub validity: Validity,
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bandwidth {
    pub bytes_per_second: i64,
    /// For people: `412.6 MiB/s`, on a link `9.41 Gbit/s`.
    pub text: String,
}

/// Latencies of all operations of all clients, in microseconds.
#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Latency {
    pub mean_micros: f64,
    pub p50_micros: f64,
    pub p95_micros: f64,
    pub p99_micros: f64,
    pub p999_micros: f64,
    /// An operation that was still in flight when a window ended counts here with how long it had lasted by then.
    pub max_micros: f64,
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RoundStatus {
    pub bytes_per_second: i64,
    pub iops: f64,
}

/// What the bench itself used.
#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cpu {
    /// CPU seconds of the bench, over all clients and rounds.
    pub seconds: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micros_per_op: Option<f64>,
}

/// Whether the figure can be believed; apart from what the gates say of it.
#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Validity {
    pub verdict: ValidityVerdict,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ValidityReason>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
pub enum ValidityVerdict {
    Valid,
    Suspect,
    Invalid,
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidityReason {
    /// A word for machines, such as `TooShort`.
    pub code: String,
    /// The evidence.
    pub message: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GateStatus {
    pub name: String,
    pub verdict: Verdict,
    /// The worst figure among the points it looked at, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
    /// For people: `≥ 200 MiB/s`.
    pub wanted: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema, Serialize)]
pub enum Verdict {
    Passed,
    Failed,
    Inconclusive,
}

/// Where the whole result is.
#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactStatus {
    pub config_maps: Vec<String>,
    /// sha256 over the tests' own digests (hexadecimal, in their order), in hexadecimal.
    pub digest: String,
}
