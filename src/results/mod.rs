//! From reports to figures, validity, verdicts and status. Pure.
//!
//! ```text
//! rounds of clients → merge_clients → report → digest → judge → phase_of → assemble → status
//!                                                  ╰──────────────────────→ artifact
//! ```
//!
//! Histograms are added, over jobs, clients and rounds; percentiles are read once, from the sum. A percentile is never averaged.
//! [`digest()`] and [`judge`] see every point; only [`assemble`] leaves points out, to keep the status small.

pub mod artifact;
mod digest;
mod figures;
#[cfg(test)]
mod fixtures;
mod gates;
mod label;
mod merge;
mod outcome;
pub mod reasons;
mod series;
mod status;
mod tally;
mod validity;
mod whole;

pub use digest::{digest, unmeasured};
pub use gates::judge;
pub use label::{counted, op_text, point_text};
pub use merge::{MergeError, merge_clients};
pub use outcome::{Standing, cause_of, conditions, exit_code, phase_of};
pub use series::{MAX_SAMPLES, thin};
pub use status::{MAX_POINTS, MAX_STATUS, Parts, assemble, assemble_whole, gates_summary, progress};
pub use validity::Reason;
