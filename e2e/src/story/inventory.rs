//! All that a run makes, whoever made what is there: objects in namespaces, pools, users and CRUSH rules in Ceph, files on nodes. Taken before
//! and after a story, the difference is what was left behind.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Resource, ResourceExt};
use serde_json::Value;

use super::{Cluster, NODES, Node};

/// Things as `namespace/Kind/name`, `ceph/pool/name`, `node/path`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory(BTreeSet<String>);

impl Inventory {
    pub async fn take(cluster: &Cluster, namespaces: &[&str]) -> Result<Self> {
        let mut found = BTreeSet::new();
        for namespace in namespaces {
            found.extend(objects(cluster, namespace).await?);
        }
        found.extend(in_ceph(cluster).await?);
        for node in NODES {
            let node = Node::new(cluster, node);
            let script = "find /var/tmp /tmp/cephbench -mindepth 1 2>/dev/null; true";
            let files = node.run(&["sh", "-c", script]).await?;
            found.extend(files.lines().map(|path| format!("{}{path}", node.name)));
        }
        Ok(Self(found))
    }

    /// What is here and was not there before.
    pub fn added_since(&self, before: &Self) -> Vec<String> {
        self.0.difference(&before.0).cloned().collect()
    }
}

/// Names of all objects of a kind in a namespace that carry this label selector.
pub async fn names_of<K>(cluster: &Cluster, namespace: &str, selector: &str) -> Result<Vec<String>>
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope> + Clone + std::fmt::Debug,
    K: serde::de::DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(cluster.client.clone(), namespace);
    let list = api.list_metadata(&ListParams::default().labels(selector)).await?;
    Ok(list.iter().map(ResourceExt::name_any).collect())
}

async fn objects(cluster: &Cluster, namespace: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut add = |kind: &str, names: Vec<String>| {
        found.extend(names.iter().map(|name| format!("{namespace}/{kind}/{name}")));
    };
    add("Job", names_of::<Job>(cluster, namespace, "").await?);
    // Pods of the cluster itself come back under other names.
    let pods = names_of::<Pod>(cluster, namespace, "rook_cluster!=rook-ceph,app!=rook-ceph-operator").await?;
    add("Pod", pods);
    add("Secret", names_of::<Secret>(cluster, namespace, "").await?);
    add("ConfigMap", names_of::<ConfigMap>(cluster, namespace, "").await?);
    add("PersistentVolumeClaim", names_of::<PersistentVolumeClaim>(cluster, namespace, "").await?);
    add("NetworkPolicy", names_of::<NetworkPolicy>(cluster, namespace, "").await?);
    add("Lease", held_leases(cluster, namespace).await?);
    for kind in ["CephClient", "CephBlockPool", "CephBlockPoolRadosNamespace", "CephCluster"] {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("ceph.rook.io", "v1", kind));
        let api: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), namespace, &resource);
        add(kind, api.list(&ListParams::default()).await?.iter().map(ResourceExt::name_any).collect());
    }
    Ok(found)
}

/// A Lease that nobody holds may stay.
async fn held_leases(cluster: &Cluster, namespace: &str) -> Result<Vec<String>> {
    let api: Api<Lease> = Api::namespaced(cluster.client.clone(), namespace);
    let holder = |lease: &Lease| lease.spec.as_ref().and_then(|spec| spec.holder_identity.clone());
    let leases = api.list(&ListParams::default()).await?;
    Ok(leases
        .iter()
        .filter(|lease| holder(lease).is_some_and(|holder| !holder.is_empty()))
        .map(ResourceExt::name_any)
        .collect())
}

async fn in_ceph(cluster: &Cluster) -> Result<Vec<String>> {
    let lines = async |command: &[&str]| -> Result<Vec<String>> {
        Ok(cluster.ceph(command).await?.lines().map(str::to_owned).collect())
    };
    let mut found = Vec::new();
    found.extend(lines(&["ceph", "osd", "pool", "ls"]).await?.iter().map(|name| format!("ceph/pool/{name}")));
    found.extend(lines(&["ceph", "osd", "crush", "rule", "ls"]).await?.iter().map(|name| format!("ceph/rule/{name}")));
    let users = cluster.ceph_json(&["ceph", "auth", "ls"]).await?;
    let users = users["auth_dump"].as_array().context("ceph auth ls lists users")?;
    found.extend(users.iter().filter_map(|user| user["entity"].as_str()).map(|name| format!("ceph/user/{name}")));
    found.extend(objects_in_namespaces(cluster).await?);
    Ok(found)
}

/// RADOS namespaces that hold objects: what a run in an existing pool works in.
async fn objects_in_namespaces(cluster: &Cluster) -> Result<Vec<String>> {
    let mut found = BTreeSet::new();
    for pool in cluster.ceph(&["ceph", "osd", "pool", "ls"]).await?.lines() {
        // A pool may go meanwhile.
        let Ok(objects) = cluster.ceph_json(&["rados", "ls", "--all", "--pool", pool]).await else { continue };
        for object in objects.as_array().into_iter().flatten() {
            let namespace = object["namespace"].as_str().unwrap_or_default();
            if !namespace.is_empty() {
                found.insert(format!("ceph/namespace/{pool}/{namespace}"));
            } else if object["name"] != Value::Null && pool.starts_with("story-") {
                found.insert(format!("ceph/object/{pool}/{}", object["name"]));
            }
        }
    }
    Ok(found.into_iter().collect())
}
