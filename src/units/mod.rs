//! Bytes, times and rates: parsing what people write, printing what they read. Pure.

mod text;

pub use text::{bandwidth_text, bytes_text, latency_text, link_text, time_text};

/// Why a text is not the amount it should be. The message says what would be right, not which field it stands in.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct AmountError(pub String);
