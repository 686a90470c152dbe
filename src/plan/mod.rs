//! From a spec to what will be measured: validate, expand the sweeps, and decide a run's next step. Pure.

pub mod decide;
pub mod frozen;
mod types;

pub use types::{ClientPods, Limit, Plan, PlannedGate, PlannedKind, PlannedPool, PlannedTest};
