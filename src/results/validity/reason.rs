//! The reasons: a word for machines, the weight, and the evidence for people.

use std::fmt;

use crate::api::ValidityVerdict;
use crate::units::{bandwidth_text, grouped};

/// Why a figure must not be believed, or not quite.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    RoundsMissing {
        measured: usize,
        planned: u32,
    },
    StoppedByErrors {
        measured_micros: u64,
        planned_micros: u64,
    },
    ClientMissing {
        clients: Vec<u32>,
        round: usize,
    },
    /// A window that nothing was to end so early.
    Cut {
        measured_micros: u64,
        planned_micros: u64,
    },
    /// The byte cap ended the window early.
    TooShort {
        measured_micros: u64,
        planned_micros: u64,
    },
    NothingCompleted,
    Errors {
        failed: u64,
        of: u64,
        most: Vec<String>,
        many: bool,
    },
    CountsDisagree {
        latencies: u64,
        ops: u64,
    },
    AboveRange {
        count: u64,
        of: u64,
    },
    Stalled {
        seconds: u64,
        of: u64,
    },
    /// Shares are of the mean, in percent.
    RoundsDiffer {
        share: f64,
        lowest: f64,
        highest: f64,
    },
    SecondsDiffer {
        share: f64,
    },
    Trend {
        share: f64,
    },
    StartSpread {
        spread_micros: u64,
        window_micros: u64,
    },
    ClientsUneven {
        client: u32,
        window_micros: u64,
        longest_micros: u64,
    },
    ClientBound {
        client: u32,
        share: f64,
        threads: u32,
    },
    ThreadBound {
        client: u32,
        share: f64,
    },
    /// Percentiles as people write them, and the operations that each needs.
    TooFewOps {
        ops: u64,
        lacking: Vec<(&'static str, u64)>,
    },
    /// A sequential read that reached the end and began again: worth knowing, for a cache may have served the rest.
    DataReadAgain {
        times: u64,
    },
    /// The byte cap ended the ramp early: worth knowing, for the caches that it was to fill may not be full.
    RampCut {
        ramp_micros: u64,
        planned_micros: u64,
    },
    /// Worth knowing; nothing against the figure.
    Note(String),
}

