//! Rook's objects and Kubernetes' nodes as the plain facts that preflight looks at. Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod, Toleration};

use crate::api::Amount;
use crate::plan::preflight::{ClusterFacts, ClusterNetwork, Monitors, NodeFacts, OsdFacts, PoolFacts};
use crate::resources::rook::{CephBlockPool, CephCluster, Network};
use crate::units;

pub fn cluster_facts(cluster: &CephCluster) -> ClusterFacts {
    let spec = &cluster.spec;
    let status = cluster.status.clone().unwrap_or_default();
    let ceph = status.ceph.unwrap_or_default();
    let running = status.version.unwrap_or_default();
    let wanted = spec.ceph_version.as_ref().and_then(|version| version.image.clone());
    let details = ceph.details.unwrap_or_default();
    ClusterFacts {
        name: cluster.metadata.name.clone().unwrap_or_default(),
        phase: status.phase,
        message: status.message,
        fsid: ceph.fsid,
        health: ceph.health,
        health_details: details.into_iter().map(|(code, detail)| (code, detail.message)).collect(),
        // What runs, before what is to run: during an upgrade they differ.
        image: running.image.or(wanted),
        version: running.version,
        external: spec.external.as_ref().and_then(|external| external.enable).unwrap_or(false),
        network: network(spec.network.as_ref()),
        tolerations: placement_tolerations(cluster),
        capacity: ceph.capacity.and_then(|capacity| capacity.bytes_total.zip(capacity.bytes_used)),
    }
}

fn network(network: Option<&Network>) -> ClusterNetwork {
    let Some(network) = network else { return ClusterNetwork::Pod };
    match network.provider.as_deref() {
        Some("host") => ClusterNetwork::Host,
        Some("multus") => {
            ClusterNetwork::Multus(network.selectors.as_ref().and_then(|selectors| selectors.get("public")).cloned())
        }
        Some(_) | None if network.host_network == Some(true) => ClusterNetwork::Host,
        Some(_) | None => ClusterNetwork::Pod,
    }
}

/// What is set for all daemons and for OSDs.
fn placement_tolerations(cluster: &CephCluster) -> Vec<Toleration> {
    let Some(placement) = &cluster.spec.placement else { return Vec::new() };
    let of = |daemon| placement.get(daemon).and_then(|placement| placement.tolerations.clone()).unwrap_or_default();
    of("all").into_iter().chain(of("osd")).collect()
}

/// One entry per OSD deployment. The node is that of its pod: CRUSH host, labels and node selector may all name something else.
pub fn osd_facts(deployments: &[Deployment], pods: &[Pod]) -> Vec<OsdFacts> {
    let label = |labels: Option<&BTreeMap<String, String>>, key: &str| labels.and_then(|all| all.get(key)).cloned();
    deployments
        .iter()
        .map(|deployment| {
            let labels = deployment.metadata.labels.as_ref();
            let id = label(labels, "ceph-osd-id");
            let same = |pod: &&Pod| id.is_some() && label(pod.metadata.labels.as_ref(), "ceph-osd-id") == id;
            let stays = |pod: &&Pod| pod.metadata.deletion_timestamp.is_none();
            let pod = pods
                .iter()
                .filter(same)
                .filter(stays)
                .find_map(|pod| pod.spec.as_ref().filter(|spec| spec.node_name.is_some()));
            OsdFacts {
                host: label(labels, "topology-location-host"),
                node: pod.and_then(|spec| spec.node_name.clone()),
                tolerations: pod.and_then(|spec| spec.tolerations.clone()).unwrap_or_default(),
            }
        })
        .collect()
}

pub fn pool_facts(pool: &CephBlockPool) -> PoolFacts {
    let replicated = pool.spec.replicated.as_ref().map(|replicated| replicated.size).filter(|size| *size > 0);
    let coded = pool.spec.erasure_coded.as_ref().filter(|coded| coded.data_chunks > 0);
    let copies = match (replicated, coded) {
        (Some(size), _) => f64::from(size),
        (None, Some(coded)) => f64::from(coded.data_chunks + coded.coding_chunks) / f64::from(coded.data_chunks),
        (None, None) => 3.0,
    };
    let quota = pool.spec.quotas.as_ref().and_then(|quotas| {
        let written = quotas.max_size.clone().and_then(|size| units::bytes(&Amount::Text(size)).ok());
        written.or(quotas.max_bytes).filter(|quota| *quota > 0)
    });
    PoolFacts { name: pool.metadata.name.clone().unwrap_or_default(), copies, size: replicated, quota }
}

pub fn monitors(endpoints: Option<&ConfigMap>) -> Monitors {
    let data = endpoints.and_then(|config_map| config_map.data.as_ref());
    let value = |key: &str| data.and_then(|data| data.get(key)).cloned();
    Monitors { data: value("data"), out_of_quorum: value("outOfQuorum").unwrap_or_default() }
}

pub fn node_facts(node: &Node) -> NodeFacts {
    let spec = node.spec.as_ref();
    let status = node.status.as_ref();
    let ready = status.and_then(|status| status.conditions.as_ref()).is_some_and(|conditions| {
        conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
    });
    let allocatable = status.and_then(|status| status.allocatable.as_ref());
    let memory = allocatable.and_then(|resources| resources.get("memory"));
    // A cordon is a taint, too; it is said in its own words.
    let is_cordon = |key: &str| key == "node.kubernetes.io/unschedulable";
    let taints = spec.and_then(|spec| spec.taints.clone()).unwrap_or_default();
    NodeFacts {
        name: node.metadata.name.clone().unwrap_or_default(),
        labels: node.metadata.labels.clone().unwrap_or_default(),
        cordoned: spec.and_then(|spec| spec.unschedulable).unwrap_or(false),
        ready,
        taints: taints.into_iter().filter(|taint| !is_cordon(&taint.key)).collect(),
        memory: memory.and_then(|memory| units::bytes(&Amount::Text(memory.0.clone())).ok()),
    }
}

#[cfg(test)]
mod tests;
