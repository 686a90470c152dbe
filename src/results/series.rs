//! Second-by-second series: adding those of several clients, thinning them, and reading whole samples back. Sums only; what a series says
//! about a figure is judged in `validity`.

use std::collections::BTreeMap;

use crate::contract::{RoundReport, Sample};

/// The most samples that a series may have.
pub const MAX_SAMPLES: usize = 600;

/// Adds series sample by sample. Each comes with its seconds per sample; the sum has the coarsest of them, or coarser still where it
/// would exceed [`MAX_SAMPLES`].
pub(super) fn add<'a>(parts: impl Iterator<Item = (&'a [Sample], u32)> + Clone) -> (Vec<Sample>, u32) {
    let step = parts.clone().map(|(_, step)| step.max(1)).fold(1, least_common_multiple);
    let sum = rebin(parts.flat_map(|(samples, _)| samples), step);
    thin(sum, step)
}

/// Joins neighbours, two by two, until the series has at most [`MAX_SAMPLES`]. Returns it with its seconds per sample.
pub fn thin(mut samples: Vec<Sample>, mut step: u32) -> (Vec<Sample>, u32) {
    while samples.len() > MAX_SAMPLES {
        step = step.saturating_mul(2);
        samples = rebin(samples.iter(), step);
    }
    (samples, step)
}

fn rebin<'a>(samples: impl Iterator<Item = &'a Sample>, step: u32) -> Vec<Sample> {
    let mut bins: BTreeMap<u32, Sample> = BTreeMap::new();
    for sample in samples {
        let Sample { second, ops, bytes, errors, latency_sum_nanos, latency_max_nanos } = *sample;
        let start = second - second % step;
        let bin = bins.entry(start).or_insert(Sample { second: start, ..Sample::default() });
        bin.ops = bin.ops.saturating_add(ops);
        bin.bytes = bin.bytes.saturating_add(bytes);
        bin.errors = bin.errors.saturating_add(errors);
        bin.latency_sum_nanos = bin.latency_sum_nanos.saturating_add(latency_sum_nanos);
        bin.latency_max_nanos = bin.latency_max_nanos.max(latency_max_nanos);
    }
    bins.into_values().collect()
}

/// The samples that lie wholly within the window, those in which nothing happened too: a last part of a second has no rate.
pub(super) fn whole_samples(round: &RoundReport) -> Vec<Sample> {
    let step = round.seconds_per_sample.max(1);
    let fit = usize::try_from(round.elapsed_micros / (1_000_000 * u64::from(step))).unwrap_or(usize::MAX);
    let mut whole: Vec<Sample> = (0..fit.min(2 * MAX_SAMPLES))
        .map(|index| Sample { second: (index as u32).saturating_mul(step), ..Sample::default() })
        .collect();
    for sample in &round.series {
        if let Some(slot) = whole.get_mut((sample.second / step) as usize) {
            *slot = *sample;
        }
    }
    whole
}

/// Steps that [`thin`] made are powers of two, so this is the larger one; any others still line up. One that can't be held ends as
/// `u32::MAX`: a single sample.
fn least_common_multiple(a: u32, b: u32) -> u32 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(second: u32, ops: u64, latency_max_nanos: u64) -> Sample {
        Sample { second, ops, bytes: ops * 4096, errors: 1, latency_sum_nanos: ops * 10, latency_max_nanos }
    }

    #[test]
    fn series_are_added_second_by_second_and_a_gap_stays_one() {
        let one = [sample(0, 5, 70), sample(2, 3, 20)];
        let other = [sample(0, 1, 90), sample(3, 2, 10)];
        let (sum, step) = add([(&one[..], 1), (&other[..], 1)].into_iter());
        assert_eq!(step, 1);
        assert_eq!(sum, [Sample { errors: 2, ..sample(0, 6, 90) }, sample(2, 3, 20), sample(3, 2, 10)]);
    }

    #[test]
    fn series_of_different_steps_meet_at_the_coarser_one() {
        let fine: Vec<Sample> = (0..8).map(|second| sample(second, 1, second.into())).collect();
        let coarse = [sample(0, 4, 1), sample(4, 4, 1)];
        let (sum, step) = add([(&fine[..], 1), (&coarse[..], 4)].into_iter());
        assert_eq!(step, 4);
        assert_eq!(sum.iter().map(|sample| (sample.second, sample.ops)).collect::<Vec<_>>(), [(0, 8), (4, 8)]);
    }

    #[test]
    fn a_long_series_is_thinned_and_loses_nothing() {
        let day: Vec<Sample> = (0..86_400).map(|second| sample(second, 2, second.into())).collect();
        let (thinned, step) = thin(day, 1);
        assert!(thinned.len() <= MAX_SAMPLES);
        assert_eq!(step, 256);
        assert_eq!(thinned.iter().map(|sample| sample.ops).sum::<u64>(), 2 * 86_400);
        assert_eq!(thinned.last().map(|sample| sample.latency_max_nanos), Some(86_399));
    }
}
