//! Gates: conditions on results.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Amount, Op};

/// What a gate looks at.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Metric {
    /// Bytes per second, over all clients. `min: 200Mi`.
    Bandwidth,
    /// Operations per second, over all clients. `min: 2000`.
    Iops,
    /// Mean latency, over all operations of all clients. `max: 20ms`.
    LatencyMean,
    /// Half of the operations were as fast or faster.
    LatencyP50,
    /// 95 % of the operations were as fast or faster.
    LatencyP95,
    /// 99 % of the operations were as fast or faster.
    LatencyP99,
    /// 99.9 % of the operations were as fast or faster.
    LatencyP999,
    /// The slowest operation.
    LatencyMax,
    /// Operations that failed. `max: 0`.
    Errors,
}

/// A condition that results must meet. Without op or another selection it holds for every point of its test: all must pass.
#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("has(self.min) || has(self.max)", "a gate needs min, max or both"))]
pub struct Gate {
    #[schemars(length(min = 1, max = 40), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// Name of the test.
    #[schemars(length(min = 1, max = 40))]
    pub test: String,
    pub metric: Metric,
    /// Only points with this op.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Op>,
    /// Only points with this block size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_size: Option<Amount>,
    /// Only points with this object size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_size: Option<Amount>,
    /// Only points with this queue depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub queue_depth: Option<u32>,
    /// Only points with this number of jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub jobs: Option<u32>,
    /// Only points with this number of streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub streams: Option<u32>,
    /// Passes at or above. Bytes per second for bandwidth, a number for iops and errors, a time for latencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Amount>,
    /// Passes at or below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Amount>,
}
