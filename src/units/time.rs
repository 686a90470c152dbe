//! Lengths of time of a spec: whole numbers with units, largest first.

use std::time::Duration;

use super::AmountError;
use crate::api::{Amount, Time};

/// Largest first, in microseconds.
const UNITS: [(&str, u64); 5] = [("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1_000), ("us", 1)];

/// A length of time, such as `90s` or `1h30m`.
pub fn time(time: &Time) -> Result<Duration, AmountError> {
    parse(&time.0)
}

/// A latency: a length of time, always with its unit.
pub fn latency(amount: &Amount) -> Result<Duration, AmountError> {
    match amount {
        Amount::Number(number) => parse(&number.to_string()),
        Amount::Text(text) => parse(text),
    }
}

/// A length of time as a spec would have it: `1h30m`, `20ms`. Reads back as the same time.
pub fn time_as_written(time: Duration) -> String {
    let mut rest = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    if rest == 0 {
        return "0s".into();
    }
    let mut text = String::new();
    for (unit, micros) in UNITS {
        if rest >= micros {
            text.push_str(&format!("{}{unit}", rest / micros));
            rest %= micros;
        }
    }
    text
}

fn parse(text: &str) -> Result<Duration, AmountError> {
    if text.is_empty() {
        return Err(AmountError("is empty; write a time such as 60s".into()));
    }
    if text.starts_with(['-', '−']) {
        return Err(AmountError("is negative; a time is zero or more".into()));
    }
    let mut rest = text;
    let mut micros: u64 = 0;
    let mut allowed = &UNITS[..];
    while !rest.is_empty() {
        let (number, unit, after) = next_part(text, rest)?;
        let Some(at) = allowed.iter().position(|(name, _)| *name == unit) else {
            let known = UNITS.iter().any(|(name, _)| *name == unit);
            return Err(if known { wrong_order() } else { unknown_unit(text, number, unit) });
        };
        let part = number.parse::<u64>().ok().and_then(|number| number.checked_mul(allowed[at].1));
        let sum = part.and_then(|part| micros.checked_add(part));
        micros = sum.ok_or_else(|| AmountError("is longer than any time".into()))?;
        allowed = &allowed[at + 1..];
        rest = after;
    }
    Ok(Duration::from_micros(micros))
}

/// Cuts the next number and unit off.
fn next_part<'t>(text: &str, rest: &'t str) -> Result<(&'t str, &'t str, &'t str), AmountError> {
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, after) = rest.split_at(digits);
    if number.is_empty() {
        return Err(AmountError(
            "is no time; write a whole number and a unit, such as 60s, 1h30m, 20ms or 500us".into(),
        ));
    }
    let letters = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
    let (unit, after) = after.split_at(letters);
    if unit.is_empty() {
        return Err(AmountError(if number == text {
            format!("has no unit; did you mean {number}s, {number}ms or {number}us?")
        } else {
            format!("has a number without a unit at its end: {number}")
        }));
    }
    Ok((number, unit, after))
}

fn wrong_order() -> AmountError {
    AmountError("has its units in the wrong order, or one twice; largest first, such as 1h30m".into())
}

fn unknown_unit(text: &str, number: &str, unit: &str) -> AmountError {
    if unit.starts_with(['.', ',']) {
        return AmountError(match smaller(text) {
            Some(whole) => format!("is no whole number of its unit; write {whole}"),
            None => "is no whole number of its unit; take a smaller unit: h, m, s, ms, us".into(),
        });
    }
    let meant = match unit.trim().to_lowercase().as_str() {
        "h" | "hr" | "hrs" | "hour" | "hours" => Some(format!("{number}h")),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(format!("{number}m")),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(format!("{number}s")),
        "ms" | "msec" | "milli" | "millis" | "milliseconds" => Some(format!("{number}ms")),
        "us" | "µs" | "μs" | "usec" | "micros" | "microseconds" => Some(format!("{number}us")),
        "d" | "day" | "days" => {
            number.parse::<u64>().ok().and_then(|days| days.checked_mul(24)).map(|h| format!("{h}h"))
        }
        _ => None,
    };
    AmountError(match meant {
        Some(meant) => format!("{unit:?} is no unit; write {meant}"),
        None => format!("{unit:?} is no unit; use h, m, s, ms or us"),
    })
}

/// `1.5s` in whole numbers, where microseconds can say it.
fn smaller(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(end);
    let (_, micros) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let (whole, fraction) = number.split_once('.')?;
    let scale = 10u64.checked_pow(fraction.len() as u32)?;
    let digits: u64 = format!("{whole}{fraction}").parse().ok()?;
    let scaled = digits.checked_mul(*micros)?;
    scaled.is_multiple_of(scale).then(|| time_as_written(Duration::from_micros(scaled / scale)))
}
