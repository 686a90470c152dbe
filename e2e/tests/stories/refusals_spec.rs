//! Specs that can't be measured: each is refused, by the server or by the operator, in words that name the field and the value.

use anyhow::{Result, ensure};
use cephbench::api::Phase;
use e2e::story::{NAMESPACE, Refusal, require_conditions, tell};
use std::time::Duration;

const DISK: &str = "disk: {file: {directory: /var/tmp, size: 16Mi}}";

/// What the API server itself refuses of a strict client.
#[tokio::test]
async fn the_server_refuses() -> Result<()> {
    tell("refused-by-server", async |story| {
        let cases = [
            (
                "unknown",
                format!("{{tests: [{{name: t, {DISK}, workload: {{blockSizes: [4Ki]}}}}]}}"),
                vec!["blockSizes"],
            ),
            ("unknown-top", format!("{{schedule: '* * * * *', tests: [{{name: t, {DISK}}}]}}"), vec!["schedule"]),
            ("two-kinds", format!("{{tests: [{{name: t, {DISK}, network: {{}}}}]}}"), vec!["spec.tests[0]"]),
            ("no-kind", "{tests: [{name: t}]}".into(), vec!["spec.tests[0]"]),
            ("no-tests", "{tests: []}".into(), vec!["spec.tests"]),
            ("tests-missing", "{trigger: now}".into(), vec!["spec.tests"]),
            (
                "bad-time",
                format!("{{defaults: {{duration: 90}}, tests: [{{name: t, {DISK}}}]}}"),
                vec!["spec.defaults.duration"],
            ),
            (
                "no-unit",
                format!("{{defaults: {{duration: '90'}}, tests: [{{name: t, {DISK}}}]}}"),
                vec!["spec.defaults.duration", "90"],
            ),
            ("same-name", format!("{{tests: [{{name: t, {DISK}}}, {{name: t, {DISK}}}]}}"), vec!["t"]),
            (
                "gate-without-limit",
                format!("{{tests: [{{name: t, {DISK}}}], gates: [{{name: g, test: t, metric: iops}}]}}"),
                vec!["gates[0]", "min, max"],
            ),
        ];
        for (suffix, spec, words) in cases {
            let value = story.benchmark(NAMESPACE, suffix, &spec)?;
            match story.cluster.try_apply(&value, "story").await? {
                Err(Refusal(message)) => {
                    for word in words {
                        ensure!(message.contains(word), "{suffix}: the refusal does not name {word}: {message}");
                    }
                }
                Ok(_) => anyhow::bail!("{suffix}: the server took {spec}"),
            }
        }
        Ok(())
    })
    .await
}

/// What the server can't say, the operator does: phase Error, Stalled, the field in the message, and nothing begins.
#[tokio::test]
async fn the_operator_refuses() -> Result<()> {
    tell("refused-by-operator", async |story| {
        let rados = "rados: {pool: {create: {size: 2, pgNum: 8}}}";
        let block_sizes: Vec<String> = (1..=32).map(|number| format!("{}", number * 512)).collect();
        let jobs: Vec<String> = (1..=17).map(|number| number.to_string()).collect();
        let cases = [
            (
                "points",
                format!(
                    "{{tests: [{{name: t, {DISK}, workload: {{blockSize: [{}], jobs: [{}]}}}}]}}",
                    block_sizes.join(", "),
                    jobs.join(", ")
                ),
                vec!["spec.tests[0].workload", "544", "512"],
            ),
            (
                "quantity",
                format!("{{tests: [{{name: t, {DISK}, workload: {{blockSize: [4K]}}}}]}}"),
                vec!["spec.tests[0].workload.blockSize[0]", "4K", "4Ki"],
            ),
            (
                "size",
                "{tests: [{name: t, disk: {file: {directory: /var/tmp, size: 1GB}}}]}".into(),
                vec!["spec.tests[0].disk.file.size", "1GB"],
            ),
            (
                "gate",
                format!("{{tests: [{{name: t, {DISK}}}], gates: [{{name: g, test: other, metric: iops, min: 1}}]}}"),
                vec!["spec.gates[0].test", "other"],
            ),
            (
                "gate-milli",
                format!(
                    "{{tests: [{{name: t, {DISK}}}], gates: [{{name: g, test: t, metric: bandwidth, min: 200m}}]}}"
                ),
                vec!["spec.gates[0].min", "200m", "200M"],
            ),
            (
                "gate-unit",
                format!("{{tests: [{{name: t, {DISK}}}], gates: [{{name: g, test: t, metric: latencyP99, max: 20}}]}}"),
                vec!["spec.gates[0].max", "20"],
            ),
            (
                "pg-num",
                "{tests: [{name: t, rados: {pool: {create: {pgNum: 48}}}}]}".into(),
                vec!["spec.tests[0].rados.pool.create.pgNum", "48"],
            ),
            (
                "randwrite",
                format!("{{tests: [{{name: t, {rados}, workload: {{op: [randwrite]}}}}]}}"),
                vec!["spec.tests[0].workload.op[0]", "randwrite"],
            ),
            (
                "not-allowed",
                "{tests: [{name: t, disk: {file: {directory: /etc, size: 16Mi}}}]}".into(),
                vec!["spec.tests[0].disk.file.directory", "/etc", "policy.hostPaths"],
            ),
            (
                "way-out",
                "{tests: [{name: t, disk: {file: {directory: /var/tmp/../lib, size: 16Mi}}}]}".into(),
                vec!["spec.tests[0].disk.file.directory", ".."],
            ),
            (
                "host-network",
                format!("{{clients: {{hostNetwork: true}}, tests: [{{name: t, {DISK}}}]}}"),
                vec!["hostNetwork", "policy.hostNetwork"],
            ),
            (
                "image",
                format!("{{clients: {{image: example.com/other:1}}, tests: [{{name: t, {DISK}}}]}}"),
                vec!["image", "example.com/other:1"],
            ),
        ];
        for (suffix, spec, words) in cases {
            let message = story.refusal(NAMESPACE, suffix, &spec, 20).await?;
            for word in words {
                ensure!(message.contains(word), "{suffix}: the refusal does not name {word}: {message}");
            }
        }
        let jobs = e2e::story::names_of::<k8s_openapi::api::batch::v1::Job>(&story.cluster, NAMESPACE, "").await?;
        ensure!(jobs.is_empty(), "Jobs were made: {jobs:?}");
        Ok(())
    })
    .await
}

/// A spec put right after a refusal is measured.
#[tokio::test]
async fn put_right_it_runs() -> Result<()> {
    tell("refused-then-right", async |story| {
        let wrong = format!("{{clients: {{nodes: {{names: [node1]}}}}, defaults: {{rampUp: 0s, duration: 1s, rounds: 1}}, tests: [{{name: t, {DISK}, workload: {{blockSize: [4K]}}}}]}}");
        let refused = story.refusal(NAMESPACE, "", &wrong, 20).await?;
        ensure!(refused.contains("4K"), "{refused}");
        let right = story.apply("", &wrong.replace("4K", "4Ki")).await?;
        let (_, status) = story.cluster.ended(&right, Duration::from_secs(90)).await?;
        require_conditions(&status, Phase::Passed)
    })
    .await
}
