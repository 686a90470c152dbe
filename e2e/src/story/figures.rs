//! Reading a status as a story does: the parts that must be there, or why they are not.

use anyhow::{Context, Result, bail, ensure};
use cephbench::api::{BenchmarkStatus, GateStatus, Op, Phase, PointStatus, TestPhase, TestStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

pub fn test_of<'a>(status: &'a BenchmarkStatus, name: &str) -> Result<&'a TestStatus> {
    status.tests.iter().find(|test| test.name == name).with_context(|| format!("no test {name} in {:?}", status.tests))
}

/// The points of a test with this op.
pub fn points<'a>(status: &'a BenchmarkStatus, test: &str, op: Option<Op>) -> Result<Vec<&'a PointStatus>> {
    Ok(test_of(status, test)?.points.iter().filter(|point| point.op == op).collect())
}

/// The one point of a test with this op.
pub fn only_point<'a>(status: &'a BenchmarkStatus, test: &str, op: Op) -> Result<&'a PointStatus> {
    match points(status, test, Some(op))?.as_slice() {
        [only] => Ok(only),
        others => bail!("{test}, {op:?}: {} points: {others:?}", others.len()),
    }
}

/// Bytes that a point reports as moved, over all clients and rounds.
pub fn bytes_of(point: &PointStatus) -> u64 {
    u64::try_from(point.ops * point.block_size).unwrap_or(0)
}

pub fn gate<'a>(status: &'a BenchmarkStatus, name: &str) -> Result<&'a GateStatus> {
    status.gates.iter().find(|gate| gate.name == name).with_context(|| format!("no gate {name} in {:?}", status.gates))
}

pub fn condition<'a>(status: &'a BenchmarkStatus, name: &str) -> Result<&'a Condition> {
    let found = status.conditions.iter().find(|condition| condition.type_ == name);
    found.with_context(|| format!("no condition {name} in {:?}", status.conditions))
}

/// Why the benchmark is stalled, as a word.
pub fn reason_of(status: &BenchmarkStatus) -> Result<String> {
    Ok(condition(status, "Stalled")?.reason.clone())
}

/// Every test measured whole.
pub fn require_completed(status: &BenchmarkStatus) -> Result<()> {
    for test in &status.tests {
        ensure!(test.phase == TestPhase::Completed, "{}: {:?}: {:?}", test.name, test.phase, test.message);
    }
    ensure!(!status.tests.is_empty(), "no test in the status: {:?}", status.message);
    Ok(())
}

/// The phase, and the conditions that the design's table gives for it.
pub fn require_conditions(status: &BenchmarkStatus, phase: Phase) -> Result<()> {
    ensure!(
        status.phase == Some(phase),
        "{:?} instead of {phase:?}: {:?} {:?}",
        status.phase,
        status.message,
        status.tests
    );
    let (ready, reconciling, stalled, succeeded, reason) = match phase {
        Phase::Queued | Phase::Preparing | Phase::Running | Phase::Cleaning => {
            ("False", "True", "False", "Unknown", None)
        }
        Phase::Passed => ("True", "False", "False", "True", None),
        Phase::Failed => ("False", "False", "True", "False", Some("GateFailed")),
        Phase::Error => ("False", "False", "True", "False", None),
        Phase::Inconclusive => ("False", "False", "True", "Unknown", Some("GateInconclusive")),
        Phase::Cancelled => ("False", "False", "True", "False", Some("Cancelled")),
    };
    for (name, wanted) in
        [("Ready", ready), ("Reconciling", reconciling), ("Stalled", stalled), ("Succeeded", succeeded)]
    {
        let found = condition(status, name)?;
        ensure!(found.status == wanted, "{phase:?}: {name} is {}, wanted {wanted}", found.status);
        ensure!(found.observed_generation == Some(status.observed_generation), "{name} speaks of another generation");
    }
    for name in ["Valid", "GatesPassed", "Running"] {
        condition(status, name)?;
    }
    let found = reason_of(status)?;
    ensure!(reason.is_none_or(|reason| found == reason), "{phase:?}: stalled because of {found}, wanted {reason:?}");
    Ok(())
}
