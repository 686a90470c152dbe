//! OSDs that stop answering while a run measures: stalls and errors are told, and nothing waits for ever.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use cephbench::api::{Op, Phase, TestPhase, ValidityVerdict};
use e2e::story::{Story, eventually, points, reason_of, require_conditions, tell, test_of};

async fn frozen(story: &Story, osd: u32) -> Result<()> {
    story.repair_by(&["e2e/cluster/osd-signal.sh", &osd.to_string(), "CONT"]);
    story.cluster.command(&["e2e/cluster/osd-signal.sh", &osd.to_string(), "STOP"]).await.map(drop)
}

async fn thawed(story: &Story, osds: &[u32]) -> Result<()> {
    for osd in osds {
        story.cluster.command(&["e2e/cluster/osd-signal.sh", &osd.to_string(), "CONT"]).await?;
    }
    eventually(Duration::from_secs(120), "all OSDs are up and all placement groups clean", async || {
        let status = story.cluster.ceph_json(&["ceph", "status"]).await?;
        let groups = &status["pgmap"];
        let clean = groups["pgs_by_state"]
            .as_array()
            .is_some_and(|states| states.iter().all(|state| state["state_name"] == "active+clean"));
        let up = status["osdmap"]["num_up_osds"] == 3;
        Ok(if up && clean { Ok(()) } else { Err(format!("{} {groups}", status["osdmap"])) })
    })
    .await
}

fn spec(seconds: u32) -> String {
    format!(
        "{{defaults: {{rampUp: 0s, duration: {seconds}s, rounds: 1}}, tests: [
          {{name: pool, rados: {{pool: {{create: {{size: 2, pgNum: 8}}}}, objectSize: [1Mi]}},
           workload: {{op: [write], blockSize: [64Ki], queueDepth: [4], bytes: 1Gi}}}}],
          gates: [{{name: errors, test: pool, metric: errors, max: 0}}]}}"
    )
}

/// One OSD of three: Ceph marks it down and goes on with the others. Operations wait that long, and the figure says so.
#[tokio::test]
async fn one_osd_freezes() -> Result<()> {
    tell("osd-frozen", async |story| {
        let benchmark = story.apply("", &spec(30)).await?;
        let running = story.cluster.until(&benchmark, Duration::from_secs(120), "the test runs", |status| {
            status.tests.first().is_some_and(|test| test.phase == TestPhase::Running)
        });
        running.await?;
        frozen(story, 1).await?;
        let ended = story.cluster.ended(&benchmark, Duration::from_secs(120)).await;
        thawed(story, &[1]).await?;
        let (_, status) = ended?;
        let point = points(&status, "pool", Some(Op::Write))?;
        let [point] = point.as_slice() else { anyhow::bail!("{:?}", status.tests) };
        let codes: Vec<&str> = point.validity.reasons.iter().map(|reason| reason.code.as_str()).collect();
        ensure!(point.validity.verdict != ValidityVerdict::Valid, "{point:?}");
        ensure!(codes.contains(&"Stalled"), "the stall is not told: {:?}", point.validity);
        let latency = point.latency.as_ref().expect("operations completed");
        ensure!(latency.max_micros > 5e6, "an operation waited for the OSD: {latency:?}");
        Ok(())
    })
    .await
}

/// All of them: operations fail after their time, the run ends soon after its own, in Error and with the cause.
#[tokio::test]
async fn all_osds_freeze() -> Result<()> {
    tell("osds-frozen", async |story| {
        let benchmark = story.apply("", &spec(15)).await?;
        let running = story.cluster.until(&benchmark, Duration::from_secs(120), "the test runs", |status| {
            status.tests.first().is_some_and(|test| test.phase == TestPhase::Running)
        });
        running.await?;
        for osd in 0..3 {
            frozen(story, osd).await?;
        }
        let begun = Instant::now();
        // 15 s of measuring, 30 s until operations fail, the pods' end and the removal of the pool on top.
        let ended = story.cluster.ended(&benchmark, Duration::from_secs(150)).await;
        let waited = begun.elapsed();
        thawed(story, &[0, 1, 2]).await?;
        let (_, status) = ended?;
        ensure!(waited < Duration::from_secs(150), "{waited:?}");
        require_conditions(&status, Phase::Error)?;
        let test = test_of(&status, "pool")?;
        let message = test.message.clone().unwrap_or_default();
        ensure!(test.phase == TestPhase::Error && message.to_lowercase().contains("timed out"), "{test:?}");
        ensure!(reason_of(&status)? == "TestError", "{:?}", status.conditions);
        Ok(())
    })
    .await
}
