//! The plugin as a user runs it: what it exits with, and what it prints.

use std::process::Output;

use anyhow::{Context, Result, ensure};
use e2e::story::{NAMESPACE, Story, tell};
use serde_json::Value;

const DISK: &str = "clients: {nodes: {names: [node1]}}, defaults: {rampUp: 0s, duration: 1s, rounds: 1},
    tests: [{name: disk, disk: {file: {directory: /var/tmp, size: 32Mi}}, workload: {blockSize: [64Ki]}}]";

async fn plugin(story: &Story, arguments: &[&str]) -> Result<Output> {
    Ok(story.cluster.script(&story.cluster.plugin().await?).args(arguments).output().await?)
}

async fn run(story: &Story, suffix: &str, spec: &str) -> Result<Output> {
    let folder = std::env::temp_dir().join(format!("cephbench-story-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{suffix}.yaml"));
    std::fs::write(&file, serde_yaml_ng::to_string(&story.benchmark(NAMESPACE, suffix, spec)?)?)?;
    let output =
        plugin(story, &["run", "--wait", "--timeout", "90s", "-o", "json", "-f", file.to_str().context("a path")?])
            .await;
    std::fs::remove_dir_all(&folder)?;
    output
}

#[tokio::test]
async fn exit_codes_and_reports() -> Result<()> {
    tell("plugin", async |story| {
        let gates = [
            ("passed", "[{name: floor, test: disk, metric: bandwidth, min: 1Ki}]", 0, "Passed"),
            ("failed", "[{name: floor, test: disk, metric: bandwidth, min: 1000Ti}]", 1, "Failed"),
        ];
        for (suffix, gates, code, phase) in gates {
            let output = run(story, suffix, &format!("{{{DISK}, gates: {gates}}}")).await?;
            let progress = String::from_utf8_lossy(&output.stderr).into_owned();
            ensure!(output.status.code() == Some(code), "{suffix}: {:?}, wanted {code}: {progress}", output.status);
            ensure!(!progress.is_empty(), "progress goes to standard error");
            let printed: Value = serde_json::from_slice(&output.stdout).context("JSON alone on standard output")?;
            ensure!(printed["status"]["phase"] == phase, "{printed}");
        }
        let output = run(
            story,
            "error",
            "{clients: {nodes: {names: [node9]}}, tests: [{name: t, disk: {file: {directory: /var/tmp, size: 16Mi}}}]}",
        )
        .await?;
        ensure!(output.status.code() == Some(2), "{output:?}");
        let output = run(story, "unknown", "{tests: [{name: t, disc: {}}]}").await?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.code() == Some(2) && said.contains("disc") && output.stdout.is_empty(), "{said}");

        report_equals_the_object(story).await
    })
    .await
}

async fn report_equals_the_object(story: &Story) -> Result<()> {
    let name = story.name_of("failed");
    let output = plugin(story, &["report", &name, "-n", NAMESPACE, "-o", "json"]).await?;
    ensure!(output.status.success(), "{output:?}");
    let printed: Value = serde_json::from_slice(&output.stdout)?;
    let stored: Value =
        serde_json::from_str(&story.cluster.kubectl(&["-n", NAMESPACE, "get", "cb", &name, "-o", "json"]).await?)?;
    ensure!(printed == stored, "{printed}\nis not\n{stored}");
    let output = plugin(story, &["report", &name, "-n", NAMESPACE]).await?;
    let table = String::from_utf8(output.stdout)?;
    for word in ["disk", "MiB/s", "floor", "Failed"] {
        ensure!(table.contains(word), "no {word} in {table}");
    }
    let output = plugin(story, &["list", "-n", NAMESPACE]).await?;
    ensure!(String::from_utf8(output.stdout)?.contains(&name), "the list has it");
    Ok(())
}
