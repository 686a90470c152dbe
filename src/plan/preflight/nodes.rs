//! Which nodes the clients of a test run on: chosen by the spec, or those that run OSDs; and whether they can.

use k8s_openapi::api::core::v1::{Taint, Toleration};

use super::survey::{ClusterFacts, NodeFacts, Survey};
use super::{Place, refuse};
use crate::api::NodeSelection;
use crate::plan::ClientPods;
use crate::plan::decide::Refusal;

/// The nodes, in the order of their names.
pub(super) fn choose<'a>(
    survey: &'a Survey,
    cluster: &ClusterFacts,
    clients: &ClientPods,
    place: &Place,
) -> Result<Vec<&'a NodeFacts>, Refusal> {
    let field = place.clients("nodes");
    let mut nodes = match &clients.spec.nodes {
        None => storage_nodes(survey, cluster, &field)?,
        Some(NodeSelection::Names(names)) => {
            let find = |name: &String| {
                survey.nodes.iter().find(|node| node.name == *name).ok_or_else(|| {
                    refuse(
                        "NoSuchNode",
                        format!("{}: {name:?}: no node of this name is in the cluster", place.clients("nodes.names")),
                    )
                })
            };
            names.iter().map(find).collect::<Result<Vec<_>, _>>()?
        }
        Some(NodeSelection::MatchLabels(labels)) => {
            let fits = |node: &&NodeFacts| labels.iter().all(|(key, value)| node.labels.get(key) == Some(value));
            let found: Vec<&NodeFacts> = survey.nodes.iter().filter(fits).collect();
            if found.is_empty() {
                let wanted: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
                return Err(refuse(
                    "NoNodes",
                    format!(
                        "{}: {}: no node carries these labels",
                        place.clients("nodes.matchLabels"),
                        wanted.join(",")
                    ),
                ));
            }
            found
        }
    };
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes.dedup_by(|a, b| a.name == b.name);
    Ok(nodes)
}

/// The nodes that OSD pods run on. The CRUSH host is no guide: for an OSD on a claim it is the claim's name.
fn storage_nodes<'a>(survey: &'a Survey, cluster: &ClusterFacts, field: &str) -> Result<Vec<&'a NodeFacts>, Refusal> {
    let runs = |node: &&NodeFacts| survey.osds.iter().any(|osd| osd.node.as_deref() == Some(node.name.as_str()));
    let nodes: Vec<&NodeFacts> = survey.nodes.iter().filter(runs).collect();
    if !nodes.is_empty() {
        return Ok(nodes);
    }
    let name = &cluster.name;
    let why = if cluster.external {
        format!("CephCluster {name} is external: no OSD runs on a node of this Kubernetes cluster")
    } else {
        format!("no OSD pod of CephCluster {name} runs on any node")
    };
    Err(refuse("NoNodes", format!("{field}: not set, and {why}: name the nodes that the clients are to run on")))
}

/// Refuses a node on which no pod of the test could start.
pub(super) fn usable(node: &NodeFacts, tolerations: &[Toleration], field: &str) -> Result<(), Refusal> {
    let name = &node.name;
    if node.cordoned {
        return Err(refuse(
            "NodeUnschedulable",
            format!("node {name} is cordoned: uncordon it, or leave it out of {field}"),
        ));
    }
    if !node.ready {
        return Err(refuse("NodeNotReady", format!("node {name} is not ready: repair it, or leave it out of {field}")));
    }
    for taint in &node.taints {
        let keeps_out = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
        if keeps_out && !tolerations.iter().any(|toleration| tolerates(toleration, taint)) {
            let value = taint.value.as_deref().map(|value| format!("={value}")).unwrap_or_default();
            return Err(refuse(
                "NodeTainted",
                format!(
                    "node {name} has the taint {}{value}:{}, which neither the cluster's OSDs nor spec.clients.tolerations \
                     tolerate: add a toleration, or leave it out of {field}",
                    taint.key, taint.effect
                ),
            ));
        }
    }
    Ok(())
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let effect = toleration.effect.as_deref().unwrap_or("");
    if !effect.is_empty() && effect != taint.effect {
        return false;
    }
    let key = toleration.key.as_deref().unwrap_or("");
    match toleration.operator.as_deref() {
        Some("Exists") => key.is_empty() || key == taint.key,
        Some(_) | None => {
            key == taint.key && toleration.value.as_deref().unwrap_or("") == taint.value.as_deref().unwrap_or("")
        }
    }
}

/// What the cluster's OSDs tolerate, and what the spec adds. The tolerations that every pod gets for a node that fails stay out: a client
/// is to end with its node.
pub(super) fn tolerations(survey: &Survey, cluster: &ClusterFacts, added: &[Toleration]) -> Vec<Toleration> {
    let of_osds = survey.osds.iter().flat_map(|osd| &osd.tolerations);
    let mut all: Vec<Toleration> = Vec::new();
    for toleration in of_osds.chain(&cluster.tolerations).chain(added) {
        if toleration.toleration_seconds.is_none() && !all.contains(toleration) {
            all.push(toleration.clone());
        }
    }
    all
}
