//! Figures of the network, against what the kernel counted on the nodes' links.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use cephbench::api::Phase;
use e2e::story::{
    LinkBytes, NODES, Node, bytes_of, points, require_completed, require_conditions, tell, test_of, within,
};

/// Every ordered pair of nodes, one after the other: what each node sent is what is reported of it. A byte cap ends each pair, so that nothing
/// is sent after its window.
#[tokio::test]
async fn every_ordered_pair() -> Result<()> {
    tell("network", async |story| {
        let mut before = Vec::new();
        for node in NODES {
            before.push(LinkBytes::of(&Node::new(&story.cluster, node)).await?);
        }
        let spec = "{defaults: {rampUp: 0s, duration: 60s, rounds: 1}, tests: [
            {name: pairs, network: {pattern: Pairs, streams: [2]}, workload: {bytes: 2Gi}}]}";
        let (_, status) = story.run("", spec, 120).await?;
        let mut sent = Vec::new();
        for (node, before) in NODES.iter().zip(before) {
            sent.push(LinkBytes::of(&Node::new(&story.cluster, node)).await?.payload_since(before));
        }
        require_completed(&status)?;
        require_conditions(&status, Phase::Passed)?;

        let found = points(&status, "pairs", None)?;
        let pairs: BTreeSet<(&str, &str)> =
            found.iter().filter_map(|point| Some((point.source.as_deref()?, point.target.as_deref()?))).collect();
        let wanted: BTreeSet<(&str, &str)> = NODES
            .iter()
            .flat_map(|source| NODES.iter().map(move |target| (*source, *target)))
            .filter(|(source, target)| source != target)
            .collect();
        ensure!(pairs == wanted && found.len() == 6, "pairs {pairs:?}");
        for point in &found {
            // A stream has no operations whose latency means anything: it is absent, and the server takes it so.
            ensure!(point.latency.is_none() && point.streams == Some(2), "{point:?}");
            ensure!(point.bandwidth.is_some() && point.errors == 0, "{point:?}");
        }
        ensure!(test_of(&status, "pairs")?.engine.as_ref().is_some_and(|engine| engine.name == "tcp"), "engine");

        for (node, sent) in NODES.iter().zip(sent) {
            let of_node = found.iter().filter(|point| point.source.as_deref() == Some(*node));
            let reported: u64 = of_node.map(|point| bytes_of(point)).sum();
            ensure!(within(sent, reported, 0.02), "{node} sent {sent} bytes, reported {reported}");
        }
        Ok(())
    })
    .await
}
