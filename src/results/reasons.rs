//! The words that conditions use: their types, and the reasons why they stand as they do. Machines read them; they do not change.

/// What kstatus and Flux read: the figures are there and every gate passed.
pub const READY: &str = "Ready";
/// A run is on its way.
pub const RECONCILING: &str = "Reconciling";
/// Nothing more will happen, and it is not what was asked for.
pub const STALLED: &str = "Stalled";
/// The last finished run's outcome.
pub const SUCCEEDED: &str = "Succeeded";
/// Whether the figures can be believed.
pub const VALID: &str = "Valid";
pub const GATES_PASSED: &str = "GatesPassed";
/// A run is going, whatever is known of an earlier one.
pub const RUNNING: &str = "Running";

/// All of them, in the order in which they stand in the status.
pub const CONDITIONS: [&str; 7] = [READY, RECONCILING, STALLED, SUCCEEDED, VALID, GATES_PASSED, RUNNING];

pub const QUEUED: &str = "Queued";
pub const PREPARING: &str = "Preparing";
pub const MEASURING: &str = "Measuring";
pub const CLEANING: &str = "Cleaning";
pub const PASSED: &str = "Passed";
pub const FINISHED: &str = "Finished";
pub const GATE_FAILED: &str = "GateFailed";
pub const GATE_INCONCLUSIVE: &str = "GateInconclusive";
pub const CANCELLED: &str = "Cancelled";
/// A test could not run, or not to its end.
pub const TEST_ERROR: &str = "TestError";
/// The spec can't be measured: the message names the field.
pub const INVALID_SPEC: &str = "InvalidSpec";
pub const NO_GATES: &str = "NoGates";
pub const NOT_JUDGED: &str = "NotJudged";
pub const FIGURES_VALID: &str = "FiguresValid";
pub const FIGURES_SUSPECT: &str = "FiguresSuspect";
pub const FIGURES_INVALID: &str = "FiguresInvalid";
pub const NOTHING_MEASURED: &str = "NothingMeasured";
/// Something that a run made can't be removed; the message names it.
pub const LEFT_BEHIND: &str = "LeftBehind";
