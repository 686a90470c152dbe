//! The plan: a spec validated and expanded. Builders, the bench and the judgement take only this.

use serde::{Deserialize, Serialize};

use crate::api::{Clients, Metric, OnFailure, Op};
use crate::contract::Point;

/// Everything that a run will do. Frozen at its start.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    pub on_failure: OnFailure,
    pub tests: Vec<PlannedTest>,
    /// Hash of all that is measured, in hexadecimal: equal when two specs measure the same.
    pub spec_hash: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedTest {
    pub name: String,
    pub kind: PlannedKind,
    /// The sweep, expanded, in the order of measuring. For network: one entry per combination of the lists, its `link` filled for
    /// clients 0 → 1 as a pattern; the planner makes the list of every pair once the number of clients is known.
    pub points: Vec<Point>,
    /// `spec.clients` with this test's overrides applied.
    pub clients: ClientPods,
    /// What should be said to the user about this test: a remainder that is left out, a default byte cap.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PlannedKind {
    File { directory: String, size: u64 },
    Device { path: String },
    Network,
    Rados(PlannedPool),
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PlannedPool {
    Create { size: u32, pg_num: Option<u32> },
    Existing { name: String },
}

/// Where a test's clients run.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientPods {
    pub per_node: u32,
    /// The rest as the spec has it, overrides applied.
    pub spec: Clients,
}

/// A gate validated: limits are numbers in the metric's unit (bytes per second, operations per second, microseconds, a count).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedGate {
    pub name: String,
    pub test: String,
    pub metric: Metric,
    pub op: Option<Op>,
    pub block_size: Option<u64>,
    pub object_size: Option<u64>,
    pub queue_depth: Option<u32>,
    pub jobs: Option<u32>,
    pub streams: Option<u32>,
    pub min: Option<Limit>,
    pub max: Option<Limit>,
}

/// A limit as a number, and as it was written.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Limit {
    pub value: f64,
    pub text: String,
}
