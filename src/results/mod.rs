//! From reports to figures, validity, verdicts and status. Pure.
//!
//! Histograms are added, over jobs, clients and rounds; percentiles are read once, from the sum. A percentile is never averaged.

mod histogram;
mod label;
mod merge;
mod series;
mod tally;

pub use histogram::{HistogramError, decode as decode_histogram, encode as encode_histogram};
pub use label::{op_text, point_text};
pub use merge::{MergeError, merge_clients};
pub use series::{MAX_SAMPLES, thin};
