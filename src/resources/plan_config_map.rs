//! The run, frozen: an immutable ConfigMap with the spec as it was and the plan that follows from it. While it is there, the run exists.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::names::{ON_FAILURE, Role, TESTS};
use super::run_context::RunContext;
use super::stored::{gunzip, gzip};
use crate::api::{CephBenchmarkSpec, OnFailure};
use crate::plan::frozen::Frozen;

/// The spec as it was applied: for people.
const SPEC_KEY: &str = "spec.yaml";
/// All that the run follows: JSON, gzipped, for a sweep repeats itself.
const PLAN_KEY: &str = "plan.json.gz";

/// Why something stored can't be written or read back.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    #[error("write {what}: {cause}")]
    Write { what: &'static str, cause: String },
    #[error("ConfigMap {name} holds no {what}")]
    Missing { name: String, what: &'static str },
    #[error("ConfigMap {name} holds a {what} that can't be read: {cause}")]
    Read { name: String, what: &'static str, cause: String },
}

pub fn build_plan_config_map(context: &RunContext, spec: &CephBenchmarkSpec) -> Result<ConfigMap, StoredError> {
    let written = |cause: String| StoredError::Write { what: "the spec", cause };
    // By way of JSON: YAML would write our enums as tags, which is not how they are applied.
    let json = serde_json::to_value(spec).map_err(|error| written(error.to_string()))?;
    let spec = serde_yaml_ng::to_string(&json).map_err(|error| written(error.to_string()))?;
    let mut metadata = context.metadata(context.names().plan(), Role::Plan);
    let annotations = metadata.annotations.get_or_insert_default();
    let plan = &context.frozen.prepared.plan;
    annotations.insert(TESTS.into(), plan.tests.len().to_string());
    annotations.insert(ON_FAILURE.into(), on_failure_word(plan.on_failure).into());
    Ok(ConfigMap {
        metadata,
        data: Some(BTreeMap::from([(SPEC_KEY.to_owned(), spec)])),
        binary_data: Some(BTreeMap::from([(PLAN_KEY.to_owned(), packed("the plan", context.frozen)?)])),
        immutable: Some(true),
    })
}

const ABORT: &str = "Abort";

fn on_failure_word(on_failure: OnFailure) -> &'static str {
    match on_failure {
        OnFailure::Continue => "Continue",
        OnFailure::Abort => ABORT,
    }
}

/// Number of the plan's tests, and what an error of one does to the rest: from the annotations alone.
pub fn outline_of(annotations: Option<&BTreeMap<String, String>>) -> Option<(usize, OnFailure)> {
    let annotations = annotations?;
    let aborts = annotations.get(ON_FAILURE).is_some_and(|word| word == ABORT);
    let on_failure = if aborts { OnFailure::Abort } else { OnFailure::Continue };
    Some((annotations.get(TESTS)?.parse().ok()?, on_failure))
}

pub fn read_plan_config_map(config_map: &ConfigMap) -> Result<Frozen, StoredError> {
    unpacked(config_map, PLAN_KEY, "plan")
}

pub(super) fn packed<T: Serialize>(what: &'static str, value: &T) -> Result<ByteString, StoredError> {
    let json = serde_json::to_vec(value).map_err(|error| StoredError::Write { what, cause: error.to_string() })?;
    gzip(&json).map(ByteString).map_err(|error| StoredError::Write { what, cause: error.to_string() })
}

pub(super) fn unpacked<T: DeserializeOwned>(
    config_map: &ConfigMap,
    key: &str,
    what: &'static str,
) -> Result<T, StoredError> {
    let name = config_map.metadata.name.clone().unwrap_or_default();
    let Some(bytes) = config_map.binary_data.as_ref().and_then(|data| data.get(key)) else {
        return Err(StoredError::Missing { name, what });
    };
    let read = gunzip(&bytes.0).map_err(|error| error.to_string());
    read.and_then(|json| serde_json::from_slice(&json).map_err(|error| error.to_string()))
        .map_err(|cause| StoredError::Read { name, what, cause })
}
