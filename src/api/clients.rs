//! Where the clients run and what their pods may use.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ResourceRequirements, Toleration};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the clients run. Default: one client on every node that runs an OSD.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Clients {
    /// Nodes to run on. Default: the nodes that run OSDs of the Ceph cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeSelection>,
    /// Clients on each node, 1 to 16. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub per_node: Option<u32>,
    /// Whether pods use the node's network. Default: as the CephCluster does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_network: Option<bool>,
    /// Added to the tolerations that the cluster's OSDs have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "super::schema::tolerations")]
    pub tolerations: Vec<Toleration>,
    /// Requests and limits of the bench container; what is not given is filled in. Default: 500m of CPU, limited to one per job and four
    /// more; memory for the buffers and 256Mi (512Mi for rados), as request and limit; 64Mi of ephemeral storage, limited to 512Mi.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::schema::resources")]
    pub resources: Option<ResourceRequirements>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub priority_class_name: Option<String>,
    /// Image that carries librados. Default: the CephCluster's own. The operator's chart says which others may be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub image: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub image_pull_secrets: Vec<PullSecret>,
}

/// Nodes by label or by name: exactly one.
#[derive(Clone, Debug, Deserialize, PartialEq, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeSelection {
    /// Nodes that carry all of these labels.
    MatchLabels(#[schemars(schema_with = "super::schema::match_labels")] BTreeMap<String, String>),
    /// Nodes by their Kubernetes names.
    Names(#[schemars(schema_with = "super::schema::node_names")] Vec<String>),
}

/// A Secret of type kubernetes.io/dockerconfigjson in the benchmark's namespace.
#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PullSecret {
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}
