//! Whether a figure can be believed: small checks, each over the evidence of one point, each with its limit and where the limit is from.
//! Apart from gates, which say whether a believable figure is good enough.
//!
//! | check | Suspect | Invalid | source |
//! | --- | --- | --- | --- |
//! | rounds missing | | fewer rounds than planned | a part of a measurement is no result |
//! | window | ended by the byte cap before half of its time | ended by nothing before 95 % of it | ours |
//! | errors | any operation failed | more than 0.1 % did, or errors ended the round | ours |
//! | clients | | one of them has no part in a round | every client's share is in the figure |
//! | counts | | latencies and operations differ in number | client totals must add up (fio #752) |
//! | nothing completed | | no operation completed | there is nothing to judge |
//! | above range | | a latency is above what the histogram holds | percentiles would be cut off (fio #1668) |
//! | too few operations | fewer than 10 beyond a percentile: 10 ÷ (1 − p) | | ours; p99.9 of 500 operations is their maximum |
//! | rounds differ | (max − min) ÷ mean above 20 % | | SNIA PTS: within ±10 % of the mean |
//! | trend | the fitted line moves by more than 10 % of the mean over a window, and by 3 standard errors | | SNIA PTS; the errors ours |
//! | seconds differ | standard deviation ÷ mean above 0.5 | | ours |
//! | stalls | no completion in a time, of whole seconds, in which 8 or more are usual | | ours: by chance in 1 of 3,000 |
//! | start | clients began further apart than 10 % of the window | | ours |
//! | uneven clients | one ended before 90 % of the longest window | | ours |
//! | client-bound | the bench used 90 % of its threads' time, or one job of its own thread's | | ours |

mod completeness;
mod counts;
mod evidence;
mod load;
mod reason;
mod steadiness;
#[cfg(test)]
mod tests;

pub(super) use completeness::is_cut;
pub use evidence::Evidence;
pub use reason::{Reason, seconds_text};

use crate::api::{Validity, ValidityReason, ValidityVerdict};

type Check = fn(&Evidence) -> Vec<Reason>;

/// In the order in which reasons are listed: what weighs most first.
const CHECKS: [Check; 17] = [
    completeness::rounds,
    completeness::stopped_by_errors,
    completeness::clients,
    completeness::window,
    counts::nothing_completed,
    counts::errors,
    counts::agree,
    counts::above_range,
    steadiness::stalls,
    steadiness::rounds_differ,
    steadiness::seconds_differ,
    steadiness::trend,
    load::together,
    load::client_bound,
    counts::too_few,
    load::read_again,
    load::ramp_cut,
];

/// Everything that speaks against the figure of one point, and the verdict: that of the weightiest reason.
pub fn judge_point(evidence: &Evidence) -> Validity {
    let mut reasons: Vec<Reason> = CHECKS.iter().flat_map(|check| check(evidence)).collect();
    reasons.extend(evidence.notes.iter().cloned().map(Reason::Note));
    Validity {
        verdict: reasons.iter().map(Reason::verdict).max().unwrap_or(ValidityVerdict::Valid),
        reasons: reasons
            .iter()
            .map(|reason| ValidityReason { code: reason.code().to_owned(), message: reason.to_string() })
            .collect(),
    }
}
