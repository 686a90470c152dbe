//! Operations of one direction added up, over clients or over rounds: exact sums, extremes, and the sum of their histograms.

use hdrhistogram::Histogram;

use crate::contract::DirectionReport;
use crate::contract::histogram::{self, HistogramError};

/// Why two directions can't be added.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TallyError {
    #[error(transparent)]
    Histogram(#[from] HistogramError),
    #[error("histograms of {0} and {1} significant digits")]
    Precision(u8, u8),
    #[error("a histogram holds a latency that the others can't")]
    Range,
    #[error("some operations have latencies and some have none")]
    LatencyMissing,
    #[error("{0} exceeds what 64 bits hold")]
    Overflow(&'static str),
}

/// The sum so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub ops: u64,
    pub bytes: u64,
    pub above_range: u64,
    pub sum_nanos: u64,
    /// Smallest and largest latency, exact. Absent before the first.
    pub extremes: Option<(u64, u64)>,
    /// Absent while nothing with latencies was added.
    pub latencies: Option<Histogram<u64>>,
    /// Operations that came without latencies, as those of network streams do.
    untimed: u64,
}

impl Tally {
    /// Adds one direction. After an error the tally is of no use.
    pub fn add(&mut self, direction: &DirectionReport) -> Result<(), TallyError> {
        let DirectionReport { ops, bytes, histogram, min_nanos, max_nanos, sum_nanos, above_range } = direction;
        self.ops = sum(self.ops, *ops, "ops")?;
        self.bytes = sum(self.bytes, *bytes, "bytes")?;
        self.above_range = sum(self.above_range, *above_range, "aboveRange")?;
        self.sum_nanos = sum(self.sum_nanos, *sum_nanos, "sumNanos")?;
        match histogram {
            Some(text) => {
                self.add_latencies(histogram::decode(text)?)?;
                if *ops > 0 {
                    let (min, max) = self.extremes.unwrap_or((*min_nanos, *max_nanos));
                    self.extremes = Some((min.min(*min_nanos), max.max(*max_nanos)));
                }
            }
            None => self.untimed = sum(self.untimed, *ops, "ops")?,
        }
        if self.untimed > 0 && self.extremes.is_some() {
            return Err(TallyError::LatencyMissing);
        }
        Ok(())
    }

    fn add_latencies(&mut self, more: Histogram<u64>) -> Result<(), TallyError> {
        let Some(latencies) = &mut self.latencies else {
            self.latencies = Some(more);
            return Ok(());
        };
        if latencies.sigfig() != more.sigfig() {
            return Err(TallyError::Precision(latencies.sigfig(), more.sigfig()));
        }
        latencies.auto(true);
        latencies.add(more).map_err(|_| TallyError::Range)
    }

    /// The sum in the form it came in.
    pub fn into_report(self) -> DirectionReport {
        let Tally { ops, bytes, above_range, sum_nanos, extremes, latencies, untimed: _ } = self;
        let (min_nanos, max_nanos) = extremes.unwrap_or((0, 0));
        DirectionReport {
            ops,
            bytes,
            histogram: latencies.map(|latencies| histogram::encode(&latencies)),
            min_nanos,
            max_nanos,
            sum_nanos,
            above_range,
        }
    }
}

fn sum(a: u64, b: u64, field: &'static str) -> Result<u64, TallyError> {
    a.checked_add(b).ok_or(TallyError::Overflow(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction(ops: u64, digits: Option<u8>) -> DirectionReport {
        let histogram = digits.map(|digits| {
            let mut histogram = Histogram::new_with_bounds(1, 1 << 40, digits).expect("sound bounds");
            histogram.record_n(1000, ops).expect("within bounds");
            histogram::encode(&histogram)
        });
        DirectionReport {
            ops,
            bytes: ops * 4096,
            histogram,
            min_nanos: 1000,
            max_nanos: 1000,
            sum_nanos: ops * 1000,
            above_range: 0,
        }
    }

    #[test]
    fn a_direction_without_operations_leaves_the_extremes_alone() {
        let mut tally = Tally::default();
        tally.add(&DirectionReport { min_nanos: 0, ..direction(0, Some(3)) }).expect("adds");
        assert_eq!(tally.extremes, None);
        tally.add(&direction(2, Some(3))).expect("adds");
        assert_eq!(tally.extremes, Some((1000, 1000)));
    }

    #[test]
    fn what_can_not_be_added_is_refused() {
        let mut tally = Tally::default();
        tally.add(&direction(2, Some(3))).expect("adds");
        assert_eq!(tally.clone().add(&direction(2, Some(2))), Err(TallyError::Precision(3, 2)));
        assert_eq!(tally.clone().add(&direction(1, None)), Err(TallyError::LatencyMissing));
        let huge = DirectionReport { bytes: u64::MAX, ..direction(1, Some(3)) };
        assert_eq!(tally.add(&huge), Err(TallyError::Overflow("bytes")));
    }
}
