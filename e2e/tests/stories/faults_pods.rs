//! Pods that go, programs that are told to end, logs that are cut: an error with its cause, never half a result.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cephbench::api::{BenchmarkStatus, CephBenchmark, Phase, TestPhase};
use e2e::story::{NAMESPACE, Node, Operator, Story, eventually, require_conditions, tell, test_of};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams};

const TEN_SECONDS: &str =
    "{clients: {nodes: {names: [node1, node2]}}, defaults: {rampUp: 0s, duration: 10s, rounds: 1}, tests: [
    {name: disk, disk: {file: {directory: /var/tmp, size: 16Mi}}}],
  gates: [{name: floor, test: disk, metric: bandwidth, min: 1Ki}]}";

async fn running(story: &Story, suffix: &str, spec: &str) -> Result<CephBenchmark> {
    let benchmark = story.apply(suffix, spec).await?;
    let running = story.cluster.until(&benchmark, Duration::from_secs(60), "the test runs", |status| {
        status.tests.first().is_some_and(|test| test.phase == TestPhase::Running)
    });
    running.await
}

async fn client(story: &Story, index: u32) -> Result<Pod> {
    let pods: Api<Pod> = Api::namespaced(story.cluster.client.clone(), NAMESPACE);
    let found = pods.list(&ListParams::default().labels(&format!("cephbench.io/client={index}"))).await?;
    found.into_iter().next().with_context(|| format!("no pod of client {index}"))
}

fn is_error_without_result(status: &BenchmarkStatus, words: &[&str]) -> Result<()> {
    require_conditions(status, Phase::Error)?;
    let test = test_of(status, "disk")?;
    let message = test.message.clone().unwrap_or_default();
    ensure!(test.phase == TestPhase::Error, "{test:?}");
    for word in words {
        ensure!(message.contains(word), "no {word} in {message}");
    }
    ensure!(test.points.is_empty(), "half a result: {:?}", test.points);
    ensure!(
        status.gates.iter().all(|gate| gate.verdict == cephbench::api::Verdict::Inconclusive),
        "{:?}",
        status.gates
    );
    Ok(())
}

#[tokio::test]
async fn a_pod_is_deleted() -> Result<()> {
    tell("pod-deleted", async |story| {
        let pods: Api<Pod> = Api::namespaced(story.cluster.client.clone(), NAMESPACE);
        for (suffix, index, node) in [("other", 1, "node2"), ("conductor", 0, "node1")] {
            let benchmark = running(story, suffix, TEN_SECONDS).await?;
            pods.delete(&client(story, index).await?.name_any(), &DeleteParams::default()).await?;
            let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(90)).await?;
            is_error_without_result(&status, &[&format!("client {index}"), node])?;
        }
        Ok(())
    })
    .await
}

/// As an eviction does it (case C1): SIGTERM to the bench in mid-window. Whatever the pod's phase says, there is no whole report.
#[tokio::test]
async fn a_bench_is_told_to_end() -> Result<()> {
    tell("bench-ended", async |story| {
        for (suffix, index, words) in
            [("other", 1, ["client 1", "stopped at"]), ("conductor", 0, ["SIGTERM", "stopped at"])]
        {
            let benchmark = running(story, suffix, TEN_SECONDS).await?;
            story.bench_prints(NAMESPACE, "disk", 2).await?;
            let pod = client(story, index).await?;
            let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).context("a node")?;
            let uid = pod.uid().context("a UID")?;
            Node::new(&story.cluster, &node).signal_in_pod(&uid, "cephbench.* agent run", "TERM").await?;
            let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(90)).await?;
            is_error_without_result(&status, &words)?;
        }
        Ok(())
    })
    .await
}

/// The report's log loses a part before the operator reads it, as when the node rotates it: an error that says so, never a smaller result.
#[tokio::test]
async fn a_report_is_cut() -> Result<()> {
    tell("log-cut", async |story| {
        let operator = Operator::new(&story.cluster);
        let benchmark = running(story, "", TEN_SECONDS).await?;
        let pod = client(story, 0).await?;
        let uid = pod.uid().context("a UID")?;
        operator.paused(story).await?;
        let pods: Api<Pod> = Api::namespaced(story.cluster.client.clone(), NAMESPACE);
        eventually(Duration::from_secs(60), "the conductor has ended", async || {
            let pod = pods.get(&pod.name_any()).await?;
            let phase = pod.status.and_then(|status| status.phase).unwrap_or_default();
            Ok(if phase == "Succeeded" { Ok(()) } else { Err(phase) })
        })
        .await?;
        let log = format!("/var/log/pods/{NAMESPACE}_{}_{uid}/report/0.log", pod.name_any());
        let cut = format!("set -e; test -s {log}; lines=$(wc -l <{log}); tail -n $((lines / 2)) {log} >{log}.new; cat {log}.new >{log}; rm {log}.new");
        Node::new(&story.cluster, "node1").run(&["sh", "-c", &cut]).await?;
        operator.resumed().await?;
        let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(240)).await?;
        is_error_without_result(&status, &["log", "cut"])
    })
    .await
}

/// A node that rotates logs after a kilobyte: the bench's own lines are many more, and the result is whole all the same.
#[tokio::test]
async fn logs_rotate() -> Result<()> {
    tell("log-rotated", async |story| {
        story.repair_by(&["e2e/cluster/kubelet-restart.sh", "node1"]);
        let mut restart = story.cluster.script("e2e/cluster/kubelet-restart.sh");
        let restarted = restart.arg("node1").env("NODE_LOG_MAX_SIZE", "1Ki").output().await?;
        ensure!(restarted.status.success(), "{}", String::from_utf8_lossy(&restarted.stderr));
        let spec = TEN_SECONDS.replace("duration: 10s", "duration: 25s").replace("node1, node2", "node1");
        let (_, status) = story.run("", &spec, 120).await?;
        require_conditions(&status, Phase::Passed)?;
        ensure!(test_of(&status, "disk")?.points.len() == 1, "{:?}", status.tests);
        Ok(())
    })
    .await
}
