//! The result of a test: an immutable ConfigMap with all figures and, as far as it fits, the whole report. That it is there is what says
//! that the test has ended, whoever looks.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;

use super::names::{Role, SWEEP};
use super::plan_config_map::StoredError;
use super::run_context::RunContext;
use super::sweeps_config_map::{clients_in, list_of};
use crate::api::TestPhase;
use crate::plan::decide::TestEnd;
use crate::plan::share;
use crate::results::artifact::{Artifact, MAX_CHUNK, StoredTest, pack, unpack};
use crate::results::unmeasured;

/// Annotation that says how the test ended, so that a list without contents tells it.
const OUTCOME: &str = "cephbench.io/outcome";
const COMPLETED: &str = "Completed";
const ERROR: &str = "Error";
/// Annotation with the sha256 of what is stored.
const DIGEST: &str = "cephbench.io/digest";
const KEY: &str = "artifact.json.gz";

/// Each test has an equal share of what a run may keep. Figures that don't fit into it make the test's end an error: it has one all the same.
/// `killed`: clients to sweep up after, should the test have failed.
pub fn build_result_config_map(
    context: &RunContext,
    test: usize,
    result: StoredTest,
    killed: &[u32],
) -> Result<ConfigMap, StoredError> {
    let write = |cause: String| StoredError::Write { what: "the result", cause };
    let mut metadata = context.test_metadata(context.names().result(test), Role::Result, test);
    let share = share(context.frozen.prepared.plan.tests.len());
    let pack = |result| pack(&Artifact::new(vec![result]), share.min(MAX_CHUNK));
    let (name, completed) = (result.status.name.clone(), result.status.phase == TestPhase::Completed);
    let (outcome, packed) = match pack(result) {
        Ok(packed) => (if completed { COMPLETED } else { ERROR }, Ok(packed)),
        Err(error) => {
            let cause =
                format!("its result can't be kept, {error}: fewer points, or fewer tests in a benchmark, leave room");
            let status = unmeasured(&name, TestPhase::Error, Some(cause));
            (ERROR, pack(StoredTest { status, report: None }))
        }
    };
    let packed = packed.map_err(|error| write(error.to_string()))?;
    let annotations = metadata.annotations.get_or_insert_default();
    annotations.insert(OUTCOME.into(), outcome.into());
    annotations.insert(DIGEST.into(), packed.digest);
    if outcome == ERROR && !killed.is_empty() {
        annotations.insert(SWEEP.into(), list_of(killed));
    }
    let chunk = packed.chunks.into_iter().next().ok_or_else(|| write("it is empty".into()))?;
    let data = BTreeMap::from([(KEY.to_owned(), ByteString(chunk))]);
    Ok(ConfigMap { metadata, data: None, binary_data: Some(data), immutable: Some(true) })
}

/// The result as it was stored, verified.
pub fn read_result_config_map(config_map: &ConfigMap) -> Result<StoredTest, StoredError> {
    const WHAT: &str = "result";
    let name = config_map.metadata.name.clone().unwrap_or_default();
    let missing = || StoredError::Missing { name: name.clone(), what: WHAT };
    let bytes = config_map.binary_data.as_ref().and_then(|data| data.get(KEY)).ok_or_else(missing)?;
    let wanted = digest_of(config_map.metadata.annotations.as_ref()).ok_or_else(missing)?;
    let artifact = unpack(&[&bytes.0], wanted).map_err(|error| StoredError::Read {
        name: name.clone(),
        what: WHAT,
        cause: error.to_string(),
    })?;
    artifact.tests.into_iter().next().ok_or_else(missing)
}

/// How the test ended, from the annotations alone.
pub fn end_of(annotations: Option<&BTreeMap<String, String>>) -> TestEnd {
    match annotations.and_then(|all| all.get(OUTCOME)).map(String::as_str) {
        Some(COMPLETED) => TestEnd::Completed,
        Some(_) | None => TestEnd::Error,
    }
}

/// sha256 of what is stored, from the annotations alone.
pub fn digest_of(annotations: Option<&BTreeMap<String, String>>) -> Option<&str> {
    annotations?.get(DIGEST).map(String::as_str)
}

/// Clients whose remains are to be swept up, from the annotations alone.
pub fn sweeps_of(annotations: Option<&BTreeMap<String, String>>) -> Vec<u32> {
    let list = annotations.and_then(|all| all.get(SWEEP)).map(String::as_str).unwrap_or_default();
    clients_in(list)
}
