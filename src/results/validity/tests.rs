//! Each check at its limit, over small evidence; and figures that were published.

use super::*;
use crate::api::Op;
use crate::contract::{ClientRound, EndedBy, ErrorCount, Point, RoundReport};
use crate::results::figures;
use crate::results::fixtures::{point, steady_round};

/// Judges rounds of client 0 with one thread.
fn judged(point: &Point, rounds: &[RoundReport]) -> Validity {
    judged_with(point, rounds, &[0], 1)
}

fn judged_with(point: &Point, rounds: &[RoundReport], clients: &[u32], threads: u32) -> Validity {
    let total = figures::total(point, rounds).expect("sound rounds");
    judge_point(&Evidence { point, rounds, total: &total, clients, threads, notes: &[] })
}

fn codes(validity: &Validity) -> Vec<&str> {
    validity.reasons.iter().map(|reason| reason.code.as_str()).collect()
}

fn message<'a>(validity: &'a Validity, code: &str) -> &'a str {
    let reason = validity.reasons.iter().find(|reason| reason.code == code);
    &reason.unwrap_or_else(|| panic!("{code} is not among {:?}", validity.reasons)).message
}

/// Ten seconds of 1,000 operations each.
fn sound() -> RoundReport {
    steady_round(&[1000; 10])
}

fn write() -> Point {
    point(Op::Write, 10)
}

#[test]
fn a_sound_figure_is_valid() {
    assert_eq!(judged(&write(), &[sound()]), Validity { verdict: ValidityVerdict::Valid, reasons: vec![] });
}

#[test]
fn a_round_that_is_missing_makes_it_invalid() {
    let validity = judged(&Point { rounds: 3, ..write() }, &[sound()]);
    assert_eq!(validity.verdict, ValidityVerdict::Invalid);
    assert_eq!(message(&validity, "RoundsMissing"), "1 of 3 rounds were measured");
}

/// Case A10: a sequential read of 60 s where 2 s of data were there.
#[test]
fn two_of_sixty_seconds_are_too_short() {
    let mut round = steady_round(&[6000; 2]);
    round.ended_by = EndedBy::Bytes;
    let validity = judged(&point(Op::Write, 60), &[round]);
    assert_eq!(validity.verdict, ValidityVerdict::Suspect);
    assert_eq!(message(&validity, "TooShort"), "too short: 2 of 60 s, then the byte cap was reached");
}

#[test]
fn a_byte_cap_reached_after_half_of_the_time_is_no_fault() {
    let mut round = steady_round(&[2000; 5]);
    round.ended_by = EndedBy::Bytes;
    assert_eq!(judged(&write(), &[round]).verdict, ValidityVerdict::Valid);
}

#[test]
fn a_window_that_nothing_was_to_end_is_cut() {
    let validity = judged(&point(Op::Write, 60), &[steady_round(&[1000; 31])]);
    assert_eq!(validity.verdict, ValidityVerdict::Invalid);
    assert_eq!(message(&validity, "TooShort"), "cut: 31 of 60 s measured");
}

#[test]
fn errors_weigh_by_their_share() {
    let mut round = sound();
    round.errors = vec![ErrorCount { message: "write: Input/output error (EIO)".into(), count: 10 }];
    let few = judged(&write(), &[round.clone()]);
    assert_eq!(few.verdict, ValidityVerdict::Suspect);
    assert_eq!(message(&few, "Errors"), "10 of 10,010 operations failed: write: Input/output error (EIO) × 10");
    round.errors[0].count = 11;
    assert_eq!(judged(&write(), &[round.clone()]).verdict, ValidityVerdict::Invalid);
    round.ended_by = EndedBy::Errors;
    assert_eq!(codes(&judged(&write(), &[round])), ["StoppedByErrors", "Errors"]);
}

#[test]
fn a_client_without_a_part_makes_it_invalid() {
    let validity = judged_with(&write(), &[sound()], &[0, 1, 2], 1);
    assert_eq!(validity.verdict, ValidityVerdict::Invalid);
    assert_eq!(message(&validity, "ClientMissing"), "client 1, 2 has no part in round 1");
}

#[test]
fn latencies_must_be_as_many_as_operations() {
    let mut round = sound();
    round.write.as_mut().expect("written").ops -= 1;
    let validity = judged(&write(), &[round]);
    assert_eq!(validity.verdict, ValidityVerdict::Invalid);
    assert_eq!(message(&validity, "CountsDisagree"), "10,000 latencies of 9,999 operations");
}

