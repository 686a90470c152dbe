//! Where the clients run: `spec.clients` with a test's overrides, and what is wrong with either.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::super::ClientPods;
use super::super::problem::{Problems, quoted};
use crate::api::{Clients, NodeSelection};
use crate::units;

const MAX_PER_NODE: u32 = 16;
const MAX_NODES: usize = 128;

/// The fields of `test` where they are given, those of `spec` where they are not.
pub(super) fn merge(spec: Option<&Clients>, test: Option<&Clients>) -> ClientPods {
    let base = spec.cloned().unwrap_or_default();
    let over = test.cloned().unwrap_or_default();
    let Clients {
        nodes,
        per_node,
        host_network,
        tolerations,
        resources,
        priority_class_name,
        image,
        image_pull_secrets,
    } = over;
    let merged = Clients {
        nodes: nodes.or(base.nodes),
        per_node: per_node.or(base.per_node),
        host_network: host_network.or(base.host_network),
        tolerations: if tolerations.is_empty() { base.tolerations } else { tolerations },
        resources: resources.or(base.resources),
        priority_class_name: priority_class_name.or(base.priority_class_name),
        image: image.or(base.image),
        image_pull_secrets: if image_pull_secrets.is_empty() { base.image_pull_secrets } else { image_pull_secrets },
    };
    ClientPods { per_node: merged.per_node.unwrap_or(1), spec: merged }
}

pub(super) fn check(field: &str, clients: &Clients, problems: &mut Problems) {
    if let Some(nodes) = &clients.nodes {
        check_nodes(&format!("{field}.nodes"), nodes, problems);
    }
    if let Some(per_node) = clients.per_node.filter(|per_node| !(1..=MAX_PER_NODE).contains(per_node)) {
        problems.add(format!("{field}.perNode"), per_node.to_string(), format!("1 to {MAX_PER_NODE} are possible"));
    }
    if let Some(resources) = &clients.resources {
        check_resources(&format!("{field}.resources"), resources, problems);
    }
    if let Some(image) = &clients.image
        && (image.is_empty() || image.contains(char::is_whitespace))
    {
        problems.add(format!("{field}.image"), quoted(image), "is no image reference; write name:tag or name@digest");
    }
}

fn check_nodes(field: &str, nodes: &NodeSelection, problems: &mut Problems) {
    match nodes {
        NodeSelection::MatchLabels(labels) => {
            if labels.is_empty() {
                problems.add(
                    format!("{field}.matchLabels"),
                    "{}",
                    "would be every node; name a label, such as kubernetes.io/os: linux",
                );
            }
        }
        NodeSelection::Names(names) => {
            if names.is_empty() || names.len() > MAX_NODES {
                let message = format!("1 to {MAX_NODES} are possible");
                problems.add(format!("{field}.names"), format!("{} entries", names.len()), message);
            }
            for (index, name) in names.iter().enumerate() {
                let at = format!("{field}.names[{index}]");
                if name.is_empty() {
                    problems.add(at, quoted(name), "is no node's name");
                } else if let Some(first) = names[..index].iter().position(|earlier| earlier == name) {
                    problems.add(
                        at,
                        quoted(name),
                        format!("is {field}.names[{first}] too; write it once, and perNode for more clients"),
                    );
                }
            }
        }
    }
}

/// Amounts that Kubernetes would refuse only when the pods are made.
fn check_resources(field: &str, resources: &ResourceRequirements, problems: &mut Problems) {
    let limits = read_amounts(&format!("{field}.limits"), resources.limits.as_ref(), problems);
    let requests = read_amounts(&format!("{field}.requests"), resources.requests.as_ref(), problems);
    for (name, (request, requested)) in requests {
        if let Some((limit, most)) = limits.get(name)
            && requested > *most
        {
            problems.add(format!("{field}.requests.{name}"), quoted(request), format!("is above its limit, {limit}"));
        }
    }
    if resources.claims.is_some() {
        problems.add(format!("{field}.claims"), "", "does nothing here; leave it out");
    }
}

/// Amounts by name: as written, and in billionths.
fn read_amounts<'a>(
    field: &str,
    amounts: Option<&'a BTreeMap<String, Quantity>>,
    problems: &mut Problems,
) -> BTreeMap<&'a str, (&'a str, u128)> {
    let mut read = BTreeMap::new();
    for (name, Quantity(text)) in amounts.into_iter().flatten() {
        let amount = problems.keep(&format!("{field}.{name}"), quoted(text), units::resource(text));
        read.extend(amount.map(|amount| (name.as_str(), (text.as_str(), amount))));
    }
    read
}
