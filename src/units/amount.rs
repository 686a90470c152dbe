//! Amounts of a spec as numbers: sizes, rates, counts, shares. Every number is finite and not negative; what cannot be one is refused
//! with what was likely meant.

use super::AmountError;
use super::quantity::{NotWhole, Quantity, binary_sibling, grouped, with_value};
use crate::api::Amount;

/// Largest share that [`percent`] takes: more than ten times worse is no tolerance.
const MAX_PERCENT: f64 = 1000.0;

/// Bytes: a whole number, up to 2^63 − 1.
pub fn bytes(amount: &Amount) -> Result<u64, AmountError> {
    whole(amount, "bytes")
}

/// Bytes per second: a whole number, up to 2^63 − 1.
pub fn bandwidth(amount: &Amount) -> Result<u64, AmountError> {
    if let Amount::Text(text) = amount {
        refuse_bits(text)?;
    }
    whole(amount, "bytes per second")
}

/// A number of things that can only be whole.
pub fn count(amount: &Amount) -> Result<u64, AmountError> {
    whole(amount, "")
}

/// Operations per second: any number, such as `2000`, `10k` or `0.5`.
pub fn iops(amount: &Amount) -> Result<f64, AmountError> {
    let quantity = read(amount, "operations per second")?;
    Ok(quantity.value())
}

/// A share in percent: `5%` is 5.
pub fn percent(text: &str) -> Result<f64, AmountError> {
    let number = text.strip_suffix('%').ok_or_else(|| AmountError("has no percent sign; write 5%".into()))?;
    if number.trim() != number {
        return Err(AmountError(format!("has a space in it; write {}%", number.trim())));
    }
    let quantity = Quantity::parse(number)?;
    if quantity.below_one || !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(AmountError("is no plain number of percent; write 5% or 2.5%".into()));
    }
    let value = quantity.value();
    if value > MAX_PERCENT {
        return Err(AmountError(format!("is above {MAX_PERCENT}%")));
    }
    Ok(value)
}

/// What a container may use (`500m` of a CPU, `1Gi` of memory), in billionths: exact, so that equal amounts are equal.
pub fn resource(text: &str) -> Result<u128, AmountError> {
    Quantity::parse(text)?.times_ten_to(9).map_err(|error| {
        AmountError(match error {
            NotWhole::Fraction => "is finer than a billionth".into(),
            NotWhole::TooLarge => "is above the largest amount, 2^63 − 1".into(),
        })
    })
}

/// What people who write decimal suffixes for powers of two may have meant: for `4k`, `4Ki is 4,096`.
pub fn binary_hint(amount: &Amount) -> Option<(u64, String)> {
    let Amount::Text(text) = amount else { return None };
    let (number, suffix) = binary_sibling(text)?;
    let meant = format!("{number}{suffix}");
    let value = Quantity::parse(&meant).ok()?.whole().ok()?;
    Some((value, format!("{meant} is {}", grouped(value))))
}

fn whole(amount: &Amount, unit: &str) -> Result<u64, AmountError> {
    let quantity = read(amount, unit)?;
    quantity.whole().map_err(|error| {
        AmountError(match error {
            NotWhole::Fraction => format!("is {}{}, not a whole number", quantity.value(), spaced(unit)),
            NotWhole::TooLarge => "is above the largest amount, 2^63 − 1".into(),
        })
    })
}

fn read(amount: &Amount, unit: &str) -> Result<Quantity, AmountError> {
    let text = match amount {
        Amount::Number(number) => &number.to_string(),
        Amount::Text(text) => text,
    };
    let quantity = Quantity::parse(text)?;
    if quantity.below_one {
        return Err(tiny(text, &quantity, unit));
    }
    Ok(quantity)
}

/// `200m` where 200 million was meant.
fn tiny(text: &str, quantity: &Quantity, unit: &str) -> AmountError {
    let (number, suffix) = text.split_at(text.len() - 1);
    let is = format!("is {}{}", quantity.value(), spaced(unit));
    AmountError(match suffix {
        "m" => format!(
            "{is}, for m is a thousandth; did you mean {} or {}?",
            with_value(number, "M"),
            with_value(number, "Mi")
        ),
        _ => format!("{is}, for {suffix} is below a thousandth; did you mean {number}?"),
    })
}

/// Links are told in bits, bandwidths here in bytes.
fn refuse_bits(text: &str) -> Result<(), AmountError> {
    let lower = text.to_ascii_lowercase();
    let Some(end) = lower.find("bit").or_else(|| lower.find("bps").filter(|_| !text.contains('B'))) else {
        return Ok(());
    };
    let bits: String = text[..end].chars().filter(|c| !c.is_whitespace()).collect();
    let bits = bits.strip_suffix('m').map(|number| format!("{number}M")).unwrap_or(bits);
    let hint = match Quantity::parse(&bits).map(|quantity| quantity.whole()) {
        Ok(Ok(bits)) => format!("; {} bits are {} bytes", grouped(bits), grouped(bits / 8)),
        Ok(Err(_)) | Err(_) => String::new(),
    };
    Err(AmountError(format!("is in bits; a bandwidth is in bytes per second{hint}")))
}

fn spaced(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}
