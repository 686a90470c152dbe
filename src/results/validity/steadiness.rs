//! Whether the rate stood still: between rounds, and from second to second within one.

use super::{Evidence, Reason};
use crate::results::series::whole_samples;

/// Spread between rounds, (max − min) ÷ mean in percent. SNIA PTS asks for ±10 % around the mean.
const ROUNDS_PERCENT: f64 = 20.0;
/// Standard deviation of the samples ÷ their mean, in percent.
const SECONDS_PERCENT: f64 = 50.0;
/// Movement of the fitted line over the window ÷ mean, in percent. SNIA PTS: a slope within 10 %.
const TREND_PERCENT: f64 = 10.0;
/// A slope must be as many times its standard error, or it may be chance.
const TREND_ERRORS: f64 = 3.0;
/// Fewer operations than these in as much time, on average, say little: with 8, none come by chance once in e⁸ ≈ 3,000.
const USUAL_OPS: f64 = 8.0;
/// Fewer samples than these show no spread.
const SPREAD_SAMPLES: usize = 5;
/// Fewer samples than these show no trend.
const TREND_SAMPLES: usize = 10;

pub(super) fn rounds_differ(evidence: &Evidence) -> Vec<Reason> {
    let rates = evidence.bandwidths();
    let Some(mean) = mean(&rates).filter(|_| rates.len() > 1) else { return Vec::new() };
    let lowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let share = 100.0 * (highest - lowest) / mean;
    if share > ROUNDS_PERCENT { vec![Reason::RoundsDiffer { share, lowest, highest }] } else { Vec::new() }
}

/// Time without a completion in which enough of them are usual to rule out chance: one sample, or more in a row where they are slow.
pub(super) fn stalls(evidence: &Evidence) -> Vec<Reason> {
    let (mut seconds, mut of) = (0, 0);
    for round in evidence.rounds {
        let samples = whole_samples(round);
        let ops: f64 = samples.iter().map(|sample| sample.ops as f64).sum();
        let usual = |length: usize| ops / samples.len() as f64 * length as f64;
        let gaps = samples.split(|sample| sample.ops > 0).map(<[_]>::len);
        let empty: usize = gaps.filter(|length| *length > 0 && usual(*length) >= USUAL_OPS).sum();
        let step = u64::from(round.seconds_per_sample.max(1));
        seconds += step * empty as u64;
        of += step * samples.len() as u64;
    }
    if seconds > 0 { vec![Reason::Stalled { seconds, of }] } else { Vec::new() }
}

pub(super) fn seconds_differ(evidence: &Evidence) -> Vec<Reason> {
    worst(evidence, SPREAD_SAMPLES, |rates| {
        let mean = mean(rates)?;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        let share = 100.0 * (squares / (rates.len() as f64 - 1.0)).sqrt() / mean;
        (share > SECONDS_PERCENT).then_some(share)
    })
    .map(|share| Reason::SecondsDiffer { share })
    .into_iter()
    .collect()
}

pub(super) fn trend(evidence: &Evidence) -> Vec<Reason> {
    worst(evidence, TREND_SAMPLES, movement).map(|share| Reason::Trend { share }).into_iter().collect()
}

/// By how much of the mean, in percent, the line fitted to the samples by least squares moves from the first to the last of them.
/// Absent when that is little or may be chance.
fn movement(rates: &[f64]) -> Option<f64> {
    let mean = mean(rates)?;
    let count = rates.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (index, rate) in rates.iter().enumerate() {
        let (x, y) = (index as f64 - middle, rate - mean);
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    let slope = xy / xx;
    let error = ((yy - slope * xy).max(0.0) / (count - 2.0) / xx).sqrt();
    let share = 100.0 * slope * (count - 1.0) / mean;
    (share.abs() > TREND_PERCENT && slope.abs() > TREND_ERRORS * error).then_some(share)
}

/// The largest finding over the rounds whose samples are many enough and full enough to show one. Each gets the bytes of its whole samples.
fn worst(evidence: &Evidence, samples: usize, find: impl Fn(&[f64]) -> Option<f64>) -> Option<f64> {
    let rates = |round| -> Option<Vec<f64>> {
        let whole = whole_samples(round);
        let ops: f64 = whole.iter().map(|sample| sample.ops as f64).sum();
        let enough = whole.len() >= samples && ops / whole.len() as f64 >= USUAL_OPS;
        enough.then(|| whole.iter().map(|sample| sample.bytes as f64).collect())
    };
    evidence.rounds.iter().filter_map(rates).filter_map(|rates| find(&rates)).max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// Absent where it is not above 0: nothing can be a share of it.
fn mean(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean > 0.0).then_some(mean)
}
