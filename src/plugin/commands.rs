//! The commands: fetch or apply, call what is pure, print. Results go to standard output, all else to standard error.

use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::jiff::Timestamp;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use tokio::time::{Instant, sleep_until};

use super::document::{Document, DocumentError};
use super::follow::{Follower, Look};
use super::listing::listing;
use super::show::Progress;
use crate::api::{BenchmarkStatus, CephBenchmark};
use crate::report;

/// Who owns the fields that are applied.
const FIELD_MANAGER: &str = "kubectl-cephbench";
/// An operator that runs has looked at an object by then.
const OPERATOR_LOOKS_WITHIN: Duration = Duration::from_secs(20);

/// Why a command could not do what it was asked to. The exit code is then 2.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error("{act}: {cause}")]
    Api { act: String, cause: String },
    #[error("{0} was deleted while it was waited for")]
    Deleted(String),
    #[error("{name} has not ended after {}: {line}; it goes on, see kubectl cephbench watch {name}", crate::units::time_text(*.after))]
    Timeout { name: String, after: Duration, line: String },
    #[error("{name} is no longer waited for; it goes on, see kubectl cephbench watch {name}")]
    Interrupted { name: String },
    #[error("the status of {name} is not understood: {cause}; the operator may be newer than this program")]
    Status { name: String, cause: String },
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default)]
pub enum Output {
    #[default]
    Table,
    Json,
    Yaml,
}

/// What `run` is asked to do, beside the file.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Sets `spec.trigger`.
    pub trigger: Option<String>,
    /// Takes over fields that another manager owns with another value.
    pub force_conflicts: bool,
}

fn api(client: &Client, namespace: &str) -> Api<DynamicObject> {
    Api::namespaced_with(client.clone(), namespace, &ApiResource::erase::<CephBenchmark>(&()))
}

fn failed(act: impl Into<String>) -> impl FnOnce(kube::Error) -> CommandError {
    |error| CommandError::Api { act: act.into(), cause: cause(&error) }
}

