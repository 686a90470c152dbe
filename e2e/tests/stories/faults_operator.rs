//! The operator is killed with SIGKILL once in every phase; the run ends as if nothing had happened.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cephbench::api::{Phase, TestPhase};
use e2e::story::{NAMESPACE, Operator, require_completed, require_conditions, tell, test_of};
use futures::TryStreamExt;
use k8s_openapi::api::batch::v1::Job;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, ResourceExt};

/// UIDs of all Jobs that were ever seen, by name.
#[derive(Clone, Default)]
struct Jobs(Arc<Mutex<BTreeMap<String, Vec<String>>>>);

impl Jobs {
    fn watch(&self, client: kube::Client) -> tokio::task::JoinHandle<()> {
        let seen = self.0.clone();
        tokio::spawn(async move {
            let jobs: Api<Job> = Api::namespaced(client, NAMESPACE);
            let mut changes =
                std::pin::pin!(watcher(jobs, watcher::Config::default()).default_backoff().applied_objects());
            // An error is a break that the watcher mends by itself.
            loop {
                let Ok(Some(job)) = changes.try_next().await else { continue };
                let uid = job.uid().unwrap_or_default();
                let mut seen = seen.lock().expect("nothing panics while it holds this");
                let uids = seen.entry(job.name_any()).or_default();
                if !uids.contains(&uid) {
                    uids.push(uid);
                }
            }
        })
    }
}

#[tokio::test]
async fn killed_in_every_phase() -> Result<()> {
    tell("killed", async |story| {
        let operator = Operator::new(&story.cluster);
        operator.ready().await?;
        let jobs = Jobs::default();
        let watching = jobs.watch(story.cluster.client.clone());

        let first = story.apply("first", "{clients: {nodes: {names: [node1]}}, defaults: {rampUp: 0s, duration: 5s, rounds: 1}, tests: [
            {name: disk, disk: {file: {directory: /var/tmp, size: 16Mi}}}]}").await?;
        story.cluster.phase(&first, Phase::Running, 60).await?;
        let spec = "{defaults: {rampUp: 0s, duration: 6s, rounds: 2}, tests: [
            {name: one, disk: {file: {directory: /var/tmp, size: 16Mi}}},
            {name: two, rados: {pool: {create: {size: 2, pgNum: 8}}, objectSize: [1Mi]}, workload: {op: [write, read], queueDepth: [2], bytes: 64Mi}}],
          gates: [{name: floor, test: two, op: write, metric: bandwidth, min: 1Ki}]}";
        let benchmark = story.apply("second", spec).await?;
        story.cluster.phase(&benchmark, Phase::Queued, 30).await?;
        operator.kill().await?;
        operator.ready().await?;

        story.cluster.phase(&benchmark, Phase::Preparing, 90).await?;
        operator.kill().await?;
        operator.ready().await?;

        let of_test = |index: usize, phase: TestPhase| {
            move |status: &cephbench::api::BenchmarkStatus| status.tests.get(index).is_some_and(|test| test.phase == phase)
        };
        let limit = Duration::from_secs(150);
        story.cluster.until(&benchmark, limit, "the first test runs", of_test(0, TestPhase::Running)).await?;
        operator.kill().await?;
        operator.ready().await?;

        story.cluster.until(&benchmark, limit, "the first test is done", of_test(0, TestPhase::Completed)).await?;
        operator.kill().await?;
        operator.ready().await?;

        story.cluster.until(&benchmark, limit, "the second test runs", of_test(1, TestPhase::Running)).await?;
        operator.kill().await?;
        operator.ready().await?;

        story.cluster.phase(&benchmark, Phase::Cleaning, 150).await?;
        operator.kill().await?;
        operator.ready().await?;

        let (benchmark, status) = story.cluster.ended(&benchmark, limit).await?;
        watching.abort();
        require_completed(&status)?;
        require_conditions(&status, Phase::Passed)?;
        let run = status.run.clone().context("a run")?;
        ensure!(run.number == 1, "it began {} times", run.number);
        let points: usize = status.tests.iter().map(|test| test.points.len()).sum();
        ensure!(points == 3 && test_of(&status, "one")?.points.iter().all(|point| point.rounds.len() == 2), "{:?}", status.tests);
        let jobs = jobs.0.lock().expect("nothing panics while it holds this").clone();
        ensure!(jobs.len() == 1 + 3 + 3, "one Job per client of each test: {jobs:?}");
        ensure!(jobs.values().all(|uids| uids.len() == 1), "a Job was made twice: {jobs:?}");
        let events = story.cluster.events(&benchmark).await?;
        let passed = events.iter().filter(|(reason, _, _)| reason == "Passed").count();
        ensure!(passed <= 1, "told twice: {events:?}");
        let memory = operator.resident_bytes().await?;
        ensure!(memory < 40 << 20, "the operator holds {memory} bytes");
        Ok(())
    })
    .await
}
