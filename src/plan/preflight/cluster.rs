//! The Ceph cluster of a run: which one, whether it is fit to be measured, and its fingerprint.

use std::collections::{BTreeMap, BTreeSet};

use super::survey::{ClusterFacts, ClusterNetwork, Survey};
use super::{Place, mon_host, refuse, refuse_for_now};
use crate::api::{CephBenchmarkSpec, ClusterStatus, PoolStatus};
use crate::plan::decide::Refusal;
use crate::plan::{Plan, PlannedKind, PlannedPool};

/// Multus reads the networks that a pod is to join from this annotation.
const NETWORKS_ANNOTATION: &str = "k8s.v1.cni.cncf.io/networks";

pub(super) fn find<'a>(spec: &CephBenchmarkSpec, survey: &'a Survey) -> Result<&'a ClusterFacts, Refusal> {
    let namespace = &survey.namespace;
    let names: Vec<&str> = survey.clusters.iter().map(|cluster| cluster.name.as_str()).collect();
    match (&spec.ceph_cluster, survey.clusters.as_slice()) {
        (Some(wanted), clusters) => clusters.iter().find(|cluster| cluster.name == *wanted).ok_or_else(|| {
            let there = if names.is_empty() { "none".into() } else { names.join(", ") };
            refuse(
                "NoCephCluster",
                format!("spec.cephCluster: {wanted:?}: namespace {namespace} has no CephCluster of this name (it has {there})"),
            )
        }),
        (None, []) => Err(refuse(
            "NoCephCluster",
            format!("spec.cephCluster: not set, and namespace {namespace} has no CephCluster: create the CephBenchmark where it is"),
        )),
        (None, [only]) => Ok(only),
        (None, _) => Err(refuse(
            "ManyCephClusters",
            format!("spec.cephCluster: not set, and namespace {namespace} has {}: name one", names.join(", ")),
        )),
    }
}

pub(super) fn fsid(cluster: &ClusterFacts) -> Result<&str, Refusal> {
    cluster.fsid.as_deref().filter(|fsid| !fsid.is_empty()).ok_or_else(|| {
        let phase = cluster.phase.as_deref().unwrap_or("unknown");
        let message = cluster.message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
        refuse("ClusterNotReady", format!("CephCluster {} is not up yet (phase {phase}{message})", cluster.name))
    })
}

/// HEALTH_WARN is said and measured: a cluster without any warning is rare.
pub(super) fn healthy(cluster: &ClusterFacts) -> Result<(), Refusal> {
    match cluster.health.as_deref() {
        Some("HEALTH_ERR") => Err(refuse_for_now(
            "ClusterUnhealthy",
            format!("CephCluster {} is in HEALTH_ERR: {}", cluster.name, details(cluster)),
        )),
        Some(_) => Ok(()),
        None => Err(refuse_for_now(
            "ClusterUnhealthy",
            format!("CephCluster {} does not say how it is: are its monitors reachable?", cluster.name),
        )),
    }
}

fn details(cluster: &ClusterFacts) -> String {
    let details: Vec<String> =
        cluster.health_details.iter().map(|(code, message)| format!("{code}: {message}")).collect();
    if details.is_empty() { "no details".into() } else { details.join("; ") }
}

/// A replicated pool with more copies than hosts never becomes active.
pub(super) fn enough_hosts(survey: &Survey, size: u32, place: &Place) -> Result<(), Refusal> {
    let hosts = hosts(survey).len();
    if hosts > 0 && (hosts as u32) < size {
        let field = place.field("rados.pool.create.size");
        return Err(refuse(
            "NotEnoughHosts",
            format!("{field}: {size}: each copy goes to another host, and OSDs are on {hosts}: at most {hosts}"),
        ));
    }
    Ok(())
}

fn hosts(survey: &Survey) -> BTreeSet<&str> {
    survey.osds.iter().filter_map(|osd| osd.host.as_deref()).collect()
}

pub(super) fn monitors(survey: &Survey) -> Result<String, Refusal> {
    let data = survey.monitors.data.as_deref().ok_or_else(|| {
        refuse("NoMonitors", format!("namespace {} has no ConfigMap rook-ceph-mon-endpoints", survey.namespace))
    })?;
    mon_host(data, &survey.monitors.out_of_quorum).map_err(|error| refuse_for_now("NoMonitors", error.to_string()))
}

pub(super) fn annotations(cluster: &ClusterFacts, host_network: bool) -> BTreeMap<String, String> {
    match &cluster.network {
        ClusterNetwork::Multus(Some(public)) if !host_network => {
            BTreeMap::from([(NETWORKS_ANNOTATION.into(), public.clone())])
        }
        ClusterNetwork::Pod | ClusterNetwork::Host | ClusterNetwork::Multus(_) => BTreeMap::new(),
    }
}

/// What is to be known of the cluster beside the figures.
pub(super) fn fingerprint(cluster: &ClusterFacts, survey: &Survey, plan: &Plan, fsid: &str) -> ClusterStatus {
    let nodes: BTreeSet<&str> = survey.osds.iter().filter_map(|osd| osd.node.as_deref()).collect();
    let network = match &cluster.network {
        ClusterNetwork::Pod => "Pod",
        ClusterNetwork::Host => "Host",
        ClusterNetwork::Multus(_) => "Multus",
    };
    let health = cluster.health.as_ref().map(|health| match cluster.health_details.is_empty() {
        true => health.clone(),
        false => format!("{health} ({})", details(cluster)),
    });
    // For an external cluster nothing is known of its OSDs.
    let known = |count: usize| (!survey.osds.is_empty()).then_some(count as i64);
    ClusterStatus {
        name: Some(cluster.name.clone()),
        fsid: Some(fsid.into()),
        ceph_version: cluster.version.clone(),
        osds: known(survey.osds.len()),
        hosts: known(hosts(survey).len()),
        nodes: known(nodes.len()),
        pools: pools(survey, plan),
        network: Some(network.into()),
        health,
    }
}

fn pools(survey: &Survey, plan: &Plan) -> Vec<PoolStatus> {
    let mut pools: Vec<PoolStatus> = Vec::new();
    for test in &plan.tests {
        let PlannedKind::Rados(pool) = &test.kind else { continue };
        let status = match pool {
            PlannedPool::Create { size, pg_num } => PoolStatus {
                name: test.name.clone(),
                size: Some(i64::from(*size)),
                pg_num: Some(i64::from(pg_num.unwrap_or_else(|| super::sizing::pg_num(survey.osds.len(), *size)))),
                created: true,
            },
            PlannedPool::Existing { name } => {
                let known = survey.pools.iter().find(|pool| pool.name == *name);
                let size = known.and_then(|pool| pool.size).map(i64::from);
                PoolStatus { name: name.clone(), size, pg_num: None, created: false }
            }
        };
        if !pools.contains(&status) {
            pools.push(status);
        }
    }
    pools
}
