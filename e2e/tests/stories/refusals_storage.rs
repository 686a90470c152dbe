//! Devices that are not to be written to, and space that is not there.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cephbench::api::{Phase, TestPhase};
use e2e::story::{DeviceBytes, LoopFileSystem, NAMESPACE, Node, require_conditions, tell, test_of};

/// A device that holds data is never written to, and the refusal says what is on it.
#[tokio::test]
async fn a_write_to_a_block_device() -> Result<()> {
    tell("device-write", async |story| {
        let disk = LoopFileSystem::mount(story, "node1", 64).await?;
        let node = Node::new(&story.cluster, "node1");
        let checksum = ["sha256sum", &format!("/dev/{}", disk.device)];
        // A mounted file system changes its own superblock now and then.
        node.run(&["mount", "-o", "remount,ro", &disk.directory]).await?;
        let (before, counted) = (node.run(&checksum).await?, DeviceBytes::of(&node, &disk.device).await?);
        for op in ["write", "randwrite"] {
            let spec = format!(
                "{{clients: {{nodes: {{names: [node1]}}}}, tests: [
                  {{name: t, disk: {{device: {{path: /dev/{}}}}}, workload: {{op: [{op}], blockSize: [4Ki], bytes: 1Mi}}}}]}}",
                disk.device
            );
            let message = story.refusal(NAMESPACE, op, &spec, 60).await?;
            for word in [&format!("/dev/{}", disk.device), "ext", "reading only"] {
                ensure!(message.contains(word), "{op}: no {word} in {message}");
            }
        }
        let after = DeviceBytes::of(&node, &disk.device).await?.since(counted);
        ensure!(after.written == 0 && after.writes == 0, "something was written: {after:?}");
        ensure!(node.run(&checksum).await? == before, "the device's content changed");
        Ok(())
    })
    .await
}

/// More than Ceph has room for is refused before anything is made; more than the node has room for, before anything is measured.
#[tokio::test]
async fn too_little_space() -> Result<()> {
    tell("no-space", async |story| {
        let spec = "{tests: [{name: t, rados: {pool: {create: {size: 3, pgNum: 8}}}, workload: {bytes: 10Gi}}]}";
        let message = story.refusal(NAMESPACE, "pool", spec, 30).await?;
        ensure!(message.contains("spec.tests[0]") && message.contains("workload.bytes"), "{message}");
        let pools = story.cluster.ceph(&["ceph", "osd", "pool", "ls"]).await?;
        ensure!(!pools.contains("cephbench-"), "a pool was made: {pools}");

        let disk = LoopFileSystem::mount(story, "node2", 64).await?;
        let spec = format!(
            "{{clients: {{nodes: {{names: [node2]}}}}, tests: [{{name: t, disk: {{file: {{directory: {}, size: 256Mi}}}}}}]}}",
            disk.directory
        );
        let message = story.refusal(NAMESPACE, "file", &spec, 90).await?;
        ensure!(message.contains("256 MiB") && message.contains(&disk.directory), "{message}");
        ensure!(disk.files().await?.is_empty(), "left: {:?}", disk.files().await?);
        Ok(())
    })
    .await
}

/// Somebody else fills the file system while the test's file is written: the error says so, there is no result, and no file is left.
#[tokio::test]
async fn the_disk_fills_up() -> Result<()> {
    tell("disk-full", async |story| {
        let disk = LoopFileSystem::mount_without_extents(story, "node3", 700).await?;
        let spec = format!(
            "{{clients: {{nodes: {{names: [node3]}}}}, defaults: {{rampUp: 0s, duration: 2s, rounds: 1}}, tests: [
              {{name: full, disk: {{file: {{directory: {}, size: 500Mi}}}}, workload: {{op: [write]}}}}]}}",
            disk.directory
        );
        let benchmark = story.apply("", &spec).await?;
        disk.fill_when_in_use(32).await.context("the test's file grows, and then something else does")?;
        let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(90)).await?;
        require_conditions(&status, Phase::Error)?;
        let test = test_of(&status, "full")?;
        let message = test.message.clone().unwrap_or_default();
        ensure!(test.phase == TestPhase::Error && message.contains("No space left on device"), "{test:?}");
        ensure!(message.contains("node3") && test.points.is_empty(), "{test:?}");
        ensure!(disk.files().await? == [format!("{}/in-the-way", disk.directory)], "left: {:?}", disk.files().await?);
        Ok(())
    })
    .await
}
