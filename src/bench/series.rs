//! What was measured second by second, in room that is set aside beforehand. Only adds up; the recorder says what.

use crate::contract::Sample;

/// The most samples of a round. A longer window takes samples of 2, 4, 8 … seconds.
pub const MAX_SAMPLES: usize = 600;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

pub struct Series {
    samples: Vec<Sample>,
    seconds_per_sample: u32,
    /// Nanoseconds from the start of the window to the end of the last sample.
    ends: u64,
}

impl Series {
    /// Room for a window of so many nanoseconds. Nothing is allocated as long as it isn't longer.
    pub fn new(planned_nanos: u64) -> Series {
        let seconds = planned_nanos.div_ceil(NANOS_PER_SECOND) as usize;
        Series { samples: Vec::with_capacity(seconds.clamp(1, MAX_SAMPLES)), seconds_per_sample: 1, ends: 0 }
    }

    /// The sample of a moment, which may not lie before the sample used last.
    #[inline]
    pub fn at(&mut self, nanos: u64) -> &mut Sample {
        if nanos >= self.ends {
            self.reach(nanos);
        }
        self.samples.last_mut().expect("the sample that was reached")
    }

    /// Appends empty samples up to the one that holds a moment.
    #[cold]
    fn reach(&mut self, nanos: u64) {
        while nanos >= self.ends {
            if self.samples.len() == MAX_SAMPLES {
                self.halve();
            }
            let second = self.samples.len() as u32 * self.seconds_per_sample;
            self.samples.push(Sample { second, ..Sample::default() });
            self.set_end();
        }
    }

    /// Makes one sample of each two.
    fn halve(&mut self) {
        let half = self.samples.len().div_ceil(2);
        for index in 0..half {
            let mut sum = self.samples[2 * index];
            if let Some(second) = self.samples.get(2 * index + 1) {
                add(&mut sum, second);
            }
            self.samples[index] = sum;
        }
        self.samples.truncate(half);
        self.seconds_per_sample *= 2;
        self.set_end();
    }

    fn set_end(&mut self) {
        self.ends = self.samples.len() as u64 * u64::from(self.seconds_per_sample) * NANOS_PER_SECOND;
    }

    /// Adds another job's series of the same window.
    pub fn merge(&mut self, mut other: Series) {
        while self.seconds_per_sample < other.seconds_per_sample {
            self.halve();
        }
        while other.seconds_per_sample < self.seconds_per_sample {
            other.halve();
        }
        for (index, sample) in other.samples.iter().enumerate() {
            match self.samples.get_mut(index) {
                Some(sum) => add(sum, sample),
                None => self.samples.push(*sample),
            }
        }
        self.set_end();
    }

    /// The samples of a window of this length, empty ones included, and the seconds of each.
    pub fn finish(mut self, elapsed_nanos: u64) -> (Vec<Sample>, u32) {
        if elapsed_nanos > 0 {
            self.reach(elapsed_nanos - 1);
        }
        (self.samples, self.seconds_per_sample)
    }
}

fn add(sum: &mut Sample, other: &Sample) {
    let Sample { second: _, ops, bytes, errors, latency_sum_nanos, latency_max_nanos } = other;
    sum.ops += ops;
    sum.bytes += bytes;
    sum.errors += errors;
    sum.latency_sum_nanos = sum.latency_sum_nanos.saturating_add(*latency_sum_nanos);
    sum.latency_max_nanos = sum.latency_max_nanos.max(*latency_max_nanos);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(seconds: impl IntoIterator<Item = u64>, planned: u64) -> Series {
        let mut series = Series::new(planned * NANOS_PER_SECOND);
        for second in seconds {
            series.at(second * NANOS_PER_SECOND).ops += 1;
        }
        series
    }

    #[test]
    fn a_second_without_completions_is_there_and_empty() {
        let (samples, width) = series([0, 0, 2], 4).finish(4 * NANOS_PER_SECOND);
        assert_eq!(width, 1);
        assert_eq!(samples.iter().map(|sample| sample.ops).collect::<Vec<_>>(), [2, 0, 1, 0]);
        assert_eq!(samples.iter().map(|sample| sample.second).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(samples[1], Sample { second: 1, ..Sample::default() });
    }

    #[test]
    fn a_part_of_a_second_is_a_sample() {
        let (samples, _) = series([0], 1).finish(NANOS_PER_SECOND + 1);
        assert_eq!(samples.len(), 2);
    }

    #[test]
    fn long_windows_are_thinned_and_lose_nothing() {
        let (samples, width) = series(0..1500, 1500).finish(1500 * NANOS_PER_SECOND);
        assert_eq!((samples.len(), width), (375, 4));
        assert!(samples.iter().all(|sample| sample.ops == 4));
        assert_eq!(samples[1].second, 4);
    }

    #[test]
    fn six_hundred_seconds_are_six_hundred_samples() {
        let (samples, width) = series(0..600, 600).finish(600 * NANOS_PER_SECOND);
        assert_eq!((samples.len(), width), (600, 1));
    }

    #[test]
    fn jobs_of_different_width_merge() {
        let mut early = series(0..100, 1500);
        early.merge(series(0..1500, 1500));
        let (samples, width) = early.finish(1500 * NANOS_PER_SECOND);
        assert_eq!(width, 4);
        assert_eq!(samples.iter().map(|sample| sample.ops).sum::<u64>(), 1600);
        assert_eq!((samples[0].ops, samples[374].ops), (8, 4));
    }

    #[test]
    fn room_is_set_aside() {
        let mut series = Series::new(100_000 * NANOS_PER_SECOND);
        let room = series.samples.capacity();
        for second in 0..100_000 {
            series.at(second * NANOS_PER_SECOND).ops += 1;
        }
        assert_eq!(series.samples.capacity(), room);
        assert_eq!(series.samples.iter().map(|sample| sample.ops).sum::<u64>(), 100_000);
    }
}
