//! A small stand-in for Rook's operator, so that the local cluster has a real Ceph behind Rook's real kinds.
//!
//! What it does, for one CephCluster: starts a monitor, a manager and one OSD per device as Rook's Deployments, with
//! Rook's Services, ConfigMaps and Secrets; keeps `CephCluster.status` current; serves CephClient, CephBlockPool and
//! CephBlockPoolRadosNamespace against that Ceph. Every object has the shape of one captured from a real Rook
//! (`e2e/rook`), and a test compares them.
//!
//! What it is not: Rook. It follows no change of the CephCluster's spec and repairs no daemon that somebody scaled
//! away or froze (its pods have no probes). It has one monitor and one manager on the pod network, knows no claims,
//! host network, Multus, external clusters, CephFilesystems, mirroring, key rotation or upgrades, and publishes no
//! Events. Deleting the CephCluster waits for its pools and clients, then
//! lets Kubernetes remove the daemons and leaves the devices as they are.
//!
//! Flow: objects → `build` (plain functions) → `apply` → the API; `ceph` runs Ceph's own command-line programs.

pub mod apply;
pub mod block_pool;
pub mod build;
pub mod ceph;
pub mod client;
pub mod cluster;
pub mod condition;
pub mod rados_namespace;
pub mod serve;
pub mod status;

use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;

/// How long a custom resource that failed or is blocked waits before it is looked at again, as in Rook.
pub const RETRY_SECONDS: u64 = 10;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{act}: {source}")]
    Kubernetes {
        act: String,
        #[source]
        source: kube::Error,
    },
    #[error(transparent)]
    Ceph(#[from] ceph::Error),
    #[error("{object}: {field} is {found}, expected {expected}")]
    Field { object: String, field: &'static str, found: String, expected: &'static str },
    #[error("{path}: {source}")]
    File {
        path: String,
        #[source]
        source: std::io::Error,
    },
}

/// One of Rook's kinds.
pub fn rook_kind(kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("ceph.rook.io", "v1", kind))
}

/// The name in Ceph: `spec.name`, else the object's.
pub fn named(object: &DynamicObject) -> String {
    object.data["spec"]["name"].as_str().map_or_else(|| object.name_any(), str::to_owned)
}

/// A time as Kubernetes writes it, to the second.
pub fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
