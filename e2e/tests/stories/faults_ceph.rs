//! OSDs that stop answering while a run measures: stalls and errors are told, and nothing waits for ever.

use std::time::Duration;

use anyhow::{Result, ensure};
use cephbench::api::{Op, Phase, TestPhase, ValidityVerdict, Verdict};
use e2e::story::{NAMESPACE, Story, eventually, gate, points, require_conditions, tell};

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
        story.bench_prints(NAMESPACE, "pool", 2).await?;
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

/// All of them: operations fail after their time, and the test ends then, with the errors in its figure.
#[tokio::test]
async fn all_osds_freeze() -> Result<()> {
    tell("osds-frozen", async |story| {
        let benchmark = story.apply("", &spec(15)).await?;
        story.bench_prints(NAMESPACE, "pool", 2).await?;
        for osd in 0..3 {
            frozen(story, osd).await?;
        }
        // 15 s of measuring, 60 s until operations fail, and the pods' end.
        let limit = Duration::from_secs(110);
        let ended = story.cluster.until(&benchmark, limit, "the test ends", |status| {
            status.tests.iter().all(|test| matches!(test.phase, TestPhase::Completed | TestPhase::Error))
        });
        let ended = ended.await;
        thawed(story, &[0, 1, 2]).await?;
        ended?;
        let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(90)).await?;
        require_conditions(&status, Phase::Failed)?;
        let [point] = points(&status, "pool", Some(Op::Write))?[..] else { anyhow::bail!("{:?}", status.tests) };
        ensure!(point.errors > 0 && point.validity.verdict == ValidityVerdict::Invalid, "{point:?}");
        let said: Vec<&str> = point.validity.reasons.iter().map(|reason| reason.message.as_str()).collect();
        ensure!(said.iter().any(|text| text.contains("ETIMEDOUT")), "the errors are not told: {said:?}");
        ensure!(gate(&status, "errors")?.verdict == Verdict::Failed, "{:?}", status.gates);
        Ok(())
    })
    .await
}
