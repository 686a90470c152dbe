//! Looks up what preflight needs: the CephClusters, their OSDs, pools and monitors, and the nodes.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::api::{Api, ListParams};

use super::super::context::Context;
use super::super::error::{ControllerError, During, found};
use super::super::rook_facts::{cluster_facts, monitors, node_facts, osd_facts, pool_facts};
use crate::plan::preflight::Survey;
use crate::resources::rook::{CephBlockPool, CephCluster};

const OSD_LABEL: &str = "app=rook-ceph-osd";
const MONITORS: &str = "rook-ceph-mon-endpoints";

pub(super) async fn survey(context: &Context, namespace: &str) -> Result<Survey, ControllerError> {
    let client = || context.client.clone();
    let all = ListParams::default();
    let of_osds = ListParams::default().labels(OSD_LABEL);
    let clusters: Api<CephCluster> = Api::namespaced(client(), namespace);
    // Where Rook is not installed there is no such kind, and so no cluster.
    let clusters = found(clusters.list(&all).await).during(|| "list CephClusters".into())?;
    let clusters = clusters.map(|list| list.items).unwrap_or_default();
    let pools: Api<CephBlockPool> = Api::namespaced(client(), namespace);
    let pools = found(pools.list(&all).await).during(|| "list CephBlockPools".into())?;
    let deployments: Api<Deployment> = Api::namespaced(client(), namespace);
    let deployments = deployments.list(&of_osds).await.during(|| "list Deployments of OSDs".into())?;
    let pods: Api<Pod> = Api::namespaced(client(), namespace);
    let pods = pods.list(&of_osds).await.during(|| "list pods of OSDs".into())?;
    let config_maps: Api<ConfigMap> = Api::namespaced(client(), namespace);
    let endpoints = found(config_maps.get(MONITORS).await).during(|| format!("get ConfigMap {MONITORS}"))?;
    let nodes: Api<Node> = Api::all(client());
    let nodes = nodes.list(&all).await.during(|| "list nodes".into())?;
    Ok(Survey {
        namespace: namespace.into(),
        clusters: clusters.iter().map(cluster_facts).collect(),
        osds: osd_facts(&deployments.items, &pods.items),
        pools: pools.map(|list| list.items.iter().map(pool_facts).collect()).unwrap_or_default(),
        monitors: monitors(endpoints.as_ref()),
        nodes: nodes.items.iter().map(node_facts).collect(),
    })
}
