//! What people write, and what it is taken for.

use proptest::prelude::*;

use super::*;
use crate::api::{Amount, Time};

fn text(text: &str) -> Amount {
    Amount::Text(text.into())
}

fn refusal<T: std::fmt::Debug>(result: Result<T, AmountError>) -> String {
    result.expect_err("refused").0
}

#[test]
fn sizes_are_exact() {
    for (written, bytes_read) in [
        ("0", 0),
        ("4096", 4096),
        ("+4096", 4096),
        ("4Ki", 4096),
        ("4k", 4000),
        ("1.5Gi", 1_610_612_736),
        (".5Ki", 512),
        ("5.", 5),
        ("1e3", 1000),
        ("1E3", 1000),
        ("2000e-3", 2),
        ("1E", 1_000_000_000_000_000_000),
        ("7Ei", 7 << 60),
        ("10G", 10_000_000_000),
        ("0.0009765625Ki", 1),
        ("9223372036854775807", i64::MAX as u64),
    ] {
        assert_eq!(bytes(&text(written)), Ok(bytes_read), "{written}");
    }
    assert_eq!(bytes(&Amount::Number(4096)), Ok(4096));
}

#[test]
fn sizes_that_cannot_be_are_refused_with_what_was_meant() {
    for (written, says) in [
        ("4K", "K is no suffix; write 4Ki (4,096) or 4k (4,000)"),
        ("1.5KB", "KB is no suffix; write 1.5Ki (1,536) or 1.5k (1,500)"),
        ("4MiB", "MiB is no suffix; write 4Mi (4,194,304)"),
        ("4mi", "mi is no suffix; write 4Mi (4,194,304)"),
        ("4g", "g is no suffix; write 4Gi (4,294,967,296) or 4G (4,000,000,000)"),
        ("4bytes", "bytes is no suffix; bytes have none, write 4"),
        ("4B", "B is no suffix; bytes have none, write 4"),
        ("4X", "X is no suffix; use Ki, Mi, Gi, Ti, Pi, Ei or k, M, G, T, P, E"),
        ("4 Ki", "has a space in it; write 4Ki"),
        ("4,096", "has separators between its digits; write 4096"),
        ("1.2.3", "has more than one decimal point"),
        ("1e", "e is no suffix; write 1Ei (1,152,921,504,606,846,976) or 1E (1,000,000,000,000,000,000)"),
        ("1e999", "has an exponent beyond ±99"),
        ("nan", "is no number that anything can be held against"),
        ("-inf", "is no number that anything can be held against"),
        ("Infinity", "is no number that anything can be held against"),
        (".nan", "is no number that anything can be held against"),
        ("-5", "is negative; an amount is zero or more"),
        ("−5", "is negative; an amount is zero or more"),
        ("", "is empty; write an amount such as 4Ki"),
        ("Ki", "does not begin with a number; write an amount such as 4Ki"),
        ("1.5", "is 1.5 bytes, not a whole number"),
        ("9Ei", "is above the largest amount, 2^63 − 1"),
        ("1e40", "is above the largest amount, 2^63 − 1"),
        ("200m", "is 0.2 bytes, for m is a thousandth; did you mean 200M (200,000,000) or 200Mi (209,715,200)?"),
        ("4000m", "is 4 bytes, for m is a thousandth; did you mean 4000M (4,000,000,000) or 4000Mi (4,194,304,000)?"),
    ] {
        assert_eq!(refusal(bytes(&text(written))), says, "{written}");
    }
    assert_eq!(refusal(bytes(&Amount::Number(-5))), "is negative; an amount is zero or more");
}

#[test]
fn d2_bandwidth_in_thousandths_is_told_what_it_is() {
    let says = refusal(bandwidth(&text("200m")));
    assert_eq!(
        says,
        "is 0.2 bytes per second, for m is a thousandth; did you mean 200M (200,000,000) or 200Mi (209,715,200)?"
    );
    assert_eq!(bandwidth(&text("200Mi")), Ok(209_715_200));
}

#[test]
fn bits_are_not_bytes() {
    let says = "is in bits; a bandwidth is in bytes per second; 10,000,000,000 bits are 1,250,000,000 bytes";
    for written in ["10Gbit/s", "10Gbps", "10 Gbit"] {
        assert_eq!(refusal(bandwidth(&text(written))), says, "{written}");
    }
    assert!(refusal(bandwidth(&text("200MB/s"))).starts_with("MB/s is no suffix; write 200Mi"));
}

#[test]
fn d2_a_latency_has_a_unit() {
    assert_eq!(refusal(latency(&Amount::Number(20))), "has no unit; did you mean 20s, 20ms or 20us?");
    assert_eq!(refusal(latency(&text("20"))), "has no unit; did you mean 20s, 20ms or 20us?");
    assert_eq!(latency(&text("20ms")).map(|time| time.as_micros()), Ok(20_000));
}

#[test]
fn d2_percents_that_disarm_a_threshold_are_refused() {
    assert_eq!(percent("5%"), Ok(5.0));
    assert_eq!(percent("2.5%"), Ok(2.5));
    assert_eq!(percent("0%"), Ok(0.0));
    assert_eq!(refusal(percent("nan%")), "is no number that anything can be held against");
    assert_eq!(refusal(percent("inf%")), "is no number that anything can be held against");
    assert_eq!(refusal(percent("-5%")), "is negative; an amount is zero or more");
    assert_eq!(refusal(percent("5")), "has no percent sign; write 5%");
    assert_eq!(refusal(percent("5m%")), "is no plain number of percent; write 5% or 2.5%");
    assert_eq!(refusal(percent("5 %")), "has a space in it; write 5%");
    assert_eq!(refusal(percent("1e9%")), "is no plain number of percent; write 5% or 2.5%");
    assert_eq!(refusal(percent("1001%")), "is above 1000%");
}