impl Reason {
    pub fn code(&self) -> &'static str {
        match self {
            Reason::RoundsMissing { .. } => "RoundsMissing",
            Reason::StoppedByErrors { .. } => "StoppedByErrors",
            Reason::ClientMissing { .. } => "ClientMissing",
            Reason::Cut { .. } | Reason::TooShort { .. } => "TooShort",
            Reason::NothingCompleted => "NothingCompleted",
            Reason::Errors { .. } => "Errors",
            Reason::CountsDisagree { .. } => "CountsDisagree",
            Reason::AboveRange { .. } => "AboveRange",
            Reason::Stalled { .. } => "Stalled",
            Reason::RoundsDiffer { .. } | Reason::SecondsDiffer { .. } => "Unstable",
            Reason::Trend { .. } => "Trend",
            Reason::StartSpread { .. } => "StartSpread",
            Reason::ClientsUneven { .. } => "ClientsUneven",
            Reason::ClientBound { .. } | Reason::ThreadBound { .. } => "ClientBound",
            Reason::TooFewOps { .. } => "TooFewOps",
            Reason::DataReadAgain { .. } => "DataReadAgain",
            Reason::RampCut { .. } => "RampCut",
            Reason::Note(_) => "Note",
        }
    }

    pub fn verdict(&self) -> ValidityVerdict {
        match self {
            Reason::RoundsMissing { .. }
            | Reason::StoppedByErrors { .. }
            | Reason::ClientMissing { .. }
            | Reason::Cut { .. }
            | Reason::NothingCompleted
            | Reason::Errors { many: true, .. }
            | Reason::CountsDisagree { .. }
            | Reason::AboveRange { .. } => ValidityVerdict::Invalid,
            Reason::TooShort { .. }
            | Reason::Errors { many: false, .. }
            | Reason::Stalled { .. }
            | Reason::RoundsDiffer { .. }
            | Reason::SecondsDiffer { .. }
            | Reason::Trend { .. }
            | Reason::StartSpread { .. }
            | Reason::ClientsUneven { .. }
            | Reason::ClientBound { .. }
            | Reason::ThreadBound { .. }
            | Reason::TooFewOps { .. } => ValidityVerdict::Suspect,
            Reason::DataReadAgain { .. } | Reason::RampCut { .. } | Reason::Note(_) => ValidityVerdict::Valid,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Reason::RoundsMissing { measured, planned } => write!(f, "{measured} of {planned} rounds were measured"),
            Reason::StoppedByErrors { measured_micros, planned_micros } => {
                write!(f, "errors ended a round at {}", part(*measured_micros, *planned_micros))
            }
            Reason::ClientMissing { clients, round } => {
                let clients: Vec<String> = clients.iter().map(u32::to_string).collect();
                write!(f, "client {} has no part in round {}", clients.join(", "), round + 1)
            }
            Reason::Cut { measured_micros, planned_micros } => {
                write!(f, "cut: {} measured", part(*measured_micros, *planned_micros))
            }
            Reason::TooShort { measured_micros, planned_micros } => {
                write!(f, "too short: {}, then the byte cap was reached", part(*measured_micros, *planned_micros))
            }
            Reason::NothingCompleted => f.write_str("no operation completed within the window"),
            Reason::Errors { failed, of, most, many: _ } => {
                write!(f, "{} of {} operations failed: {}", grouped(*failed), grouped(*of), most.join("; "))
            }
            Reason::CountsDisagree { latencies, ops } => {
                write!(f, "{} latencies of {} operations", grouped(*latencies), grouped(*ops))
            }
            Reason::AboveRange { count, of } => write!(
                f,
                "{} of {} latencies lie above what the histogram holds: the percentiles are too low",
                grouped(*count),
                grouped(*of)
            ),
            Reason::Stalled { seconds, of } => write!(f, "no operation completed in {seconds} of {of} s"),
            Reason::RoundsDiffer { share, lowest, highest } => write!(
                f,
                "rounds differ by {share:.0} % of their mean: {} to {}",
                bandwidth_text(*lowest),
                bandwidth_text(*highest)
            ),
            Reason::SecondsDiffer { share } => {
                write!(f, "the seconds of a round differ: standard deviation {share:.0} % of the mean")
            }
            Reason::Trend { share } => {
                let way = if *share < 0.0 { "fell" } else { "rose" };
                write!(f, "the rate {way} by {:.0} % of its mean within a round: not a steady state", share.abs())
            }
            Reason::StartSpread { spread_micros, window_micros } => write!(
                f,
                "clients began {} s apart, in a window of {} s",
                seconds_text(*spread_micros),
                seconds_text(*window_micros)
            ),
            Reason::ClientsUneven { client, window_micros, longest_micros } => {
                write!(f, "client {client} measured only {}, the rest went on", part(*window_micros, *longest_micros))
            }
            Reason::ClientBound { client, share, threads } => write!(
                f,
                "client {client} used {share:.0} % of its threads' time ({threads} of them): the bench may be the limit"
            ),
            Reason::ThreadBound { client, share } => write!(
                f,
                "the busiest job of client {client} used {share:.0} % of its thread's time: the bench may be the limit"
            ),
            Reason::TooFewOps { ops, lacking } => {
                let names: Vec<&str> = lacking.iter().map(|(name, _)| *name).collect();
                let needed: Vec<String> = lacking.iter().map(|(_, needed)| grouped(*needed)).collect();
                let verb = if lacking.len() == 1 { "is" } else { "are" };
                let names = names.join(", ");
                write!(f, "{names} of {} operations: {} {verb} needed", grouped(*ops), needed.join(", "))
            }
            Reason::DataReadAgain { times } => {
                write!(f, "data were read again: a job began again at its start {times} times in a round")
            }
            Reason::RampCut { ramp_micros, planned_micros } => {
                let part = part(*ramp_micros, *planned_micros);
                write!(f, "the ramp was ended at {part}: it had used a quarter of `bytes`")
            }
            Reason::Note(text) => f.write_str(text),
        }
    }
}

/// `31 of 60 s`.
fn part(micros: u64, of_micros: u64) -> String {
    format!("{} of {} s", seconds_text(micros), seconds_text(of_micros))
}

/// Seconds with at most one decimal: `31`, `0.5`. Cut, not rounded: 59.97 s is not 60.
pub fn seconds_text(micros: u64) -> String {
    let tenths = micros / 100_000;
    if tenths.is_multiple_of(10) { (tenths / 10).to_string() } else { format!("{}.{}", tenths / 10, tenths % 10) }
}
