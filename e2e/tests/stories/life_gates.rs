//! Gates: the three verdicts, and judging again without measuring again.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cephbench::api::{Phase, ValidityVerdict, Verdict};
use e2e::story::{LoopFileSystem, NAMESPACE, Node, gate, names_of, points, require_conditions, tell};
use k8s_openapi::api::batch::v1::Job;
use serde_json::json;

const DISK: &str = "clients: {nodes: {names: [node1]}}, defaults: {rampUp: 0s, duration: 1s, rounds: 1},
    tests: [{name: disk, disk: {file: {directory: /var/tmp, size: 32Mi}}, workload: {blockSize: [64Ki]}}]";

#[tokio::test]
async fn passed_then_failed_without_measuring() -> Result<()> {
    tell("gates", async |story| {
        let spec = format!("{{{DISK}, gates: [{{name: floor, test: disk, op: read, metric: bandwidth, min: 1Ki}}]}}");
        let (benchmark, passed) = story.run("", &spec, 60).await?;
        require_conditions(&passed, Phase::Passed)?;
        ensure!(gate(&passed, "floor")?.verdict == Verdict::Passed, "{:?}", passed.gates);

        let gates = json!({"spec": {"gates": [
            {"name": "floor", "test": "disk", "metric": "bandwidth", "min": "1000Ti"},
            {"name": "tail", "test": "disk", "metric": "latencyP99", "max": "1h"},
        ]}});
        let edited = story.cluster.patch(&benchmark, gates).await?;
        let failed = story.cluster.phase(&edited, Phase::Failed, 20).await?.status.context("a status")?;
        require_conditions(&failed, Phase::Failed)?;
        ensure!(failed.run == passed.run && failed.tests == passed.tests, "measured again: {:?}", failed.run);
        let floor = gate(&failed, "floor")?;
        ensure!(floor.verdict == Verdict::Failed && floor.wanted.contains("1000 TiB/s"), "{floor:?}");
        ensure!(gate(&failed, "tail")?.verdict == Verdict::Passed, "{:?}", failed.gates);
        ensure!(failed.gates_summary.as_deref() == Some("1/2"), "{:?}", failed.gates_summary);
        let jobs = names_of::<Job>(&story.cluster, NAMESPACE, "").await?;
        ensure!(jobs.is_empty(), "Jobs: {jobs:?}");

        let back = story.cluster.patch(&edited, json!({"spec": {"gates": []}})).await?;
        let passed = story.cluster.phase(&back, Phase::Passed, 20).await?.status.context("a status")?;
        ensure!(passed.run == failed.run && passed.gates.is_empty(), "{:?}", passed.gates);
        Ok(())
    })
    .await
}

/// A file system that hangs through the whole window: nothing was measured, so no gate can be judged, and the run ends all the same.
#[tokio::test]
async fn a_hang_is_inconclusive() -> Result<()> {
    tell("hang", async |story| {
        let disk = LoopFileSystem::mount(story, "node1", 128).await?;
        let node = Node::new(&story.cluster, "node1");
        story.repair_by(&["e2e/cluster/on-node.sh", "node1", "sh", "-c", &format!("fsfreeze --unfreeze {} 2>/dev/null; true", disk.directory)]);
        let spec = format!(
            "{{clients: {{nodes: {{names: [node1]}}}}, defaults: {{rampUp: 4s, duration: 2s, rounds: 1}}, tests: [
              {{name: disk, disk: {{file: {{directory: {}, size: 32Mi}}}}, workload: {{op: [write], blockSize: [64Ki], queueDepth: [1]}}}}],
              gates: [{{name: rate, test: disk, metric: iops, min: 1}}]}}",
            disk.directory
        );
        let benchmark = story.apply("", &spec).await?;
        story.bench_prints(NAMESPACE, "disk", 1).await?;
        node.run(&["fsfreeze", "--freeze", &disk.directory]).await?;
        story.bench_prints(NAMESPACE, "disk", 6).await?;
        node.run(&["fsfreeze", "--unfreeze", &disk.directory]).await?;

        let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(60)).await?;
        require_conditions(&status, Phase::Inconclusive)?;
        let rate = gate(&status, "rate")?;
        ensure!(rate.verdict == Verdict::Inconclusive && rate.message.is_some(), "{rate:?}");
        let point = points(&status, "disk", Some(cephbench::api::Op::Write))?[0];
        ensure!(point.validity.verdict == ValidityVerdict::Invalid && point.latency.is_none(), "{point:?}");
        Ok(())
    })
    .await
}
