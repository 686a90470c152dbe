//! From reports to figures, validity, verdicts and status. Pure.
//!
//! Histograms are added, over jobs, clients and rounds; percentiles are read once, from the sum. A percentile is never averaged.

pub mod artifact;
mod digest;
mod figures;
#[cfg(test)]
mod fixtures;
mod gates;
mod histogram;
mod label;
mod merge;
mod outcome;
pub mod reasons;
mod series;
mod status;
mod tally;
mod validity;
mod whole;

pub use digest::digest;
pub use gates::judge;
pub use histogram::{HistogramError, decode as decode_histogram, encode as encode_histogram};
pub use label::{op_text, point_text};
pub use merge::{MergeError, merge_clients};
pub use outcome::{Standing, conditions, exit_code, phase_of};
pub use series::{MAX_SAMPLES, thin};
pub use status::{MAX_POINTS, MAX_STATUS, Parts, assemble, gates_summary, progress};
pub use validity::Reason;