#[test]
fn latencies_above_the_range_mark_the_percentiles() {
    let mut round = sound();
    round.write.as_mut().expect("written").above_range = 1;
    let in_last_bucket = judged(&write(), &[round.clone()]);
    assert_eq!((in_last_bucket.verdict, codes(&in_last_bucket)), (ValidityVerdict::Invalid, vec!["AboveRange"]));
    round.write.as_mut().expect("written").ops += 1;
    assert_eq!(codes(&judged(&write(), &[round])), ["AboveRange"], "counted beside the histogram");
}

#[test]
fn a_percentile_needs_ten_operations_beyond_it() {
    let few = judged(&write(), &[steady_round(&[50; 10])]);
    assert_eq!(few.verdict, ValidityVerdict::Suspect);
    assert_eq!(message(&few, "TooFewOps"), "p99, p99.9 of 500 operations: 1,000, 10,000 are needed");
    assert_eq!(
        message(&judged(&write(), &[steady_round(&[999; 10])]), "TooFewOps"),
        "p99.9 of 9,990 operations: 10,000 is needed"
    );
}

#[test]
fn no_operation_is_no_figure() {
    let validity = judged(&write(), &[steady_round(&[0; 10])]);
    assert_eq!((validity.verdict, codes(&validity)), (ValidityVerdict::Invalid, vec!["NothingCompleted"]));
}

/// Vector V6: five rounds from 13 to 24 MB/s are not repeatable, 88.9 to 90.5 are.
#[test]
fn rounds_that_differ_are_unstable() {
    let rounds = |rates: [u64; 5]| rates.map(|rate| steady_round(&[rate; 10]));
    let five = Point { rounds: 5, ..write() };
    let unstable = judged(&five, &rounds([1300, 2400, 1800, 1500, 2100]));
    assert_eq!((unstable.verdict, codes(&unstable)), (ValidityVerdict::Suspect, vec!["Unstable"]));
    assert!(message(&unstable, "Unstable").starts_with("rounds differ by 60 % of their mean"), "{unstable:?}");
    assert_eq!(judged(&five, &rounds([889, 905, 890, 900, 895])).verdict, ValidityVerdict::Valid);
    assert_eq!(
        judged(&Point { rounds: 2, ..write() }, &[steady_round(&[900; 10]), steady_round(&[1100; 10])]).reasons,
        []
    );
}

/// Vector V2: a mean of 10.3 operations a second, deviation well above half of it (0.56 there), seconds without any.
#[test]
fn stalls_and_uneven_seconds_are_unstable() {
    let seconds = [18, 16, 0, 10, 14, 9, 0, 16, 12, 4, 18, 10, 0, 17, 11, 9, 15, 0, 13, 14];
    let validity = judged(&point(Op::Write, 20), &[steady_round(&seconds)]);
    assert_eq!(validity.verdict, ValidityVerdict::Suspect);
    assert_eq!(message(&validity, "Stalled"), "no operation completed in 4 of 20 s");
    assert!(
        message(&validity, "Unstable").starts_with("the seconds of a round differ: standard deviation 61 %"),
        "{validity:?}"
    );
}

#[test]
fn few_slow_operations_do_not_stall() {
    let seconds = [1, 0, 2, 1, 0, 3, 1, 0, 1, 2, 0, 1];
    assert_eq!(codes(&judged(&point(Op::Write, 12), &[steady_round(&seconds)])), ["TooFewOps"]);
}

/// Large operations, six a second, and a device that freezes for good: few for each second, but too long for chance.
#[test]
fn a_freeze_of_slow_operations_is_a_stall() {
    let validity = judged(&write(), &[steady_round(&[6, 6, 6, 6, 0, 0, 0, 0, 0, 0])]);
    assert_eq!(message(&validity, "Stalled"), "no operation completed in 6 of 10 s");
}

/// Case D9: a second without completions is a stall, and the last part of a second is none.
#[test]
fn a_part_of_a_second_is_not_judged() {
    let mut round = steady_round(&[1000; 11]);
    round.series[10].ops = 0;
    round.elapsed_micros = 10_400_000;
    assert_eq!(judged(&write(), &[round.clone()]).verdict, ValidityVerdict::Valid);
    round.series.remove(4);
    assert_eq!(message(&judged(&write(), &[round]), "Stalled"), "no operation completed in 1 of 10 s");
}

