//! All that a run makes, whoever made what is there: objects in namespaces, pools, users and CRUSH rules in Ceph, files on nodes. Taken before
//! and after a story, the difference is what was left behind.

use std::collections::BTreeSet;

use anyhow::Result;
use futures::future::try_join_all;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Resource, ResourceExt};

use super::{Cluster, NAMESPACE, NODES, Node};

/// Things as `namespace/Kind/name`, `ceph/pool/name`, `node/path`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory(BTreeSet<String>);

impl Inventory {
    pub async fn take(cluster: &Cluster, namespaces: &[&str]) -> Result<Self> {
        let mut found = BTreeSet::new();
        let objects = try_join_all(namespaces.iter().map(|namespace| objects(cluster, namespace)));
        let files = try_join_all(NODES.map(|node| files(cluster, node)));
        let (objects, files, in_ceph) = tokio::try_join!(objects, files, in_ceph(cluster))?;
        found.extend(objects.into_iter().chain(files).flatten().chain(in_ceph));
        Ok(Self(found))
    }

    /// What is here and was not there before.
    pub fn added_since(&self, before: &Self) -> Vec<String> {
        self.0.difference(&before.0).cloned().collect()
    }
}

/// What lies where disk tests may work.
async fn files(cluster: &Cluster, node: &str) -> Result<Vec<String>> {
    let script = "find /var/tmp /tmp/cephbench -mindepth 1 2>/dev/null; true";
    let files = Node::new(cluster, node).run(&["sh", "-c", script]).await?;
    Ok(files.lines().map(|path| format!("{node}{path}")).collect())
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

/// Pools, rules, users, and where objects are in the pools: outside of the monitors' own pool, objects in a RADOS namespace are a run's, and
/// a story's own pool holds what the story put there.
async fn in_ceph(cluster: &Cluster) -> Result<Vec<String>> {
    const LOOK: &str = "
        set -e
        ceph osd pool ls | sed 's,^,ceph/pool/,'
        ceph osd crush rule ls | sed 's,^,ceph/rule/,'
        ceph auth ls 2>/dev/null | sed -n 's,^\\([a-z-]*\\.[^ ]*\\)$,ceph/user/\\1,p'
        for pool in $(ceph osd pool ls); do
          [ $pool = .mgr ] || rados --pool $pool ls --all 2>/dev/null | cut -f 1 | sort -u | sed -n \"s,^\\(..*\\),ceph/namespace/$pool/\\1,p\"
        done";
    let text =
        cluster.kubectl(&["-n", NAMESPACE, "exec", "deployment/rook-ceph-operator", "--", "sh", "-c", LOOK]).await?;
    Ok(text.lines().map(str::to_owned).collect())
}
