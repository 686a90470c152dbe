//! The result of a test: an immutable ConfigMap with all figures and, as far as it fits, the whole report. That it is there is what says
//! that the test has ended, whoever looks.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;

use super::names::Role;
use super::plan_config_map::{StoredError, packed, unpacked};
use super::run_context::RunContext;
use crate::api::{TestPhase, TestStatus};
use crate::contract::{Packed, Report, pack};
use crate::plan::decide::TestEnd;

/// Annotation that says how the test ended, so that a list without contents tells it.
const OUTCOME: &str = "cephbench.io/outcome";
const COMPLETED: &str = "Completed";
const ERROR: &str = "Error";

const RESULT_KEY: &str = "result.json.gz";
const REPORT_KEY: &str = "report.json.gz";

/// What a run may keep in all: etcd takes little more in one object, and a run should be one object's worth.
const MOST_OF_A_RUN: usize = 1 << 20;
/// For names, labels and the plan.
const RESERVED: usize = 64 << 10;

/// What is stored of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredResult {
    /// With all of its points.
    pub status: TestStatus,
    pub report: Option<Report>,
}

pub fn build_result_config_map(
    context: &RunContext,
    test: usize,
    result: &StoredResult,
) -> Result<ConfigMap, StoredError> {
    let mut metadata = context.test_metadata(context.names().result(test), Role::Result, test);
    let outcome = if result.status.phase == TestPhase::Completed { COMPLETED } else { ERROR };
    metadata.annotations.get_or_insert_default().insert(OUTCOME.into(), outcome.into());
    let status = packed("the result", &result.status)?;
    let share = (MOST_OF_A_RUN - RESERVED) / context.frozen.prepared.plan.tests.len().max(1);
    let room = share.saturating_sub(status.0.len());
    let mut data = BTreeMap::from([(RESULT_KEY.to_owned(), status)]);
    if let Some(report) = result.report.as_ref().and_then(|report| fitted(report, room)) {
        data.insert(REPORT_KEY.into(), ByteString(report.gzip));
    }
    Ok(ConfigMap { metadata, data: None, binary_data: Some(data), immutable: Some(true) })
}

/// The report as it fits: whole, without its series, without its histograms too, or not at all. The figures were digested before.
fn fitted(report: &Report, room: usize) -> Option<Packed> {
    let fits = |report: &Report| pack(report).ok().filter(|packed| packed.gzip.len() <= room);
    if let Some(whole) = fits(report) {
        return Some(whole);
    }
    let mut smaller = report.clone();
    for point in &mut smaller.points {
        point.rounds.iter_mut().for_each(|round| round.series.clear());
        point.notes.push("the series were left out: a run keeps at most 1 MiB".into());
    }
    if let Some(without_series) = fits(&smaller) {
        return Some(without_series);
    }
    for point in &mut smaller.points {
        for direction in point.rounds.iter_mut().flat_map(|round| [&mut round.read, &mut round.write]) {
            if let Some(direction) = direction {
                direction.histogram = None;
            }
        }
        point.notes.push("the histograms were left out: a run keeps at most 1 MiB".into());
    }
    fits(&smaller)
}

pub fn read_result_config_map(config_map: &ConfigMap) -> Result<TestStatus, StoredError> {
    unpacked(config_map, RESULT_KEY, "result")
}

/// How the test ended, from the annotations alone.
pub fn end_of(annotations: Option<&BTreeMap<String, String>>) -> TestEnd {
    match annotations.and_then(|all| all.get(OUTCOME)).map(String::as_str) {
        Some(COMPLETED) => TestEnd::Completed,
        Some(_) | None => TestEnd::Error,
    }
}