#[test]
fn a_rate_that_falls_within_the_window_is_no_steady_state() {
    let falling: Vec<u64> = (0..20).map(|second| 2000 - 20 * second).collect();
    let validity = judged(&point(Op::Write, 20), &[steady_round(&falling)]);
    assert_eq!((validity.verdict, codes(&validity)), (ValidityVerdict::Suspect, vec!["Trend"]));
    assert!(message(&validity, "Trend").starts_with("the rate fell by 21 % of its mean"), "{validity:?}");
    let noise: Vec<u64> = (0..20).map(|second| 1000 + (second * 7919 % 13) * 50 - 300).collect();
    assert_eq!(codes(&judged(&point(Op::Write, 20), &[steady_round(&noise)])), Vec::<&str>::new(), "{noise:?}");
}

#[test]
fn clients_begin_and_end_together() {
    let mut round = sound();
    round.start_spread_micros = 1_000_000;
    assert_eq!(judged(&write(), &[round.clone()]).verdict, ValidityVerdict::Valid);
    round.start_spread_micros = 1_200_000;
    assert_eq!(message(&judged(&write(), &[round]), "StartSpread"), "clients began 1.2 s apart, in a window of 10 s");
    let mut round = sound();
    round.clients.push(ClientRound { client: 1, elapsed_micros: 8_900_000, ..ClientRound::default() });
    let validity = judged_with(&write(), &[round], &[0, 1], 1);
    assert_eq!(message(&validity, "ClientsUneven"), "client 1 measured only 8.9 of 10 s, the rest went on");
}

#[test]
fn a_busy_client_may_be_the_limit() {
    let mut round = sound();
    round.clients[0].cpu_micros = 17_900_000;
    assert_eq!(judged_with(&write(), &[round.clone()], &[0], 2).verdict, ValidityVerdict::Valid);
    round.clients[0].cpu_micros = 18_100_000;
    let validity = judged_with(&write(), &[round], &[0], 2);
    assert_eq!((validity.verdict, codes(&validity)), (ValidityVerdict::Suspect, vec!["ClientBound"]));
}

/// One job has no time left while the messengers beside it have: five threads, and far from 90 % of them.
#[test]
fn one_busy_job_may_be_the_limit() {
    let mut round = sound();
    (round.clients[0].cpu_micros, round.clients[0].busiest_thread_micros) = (28_000_000, 8_900_000);
    assert_eq!(judged_with(&write(), &[round.clone()], &[0], 5).verdict, ValidityVerdict::Valid);
    round.clients[0].busiest_thread_micros = 9_700_000;
    let validity = judged_with(&write(), &[round.clone()], &[0], 5);
    assert_eq!((validity.verdict, codes(&validity)), (ValidityVerdict::Suspect, vec!["ClientBound"]));
    let text = "the busiest job of client 0 used 97 % of its thread's time: the bench may be the limit";
    assert_eq!(message(&validity, "ClientBound"), text);
    round.clients[0].cpu_micros = 48_000_000;
    assert_eq!(codes(&judged_with(&write(), &[round], &[0], 5)), ["ClientBound"], "said once");
}

#[test]
fn a_note_is_listed_and_changes_nothing() {
    let (point, rounds) = (write(), [sound()]);
    let total = figures::total(&point, &rounds).expect("sound rounds");
    let notes = ["data were read again".to_owned()];
    let evidence = Evidence { point: &point, rounds: &rounds, total: &total, clients: &[0], threads: 1, notes: &notes };
    let validity = judge_point(&evidence);
    assert_eq!((validity.verdict, message(&validity, "Note")), (ValidityVerdict::Valid, "data were read again"));
}

/// Case A10: a sequential read that wraps says so.
#[test]
fn data_that_were_read_again_are_named() {
    let mut round = sound();
    round.read = round.write.take();
    round.clients[0].wraps = 3;
    let validity = judged(&point(Op::Read, 10), &[round.clone()]);
    assert_eq!((validity.verdict, codes(&validity)), (ValidityVerdict::Valid, vec!["DataReadAgain"]));
    assert_eq!(judged(&point(Op::RandRead, 10), &[round]).reasons, []);
}

#[test]
fn a_ramp_that_the_byte_cap_ended_is_told() {
    let mut round = sound();
    round.clients[0].ramp_cut_micros = Some(1_270_000);
    let validity = judged(&Point { ramp_up_micros: 5_000_000, ..write() }, &[sound(), round]);
    assert_eq!(validity.verdict, ValidityVerdict::Valid);
    assert_eq!(message(&validity, "RampCut"), "the ramp was ended at 1.2 of 5 s: it had used a quarter of `bytes`");
}
