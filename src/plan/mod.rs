//! From a spec to what will be measured: validate, expand the sweeps, and decide a run's next step. Pure.

pub mod decide;
mod estimate;
mod expand;
pub mod frozen;
mod hash;
mod message;
mod parse;
pub mod policy;
pub mod preflight;
mod problem;
mod room;
mod types;
mod validate;

pub use estimate::{Estimate, RADOS_PREFILL_BYTES, RADOS_PREFILL_OBJECTS, estimate};
pub use expand::points_for;
pub use message::{MAX_MESSAGE, shortened};
pub use parse::{document, parse};
pub use problem::Problem;
pub use room::{MOST_KEPT, most_points, share};
pub use types::{ClientPods, Limit, Plan, PlannedGate, PlannedKind, PlannedPool, PlannedTest};
pub use validate::{MAX_POINTS, RADOS_DEFAULT_BYTES, Validated, validate};
