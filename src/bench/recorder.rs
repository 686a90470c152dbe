//! What one job measures: latencies, operations and bytes per direction, a series, and failures by kind. It is told times and never
//! looks at a clock; recording neither allocates nor locks.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::contract::{DirectionReport, ErrorCount, Sample, histogram};

use super::engine::Direction;
use super::errno;
use super::series::Series;

/// The longest latency that the histogram tells from others: an hour, more than any timeout allows.
pub const HIGHEST_NANOS: u64 = 3_600_000_000_000;

const DIGITS: u8 = 3;

/// Kinds of failure told apart in a round; the rest is counted as one.
const MAX_FAILURE_KINDS: usize = 32;

/// How an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    Errno(i32),
    /// Fewer bytes were moved than asked for.
    Short,
    /// No completion within the timeout.
    Hung(Duration),
    /// One more kind than can be told apart.
    Other,
}

impl Failure {
    fn text(self) -> String {
        match self {
            Failure::Errno(errno) => errno::text(errno),
            Failure::Short => "fewer bytes moved than asked for".into(),
            Failure::Hung(timeout) => format!("no completion within {} s", timeout.as_secs_f64()),
            Failure::Other => "other errors".into(),
        }
    }
}

/// Everything that one direction's operations add up to.
struct Lane {
    histogram: Histogram<u64>,
    ops: u64,
    bytes: u64,
    min_nanos: u64,
    max_nanos: u64,
    sum_nanos: u64,
    above_range: u64,
    /// How long an operation had lasted that was still in flight at the window's end.
    outlasted_nanos: u64,
}

pub struct Recorder {
    read: Option<Lane>,
    write: Option<Lane>,
    series: Series,
    failures: Vec<(Direction, Failure, u64)>,
}

/// What a round's recorders add up to, in the report's types.
pub struct Recorded {
    pub read: Option<DirectionReport>,
    pub write: Option<DirectionReport>,
    pub errors: Vec<ErrorCount>,
    pub series: Vec<Sample>,
    pub seconds_per_sample: u32,
}

impl Recorder {
    /// A recorder of these directions for a window of at most so many nanoseconds.
    pub fn new(directions: &[Direction], planned_nanos: u64) -> Recorder {
        let lane = |direction| directions.contains(&direction).then(Lane::new);
        Recorder {
            read: lane(Direction::Read),
            write: lane(Direction::Write),
            series: Series::new(planned_nanos),
            failures: Vec::with_capacity(MAX_FAILURE_KINDS),
        }
    }

    /// An operation that ended well `at` nanoseconds into the window.
    #[inline]
    pub fn completed(&mut self, direction: Direction, at: u64, latency_nanos: u64, bytes: u32) {
        let lane = match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        };
        lane.as_mut().expect("a direction that was asked for").record(latency_nanos, bytes);
        let sample = self.series.at(at);
        sample.ops += 1;
        sample.bytes += u64::from(bytes);
        sample.latency_sum_nanos = sample.latency_sum_nanos.saturating_add(latency_nanos);
        sample.latency_max_nanos = sample.latency_max_nanos.max(latency_nanos);
    }

    /// The oldest operation in flight at the window's end had lasted so long. It is in no count and no percentile, but the longest latency
    /// is no shorter: a stall at the end is not hidden by the end.
    pub fn outlasted(&mut self, direction: Direction, nanos: u64) {
        let lane = match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        };
        let lane = lane.as_mut().expect("a direction that was asked for");
        lane.outlasted_nanos = lane.outlasted_nanos.max(nanos);
    }

    /// An operation that failed; `at` is absent outside the window: such a failure is counted, but belongs to no second.
    #[cold]
    pub fn failed(&mut self, direction: Direction, failure: Failure, at: Option<u64>) {
        self.count(direction, failure, 1);
        if let Some(at) = at {
            self.series.at(at).errors += 1;
        }
    }

    fn count(&mut self, direction: Direction, failure: Failure, times: u64) {
        let full = self.failures.len() + 2 >= MAX_FAILURE_KINDS;
        let known = self.failures.iter().any(|(d, f, _)| (*d, *f) == (direction, failure));
        let failure = if full && !known { Failure::Other } else { failure };
        match self.failures.iter_mut().find(|(d, f, _)| (*d, *f) == (direction, failure)) {
            Some((_, _, count)) => *count += times,
            None => self.failures.push((direction, failure, times)),
        }
    }

    /// Adds what another job of the same round recorded.
    pub fn merge(&mut self, other: Recorder) {
        let Recorder { read, write, series, failures } = other;
        merge_lane(&mut self.read, read);
        merge_lane(&mut self.write, write);
        self.series.merge(series);
        for (direction, failure, times) in failures {
            self.count(direction, failure, times);
        }
    }

    /// The report of a window of this length.
    pub fn finish(self, elapsed_nanos: u64) -> Recorded {
        self.finish_explained(elapsed_nanos, |_| None)
    }

    /// The same, with what error numbers mean for this target, where anybody knows.
    pub fn finish_explained(mut self, elapsed_nanos: u64, explain: impl Fn(i32) -> Option<String>) -> Recorded {
        let (series, seconds_per_sample) = self.series.finish(elapsed_nanos);
        self.failures.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        let errors = self
            .failures
            .into_iter()
            .map(|(direction, failure, count)| {
                let meaning = match failure {
                    Failure::Errno(errno) => explain(errno).map(|meaning| format!(": {meaning}")),
                    Failure::Short | Failure::Hung(_) | Failure::Other => None,
                };
                let message = format!("{}: {}{}", word(direction), failure.text(), meaning.unwrap_or_default());
                ErrorCount { message, count }
            })
            .collect();
        Recorded {
            read: self.read.map(Lane::report),
            write: self.write.map(Lane::report),
            errors,
            series,
            seconds_per_sample,
        }
    }
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read",
        Direction::Write => "write",
    }
}

