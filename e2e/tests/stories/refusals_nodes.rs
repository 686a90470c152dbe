//! Nodes that can't be used, and images that don't come.

use anyhow::{Result, ensure};
use e2e::story::{NAMESPACE, tell};

const TESTS: &str = "defaults: {rampUp: 0s, duration: 1s, rounds: 1}, tests: [{name: t, disk: {file: {directory: /var/tmp, size: 16Mi}}}]";

#[tokio::test]
async fn a_selector_that_matches_nothing() -> Result<()> {
    tell("no-nodes", async |story| {
        let spec = format!("{{clients: {{nodes: {{matchLabels: {{disk: fast}}}}}}, {TESTS}}}");
        let message = story.refusal(NAMESPACE, "", &spec, 20).await?;
        ensure!(message.contains("spec.clients.nodes.matchLabels") && message.contains("disk=fast"), "{message}");
        let spec = format!("{{clients: {{nodes: {{names: [node9]}}}}, {TESTS}}}");
        let message = story.refusal(NAMESPACE, "name", &spec, 20).await?;
        ensure!(message.contains("clients.nodes") && message.contains("node9"), "{message}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_cordoned_node() -> Result<()> {
    tell("cordoned", async |story| {
        story.repair_by(&["kubectl", "uncordon", "node3"]);
        story.cluster.kubectl(&["cordon", "node3"]).await?;
        let message = story.refusal(NAMESPACE, "", &format!("{{{TESTS}}}"), 20).await?;
        ensure!(message.contains("node3") && message.contains("cordoned"), "{message}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_tainted_node() -> Result<()> {
    tell("tainted", async |story| {
        story.repair_by(&["kubectl", "taint", "node", "node3", "story-"]);
        story.cluster.kubectl(&["taint", "node", "node3", "story=told:NoSchedule", "--overwrite"]).await?;
        let spec = format!("{{clients: {{nodes: {{names: [node3]}}}}, {TESTS}}}");
        let message = story.refusal(NAMESPACE, "", &spec, 20).await?;
        ensure!(message.contains("node3") && message.contains("story=told:NoSchedule"), "{message}");
        // Tolerated, it is no obstacle: to the check before the run and to the pods.
        let tolerant = spec.replacen("clients: {", "clients: {tolerations: [{key: story, operator: Exists}], ", 1);
        let (_, status) = story.run("tolerated", &tolerant, 90).await?;
        e2e::story::require_completed(&status)
    })
    .await
}

/// The chart lets stories name images below localhost/cephbench; this one is on no node and in no registry.
#[tokio::test]
async fn an_image_that_does_not_come() -> Result<()> {
    tell("no-image", async |story| {
        let spec =
            format!("{{clients: {{nodes: {{names: [node1]}}, image: 'localhost/cephbench/missing:1'}}, {TESTS}}}");
        let message = story.refusal(NAMESPACE, "", &spec, 120).await?;
        ensure!(message.contains("localhost/cephbench/missing:1"), "the message does not name the image: {message}");
        ensure!(message.contains("client 0") && message.contains("node1"), "{message}");
        Ok(())
    })
    .await
}
