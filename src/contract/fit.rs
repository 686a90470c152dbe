//! Makes a report smaller where it would not fit its log: fewer digits in the histograms, fewer samples in the series. Pure.

use hdrhistogram::Histogram;

use super::{PointReport, Report, Sample, histogram};

/// Digits of a histogram in a report that was too large with 3: latencies within 1 %.
const COARSE_DIGITS: u8 = 2;
/// Samples of a series in a report that was too large, and in one that still is.
const FEW_SAMPLES: usize = 60;
const LEAST_SAMPLES: usize = 10;

/// Rewrites all histograms with 2 digits.
pub(crate) fn coarsen_histograms(report: &mut Report) {
    for point in &mut report.points {
        let mut changed = false;
        for round in &mut point.rounds {
            for direction in [&mut round.read, &mut round.write].into_iter().flatten() {
                if let Some(coarser) = direction.histogram.as_deref().and_then(coarser) {
                    direction.histogram = Some(coarser);
                    changed = true;
                }
            }
        }
        if changed {
            note(point, "latencies are kept with 2 digits, within 1 %: the report was too large with 3");
        }
    }
}

/// `None` where the text is no histogram: it then stays as it is, and the reader of the report will say so.
fn coarser(encoded: &str) -> Option<String> {
    let fine = histogram::decode(encoded).ok()?;
    let mut coarse = Histogram::<u64>::new_with_bounds(fine.low(), fine.high(), COARSE_DIGITS).ok()?;
    coarse.add(&fine).ok()?;
    Some(histogram::encode(&coarse))
}

/// Adds neighbouring samples until each series has at most 60.
pub(crate) fn thin_series(report: &mut Report) {
    thin(report, FEW_SAMPLES);
}

/// The same until each has at most 10.
pub(crate) fn thin_series_more(report: &mut Report) {
    thin(report, LEAST_SAMPLES);
}

fn thin(report: &mut Report, samples: usize) {
    for point in &mut report.points {
        let mut changed = false;
        for round in &mut point.rounds {
            let group = round.series.len().div_ceil(samples);
            if group > 1 {
                round.series = round.series.chunks(group).map(added).collect();
                round.seconds_per_sample = round.seconds_per_sample.max(1) * group as u32;
                changed = true;
            }
        }
        if changed {
            note(point, &format!("series are kept with {samples} samples: the report was too large with more"));
        }
    }
}

fn added(samples: &[Sample]) -> Sample {
    let mut sum = samples[0];
    for sample in &samples[1..] {
        let Sample { second: _, ops, bytes, errors, latency_sum_nanos, latency_max_nanos } = *sample;
        sum.ops += ops;
        sum.bytes += bytes;
        sum.errors += errors;
        sum.latency_sum_nanos += latency_sum_nanos;
        sum.latency_max_nanos = sum.latency_max_nanos.max(latency_max_nanos);
    }
    sum
}

fn note(point: &mut PointReport, text: &str) {
    point.notes.push(text.into());
}