fn merge_lane(sum: &mut Option<Lane>, other: Option<Lane>) {
    match (sum.as_mut(), other) {
        (Some(sum), Some(other)) => sum.merge(other),
        (None, other) => *sum = other,
        (Some(_), None) => {}
    }
}

impl Lane {
    fn new() -> Lane {
        Lane {
            histogram: Histogram::new_with_bounds(1, HIGHEST_NANOS, DIGITS).expect("bounds that a histogram can have"),
            ops: 0,
            bytes: 0,
            min_nanos: u64::MAX,
            max_nanos: 0,
            sum_nanos: 0,
            above_range: 0,
            outlasted_nanos: 0,
        }
    }

    #[inline]
    fn record(&mut self, nanos: u64, bytes: u32) {
        // A value above the range counts in the highest bucket, so that the histogram's total is the number of operations.
        if self.histogram.record(nanos).is_err() {
            self.record_above();
        }
        self.ops += 1;
        self.bytes += u64::from(bytes);
        self.min_nanos = self.min_nanos.min(nanos);
        self.max_nanos = self.max_nanos.max(nanos);
        self.sum_nanos = self.sum_nanos.saturating_add(nanos);
    }

    #[cold]
    fn record_above(&mut self) {
        self.histogram.saturating_record(HIGHEST_NANOS);
        self.above_range += 1;
    }

    fn merge(&mut self, other: Lane) {
        let Lane { histogram, ops, bytes, min_nanos, max_nanos, sum_nanos, above_range, outlasted_nanos } = other;
        self.histogram.add(&histogram).expect("histograms of equal bounds");
        self.ops += ops;
        self.bytes += bytes;
        self.min_nanos = self.min_nanos.min(min_nanos);
        self.max_nanos = self.max_nanos.max(max_nanos);
        self.sum_nanos = self.sum_nanos.saturating_add(sum_nanos);
        self.above_range += above_range;
        self.outlasted_nanos = self.outlasted_nanos.max(outlasted_nanos);
    }

