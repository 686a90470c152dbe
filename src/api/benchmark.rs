//! The resource and its spec.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BenchmarkStatus, Clients, Gate, Kind, Time, Workload};

/// Measures a Ceph cluster: disks and network under it, RADOS on top, and judges the figures by gates.
#[expect(clippy::duplicated_attributes, reason = "each printer column has a type of its own")]
#[derive(Clone, CustomResource, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[kube(
    group = "cephbench.io",
    version = "v1alpha1",
    kind = "CephBenchmark",
    namespaced,
    status = "BenchmarkStatus",
    shortname = "cb",
    derive = "PartialEq",
    doc = "A benchmark of a Ceph cluster: what to measure, and what came of it.",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Progress", type_ = "string", json_path = ".status.progress.text"),
    printcolumn(name = "Run", type_ = "integer", json_path = ".status.run.number"),
    printcolumn(name = "Gates", type_ = "string", json_path = ".status.gatesSummary"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CephBenchmarkSpec {
    /// Name of the CephCluster in this namespace. Optional when there is exactly one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub ceph_cluster: Option<String>,
    /// Any text; a new value asks for a new run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub trigger: Option<String>,
    /// Cancels a run that is going, cleans up, and starts none. Default: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Clients>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<Defaults>,
    /// What happens to the remaining tests when one ends in Error. Default: Continue.
    #[serde(default)]
    pub on_failure: OnFailure,
    #[schemars(length(min = 1, max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub tests: Vec<Test>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub gates: Vec<Gate>,
}

/// What the tests use where their workload is silent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Defaults {
    /// Default: 5s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_up: Option<Time>,
    /// Default: 60s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Default: 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 20))]
    pub rounds: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, JsonSchema, Serialize)]
pub enum OnFailure {
    /// The next test runs all the same.
    #[default]
    Continue,
    /// The run ends.
    Abort,
}

/// One test: a kind and a workload.
#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Test {
    #[schemars(length(min = 1, max = 40), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    #[serde(flatten)]
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// Overrides fields of `spec.clients` for this test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Clients>,
}
