//! One round of several clients made into one: histograms and counts are added, extremes kept exact, series added second by second.
//! Nothing is averaged.

use std::collections::BTreeMap;

use super::series;
use super::tally::{Tally, TallyError};
use crate::contract::{ClientRound, DirectionReport, EndedBy, ErrorCount, RoundReport};

/// Why rounds can't be made one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MergeError {
    #[error("no client reported this round")]
    NoClients,
    #[error("client {0} reported this round twice")]
    ClientTwice(u32),
    #[error("{direction} of client {client}: {cause}")]
    Direction { client: u32, direction: &'static str, cause: TallyError },
    #[error("{0} of all clients exceeds what 64 bits hold")]
    Overflow(&'static str),
}

/// Merges what the clients measured in one round of one point.
///
/// The window is the longest of theirs, so that a client that ended early lowers the rate and never raises it. `start_spread_micros` is the
/// largest that was given: clients leave it 0 and the conductor, which knows when they began, sets it afterwards.
pub fn merge_clients(rounds: Vec<RoundReport>) -> Result<RoundReport, MergeError> {
    if rounds.is_empty() {
        return Err(MergeError::NoClients);
    }
    let (series, seconds_per_sample) =
        series::add(rounds.iter().map(|round| (round.series.as_slice(), round.seconds_per_sample)));
    let clients = clients(&rounds)?;
    let cpu_micros = rounds
        .iter()
        .try_fold(0_u64, |sum, round| sum.checked_add(round.cpu_micros))
        .ok_or(MergeError::Overflow("cpuMicros"))?;
    Ok(RoundReport {
        elapsed_micros: rounds.iter().map(|round| round.elapsed_micros).max().unwrap_or_default(),
        ended_by: rounds.iter().map(|round| round.ended_by).max_by_key(weight).unwrap_or_default(),
        start_spread_micros: rounds.iter().map(|round| round.start_spread_micros).max().unwrap_or_default(),
        read: direction(&rounds, "read", |round| round.read.as_ref())?,
        write: direction(&rounds, "write", |round| round.write.as_ref())?,
        errors: errors(&rounds),
        series,
        seconds_per_sample,
        cpu_micros,
        clients,
    })
}

/// The worst cause names the whole: errors before the byte cap before the planned end.
fn weight(ended_by: &EndedBy) -> u8 {
    match ended_by {
        EndedBy::Duration => 0,
        EndedBy::Bytes => 1,
        EndedBy::Errors => 2,
    }
}

fn direction(
    rounds: &[RoundReport],
    name: &'static str,
    pick: impl Fn(&RoundReport) -> Option<&DirectionReport>,
) -> Result<Option<DirectionReport>, MergeError> {
    let mut tally = None;
    for round in rounds {
        let Some(direction) = pick(round) else { continue };
        let client = round.clients.first().map_or(0, |client| client.client);
        tally.get_or_insert_with(Tally::default).add(direction).map_err(|cause| MergeError::Direction {
            client,
            direction: name,
            cause,
        })?;
    }
    Ok(tally.map(Tally::into_report))
}

/// By message, the most frequent first.
fn errors(rounds: &[RoundReport]) -> Vec<ErrorCount> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for ErrorCount { message, count } in rounds.iter().flat_map(|round| &round.errors) {
        let sum = counts.entry(message).or_default();
        *sum = sum.saturating_add(*count);
    }
    let mut errors: Vec<ErrorCount> =
        counts.into_iter().map(|(message, count)| ErrorCount { message: message.to_owned(), count }).collect();
    errors.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.message.cmp(&b.message)));
    errors
}

