//! CephCluster: read only.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Toleration;
use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(Clone, CustomResource, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "ceph.rook.io",
    version = "v1",
    kind = "CephCluster",
    namespaced,
    schema = "disabled",
    status = "CephClusterStatus",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct CephClusterSpec {
    pub ceph_version: Option<CephVersionSpec>,
    pub external: Option<External>,
    pub network: Option<Network>,
    /// By daemon; `all` holds for every one.
    pub placement: Option<BTreeMap<String, Placement>>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct CephVersionSpec {
    pub image: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct External {
    pub enable: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// Empty, `host` or `multus`.
    pub provider: Option<String>,
    /// The older way to say `provider: host`.
    pub host_network: Option<bool>,
    /// `public` and `cluster`: names of NetworkAttachmentDefinitions.
    pub selectors: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Placement {
    pub tolerations: Option<Vec<Toleration>>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct CephClusterStatus {
    pub phase: Option<String>,
    pub message: Option<String>,
    pub ceph: Option<CephState>,
    pub version: Option<RunningVersion>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct CephState {
    pub fsid: Option<String>,
    pub health: Option<String>,
    pub details: Option<BTreeMap<String, HealthDetail>>,
    pub capacity: Option<Capacity>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct HealthDetail {
    pub message: String,
    pub severity: String,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Capacity {
    pub bytes_total: Option<u64>,
    pub bytes_used: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct RunningVersion {
    pub image: Option<String>,
    /// Such as `20.2.4-0`.
    pub version: Option<String>,
}
