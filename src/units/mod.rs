//! Bytes, times and rates: parsing what people write, printing what they read. Pure.

mod amount;
mod quantity;
#[cfg(test)]
mod tests;
mod text;
mod time;

pub use amount::{bandwidth, binary_hint, bytes, count, iops, percent, resource};
pub use quantity::{grouped, quantity_text};
pub use text::{bandwidth_text, bytes_text, latency_text, link_text, time_text};
pub use time::{latency, time, time_as_written};

/// Why a text is not the amount it should be. The message says what would be right, not which field it stands in.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct AmountError(pub String);
