//! What the checks look at.

use crate::contract::{Point, RoundReport};
use crate::results::tally::Tally;

/// One point, what was measured there, and who was to measure it.
pub struct Evidence<'a> {
    pub point: &'a Point,
    pub rounds: &'a [RoundReport],
    /// The counted direction, added over the rounds.
    pub total: &'a Tally,
    /// Indices of the clients that each round must have.
    pub clients: &'a [u32],
    /// Threads that do a client's work.
    pub threads: u32,
    pub notes: &'a [String],
}

impl Evidence<'_> {
    /// Bytes per second of each round that had a window.
    pub fn bandwidths(&self) -> Vec<f64> {
        self.rounds.iter().filter_map(|round| crate::results::figures::bandwidth(self.point, round)).collect()
    }

    /// Operations that failed, over all rounds.
    pub fn failed(&self) -> u64 {
        self.rounds.iter().flat_map(|round| &round.errors).fold(0, |sum, error| sum.saturating_add(error.count))
    }
}
