//! Looks up what preflight needs: the CephClusters, their OSDs, pools and monitors, and the nodes.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::api::{Api, ListParams};

use super::super::context::Context;
use super::super::error::{ControllerError, During, found};
use super::super::rook_facts::{cluster_facts, monitors, node_facts, osd_facts, pool_facts};
use crate::plan::preflight::{NodeFacts, Survey};
use crate::resources::rook::{CephBlockPool, CephCluster};

const OSD_LABEL: &str = "app=rook-ceph-osd";
/// Nodes that are held at once.
const PAGE: u32 = 100;
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
    Ok(Survey {
        namespace: namespace.into(),
        clusters: clusters.iter().map(cluster_facts).collect(),
        osds: osd_facts(&deployments.items, &pods.items),
        pools: pools.map(|list| list.items.iter().map(pool_facts).collect()).unwrap_or_default(),
        monitors: monitors(endpoints.as_ref()),
        nodes: nodes(context).await?,
    })
}

/// By pages: a node is large (its images alone are tens of kilobytes), and of each only a little is needed.
async fn nodes(context: &Context) -> Result<Vec<NodeFacts>, ControllerError> {
    let api: Api<Node> = Api::all(context.client.clone());
    let mut page = ListParams::default().limit(PAGE);
    let mut facts = Vec::new();
    loop {
        let listed = api.list(&page).await.during(|| "list nodes".into())?;
        facts.extend(listed.items.iter().map(node_facts));
        match listed.metadata.continue_.filter(|next| !next.is_empty()) {
            Some(next) => page = page.continue_token(&next),
            None => return Ok(facts),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::scripted::{answer, server};
    use super::*;

    #[tokio::test]
    async fn nodes_are_read_page_by_page() {
        let (context, mut requests) = server();
        let page =
            |node: &str, next: &str| json!({"metadata": {"continue": next}, "items": [{"metadata": {"name": node}}]});
        let script = async {
            answer(&mut requests, 200, page("n1", "next")).await;
            answer(&mut requests, 200, page("n2", "")).await;
        };
        let (seen, ()) = tokio::join!(nodes(&context), script);
        let names: Vec<String> = seen.expect("they are read").into_iter().map(|node| node.name).collect();
        assert_eq!(names, ["n1", "n2"]);
    }
}
