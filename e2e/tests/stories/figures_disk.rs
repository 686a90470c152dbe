//! Figures of disks, against what the kernel counted on the devices below.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, ensure};
use cephbench::api::{BenchmarkStatus, Op, Phase, ValidityVerdict};
use e2e::story::{
    DeviceBytes, LoopFileSystem, NAMESPACE, NODES, Node, Story, agree, bytes_of, eventually, only_point,
    require_completed, require_conditions, tell, test_of, within,
};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;

/// A file on a file system of its own on each node: as many bytes are read from each device as are reported, in requests of the size asked
/// for, as many at once as asked for.
#[tokio::test]
async fn a_file_on_every_node() -> Result<()> {
    tell("disk-files", async |story| {
        let mut disks = Vec::new();
        for node in NODES {
            disks.push(LoopFileSystem::mount(story, node, 400).await?);
        }
        let spec = format!(
            "{{defaults: {{rampUp: 0s, duration: 60s, rounds: 1}}, tests: [
              {{name: large, disk: {{file: {{directory: {0}, size: 128Mi}}}},
                workload: {{op: [read], blockSize: [64Ki], queueDepth: [8], bytes: 96Mi}}}},
              {{name: small, disk: {{file: {{directory: {0}, size: 64Mi}}}},
                workload: {{op: [randread, randwrite], blockSize: [4Ki], queueDepth: [4], jobs: [2], bytes: 8Mi}}}}]}}",
            disks[0].directory
        );
        let benchmark = story.apply("", &spec).await?;

        // Between writing the file full and the end of the test, only the measured operations touch the device.
        let nodes = nodes_of_pods(story, "large").await?;
        ensure!(nodes == NODES.map(str::to_owned).into(), "one client on each node, found {nodes:?}");
        let filled = story.cluster.until(&benchmark, Duration::from_secs(120), "large has ended", |status| {
            status.tests.first().is_some_and(|test| !test.points.is_empty())
        });
        let filled = filled.await?.status.unwrap_or_default();
        let mut after_large = Vec::new();
        for disk in &disks {
            after_large.push(disk.counted().await?);
        }
        let reported = bytes_of(only_point(&filled, "large", Op::Read)?);
        ensure!(reported == 3 * (96 << 20), "the byte cap is per client: {reported}");

        let (benchmark, status) = story.cluster.ended(&benchmark, Duration::from_secs(180)).await?;
        require_completed(&status)?;
        require_conditions(&status, Phase::Passed)?;
        large_reads_were_counted(&status, &after_large)?;

        let mut small = DeviceBytes::default();
        for (disk, before) in disks.iter().zip(&after_large) {
            let counted = disk.counted().await?.since(*before);
            small.read += counted.read;
            small.reads += counted.reads;
            small.written += counted.written;
            ensure!(disk.files().await?.is_empty(), "files are left: {:?}", disk.files().await?);
        }
        let reads = only_point(&status, "small", Op::RandRead)?;
        ensure!(agree(small.read, bytes_of(reads)), "counted {} of {} bytes read", small.read, bytes_of(reads));
        ensure!(within(small.read / small.reads, 4096, 0.05), "requests of {} bytes", small.read / small.reads);
        // The file is written full first.
        let written = bytes_of(only_point(&status, "small", Op::RandWrite)?) + 3 * (64 << 20);
        ensure!(within(small.written, written, 0.05), "counted {} of {written} bytes written", small.written);
        for point in &test_of(&status, "small")?.points {
            let latency = point.latency.as_ref().expect("disk operations take a time that is known");
            ensure!(
                latency.p50_micros <= latency.p99_micros && latency.p99_micros <= latency.max_micros,
                "{latency:?}"
            );
            ensure!(point.errors == 0 && point.clients == 3 && point.jobs == Some(2), "{point:?}");
        }
        story.delete(&benchmark).await
    })
    .await
}

fn large_reads_were_counted(status: &BenchmarkStatus, counted: &[DeviceBytes]) -> Result<()> {
    let point = only_point(status, "large", Op::Read)?;
    for device in counted {
        ensure!(agree(device.read, 96 << 20), "a device read {} bytes, reported {}", device.read, 96 << 20);
        let mean = device.read / device.reads;
        ensure!(within(mean, 64 << 10, 0.05), "mean request of {mean} bytes, asked for 64 KiB");
    }
    ensure!(point.latency.is_some() && point.validity.verdict != ValidityVerdict::Invalid, "{point:?}");
    // Little's law: operations at once are their rate times their latency.
    let (Some(iops), Some(latency)) = (point.iops, &point.latency) else { anyhow::bail!("{point:?}") };
    let at_once = iops * latency.mean_micros / 1e6 / 3.0;
    ensure!((5.0..=8.2).contains(&at_once), "{at_once:.1} operations at once per client, asked for 8");
    Ok(())
}

