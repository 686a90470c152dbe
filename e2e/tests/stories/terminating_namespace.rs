//! A namespace that is deleted with a run in it: the operator loses its rights there at any time, and the namespace goes all the same. Told
//! last: its watches there take a while to come back.

use std::time::Duration;

use anyhow::{Context, Result};
use cephbench::api::Phase;
use e2e::story::{NAMESPACE_WITH_TWO, Story, eventually, tell};
use serde_json::{Value, json};

use crate::refusals_cluster::make_up_cluster;

#[tokio::test]
async fn deleted_with_a_run_in_it() -> Result<()> {
    tell("namespace-deleted", async |story| {
        let namespace = NAMESPACE_WITH_TWO;
        make_up_cluster(story, "first").await?;
        bring_back_at_the_end(story).await?;
        let spec = "{cephCluster: first, clients: {nodes: {names: [node1, node2]}},
            defaults: {rampUp: 0s, duration: 120s, rounds: 1}, tests: [{name: t, network: {}}]}";
        let benchmark = story.apply_in(namespace, "", spec).await?;
        story.cluster.phase(&benchmark, Phase::Running, 60).await?;
        story.cluster.kubectl(&["delete", "namespace", namespace, "--wait=false"]).await?;
        eventually(Duration::from_secs(90), "the namespace goes", async || {
            let left =
                story.cluster.kubectl(&["get", "namespace", namespace, "--ignore-not-found", "-o", "yaml"]).await?;
            Ok(if left.trim().is_empty() { Ok(()) } else { Err(left) })
        })
        .await
    })
    .await
}

/// The namespace with its labels, and what the chart put into it.
async fn bring_back_at_the_end(story: &Story) -> Result<()> {
    let namespace = NAMESPACE_WITH_TWO;
    let get = async |arguments: &[&str]| -> Result<Value> {
        let text = story.cluster.kubectl(&[arguments, &["-o", "json"]].concat()).await?;
        serde_json::from_str(&text).with_context(|| format!("{arguments:?}"))
    };
    let mut items = vec![get(&["get", "namespace", namespace]).await?];
    let of_chart = get(&["-n", namespace, "get", "roles,rolebindings"]).await?;
    items.extend(of_chart["items"].as_array().into_iter().flatten().cloned());
    for item in &mut items {
        let metadata = &item["metadata"];
        let kept = json!({"name": metadata["name"], "namespace": metadata["namespace"], "labels": metadata["labels"],
            "annotations": metadata["annotations"]});
        item["metadata"] = kept;
        item.as_object_mut().context("an object")?.retain(|field, _| field != "status" && field != "spec");
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    let file = std::env::temp_dir().join(format!("cephbench-story-{namespace}.json"));
    std::fs::write(&file, list.to_string())?;
    // In reverse: gone first, whatever became of the story, then back.
    story.repair_by(&["kubectl", "apply", "--filename", file.to_str().context("a path of text")?]);
    story.repair_by(&["kubectl", "delete", "namespace", namespace, "--ignore-not-found", "--timeout=90s"]);
    Ok(())
}
