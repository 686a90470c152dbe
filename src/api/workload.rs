//! What a test does: one type for every kind. Each list sweeps; the product of the lists is the test's points.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Amount, Time};

/// What each operation is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Reads one block after the other, from the start; starts over at the end.
    Read,
    /// Writes one block after the other, from the start; starts over at the end.
    Write,
    /// Reads blocks drawn evenly over the whole target.
    RandRead,
    /// Writes blocks drawn evenly over the whole target.
    RandWrite,
}

/// What a test does, swept over its lists. What is not given is taken from the test's kind.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Workload {
    /// Operations to measure, in this order. Default: `[write, read]` for rados, `[read]` for disk. Not for network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 8))]
    pub op: Vec<Op>,
    /// Bytes of one operation, such as `4Ki` or `1Mi`: multiples of 512, 512 to 64Mi; for network, where it
    /// is the size of one send, any up to 64Mi. Default: `[4Mi]` for disk, the object size for rados, `[128Ki]` for network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 32))]
    pub block_size: Vec<Amount>,
    /// Operations in flight per job, 1 to 1024. Default: `[16]`. Not for network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 32), inner(range(min = 1, max = 1024)))]
    pub queue_depth: Vec<u32>,
    /// Threads per client, each with its own queue and, on disk, its own part of the file, 1 to 256. Default: `[1]`. Not for network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 32), inner(range(min = 1, max = 256)))]
    pub jobs: Vec<u32>,
    /// Time before measuring starts, load applied, nothing counted. It ends early when it has used a quarter of `bytes`, except for
    /// network. At most 1h. Default: `spec.defaults.rampUp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_up: Option<Time>,
    /// Time measured per round, 1s to 168h. Default: `spec.defaults.duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// The most that one client moves in one round, ramp included; the round ends at `duration` or at this, whichever comes first.
    /// Default: 4Gi for writes to rados, no limit elsewhere (a file or device has its size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Amount>,
    /// Times each point is measured, 1 to 20. Default: `spec.defaults.rounds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 20))]
    pub rounds: Option<u32>,
}
