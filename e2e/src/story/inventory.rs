//! All objects of the kinds that a run makes, in one namespace, whoever made them: taken before and after a story, the
//! difference is what was left behind.

use std::collections::BTreeSet;

use anyhow::Result;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Resource, ResourceExt};

use super::Cluster;

/// Objects as `Kind/name`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory(BTreeSet<String>);

impl Inventory {
    pub async fn take(cluster: &Cluster, namespace: &str) -> Result<Self> {
        let mut found = BTreeSet::new();
        list::<Job>(cluster, namespace, &mut found).await?;
        list::<Pod>(cluster, namespace, &mut found).await?;
        list::<Secret>(cluster, namespace, &mut found).await?;
        list::<ConfigMap>(cluster, namespace, &mut found).await?;
        list::<NetworkPolicy>(cluster, namespace, &mut found).await?;
        list::<Lease>(cluster, namespace, &mut found).await?;
        for kind in ["CephClient", "CephBlockPool", "CephBlockPoolRadosNamespace"] {
            let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("ceph.rook.io", "v1", kind));
            let api: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), namespace, &resource);
            for object in api.list(&ListParams::default()).await? {
                found.insert(format!("{kind}/{}", object.name_any()));
            }
        }
        Ok(Self(found))
    }

    /// What is here and was not there before, but for `expected` (as `Kind/name`).
    pub fn added_since(&self, before: &Self, expected: &[String]) -> Vec<String> {
        self.0.difference(&before.0).filter(|name| !expected.contains(name)).cloned().collect()
    }
}

async fn list<K>(cluster: &Cluster, namespace: &str, found: &mut BTreeSet<String>) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope> + Clone + std::fmt::Debug,
    K: serde::de::DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(cluster.client.clone(), namespace);
    for object in api.list_metadata(&ListParams::default()).await? {
        found.insert(format!("{}/{}", K::kind(&()), object.name_any()));
    }
    Ok(())
}
