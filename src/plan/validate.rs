//! From a spec to a plan, or to everything that is wrong with it.

use super::{Plan, PlannedGate, Problem};
use crate::api::CephBenchmarkSpec;

/// A spec that holds together.
#[derive(Clone, Debug, PartialEq)]
pub struct Validated {
    pub plan: Plan,
    /// Apart from the plan: gates judge, they change nothing of what is measured.
    pub gates: Vec<PlannedGate>,
}

/// Checks a spec and expands it. Reports all that is wrong at once.
pub fn validate(_spec: &CephBenchmarkSpec) -> Result<Validated, Vec<Problem>> {
    todo!("validate")
}
