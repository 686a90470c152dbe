//! Figures of RADOS, against what Ceph counted in the pools, and what became of pools, users and objects.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cephbench::api::{CephBenchmark, Op, Phase};
use e2e::story::{
    NAMESPACE, PoolCount, Story, agree, bytes_of, eventually, number, only_point, require_completed,
    require_conditions, tell, within,
};
use serde_json::Value;

/// A pool made for the run is as it was asked for, holds objects as they were asked for, and is gone with its user at the end.
#[tokio::test]
async fn a_pool_made_for_the_run() -> Result<()> {
    tell("rados-created", async |story| {
        let spec = "{defaults: {rampUp: 0s, duration: 7s, rounds: 1}, tests: [
            {name: pool, rados: {pool: {create: {size: 2, pgNum: 8}}, objectSize: [1Mi]},
             workload: {op: [write, randread], blockSize: [16Ki], queueDepth: [4], bytes: 256Mi}}]}";
        let benchmark = story.apply("", spec).await?;
        story.cluster.phase(&benchmark, Phase::Running, 120).await?;
        let pool = created_pool(story).await?;
        let detail = pool_detail(story, &pool).await?;
        ensure!(number(&detail, "/size")? == 2 && number(&detail, "/pg_num")? == 8, "{detail}");
        let quota = number(&detail, "/quota_max_bytes")?;
        ensure!(quota >= 3 * (256 << 20), "quota of {quota} bytes");
        user_is_limited(story, &pool).await?;

        let object = eventually(Duration::from_secs(30), "an object is whole", async || {
            whole_object(story, &pool, 1 << 20).await
        });
        let object = object.await?;
        // Ceph counts a few seconds late: the last count before the pool goes holds all of the writes, for the reads took that long.
        let last = last_count(story, &benchmark, &pool).await?;

        let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(90)).await?;
        require_completed(&status)?;
        require_conditions(&status, Phase::Passed)?;
        let write = only_point(&status, "pool", Op::Write)?;
        ensure!(write.object_size == Some(1 << 20) && write.clients == 3 && object.len() < 256, "{write:?}");
        ensure!(agree(last.write_bytes, bytes_of(write)), "counted {last:?}, reported {}", bytes_of(write));
        ensure!(
            within(last.write_bytes / last.write_ops, 16 << 10, 0.05),
            "writes of {}",
            last.write_bytes / last.write_ops
        );
        let read = only_point(&status, "pool", Op::RandRead)?;
        ensure!(last.read_bytes <= bytes_of(read) + (1 << 20), "counted {last:?}, reported {}", bytes_of(read));
        let pools = &status.cluster.as_ref().context("the cluster's fingerprint")?.pools;
        ensure!(pools.iter().any(|pool| pool.created && pool.size == Some(2) && pool.pg_num == Some(8)), "{pools:?}");

        let pools = story.cluster.ceph(&["ceph", "osd", "pool", "ls"]).await?;
        ensure!(!pools.contains(&pool), "{pool} is still there");
        let users = story.cluster.ceph(&["ceph", "auth", "ls"]).await?;
        ensure!(!users.contains(&pool), "a user of {pool} is still there");
        Ok(())
    })
    .await
}

/// In an existing pool the run works in a namespace of its own: what others keep there is as it was.
#[tokio::test]
async fn a_pool_of_somebody_else() -> Result<()> {
    tell("rados-existing", async |story| {
        let pool = "story-existing";
        make_pool(story, pool).await?;
        for name in ["one", "two", "three"] {
            let script = format!("head -c 100000 /dev/urandom | rados --pool {pool} put {name} -");
            let exec = ["-n", NAMESPACE, "exec", "deploy/rook-ceph-operator", "--", "sh", "-c", &script];
            story.cluster.kubectl(&exec).await?;
        }
        let before = checksums(story, pool).await?;
        ensure!(before.len() == 3, "{before:?}");
        let counted_before = settled(story, pool, None).await?;

        let spec = format!(
            "{{defaults: {{rampUp: 0s, duration: 30s, rounds: 1}}, tests: [
              {{name: pool, rados: {{pool: {{name: {pool}}}, objectSize: [4Mi]}},
               workload: {{op: [write, read, randread], queueDepth: [4], bytes: 64Mi}}}}]}}"
        );
        let benchmark = story.apply("", &spec).await?;
        let namespaces = eventually(Duration::from_secs(120), "objects in a namespace of the run", async || {
            let objects = story.cluster.ceph_json(&["rados", "ls", "--all", "--pool", pool]).await?;
            let own: Vec<String> = objects
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|object| object["namespace"].as_str())
                .filter(|namespace| !namespace.is_empty())
                .map(str::to_owned)
                .collect();
            Ok(if own.is_empty() { Err(objects.to_string()) } else { Ok(own) })
        });
        let namespaces = namespaces.await?;
        ensure!(namespaces.iter().all(|namespace| *namespace == namespaces[0]), "one namespace: {namespaces:?}");

        let (_, status) = story.cluster.ended(&benchmark, Duration::from_secs(150)).await?;
        require_completed(&status)?;
        require_conditions(&status, Phase::Passed)?;
        let write = bytes_of(only_point(&status, "pool", Op::Write)?);
        ensure!(write == 3 * (64 << 20), "the byte cap is per client: {write}");
        let read =
            bytes_of(only_point(&status, "pool", Op::Read)?) + bytes_of(only_point(&status, "pool", Op::RandRead)?);
        let counted = settled(story, pool, Some(counted_before.write_bytes + write)).await?;
        let (wrote, got) =
            (counted.write_bytes - counted_before.write_bytes, counted.read_bytes - counted_before.read_bytes);
        ensure!(agree(wrote, write), "Ceph counted {wrote} bytes written, reported {write}");
        ensure!(agree(got, read), "Ceph counted {got} bytes read, reported {read}");

        ensure!(checksums(story, pool).await? == before, "the pool's own objects changed");
        ensure!(counted.objects == 3, "{} objects are left", counted.objects);
        Ok(())
    })
    .await
}