#[test]
fn numbers_of_operations_may_be_quantities() {
    assert_eq!(iops(&Amount::Number(2000)), Ok(2000.0));
    assert_eq!(iops(&text("10k")), Ok(10_000.0));
    assert_eq!(iops(&text("0.5")), Ok(0.5));
    assert!(refusal(iops(&text("10m"))).starts_with("is 0.01 operations per second, for m is a thousandth"));
    assert_eq!(count(&Amount::Number(0)), Ok(0));
    assert_eq!(refusal(count(&text("0.5"))), "is 0.5, not a whole number");
}

#[test]
fn times_are_whole_numbers_with_units() {
    for (written, micros) in
        [("90s", 90_000_000), ("1m30s", 90_000_000), ("1h30m", 5_400_000_000), ("20ms", 20_000), ("0s", 0)]
    {
        assert_eq!(time(&Time(written.into())).map(|time| time.as_micros()), Ok(micros), "{written}");
    }
    for (written, says) in [
        ("", "is empty; write a time such as 60s"),
        ("-5s", "is negative; a time is zero or more"),
        ("1.5s", "is no whole number of its unit; write 1s500ms"),
        ("0.5ms", "is no whole number of its unit; write 500us"),
        ("0.5us", "is no whole number of its unit; take a smaller unit: h, m, s, ms, us"),
        ("20 ms", "\" ms\" is no unit; write 20ms"),
        ("20µs", "\"µs\" is no unit; write 20us"),
        ("2min", "\"min\" is no unit; write 2m"),
        ("2d", "\"d\" is no unit; write 48h"),
        ("20ns", "\"ns\" is no unit; use h, m, s, ms or us"),
        ("1m30", "has a number without a unit at its end: 30"),
        ("30s1m", "has its units in the wrong order, or one twice; largest first, such as 1h30m"),
        ("5s5s", "has its units in the wrong order, or one twice; largest first, such as 1h30m"),
        ("99999999999999999999h", "is longer than any time"),
        ("s", "is no time; write a whole number and a unit, such as 60s, 1h30m, 20ms or 500us"),
    ] {
        assert_eq!(refusal(time(&Time(written.into()))), says, "{written}");
    }
}

#[test]
fn d2_decimal_thousands_have_a_binary_sibling() {
    assert_eq!(binary_hint(&text("4k")), Some((4096, "4Ki is 4,096".into())));
    assert_eq!(binary_hint(&text("10G")), Some((10_737_418_240, "10Gi is 10,737,418,240".into())));
    assert_eq!(binary_hint(&text("4Ki")), None);
    assert_eq!(binary_hint(&text("4000")), None);
    assert_eq!(binary_hint(&Amount::Number(4000)), None);
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(written in ".{0,40}") {
        let amount = Amount::Text(written.clone());
        let _ = (bytes(&amount), bandwidth(&amount), count(&amount), latency(&amount), percent(&written), binary_hint(&amount));
        if let Ok(value) = iops(&amount) {
            prop_assert!(value.is_finite() && value >= 0.0);
        }
    }

    #[test]
    fn no_number_like_text_makes_reading_panic(written in r"[+-]?[0-9]{0,40}\.?[0-9]{0,30}([eE][+-]?[0-9]{0,12}|[numkKMGTPE]?i?)[Bb]?%?") {
        let amount = Amount::Text(written.clone());
        let _ = (bytes(&amount), bandwidth(&amount), count(&amount), latency(&amount), percent(&written));
        if let Ok(value) = iops(&amount) {
            prop_assert!(value.is_finite() && value >= 0.0);
        }
    }

    #[test]
    fn sizes_read_back_as_printed(number in 0..=i64::MAX as u64, shift in 0u32..63) {
        for number in [number, number >> shift << shift] {
            prop_assert_eq!(bytes(&Amount::Text(quantity_text(number))), Ok(number));
            prop_assert_eq!(bytes(&Amount::Text(number.to_string())), Ok(number));
            prop_assert_eq!(bytes(&Amount::Number(number as i64)), Ok(number));
        }
    }

    #[test]
    fn whole_sizes_agree_with_plain_arithmetic(number in 0u64..1 << 23, suffix in 0usize..12) {
        let (suffix, unit) = [
            ("Ki", 1u64 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30), ("Ti", 1 << 40), ("k", 1000), ("M", 1_000_000),
            ("G", 1_000_000_000), ("T", 1_000_000_000_000), ("", 1), ("e3", 1000), ("E6", 1_000_000), ("e0", 1),
        ][suffix];
        prop_assert_eq!(bytes(&text(&format!("{number}{suffix}"))), Ok(number * unit));
        prop_assert_eq!(iops(&text(&format!("{number}{suffix}"))), Ok((number * unit) as f64));
    }

    #[test]
    fn times_read_back_as_printed(micros in 0..u64::MAX / 2) {
        let duration = std::time::Duration::from_micros(micros);
        prop_assert_eq!(time(&Time(time_as_written(duration))), Ok(duration));
    }
}
