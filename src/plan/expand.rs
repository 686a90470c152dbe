//! From a planned test to the points that its clients measure, once it is known which nodes they run on.

use super::{PlannedKind, PlannedTest};
use crate::contract::{Link, Point};

/// The points of a test in the order of measuring. `nodes` names the node of each client, by client index.
///
/// Network tests have one point per ordered pair of nodes for each combination of their lists: the first client of each node takes
/// part. When all clients are on one node, they are paired with each other (a loopback test). Other tests' points don't depend on nodes.
pub fn points_for(test: &PlannedTest, nodes: &[String]) -> Vec<Point> {
    match &test.kind {
        PlannedKind::File { .. } | PlannedKind::Device { .. } | PlannedKind::Rados(_) => test.points.clone(),
        PlannedKind::Network => {
            let ends = ends(nodes);
            let pairs: Vec<(u32, u32)> =
                ends.iter().flat_map(|source| ends.iter().map(move |target| (*source, *target))).collect();
            let distinct = |pair: &&(u32, u32)| pair.0 != pair.1;
            let mut points = Vec::with_capacity(test.points.len() * pairs.len());
            for point in &test.points {
                let streams = point.link.map_or(1, |link| link.streams);
                for &(source, target) in pairs.iter().filter(distinct) {
                    points.push(Point { link: Some(Link { source, target, streams }), ..point.clone() });
                }
            }
            points
        }
    }
}

/// The clients that take part in a network test: one per node, or all when there is one node only.
fn ends(nodes: &[String]) -> Vec<u32> {
    let first_of_its_node = |index: usize| nodes.iter().position(|node| *node == nodes[index]) == Some(index);
    let firsts: Vec<u32> =
        (0..nodes.len()).filter(|index| first_of_its_node(*index)).map(|index| index as u32).collect();
    if firsts.len() < 2 { (0..nodes.len() as u32).collect() } else { firsts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::validate;

    fn pairs(kind: &str, nodes: &[&str]) -> Vec<Option<(u32, u32, u32)>> {
        let yaml = format!("{{tests: [{{name: t, {kind}}}]}}");
        let value: serde_json::Value = serde_yaml_ng::from_str(&yaml).expect("YAML");
        let validated = validate(&serde_json::from_value(value).expect("a spec")).expect("a valid spec");
        let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
        let points = points_for(&validated.plan.tests[0], &nodes);
        points.iter().map(|point| point.link.map(|link| (link.source, link.target, link.streams))).collect()
    }

    #[test]
    fn every_ordered_pair_of_nodes_for_each_combination() {
        let of_one =
            |streams| [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)].map(|(from, to)| Some((from, to, streams)));
        let both: Vec<_> = of_one(1).into_iter().chain(of_one(4)).collect();
        assert_eq!(pairs("network: {streams: [1, 4]}", &["a", "b", "c"]), both);
    }

    #[test]
    fn the_first_client_of_a_node_stands_for_it() {
        assert_eq!(pairs("network: {}", &["a", "a", "b", "b"]), [Some((0, 2, 1)), Some((2, 0, 1))]);
    }

    #[test]
    fn clients_of_one_node_are_paired_with_each_other() {
        assert_eq!(pairs("network: {}", &["a", "a"]), [Some((0, 1, 1)), Some((1, 0, 1))]);
        assert_eq!(pairs("network: {}", &["a"]), []);
    }

    #[test]
    fn other_kinds_do_not_depend_on_nodes() {
        assert_eq!(pairs("rados: {pool: {name: p}}", &["a", "b", "c"]), [None, None]);
    }
}
