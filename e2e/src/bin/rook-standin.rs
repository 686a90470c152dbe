//! The stand-in for Rook's operator as a program: one loop per kind over the objects of one CephCluster. What it does
//! and does not do stands in `e2e::standin`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::Context;
use e2e::standin::{
    Error, RETRY_SECONDS, apply, block_pool, ceph, client as ceph_client, cluster, rados_namespace, rook_kind, status,
};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DynamicObject, ListParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use tokio::time::sleep;

/// Rook looks at Ceph every minute; stories need not wait that long.
const STATUS_EVERY: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The CephCluster that is served.
const NAMESPACE: &str = "rook-ceph";
const CLUSTER: &str = "rook-ceph";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_ansi(false).init();
    let client = Client::try_default().await.context("no way to the API server")?;
    let version = wait_for_cluster(&client).await;
    tokio::spawn(serve(client.clone(), ceph_client::KIND, version.clone()));
    tokio::spawn(serve(client.clone(), block_pool::KIND, version.clone()));
    tokio::spawn(serve(client.clone(), rados_namespace::KIND, version.clone()));
    keep_status(&client, &version).await
}

/// Until the CephCluster is there and its Ceph answers. Returns Ceph's version.
async fn wait_for_cluster(client: &Client) -> String {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &rook_kind("CephCluster"));
    loop {
        match api.get_opt(CLUSTER).await {
            Ok(Some(cluster)) if cluster.metadata.deletion_timestamp.is_none() => {
                tracing::info!("bringing up the CephCluster");
                if let Err(error) = show_progress(client, &cluster).await {
                    tracing::warn!(%error, "the status could not be written");
                }
                match cluster::bring_up(client, &cluster).await {
                    Ok(version) => {
                        tracing::info!(version, "Ceph answers");
                        return version;
                    }
                    Err(error) => tracing::warn!(%error, "bringing up failed, trying again"),
                }
            }
            Ok(Some(cluster)) => {
                if let Err(error) = cluster::let_go(client, &cluster).await {
                    tracing::warn!(%error, "the CephCluster could not be let go");
                }
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the CephCluster could not be read"),
        }
        sleep(LOOK_EVERY).await;
    }
}

/// A cluster that was Ready stays so while the stand-in starts again.
async fn show_progress(client: &Client, found: &DynamicObject) -> Result<(), Error> {
    let previous = found.data.get("status").cloned().unwrap_or_else(|| json!({}));
    if previous["phase"] == "Ready" {
        return Ok(());
    }
    let generation = found.metadata.generation.unwrap_or_default();
    let status = status::build_progressing_status(&previous, generation, "Configuring Ceph", Timestamp::now());
    apply::replace_status(client, &rook_kind("CephCluster"), found, status).await
}

/// Writes the CephCluster's status from what Ceph says, until the object is gone; then the program ends, and the
/// Deployment starts it afresh for the next one.
async fn keep_status(client: &Client, version: &str) -> anyhow::Result<()> {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &rook_kind("CephCluster"));
    loop {
        match api.get_opt(CLUSTER).await {
            Ok(None) => anyhow::bail!("the CephCluster is gone"),
            Ok(Some(found)) if found.metadata.deletion_timestamp.is_some() => {
                cluster::let_go(client, &found).await?;
            }
            Ok(Some(found)) => {
                if let Err(error) = refresh_status(client, &found, version).await {
                    tracing::warn!(%error, "the CephCluster's status is not current");
                }
            }
            Err(error) => tracing::warn!(%error, "the CephCluster could not be read"),
        }
        sleep(STATUS_EVERY).await;
    }
}

async fn refresh_status(client: &Client, found: &DynamicObject, version: &str) -> Result<(), Error> {
    let answers = status::Answers {
        status: ceph::ceph_json(&["status"]).await?,
        df: ceph::ceph_json(&["df"]).await?,
        versions: ceph::ceph_json(&["versions"]).await?,
        osd_metadata: ceph::ceph_json(&["osd", "metadata"]).await?,
    };
    let previous = found.data.get("status").unwrap_or(&Value::Null);
    let image = found.data.pointer("/spec/cephVersion/image").and_then(Value::as_str).unwrap_or_default();
    let generation = found.metadata.generation.unwrap_or_default();
    let status = status::build_ready_status(previous, generation, image, version, &answers, Timestamp::now());
    apply::replace_status(client, &rook_kind("CephCluster"), found, status).await
}

/// Serves every object of one kind that needs it, for ever.
async fn serve(client: Client, kind: &'static str, version: String) {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &rook_kind(kind));
    let mut not_before: HashMap<String, Instant> = HashMap::new();
    loop {
        match api.list(&ListParams::default()).await {
            Ok(list) => {
                not_before.retain(|_, time| *time > Instant::now());
                for object in list.into_iter().filter(needs_work) {
                    let uid = object.uid().unwrap_or_default();
                    if not_before.contains_key(&uid) {
                        continue;
                    }
                    if !serve_one(&client, kind, &object, &version).await {
                        not_before.insert(uid, Instant::now() + Duration::from_secs(RETRY_SECONDS));
                    }
                }
            }
            Err(error) => tracing::warn!(kind, %error, "objects could not be listed"),
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Kinds whose status has no observedGeneration are made once.
fn needs_work(object: &DynamicObject) -> bool {
    let status = object.data.get("status").unwrap_or(&Value::Null);
    let observed = status["observedGeneration"].as_i64();
    object.metadata.deletion_timestamp.is_some()
        || status["phase"] != "Ready"
        || observed.is_some_and(|observed| Some(observed) != object.metadata.generation)
}

/// Whether the object needs no second look.
async fn serve_one(client: &Client, kind: &str, object: &DynamicObject, version: &str) -> bool {
    let done = match kind {
        ceph_client::KIND => ceph_client::reconcile(client, object, version).await.map(|()| true),
        rados_namespace::KIND => rados_namespace::reconcile(client, object).await.map(|()| true),
        _ => block_pool::reconcile(client, object, Timestamp::now()).await,
    };
    let deleted = object.metadata.deletion_timestamp.is_some();
    match done {
        Ok(true) => tracing::info!(kind, name = object.name_any(), deleted, "served"),
        Ok(false) => tracing::info!(kind, name = object.name_any(), deleted, "blocked"),
        Err(ref error) => tracing::warn!(kind, name = object.name_any(), deleted, %error, "failed"),
    }
    matches!(done, Ok(true))
}