fn clients(rounds: &[RoundReport]) -> Result<Vec<ClientRound>, MergeError> {
    let mut clients: Vec<ClientRound> = rounds.iter().flat_map(|round| round.clients.iter().cloned()).collect();
    clients.sort_by_key(|client| client.client);
    match clients.windows(2).find(|pair| pair[0].client == pair[1].client) {
        Some(pair) => Err(MergeError::ClientTwice(pair[0].client)),
        None => Ok(clients),
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;
    use crate::contract::Sample;
    use crate::contract::histogram;

    /// What a client records: a latency for each operation, one block each, `per_second` operations in every second.
    fn recorded(client: u32, latencies: &[u64], per_second: usize) -> RoundReport {
        let mut histogram = Histogram::new_with_bounds(1, 1 << 42, 3).expect("sound bounds");
        for latency in latencies {
            histogram.record(*latency).expect("within bounds");
        }
        let series: Vec<Sample> = latencies
            .chunks(per_second)
            .enumerate()
            .map(|(second, chunk)| Sample {
                second: second as u32,
                ops: chunk.len() as u64,
                bytes: 4096 * chunk.len() as u64,
                errors: 0,
                latency_sum_nanos: chunk.iter().sum(),
                latency_max_nanos: chunk.iter().copied().max().unwrap_or_default(),
            })
            .collect();
        let ops = latencies.len() as u64;
        RoundReport {
            elapsed_micros: 1_000_000 * series.len() as u64,
            write: Some(DirectionReport {
                ops,
                bytes: 4096 * ops,
                histogram: Some(histogram::encode(&histogram)),
                min_nanos: latencies.iter().copied().min().unwrap_or_default(),
                max_nanos: latencies.iter().copied().max().unwrap_or_default(),
                sum_nanos: latencies.iter().sum(),
                above_range: 0,
            }),
            series,
            seconds_per_sample: 1,
            cpu_micros: ops,
            clients: vec![ClientRound { client, ops, bytes: 4096 * ops, ..ClientRound::default() }],
            ..RoundReport::default()
        }
    }

    proptest! {
        /// However the operations of each second are dealt to clients, the merged round equals one client that did them all.
        #[test]
        fn merged_equals_recorded_directly(
            seconds in prop::collection::vec(prop::collection::vec(1_u64..4_000_000_000_000, 4), 1..20),
        ) {
            let all: Vec<u64> = seconds.concat();
            let share = |from: usize, to: usize| seconds.iter().flat_map(|second| second[from..to].to_vec()).collect::<Vec<_>>();
            let merged = merge_clients(vec![recorded(1, &share(0, 1), 1), recorded(0, &share(1, 4), 3)]).expect("merges");
            let direct = recorded(0, &all, 4);
            prop_assert_eq!(&merged.series, &direct.series);
            prop_assert_eq!(merged.elapsed_micros, direct.elapsed_micros);
            prop_assert_eq!(merged.cpu_micros, direct.cpu_micros);
            let (merged, direct) = (merged.write.expect("written"), direct.write.expect("written"));
            let histogram = |report: &DirectionReport| histogram::decode(report.histogram.as_ref().expect("timed")).expect("decodes");
            prop_assert_eq!(histogram(&merged), histogram(&direct));
            prop_assert_eq!(DirectionReport { histogram: None, ..merged }, DirectionReport { histogram: None, ..direct });
        }
    }

    #[test]
    fn the_longest_window_the_worst_end_and_every_client_are_kept() {
        let mut early = recorded(3, &[10, 20], 1);
        early.ended_by = EndedBy::Bytes;
        early.errors = vec![ErrorCount { message: "write: EIO".into(), count: 2 }];
        let mut whole = recorded(1, &[30, 40, 50], 1);
        whole.errors = vec![
            ErrorCount { message: "read: EIO".into(), count: 3 },
            ErrorCount { message: "write: EIO".into(), count: 4 },
        ];
        let merged = merge_clients(vec![early.clone(), whole]).expect("merges");
        assert_eq!(merged.elapsed_micros, 3_000_000);
        assert_eq!(merged.ended_by, EndedBy::Bytes);
        assert_eq!(merged.clients.iter().map(|client| client.client).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(
            merged.errors,
            [
                ErrorCount { message: "write: EIO".into(), count: 6 },
                ErrorCount { message: "read: EIO".into(), count: 3 }
            ]
        );
        let write = merged.write.expect("written");
        assert_eq!((write.min_nanos, write.max_nanos, write.sum_nanos, write.ops), (10, 50, 150, 5));
        early.ended_by = EndedBy::Errors;
        assert_eq!(merge_clients(vec![early]).map(|round| round.ended_by), Ok(EndedBy::Errors));
    }

    #[test]
    fn a_client_twice_or_none_is_an_error() {
        assert_eq!(merge_clients(Vec::new()), Err(MergeError::NoClients));
        let round = recorded(2, &[10], 1);
        assert_eq!(merge_clients(vec![round.clone(), round]), Err(MergeError::ClientTwice(2)));
    }

    #[test]
    fn a_damaged_histogram_names_its_client() {
        let mut round = recorded(2, &[10], 1);
        round.write.as_mut().expect("written").histogram = Some("AAAA".into());
        let error = merge_clients(vec![recorded(0, &[10], 1), round]).expect_err("is refused");
        assert!(error.to_string().starts_with("write of client 2: a histogram that is not HdrHistogram V2"), "{error}");
    }
}
