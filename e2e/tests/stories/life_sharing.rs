//! Two benchmarks, one Ceph cluster: one at a time.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cephbench::api::Phase;
use e2e::story::{require_conditions, tell};

#[tokio::test]
async fn the_second_waits_and_says_for_whom() -> Result<()> {
    tell("sharing", async |story| {
        let spec = |seconds: u32, node: &str| {
            format!(
                "{{clients: {{nodes: {{names: [{node}]}}}}, defaults: {{rampUp: 0s, duration: {seconds}s, rounds: 1}}, tests: [
                  {{name: disk, disk: {{file: {{directory: /var/tmp, size: 16Mi}}}}}}]}}"
            )
        };
        let first = story.apply("first", &spec(8, "node1")).await?;
        story.cluster.phase(&first, Phase::Running, 60).await?;
        let second = story.apply("second", &spec(1, "node2")).await?;
        let queued = story.cluster.phase(&second, Phase::Queued, 20).await?.status.context("a status")?;
        require_conditions(&queued, Phase::Queued)?;
        let message = queued.message.clone().unwrap_or_default();
        ensure!(message.contains(&story.name_of("first")), "it does not say behind whom: {message}");

        let (_, first) = story.cluster.ended(&first, Duration::from_secs(60)).await?;
        let (_, second) = story.cluster.ended(&second, Duration::from_secs(60)).await?;
        require_conditions(&first, Phase::Passed)?;
        require_conditions(&second, Phase::Passed)?;
        let ended = first.run.context("a run")?.completion_time.context("it ended")?;
        let began = second.run.context("a run")?.start_time;
        // Times are whole seconds.
        ensure!(began.0.as_second() + 1 >= ended.0.as_second(), "they overlapped: {began:?} before {ended:?}");
        Ok(())
    })
    .await
}

/// The one that waits is not in the way of others when it is deleted, nor when the one before it is.
#[tokio::test]
async fn deleted_from_the_queue() -> Result<()> {
    tell("queue-deleted", async |story| {
        let spec = "{clients: {nodes: {names: [node1]}}, defaults: {rampUp: 0s, duration: 60s, rounds: 1}, tests: [
            {name: disk, disk: {file: {directory: /var/tmp, size: 16Mi}}}]}";
        let first = story.apply("first", spec).await?;
        story.cluster.phase(&first, Phase::Running, 60).await?;
        let second = story.apply("second", spec).await?;
        let third = story.apply("third", &spec.replace("60s", "1s")).await?;
        story.cluster.phase(&second, Phase::Queued, 20).await?;
        story.cluster.phase(&third, Phase::Queued, 20).await?;
        story.delete(&second).await?;
        story.delete(&first).await?;
        let (_, status) = story.cluster.ended(&third, Duration::from_secs(60)).await?;
        require_conditions(&status, Phase::Passed)
    })
    .await
}