/// A pool made by the story itself.
async fn make_pool(story: &Story, pool: &str) -> Result<()> {
    story.remove_by(&["e2e/cluster/ceph.sh", "ceph", "osd", "pool", "rm", pool, pool, "--yes-i-really-really-mean-it"]);
    // Splitting placement groups would spoil the counts.
    story
        .cluster
        .ceph(&["ceph", "osd", "pool", "create", pool, "8", "8", "--size", "2", "--autoscale-mode", "off"])
        .await?;
    story.cluster.ceph(&["ceph", "osd", "pool", "application", "enable", pool, "story"]).await.map(drop)
}

async fn created_pool(story: &Story) -> Result<String> {
    eventually(Duration::from_secs(30), "a pool of the run", async || {
        let pools = story.cluster.ceph(&["ceph", "osd", "pool", "ls"]).await?;
        let found = pools.lines().find(|name| name.starts_with("cephbench-")).map(str::to_owned);
        Ok(found.ok_or(pools))
    })
    .await
}

async fn pool_detail(story: &Story, pool: &str) -> Result<Value> {
    let pools = story.cluster.ceph_json(&["ceph", "osd", "pool", "ls", "detail"]).await?;
    let found = pools.as_array().and_then(|pools| pools.iter().find(|entry| entry["pool_name"] == pool));
    found.cloned().with_context(|| format!("{pool} in {pools}"))
}

/// The run's user may use its pool and no other.
async fn user_is_limited(story: &Story, pool: &str) -> Result<()> {
    let users = story.cluster.ceph_json(&["ceph", "auth", "ls"]).await?;
    let users = users["auth_dump"].as_array().context("ceph auth ls lists users")?;
    let of_run: Vec<&Value> =
        users.iter().filter(|user| user["entity"].as_str().is_some_and(|name| name.contains("cephbench-"))).collect();
    ensure!(of_run.len() == 1, "one user of the run: {of_run:?}");
    let caps = &of_run[0]["caps"];
    let osd = caps["osd"].as_str().unwrap_or_default();
    ensure!(osd.contains(&format!("pool={pool}")) && caps["mon"] == "allow r", "{caps}");
    Ok(())
}

/// The name of an object that has the full size.
async fn whole_object(story: &Story, pool: &str, size: u64) -> Result<Result<String, String>> {
    let objects = story.cluster.ceph_json(&["rados", "ls", "--pool", pool]).await?;
    let names: Vec<&str> =
        objects.as_array().into_iter().flatten().filter_map(|object| object["name"].as_str()).collect();
    let mut last = String::new();
    for name in names.iter().take(8) {
        let Ok(stat) = story.cluster.ceph(&["rados", "--pool", pool, "stat", name]).await else { continue };
        if stat.trim().ends_with(&format!("size {size}")) {
            return Ok(Ok((*name).to_owned()));
        }
        last = stat;
    }
    Ok(Err(format!("{} objects, the last looked at: {last}", names.len())))
}

/// What Ceph counted in the pool when it was last seen, until the run cleans up.
async fn last_count(story: &Story, benchmark: &CephBenchmark, pool: &str) -> Result<PoolCount> {
    let mut last = None;
    let gone = eventually(Duration::from_secs(90), "the pool is gone", async || {
        match PoolCount::of(&story.cluster, pool).await? {
            Some(count) => {
                last = Some(count);
                Ok(Err(format!("{count:?}")))
            }
            None => Ok(Ok(())),
        }
    });
    gone.await?;
    story.cluster.ended(benchmark, Duration::from_secs(60)).await?;
    last.context("the pool was never seen")
}

/// Ceph's counts once they have reached what is expected, or have not changed between two looks.
async fn settled(story: &Story, pool: &str, written: Option<u64>) -> Result<PoolCount> {
    let mut last = None;
    eventually(Duration::from_secs(40), "Ceph's counts have settled", async || {
        let now = PoolCount::of(&story.cluster, pool).await?.context("the pool is there")?;
        let enough = now.objects == 3 && written.is_none_or(|written| now.write_bytes >= written);
        // OSDs report every five seconds, the version counts every two: looks four versions apart miss no report.
        let report = story.cluster.ceph_json(&["ceph", "pg", "dump", "summary"]).await?;
        let stamp = report.pointer("/pg_map/version").and_then(Value::as_u64).unwrap_or(0);
        let before = *last.get_or_insert((now, stamp));
        if before.0 != now {
            last = Some((now, stamp));
        }
        Ok(if enough && before.0 == now && stamp >= before.1 + 4 {
            Ok(now)
        } else {
            Err(format!("{now:?}, version {stamp}"))
        })
    })
    .await
}

/// Checksums of the objects outside of all namespaces.
async fn checksums(story: &Story, pool: &str) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for name in story.cluster.ceph(&["rados", "--pool", pool, "ls"]).await?.lines() {
        let script = format!("rados --pool {pool} get {name} - | sha256sum");
        let exec = ["-n", NAMESPACE, "exec", "deploy/rook-ceph-operator", "--", "sh", "-c", &script];
        found.insert(name.to_owned(), story.cluster.kubectl(&exec).await?);
    }
    Ok(found)
}