    /// Without operations there is no latency: no histogram, and zeros that mean nothing.
    fn report(self) -> DirectionReport {
        let Lane { histogram, ops, bytes, min_nanos, max_nanos, sum_nanos, above_range, outlasted_nanos } = self;
        if ops == 0 {
            return DirectionReport::default();
        }
        DirectionReport {
            ops,
            bytes,
            histogram: Some(histogram::encode(&histogram)),
            min_nanos,
            max_nanos: max_nanos.max(outlasted_nanos),
            sum_nanos,
            above_range,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn recorder() -> Recorder {
        Recorder::new(&[Direction::Read], 10 * SECOND)
    }

    fn read_of(recorder: Recorder) -> (DirectionReport, Histogram<u64>) {
        let read = recorder.finish(10 * SECOND).read.expect("reads were recorded");
        let histogram = histogram::decode(read.histogram.as_deref().expect("operations")).expect("what was encoded");
        (read, histogram)
    }

    /// Case D9: the exact extremes stand beside buckets whose upper edge lies above them.
    #[test]
    fn extremes_are_exact() {
        let mut recorder = recorder();
        for micros in 1..=196 {
            recorder.completed(Direction::Read, 0, micros * 1000 + 1, 4096);
        }
        let (read, histogram) = read_of(recorder);
        assert_eq!((read.min_nanos, read.max_nanos), (1001, 196_001));
        assert_eq!((read.ops, read.bytes, histogram.len()), (196, 196 * 4096, 196));
        assert_eq!(read.sum_nanos, (1..=196).map(|micros| micros * 1000 + 1).sum::<u64>());
        let p99 = histogram.value_at_quantile(0.99).min(read.max_nanos);
        assert!(p99 <= 196_001, "{p99}");
    }

    /// Case D9: half of the operations between 20 and 94.4 s, above where some histograms end.
    #[test]
    fn minutes_are_told_apart() {
        let mut recorder = recorder();
        for index in 0..4870u64 {
            let latency = if index % 2 == 0 { 1_000_000 } else { 20 * SECOND + index * 15_277_207 };
            recorder.completed(Direction::Read, 0, latency, 4096);
        }
        let (read, histogram) = read_of(recorder);
        assert_eq!(read.above_range, 0);
        let quantile = |q| histogram.value_at_quantile(q).clamp(read.min_nanos, read.max_nanos);
        let (p50, p95, p99, p999) = (quantile(0.5), quantile(0.95), quantile(0.99), quantile(0.999));
        assert!(p50 < 1_010_000 && p95 > 85 * SECOND && p99 > p95 && p999 > p99 && p999 <= read.max_nanos);
        let mean = read.sum_nanos / read.ops;
        assert!(read.min_nanos <= mean && mean <= read.max_nanos);
    }

    #[test]
    fn what_lies_above_the_range_is_counted() {
        let mut recorder = recorder();
        recorder.completed(Direction::Read, 0, 5 * HIGHEST_NANOS, 4096);
        recorder.completed(Direction::Read, 0, 0, 4096);
        let (read, histogram) = read_of(recorder);
        assert_eq!((read.above_range, read.ops, histogram.len()), (1, 2, 2));
        assert_eq!((read.min_nanos, read.max_nanos), (0, 5 * HIGHEST_NANOS));
    }

    /// Case D9: no operations, no latency.
    #[test]
    fn nothing_recorded_is_no_latency() {
        let recorded = Recorder::new(&[Direction::Write], SECOND).finish(SECOND);
        assert_eq!(recorded.write, Some(DirectionReport::default()));
        assert_eq!(recorded.read, None);
        assert_eq!(recorded.series.len(), 1);
    }

    #[test]
    fn what_was_in_flight_at_the_end_is_in_the_maximum_only() {
        let (mut done, mut stuck) = (recorder(), recorder());
        done.completed(Direction::Read, 0, 900_000, 4096);
        stuck.outlasted(Direction::Read, 6 * SECOND);
        done.merge(stuck);
        let (read, histogram) = read_of(done);
        assert_eq!((read.ops, read.min_nanos, read.max_nanos, read.sum_nanos), (1, 900_000, 6 * SECOND, 900_000));
        assert_eq!(histogram.len(), 1);
        let mut alone = recorder();
        alone.outlasted(Direction::Read, 6 * SECOND);
        assert_eq!(alone.finish(10 * SECOND).read, Some(DirectionReport::default()));
    }

    #[test]
    fn merging_jobs_equals_recording_all_in_one() {
        let (mut all, mut even, mut odd) = (recorder(), recorder(), recorder());
        for index in 0..10_000u64 {
            let part = if index % 2 == 0 { &mut even } else { &mut odd };
            for recorder in [part, &mut all] {
                recorder.completed(Direction::Read, index * SECOND / 1000, index * 977, 512);
            }
        }
        even.failed(Direction::Read, Failure::Errno(libc::EIO), Some(9 * SECOND));
        odd.failed(Direction::Read, Failure::Errno(libc::EIO), None);
        even.merge(odd);
        let (merged, all) = (even.finish(10 * SECOND), all.finish(10 * SECOND));
        assert_eq!(merged.read, all.read);
        assert_eq!(merged.errors, [ErrorCount { message: "read: Input/output error (EIO)".into(), count: 2 }]);
        assert_eq!(merged.series.iter().map(|sample| sample.ops).sum::<u64>(), 10_000);
        assert_eq!(merged.series.iter().map(|sample| sample.errors).sum::<u64>(), 1);
        assert_eq!(merged.series.len(), 10);
    }

    #[test]
    fn an_error_is_told_with_what_it_means_for_the_target() {
        let mut recorder = Recorder::new(&[Direction::Write], SECOND);
        for failure in [Failure::Errno(libc::EDQUOT), Failure::Errno(libc::EDQUOT), Failure::Short] {
            recorder.failed(Direction::Write, failure, None);
        }
        let explain = |errno| (errno == libc::EDQUOT).then(|| "pool p is at its quota".to_owned());
        let messages: Vec<String> =
            recorder.finish_explained(SECOND, explain).errors.into_iter().map(|error| error.message).collect();
        assert_eq!(
            messages,
            ["write: Disk quota exceeded (EDQUOT): pool p is at its quota", "write: fewer bytes moved than asked for"]
        );
    }

    #[test]
    fn failures_of_too_many_kinds_are_counted_all_the_same() {
        let mut recorder = Recorder::new(&[Direction::Write], SECOND);
        let room = recorder.failures.capacity();
        for errno in 1..=100 {
            recorder.failed(Direction::Write, Failure::Errno(errno), None);
        }
        assert_eq!(recorder.failures.capacity(), room);
        let errors = recorder.finish(SECOND).errors;
        assert_eq!(errors.iter().map(|error| error.count).sum::<u64>(), 100);
        assert_eq!(errors[0].message, "write: other errors");
    }
}
