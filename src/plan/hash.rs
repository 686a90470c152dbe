//! The hash of what is measured: equal when two specs measure the same, however they are written.
//!
//! Counted: the Ceph cluster's name, what happens after an error, the tests in their order with names, targets and points, and of the
//! clients where they run and what changes their speed: nodes, number, network, image, resources.
//! Not counted: gates, trigger and suspend, which measure nothing, and tolerations, priority and pull secrets, which only let a pod start.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{ClientPods, PlannedKind, PlannedTest};
use crate::api::{Clients, NodeSelection, OnFailure};
use crate::contract::Point;
use crate::units;

/// Version of what is counted; a change of it measures everything anew.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Measured<'a> {
    version: u32,
    ceph_cluster: Option<&'a str>,
    on_failure: OnFailure,
    tests: Vec<MeasuredTest<'a>>,
}

#[derive(Serialize)]
struct MeasuredTest<'a> {
    name: &'a str,
    kind: &'a PlannedKind,
    points: &'a [Point],
    per_node: u32,
    nodes: Option<NodeSelection>,
    host_network: Option<bool>,
    image: Option<&'a str>,
    limits: BTreeMap<&'a str, String>,
    requests: BTreeMap<&'a str, String>,
}

/// sha256 in hexadecimal.
pub(super) fn of(ceph_cluster: Option<&str>, on_failure: OnFailure, tests: &[PlannedTest]) -> String {
    let tests = tests.iter().map(measured).collect();
    let measured = Measured { version: VERSION, ceph_cluster, on_failure, tests };
    let text = serde_json::to_vec(&measured).expect("plain data with text keys");
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn measured(test: &PlannedTest) -> MeasuredTest<'_> {
    let PlannedTest { name, kind, points, clients, notes: _ } = test;
    let ClientPods { per_node, spec } = clients;
    let Clients {
        nodes,
        per_node: _,
        host_network,
        tolerations: _,
        resources,
        priority_class_name: _,
        image,
        image_pull_secrets: _,
    } = spec;
    let (limits, requests) = match resources {
        Some(ResourceRequirements { claims: _, limits, requests }) => (limits.as_ref(), requests.as_ref()),
        None => (None, None),
    };
    MeasuredTest {
        name,
        kind,
        points,
        per_node: *per_node,
        nodes: nodes.as_ref().map(in_order),
        host_network: *host_network,
        image: image.as_deref(),
        limits: amounts(limits),
        requests: amounts(requests),
    }
}

/// The same nodes in another order are the same nodes.
fn in_order(nodes: &NodeSelection) -> NodeSelection {
    match nodes {
        NodeSelection::MatchLabels(labels) => NodeSelection::MatchLabels(labels.clone()),
        NodeSelection::Names(names) => {
            let mut names = names.clone();
            names.sort_unstable();
            NodeSelection::Names(names)
        }
    }
}

/// `500m` and `0.5` are the same amount. What cannot be read was refused before.
fn amounts(list: Option<&BTreeMap<String, Quantity>>) -> BTreeMap<&str, String> {
    let exact =
        |text: &str| units::resource(text).map_or_else(|_| text.to_owned(), |billionths| billionths.to_string());
    list.into_iter().flatten().map(|(name, amount)| (name.as_str(), exact(&amount.0))).collect()
}