/// The nodes of a test's pods, once all of them have one.
async fn nodes_of_pods(story: &Story, test: &str) -> Result<BTreeSet<String>> {
    let pods: Api<Pod> = Api::namespaced(story.cluster.client.clone(), NAMESPACE);
    let of_test = ListParams::default().labels(&format!("cephbench.io/test-name={test}"));
    eventually(Duration::from_secs(60), "three pods have their nodes", async || {
        let pods = pods.list(&of_test).await?;
        let nodes: BTreeSet<String> =
            pods.iter().filter_map(|pod| pod.spec.as_ref().and_then(|spec| spec.node_name.clone())).collect();
        Ok(if pods.items.len() >= 3 && nodes.len() >= 3 { Ok(nodes) } else { Err(format!("{nodes:?}")) })
    })
    .await
}

/// The disk under an OSD, read as a block device while the OSD uses it: nothing is written by the test.
#[tokio::test]
async fn the_disk_under_an_osd() -> Result<()> {
    tell("disk-device", async |story| {
        let node = Node::new(&story.cluster, "node2");
        let path = osd_device(story, node.name).await?;
        let device = path.trim_start_matches("/dev/").to_owned();
        let before = DeviceBytes::of(&node, &device).await?;
        let spec = format!(
            "{{clients: {{nodes: {{names: [node2]}}}}, defaults: {{rampUp: 0s, duration: 60s, rounds: 2}}, tests: [
              {{name: device, disk: {{device: {{path: {path}}}}},
                workload: {{op: [read], blockSize: [64Ki], queueDepth: [4], bytes: 128Mi}}}}]}}"
        );
        let (_, status) = story.run("", &spec, 120).await?;
        let counted = DeviceBytes::of(&node, &device).await?.since(before);
        require_completed(&status)?;
        require_conditions(&status, Phase::Passed)?;
        let point = only_point(&status, "device", Op::Read)?;
        ensure!(bytes_of(point) == 2 * (128 << 20) && point.rounds.len() == 2, "{point:?}");
        ensure!(agree(counted.read, bytes_of(point)), "counted {counted:?}, reported {} bytes", bytes_of(point));
        ensure!(within(counted.read / counted.reads, 64 << 10, 0.1), "requests of {}", counted.read / counted.reads);
        // An OSD at rest writes a little by itself.
        ensure!(counted.written < 4 << 20, "{} bytes were written", counted.written);
        Ok(())
    })
    .await
}

/// As many requests at once as were asked for, depth times jobs, as the kernel sees them on the device.
#[tokio::test]
async fn as_many_at_once_as_asked_for() -> Result<()> {
    tell("disk-depth", async |story| {
        let node = Node::new(&story.cluster, "node2");
        let path = osd_device(story, node.name).await?;
        let spec = format!(
            "{{clients: {{nodes: {{names: [node2]}}}}, defaults: {{rampUp: 0s, duration: 6s, rounds: 1}}, tests: [
              {{name: device, disk: {{device: {{path: {path}}}}},
                workload: {{op: [randread], blockSize: [64Ki], queueDepth: [6], jobs: [2]}}}}]}}"
        );
        let benchmark = story.apply("", &spec).await?;
        story.bench_prints(NAMESPACE, "device", 1).await?;
        let look =
            format!("for look in $(seq 300); do cat /sys/block/{}/inflight; done", path.trim_start_matches("/dev/"));
        let looks = node.run(&["sh", "-c", &look]).await?;
        let reads: Vec<u64> = looks.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
        let most = reads.iter().max().copied().unwrap_or(0);
        // The OSD reads a little by itself.
        ensure!((10..=14).contains(&most), "at most {most} reads at once, asked for 12: {reads:?}");
        let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(60)).await?;
        require_conditions(&status, Phase::Passed)
    })
    .await
}

/// The block device of the OSD on a node, as Rook gives it to the OSD.
pub async fn osd_device(story: &Story, node: &str) -> Result<String> {
    let selector = format!("app=rook-ceph-osd,failure-domain={node}");
    let path = "jsonpath={.items[0].spec.template.spec.containers[0].env[?(@.name==\"ROOK_BLOCK_PATH\")].value}";
    let path = story.cluster.kubectl(&["-n", NAMESPACE, "get", "deploy", "-l", &selector, "-o", path]).await?;
    ensure!(path.starts_with("/dev/"), "the OSD on {node} has the device {path:?}");
    Ok(path)
}
