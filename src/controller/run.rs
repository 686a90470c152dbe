//! The operator's life: leads or waits, watches, stops when it is told to or when it no longer leads.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::StreamExt;
use futures::future::join_all;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::Api;
use kube::core::{DeserializeGuard, PartialObjectMeta};
use kube::runtime::controller::{self, Controller};
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::{Predicate, WatchStreamExt, predicates, watcher};

use super::context::Context;
use super::error::{ControllerError, During};
use super::health::Ready;
use super::leader::Leadership;
use super::reconcile::{on_error, reconcile};
use crate::api::CephBenchmark;
use crate::plan::policy::OperatorConfig;
use crate::resources::Platform;
use crate::resources::names::{BENCHMARK_NAME, MANAGED_BY, OPERATOR};

type Watched = DeserializeGuard<CephBenchmark>;

/// Benchmarks that are brought on at once.
const CONCURRENCY: u16 = 8;

/// How the operator was started.
pub struct Settings {
    pub config: OperatorConfig,
    /// Namespaces that it acts in; empty: all.
    pub namespaces: Vec<String>,
    /// Its own namespace.
    pub own_namespace: String,
    pub identity: String,
}

/// Runs until a signal comes or leadership is lost.
pub async fn run(client: Client, settings: Settings, ready: Ready) -> Result<(), ControllerError> {
    let platform = platform(&client).await?;
    ready.store(true, Ordering::Relaxed);
    let leadership = Leadership::new(client.clone(), &settings.own_namespace, &settings.identity);
    let Settings { config, namespaces, own_namespace, identity } = settings;
    tracing::info!(identity, "waiting to lead");
    tokio::select! {
        () = leadership.acquire() => {}
        () = stop_signal() => return Ok(()),
    }
    tracing::info!(identity, ?namespaces, "leading");
    let context = Arc::new(Context::new(client.clone(), config, platform, own_namespace, identity));
    let apis: Vec<Option<&str>> =
        if namespaces.is_empty() { vec![None] } else { namespaces.iter().map(|name| Some(name.as_str())).collect() };
    let controllers = join_all(apis.into_iter().map(|namespace| control(&client, namespace, context.clone())));
    tokio::select! {
        _ = controllers => {}
        () = leadership.keep() => tracing::error!("leadership is lost: stopping"),
        () = stop_signal() => tracing::info!("stopping"),
    }
    leadership.release().await;
    Ok(())
}

/// One namespace, or all. Status and other writes of our own do not wake it; time, and what happens to its Jobs and pods, do.
async fn control(client: &Client, namespace: Option<&str>, context: Arc<Context>) {
    let benchmarks: Api<Watched> = api(client, namespace);
    let jobs: Api<PartialObjectMeta<Job>> = api(client, namespace);
    let pods: Api<PartialObjectMeta<Pod>> = api(client, namespace);
    let ours = watcher::Config::default().labels(&format!("{MANAGED_BY}={OPERATOR}"));
    let (reader, writer) = reflector::store::<Watched>();
    let changes = predicates::generation.combine(predicates::finalizers).combine(deletion);
    let stream = watcher(benchmarks, watcher::Config::default())
        .default_backoff()
        .reflect(writer)
        .applied_objects()
        .predicate_filter(changes, Default::default());
    Controller::for_stream(stream, reader)
        .owns(jobs, ours.clone())
        .watches(pods, ours, |pod| benchmark_of(&pod))
        .with_config(controller::Config::default().concurrency(CONCURRENCY))
        .run(reconcile, on_error, context)
        .for_each(|done| async move {
            if let Err(error) = done {
                tracing::debug!(%error, "reconcile");
            }
        })
        .await;
}

fn api<K>(client: &Client, namespace: Option<&str>) -> Api<K>
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
{
    match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}

/// Deleting changes the generation only where there is a finalizer of others: it is looked at by itself.
fn deletion(object: &Watched) -> Option<u64> {
    Some(u64::from(kube::Resource::meta(object).deletion_timestamp.is_some()))
}

fn benchmark_of(pod: &PartialObjectMeta<Pod>) -> Option<ObjectRef<Watched>> {
    let name = pod.metadata.annotations.as_ref()?.get(BENCHMARK_NAME)?;
    Some(ObjectRef::new(name).within(pod.metadata.namespace.as_deref()?))
}

async fn platform(client: &Client) -> Result<Platform, ControllerError> {
    let groups = client.list_api_groups().await.during(|| "list API groups".into())?;
    Ok(Platform { assigns_users: groups.groups.iter().any(|group| group.name == "security.openshift.io") })
}

async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