/// What the server said, or the innermost cause: the layers between say nothing to people.
fn cause(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return status.message.clone();
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Applies a file on the server's side, strictly: fields that the server does not know are refused. The same file again changes nothing.
pub async fn apply(
    client: &Client,
    text: &str,
    asked: Option<&str>,
    default: &str,
    options: &RunOptions,
) -> Result<DynamicObject, CommandError> {
    let mut document = Document::read(text)?;
    if let Some(trigger) = &options.trigger {
        document.set_trigger(trigger);
    }
    let namespace = document.namespace(asked, default)?;
    let params =
        PatchParams { force: options.force_conflicts, ..PatchParams::apply(FIELD_MANAGER).validation_strict() };
    api(client, &namespace)
        .patch(document.name(), &params, &Patch::Apply(document.value()))
        .await
        .map_err(failed(format!("apply {namespace}/{}", document.name())))
}

/// Fetches one benchmark.
pub async fn get(client: &Client, namespace: &str, name: &str) -> Result<DynamicObject, CommandError> {
    api(client, namespace).get(name).await.map_err(failed(format!("get {namespace}/{name}")))
}

/// Waits until the run that `applied` asks for has ended, and shows how it goes. Returns the object then, and the exit code of its phase.
pub async fn follow(
    client: &Client,
    applied: &DynamicObject,
    timeout: Option<Duration>,
) -> Result<(DynamicObject, u8), CommandError> {
    let mut progress = Progress::new();
    let ended = wait(client, applied, timeout, &mut progress).await;
    progress.end();
    ended
}

async fn wait(
    client: &Client,
    applied: &DynamicObject,
    timeout: Option<Duration>,
    progress: &mut Progress,
) -> Result<(DynamicObject, u8), CommandError> {
    let name = applied.metadata.name.clone().unwrap_or_default();
    let namespace = applied.metadata.namespace.clone().unwrap_or_default();
    let only = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let mut events = std::pin::pin!(watcher(api(client, &namespace), only).default_backoff());
    let mut follower = Follower::new(&applied.metadata);
    let mut last = "the operator has not looked at it".to_owned();
    let begun = Instant::now();
    let looked = sleep_until(begun + OPERATOR_LOOKS_WITHIN);
    // Beyond any wait: a century does not overflow.
    let end = sleep_until(begun + timeout.unwrap_or(Duration::from_secs(100 * 365 * 86_400)));
    let (mut looked, mut end) = (std::pin::pin!(looked), std::pin::pin!(end));
    let (mut said, mut listing) = (false, false);
    loop {
        let object = tokio::select! {
            object = next_object(&mut events, &mut listing, &name, progress) => object?,
            () = &mut looked, if !said => {
                said = true;
                if !follower.was_seen() {
                    progress.note("nobody has looked at it so far: does the operator run, and does it watch this namespace?");
                }
                continue;
            }
            () = &mut end => {
                let after = timeout.unwrap_or_default();
                return Err(CommandError::Timeout { name, after, line: last });
            }
            _ = tokio::signal::ctrl_c() => return Err(CommandError::Interrupted { name }),
        };
        match follower.look(&object.metadata, status(&object)?.as_ref()) {
            Look::Unseen => {}
            Look::Going { line, percent } => {
                progress.going(&line, percent);
                last = line;
            }
            Look::Ended { phase: _, exit_code } => return Ok((object, exit_code)),
            Look::Replaced => return Err(CommandError::Deleted(name)),
        }
    }
}

/// The object as it is now, whenever it changed. The watch is taken up again by itself when it breaks, but not where the server refuses it.
/// `listing` is true while a list has begun that has not named the object yet.
async fn next_object(
    events: &mut (impl Stream<Item = Result<Event<DynamicObject>, watcher::Error>> + Unpin),
    listing: &mut bool,
    name: &str,
    progress: &Progress,
) -> Result<DynamicObject, CommandError> {
    loop {
        match events.next().await {
            Some(Ok(Event::Apply(object) | Event::InitApply(object))) => {
                *listing = false;
                return Ok(object);
            }
            Some(Ok(Event::Init)) => *listing = true,
            Some(Ok(Event::InitDone)) if !*listing => {}
            Some(Ok(Event::InitDone | Event::Delete(_))) | None => return Err(CommandError::Deleted(name.to_owned())),
            Some(Err(error)) => {
                let cause =
                    refusal(&error).map_err(|cause| CommandError::Api { act: format!("watch {name}"), cause })?;
                progress.note(&format!("watch {name}: {cause}; trying again"));
            }
        }
    }
}

/// The cause of a broken watch; an error where trying again would not help.
fn refusal(error: &watcher::Error) -> Result<String, String> {
    let (text, code) = match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => {
            let code = if let kube::Error::Api(status) = error { status.code } else { 0 };
            (cause(error), code)
        }
        watcher::Error::WatchError(status) => (status.message.clone(), status.code),
        watcher::Error::NoResourceVersion => (error.to_string(), 0),
    };
    match code {
        401 | 403 | 404 => Err(text),
        _ => Ok(text),
    }
}

fn status(object: &DynamicObject) -> Result<Option<BenchmarkStatus>, CommandError> {
    let name = || object.metadata.name.clone().unwrap_or_default();
    match object.data.get("status") {
        None => Ok(None),
        Some(status) => serde_json::from_value(status.clone())
            .map_err(|error| CommandError::Status { name: name(), cause: error.to_string() }),
    }
}

/// A benchmark as text.
pub fn text(object: &DynamicObject, output: Output) -> Result<String, CommandError> {
    let value = || serde_json::to_value(object).expect("an object that came as JSON");
    Ok(match output {
        Output::Table => report::status_table(&object.metadata, status(object)?.as_ref()),
        Output::Json => report::json_of(value()),
        Output::Yaml => report::yaml_of(value()),
    })
}

/// Lists benchmarks: those of a namespace, or all.
pub async fn list(client: &Client, namespace: Option<&str>) -> Result<String, CommandError> {
    let api = match namespace {
        Some(namespace) => api(client, namespace),
        None => Api::all_with(client.clone(), &ApiResource::erase::<CephBenchmark>(&())),
    };
    let list = api.list(&ListParams::default()).await.map_err(failed("list CephBenchmarks"))?;
    let mut benchmarks = Vec::with_capacity(list.items.len());
    for object in list.items {
        // One of another version's hides no others.
        let status = status(&object).unwrap_or_else(|error| {
            eprintln!("{}: {error}", object.metadata.name.as_deref().unwrap_or_default());
            None
        });
        benchmarks.push((object.metadata, status));
    }
    Ok(listing(&benchmarks, namespace.is_none(), Timestamp::now()))
}

#[cfg(test)]
mod tests;
