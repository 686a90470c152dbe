//! A run from its first look to its end, as those see it who watch its status, and its deletion in the middle.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cephbench::api::{BenchmarkStatus, Phase, TestPhase};
use e2e::story::{GONE, Story, require_completed, require_conditions, tell};
use futures::TryStreamExt;
use kube::runtime::watcher;

const RUN: &str = "{clients: {nodes: {names: [node1, node2]}}, defaults: {rampUp: 0s, duration: 3s, rounds: 1}, tests: [
    {name: disk, disk: {file: {directory: /var/tmp, size: 16Mi}}, clients: {nodes: {names: [node1]}}},
    {name: pool, rados: {pool: {create: {size: 2, pgNum: 8}}, objectSize: [1Mi]}, workload: {op: [write], queueDepth: [2], bytes: 64Mi}}],
  gates: [{name: floor, test: disk, metric: bandwidth, min: 1Ki}, {name: errors, test: pool, metric: errors, max: 0}]}";

/// Each phase in its turn, with the conditions of the design's table in every status that was written; columns and events.
#[tokio::test]
async fn phases_in_their_turn() -> Result<()> {
    tell("phases", async |story| {
        let applied = story.apply("", RUN).await?;
        let api = story.cluster.benchmarks("rook-ceph");
        let mut phases: Vec<Phase> = Vec::new();
        let mut statuses: Vec<BenchmarkStatus> = Vec::new();
        let watched = async {
            let name = story.name_of("");
            let mut changes = std::pin::pin!(watcher::watch_object(api, &name));
            while let Some(seen) = changes.try_next().await? {
                let seen = seen.context("the benchmark is there")?;
                ensure!(
                    seen.spec == applied.spec && seen.metadata.generation == applied.metadata.generation,
                    "the spec changed"
                );
                let Some(status) = seen.status else { continue };
                let Some(phase) = status.phase else { continue };
                require_conditions(&status, phase)?;
                if phases.last() != Some(&phase) {
                    if phase == Phase::Running {
                        columns_say(story, "Running").await?;
                    }
                    phases.push(phase);
                }
                statuses.push(status);
                if phase == Phase::Passed {
                    return Ok(());
                }
            }
            anyhow::bail!("the watch ended")
        };
        let watched: Result<()> = tokio::time::timeout(Duration::from_secs(150), watched)
            .await
            .unwrap_or_else(|_| Err(anyhow::anyhow!("not within 150 s")));
        watched.with_context(|| format!("seen: {phases:?}, last {:?}", statuses.last()))?;
        let wanted = [Phase::Preparing, Phase::Running, Phase::Cleaning, Phase::Passed];
        ensure!(phases == wanted, "phases {phases:?}, wanted {wanted:?}");

        let last = statuses.last().context("a status")?;
        require_completed(last)?;
        let run = last.run.as_ref().context("a run")?;
        ensure!(run.number == 1 && run.completion_time.is_some(), "{run:?}");
        ensure!(last.gates_summary.as_deref() == Some("2/2"), "{:?}", last.gates);
        let progress: Vec<i64> = statuses.iter().filter_map(|status| Some(status.progress.as_ref()?.percent)).collect();
        ensure!(progress.is_sorted(), "progress goes back: {progress:?}");
        ensure!(
            last.progress.as_ref().is_some_and(|progress| progress.tests_done == 2 && progress.tests == 2),
            "{last:?}"
        );
        ensure!(last.artifact.as_ref().is_some_and(|artifact| !artifact.config_maps.is_empty()), "{:?}", last.artifact);
        columns_say(story, "Passed").await?;
        columns_say(story, "2/2").await?;
        events_were_told_once(story, &applied).await
    })
    .await
}

async fn columns_say(story: &Story, word: &str) -> Result<()> {
    let table = story.cluster.kubectl(&["-n", "rook-ceph", "get", "cb", &story.name_of("")]).await?;
    for header in ["NAME", "PHASE", "PROGRESS", "RUN", "GATES", "AGE"] {
        ensure!(table.contains(header), "no column {header}: {table}");
    }
    ensure!(table.contains(word), "no {word} in {table}");
    Ok(())
}

async fn events_were_told_once(story: &Story, benchmark: &cephbench::api::CephBenchmark) -> Result<()> {
    let events = story.cluster.events(benchmark).await?;
    let mut told: Vec<(&str, &str)> =
        events.iter().map(|(reason, message, _)| (reason.as_str(), message.as_str())).collect();
    let all = told.len();
    told.sort_unstable();
    told.dedup();
    ensure!(told.len() == all && events.iter().all(|(_, _, times)| *times == 1), "told twice: {events:?}");
    ensure!(events.len() >= 4, "a run has transitions: {events:?}");
    ensure!(events.iter().filter(|(reason, _, _)| reason == "Passed").count() == 1, "{events:?}");
    Ok(())
}

/// Deleted while it measures: within a minute nothing of it is left, in Kubernetes, in Ceph and on the nodes.
#[tokio::test]
async fn deleted_while_it_measures() -> Result<()> {
    tell("deleted", async |story| {
        let before = story.inventory().await?;
        for (suffix, test) in [
            ("pool", "{name: t, rados: {pool: {create: {size: 2, pgNum: 8}}, objectSize: [1Mi]}, workload: {op: [write], bytes: 512Mi, queueDepth: [2]}}"),
            ("disk", "{name: t, disk: {file: {directory: /var/tmp, size: 32Mi}}}"),
        ] {
            let spec = format!("{{defaults: {{rampUp: 0s, duration: 60s, rounds: 1}}, tests: [{test}]}}");
            let benchmark = story.apply(suffix, &spec).await?;
            let running = story.cluster.until(&benchmark, Duration::from_secs(120), "the test runs", |status| {
                status.tests.first().is_some_and(|test| test.phase == TestPhase::Running)
            });
            running.await?;
            ensure!(!story.inventory().await?.added_since(&before).is_empty(), "a run has objects");
            let begun = Instant::now();
            story.delete(&benchmark).await?;
            let gone = e2e::story::eventually(GONE, "nothing is left", async || {
                let left = story.inventory().await?.added_since(&before);
                Ok(if left.is_empty() { Ok(()) } else { Err(left.join(", ")) })
            });
            gone.await?;
            ensure!(begun.elapsed() < GONE, "{suffix}: {:?}", begun.elapsed());
        }
        Ok(())
    })
    .await
}
