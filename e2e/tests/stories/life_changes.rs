//! What happens to a run when its benchmark is changed, suspended, triggered or applied again.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cephbench::api::{BenchmarkStatus, CephBenchmark, Phase, TestPhase};
use e2e::story::{NAMESPACE, Story, names_of, require_conditions, tell, test_of};
use k8s_openapi::api::batch::v1::Job;
use serde_json::json;

fn spec(duration: &str, block_size: &str) -> String {
    format!(
        "{{clients: {{nodes: {{names: [node1]}}}}, defaults: {{rampUp: 0s, duration: {duration}, rounds: 1}}, tests: [
          {{name: disk, disk: {{file: {{directory: /var/tmp, size: 32Mi}}}}, workload: {{blockSize: [{block_size}]}}}}]}}"
    )
}

async fn running(story: &Story, benchmark: &CephBenchmark) -> Result<BenchmarkStatus> {
    let seen = story.cluster.until(benchmark, Duration::from_secs(60), "the test runs", |status| {
        status.tests.first().is_some_and(|test| test.phase == TestPhase::Running)
    });
    seen.await?.status.context("a status")
}

fn number(status: &BenchmarkStatus) -> Result<i64> {
    Ok(status.run.as_ref().context("a run")?.number)
}

async fn no_jobs(story: &Story) -> Result<()> {
    let jobs = names_of::<Job>(&story.cluster, NAMESPACE, "").await?;
    ensure!(jobs.is_empty(), "Jobs: {jobs:?}");
    Ok(())
}

#[tokio::test]
async fn suspended_it_cancels_and_cleans() -> Result<()> {
    tell("suspended", async |story| {
        let benchmark = story.apply("", &spec("60s", "64Ki")).await?;
        running(story, &benchmark).await?;
        let suspended = story.cluster.patch(&benchmark, json!({"spec": {"suspend": true}})).await?;
        let (_, status) = story.cluster.ended(&suspended, Duration::from_secs(60)).await?;
        require_conditions(&status, Phase::Cancelled)?;
        ensure!(test_of(&status, "disk")?.phase == TestPhase::Skipped, "{:?}", status.tests);
        ensure!(status.message.is_some_and(|message| message.contains("suspend")), "the cause is said");
        no_jobs(story).await?;

        // Let go on, it runs from the beginning.
        let resumed = story
            .cluster
            .patch(&suspended, json!({"spec": {"suspend": false, "defaults": {"duration": "1s"}}}))
            .await?;
        let (_, status) = story.cluster.ended(&resumed, Duration::from_secs(60)).await?;
        require_conditions(&status, Phase::Passed)?;
        ensure!(number(&status)? == 2, "{:?}", status.run);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn changed_it_starts_anew() -> Result<()> {
    tell("changed", async |story| {
        let benchmark = story.apply("", &spec("60s", "64Ki")).await?;
        let first = running(story, &benchmark).await?;
        let changed = story.apply("", &spec("1s", "4Ki")).await?;
        let (_, status) = story.cluster.ended(&changed, Duration::from_secs(90)).await?;
        require_conditions(&status, Phase::Passed)?;
        ensure!(number(&status)? == number(&first)? + 1, "{:?}", status.run);
        let points = &test_of(&status, "disk")?.points;
        ensure!(points.len() == 1 && points[0].block_size == 4096, "{points:?}");
        let events = story.cluster.events(&changed).await?;
        ensure!(events.iter().any(|(reason, _, _)| reason == "Cancelled"), "the first run was cancelled: {events:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_trigger_asks_for_a_new_run() -> Result<()> {
    tell("trigger", async |story| {
        let (first, status) = story.run("", &spec("1s", "64Ki"), 60).await?;
        let hash = status.run.context("a run")?.spec_hash;
        let again = story.cluster.patch(&first, json!({"spec": {"trigger": "again"}})).await?;
        let (_, status) = story.cluster.ended(&again, Duration::from_secs(60)).await?;
        require_conditions(&status, Phase::Passed)?;
        let run = status.run.context("a run")?;
        ensure!(run.number == 2 && run.trigger.as_deref() == Some("again") && run.spec_hash == hash, "{run:?}");
        Ok(())
    })
    .await
}

/// Case D7: every field reads back as it was written, the same file applied by another tool changes nothing, and another way to write the
/// same measurement is not measured again.
#[tokio::test]
async fn applied_again_nothing_starts() -> Result<()> {
    tell("applied-again", async |story| {
        let text = "{trigger: '1', clients: {nodes: {names: [node1]}}, defaults: {rampUp: 0s, duration: 1000ms, rounds: 1}, tests: [
            {name: disk, disk: {file: {directory: /var/tmp, size: 64Mi}}, workload: {blockSize: ['65536'], bytes: 1024Mi}}]}";
        let written = story.benchmark(NAMESPACE, "", text)?;
        let (ended, status) = story.run("", text, 60).await?;
        require_conditions(&status, Phase::Passed)?;
        let stored = serde_json::to_value(&ended.spec)?;
        for pointer in ["/trigger", "/defaults", "/clients", "/tests/0/disk", "/tests/0/workload"] {
            ensure!(stored.pointer(pointer) == written["spec"].pointer(pointer), "{pointer} was changed: {stored}");
        }

        let second = story.cluster.try_apply(&written, "another-tool").await?;
        let second = second.map_err(|refusal| anyhow::anyhow!("{refusal:?}"))?;
        ensure!(second.metadata.generation == ended.metadata.generation, "the generation changed");
        ensure!(second.status == ended.status, "the status changed");

        let equal = story.apply("", &text.replace("1024Mi", "1Gi").replace("'65536'", "64Ki").replace("size: 64Mi", "size: 65536Ki")).await?;
        ensure!(equal.metadata.generation > ended.metadata.generation, "the story changed the spec");
        let seen = story.cluster.until(&equal, Duration::from_secs(20), "the change was looked at", |status| status.phase.is_some());
        let now = seen.await?.status.context("a status")?;
        require_conditions(&now, Phase::Passed)?;
        ensure!(now.run == status.run && now.tests == status.tests, "measured again: {:?}", now.run);
        no_jobs(story).await?;
        ensure!(story.cluster.events(&equal).await?.iter().filter(|(reason, _, _)| reason == "Passed").count() == 1, "events");
        Ok(())
    })
    .await
}

/// In a pool of somebody else, a cancelled run leaves no object, and a suspended benchmark begins nothing.
#[tokio::test]
async fn suspended_from_the_start() -> Result<()> {
    tell("never-begun", async |story| {
        let benchmark = story.apply("", &spec("1s", "64Ki").replacen('{', "{suspend: true, ", 1)).await?;
        let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(20)).await?;
        require_conditions(&status, Phase::Cancelled)?;
        ensure!(status.tests.iter().all(|test| test.points.is_empty()), "{:?}", status.tests);
        no_jobs(story).await
    })
    .await
}
