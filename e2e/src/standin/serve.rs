//! The loops: one over the CephCluster, and one per kind that is served. They decide when, not what.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DynamicObject};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::client as ceph_client;
use super::{Error, RETRY_SECONDS, apply, block_pool, ceph, cluster, rados_namespace, rook_kind, status};

/// Rook looks at Ceph every minute; stories need not wait that long.
const STATUS_EVERY: Duration = Duration::from_secs(15);
/// Until every OSD has reported for the first time.
const FIRST_STATUS_EVERY: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The CephCluster that is served.
const NAMESPACE: &str = "rook-ceph";
const CLUSTER: &str = "rook-ceph";

/// Serves the CephCluster until it is gone.
pub async fn serve_cluster(client: &Client) -> Result<(), Error> {
    let version = wait_for_cluster(client).await;
    tokio::spawn(serve(client.clone(), ceph_client::KIND, version.clone()));
    tokio::spawn(serve(client.clone(), block_pool::KIND, version.clone()));
    tokio::spawn(serve(client.clone(), rados_namespace::KIND, version.clone()));
    keep_status(client, &version).await
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
                if let Err(error) = cluster::let_go(client, &cluster, Timestamp::now()).await {
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

/// Writes the CephCluster's status from what Ceph says, until the object is gone.
async fn keep_status(client: &Client, version: &str) -> Result<(), Error> {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &rook_kind("CephCluster"));
    let mut settled = false;
    loop {
        match api.get_opt(CLUSTER).await {
            Ok(None) => return Ok(()),
            Ok(Some(found)) if found.metadata.deletion_timestamp.is_some() => {
                settled = false;
                cluster::let_go(client, &found, Timestamp::now()).await?;
            }
            Ok(Some(found)) => match refresh_status(client, &found, version).await {
                Ok(complete) => settled |= complete,
                Err(error) => tracing::warn!(%error, "the CephCluster's status is not current"),
            },
            Err(error) => tracing::warn!(%error, "the CephCluster could not be read"),
        }
        sleep(if settled { STATUS_EVERY } else { FIRST_STATUS_EVERY }).await;
    }
}

/// Whether all OSDs are in it.
async fn refresh_status(client: &Client, found: &DynamicObject, version: &str) -> Result<bool, Error> {
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
    apply::replace_status(client, &rook_kind("CephCluster"), found, status).await?;
    Ok(answers.include_all_osds())
}

/// Serves every object of one kind that needs it, for ever.
async fn serve(client: Client, kind: &'static str, version: String) {
    let mut not_before: HashMap<(String, Option<i64>), Instant> = HashMap::new();
    loop {
        match apply::list(&client, &rook_kind(kind), NAMESPACE).await {
            Ok(list) => {
                not_before.retain(|_, time| *time > Instant::now());
                for object in list.into_iter().filter(needs_work) {
                    // A changed spec or a deletion makes another generation, which need not wait.
                    let attempt = (object.uid().unwrap_or_default(), object.metadata.generation);
                    if not_before.contains_key(&attempt) {
                        continue;
                    }
                    if !serve_one(&client, kind, &object, &version).await {
                        not_before.insert(attempt, Instant::now() + Duration::from_secs(RETRY_SECONDS));
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
