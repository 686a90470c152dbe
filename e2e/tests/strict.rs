//! Story: the API server refuses what reading a local file refuses, and takes the CRD as it is.

use anyhow::{Context, Result, bail};
use e2e::story::{Cluster, NAMESPACE};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Case {
    spec: String,
    refused: Option<String>,
}

#[tokio::test]
async fn a_server_refuses_the_specs_that_local_reading_refuses() -> Result<()> {
    let cluster = Cluster::connect().await?;
    let cases: Vec<Case> = serde_yaml_ng::from_str(include_str!("../../tests/strict/specs.yaml"))?;
    let path = format!("/apis/cephbench.io/v1alpha1/namespaces/{NAMESPACE}/cephbenchmarks");
    let uri = format!("{path}?dryRun=All&fieldValidation=Strict");
    let mut wrong = Vec::new();
    for Case { spec, refused } in cases {
        let value: Value = serde_yaml_ng::from_str(&spec)?;
        let object = json!({"apiVersion": "cephbench.io/v1alpha1", "kind": "CephBenchmark",
            "metadata": {"name": "strict"}, "spec": value});
        // Created, not applied: server-side apply tells the same faults in other words.
        let request = http::Request::post(&uri)
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(serde_json::to_vec(&object)?)?;
        let answer = cluster.client.request::<Value>(request).await;
        match (&refused, answer) {
            (None, Ok(_)) => {}
            (Some(field), Err(kube::Error::Api(status))) if status.message.contains(field) => {}
            (_, Ok(_)) => wrong.push(format!("taken: {spec}")),
            (_, Err(kube::Error::Api(status))) => wrong.push(format!("{spec}: {refused:?}: {}", status.message)),
            (_, Err(error)) => return Err(error).context("dry run"),
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(())
}
