//! Kubernetes' grammar for quantities, exact: no floating point takes part in reading one.
//!
//! A number (`4`, `1.5`, `.5`, `+4`) and at most one suffix: a binary one (Ki, Mi, Gi, Ti, Pi, Ei: powers of 1,024), a decimal one (n, u, m,
//! k, M, G, T, P, E: powers of 1,000; m is a thousandth) or an exponent (`1e3`). Negative amounts have no meaning here and are refused.

use super::AmountError;

/// Longest text that is looked at, so that no number overflows on its way.
const MAX_LENGTH: usize = 36;
const MAX_EXPONENT: i32 = 99;

const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
const DECIMAL: [(&str, i32); 9] =
    [("n", -9), ("u", -6), ("m", -3), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

/// An amount read: `digits` × 10^`ten` × 2^`two`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    digits: u128,
    ten: i32,
    two: u32,
    /// Whether a suffix below one was used (n, u, m).
    pub(super) below_one: bool,
}

/// Why a quantity is not a whole number that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotWhole {
    Fraction,
    /// Above 2^63 − 1, the largest that Kubernetes' integers hold.
    TooLarge,
}

impl Quantity {
    pub(super) fn parse(text: &str) -> Result<Self, AmountError> {
        let (number, suffix) = split(text)?;
        let mut quantity = unsuffixed(number)?;
        if suffix.is_empty() {
        } else if let Some((_, two)) = BINARY.iter().find(|(name, _)| *name == suffix) {
            quantity.two = *two;
        } else if let Some((_, ten)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
            quantity.ten += ten;
            quantity.below_one = *ten < 0;
        } else if let Some(exponent) = suffix.strip_prefix(['e', 'E']).and_then(exponent) {
            quantity.ten += exponent?;
        } else {
            return Err(unknown_suffix(number, suffix));
        }
        Ok(quantity)
    }

    /// The value where it is a whole number of at most 2^63 − 1.
    pub(super) fn whole(&self) -> Result<u64, NotWhole> {
        let whole = self.times_ten_to(0)?;
        if whole > i64::MAX as u128 { Err(NotWhole::TooLarge) } else { Ok(whole as u64) }
    }

    /// The value times 10^`power`, exact.
    pub(super) fn times_ten_to(&self, power: i32) -> Result<u128, NotWhole> {
        let Self { mut digits, ten, mut two, below_one: _ } = *self;
        let mut ten = ten + power;
        if digits == 0 {
            return Ok(0);
        }
        while ten < 0 {
            if !digits.is_multiple_of(5) {
                return Err(NotWhole::Fraction);
            }
            digits /= 5;
            if two > 0 {
                two -= 1;
            } else if digits.is_multiple_of(2) {
                digits /= 2;
            } else {
                return Err(NotWhole::Fraction);
            }
            ten += 1;
        }
        for _ in 0..ten {
            digits = digits.checked_mul(10).ok_or(NotWhole::TooLarge)?;
        }
        digits.checked_mul(1 << two).ok_or(NotWhole::TooLarge)
    }

    /// The value as the nearest number: always finite.
    pub(super) fn value(&self) -> f64 {
        let decimal: f64 = format!("{}e{}", self.digits, self.ten).parse().expect("digits and a bounded exponent");
        decimal * (1u64 << self.two) as f64
    }
}

/// Cuts a text into number and suffix.
fn split(text: &str) -> Result<(&str, &str), AmountError> {
    if text.is_empty() {
        return Err(AmountError("is empty; write an amount such as 4Ki".into()));
    }
    if text.len() > MAX_LENGTH {
        return Err(AmountError(format!("is longer than {MAX_LENGTH} characters; write an amount such as 4Ki")));
    }
    let plain = text.trim_start_matches(['+', '-', '.']).to_ascii_lowercase();
    if plain == "nan" || plain.starts_with("inf") {
        return Err(AmountError("is no number that anything can be held against".into()));
    }
    if text.starts_with(['-', '−']) {
        return Err(AmountError("is negative; an amount is zero or more".into()));
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    if !number.contains(|c: char| c.is_ascii_digit()) {
        return Err(AmountError("does not begin with a number; write an amount such as 4Ki".into()));
    }
    let bare = suffix.trim();
    if bare.len() != suffix.len() {
        return Err(AmountError(format!("has a space in it; write {number}{bare}")));
    }
    if suffix.starts_with([',', '_', '\'']) {
        let digits: String = unsigned.chars().filter(char::is_ascii_alphanumeric).collect();
        return Err(AmountError(format!("has separators between its digits; write {digits}")));
    }
    Ok((number, suffix))
}

/// Reads digits with at most one point among them.
fn unsuffixed(number: &str) -> Result<Quantity, AmountError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') {
        return Err(AmountError("has more than one decimal point".into()));
    }
    let digits = format!("{whole}{fraction}").parse().expect("at most 36 digits, at least one");
    Ok(Quantity { digits, ten: -(fraction.len() as i32), two: 0, below_one: false })
}

/// Reads what follows an `e`: nothing if it is no exponent at all.
fn exponent(text: &str) -> Option<Result<i32, AmountError>> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(match text.parse::<i32>() {
        Ok(exponent) if exponent.abs() <= MAX_EXPONENT => Ok(exponent),
        Ok(_) | Err(_) => Err(AmountError(format!("has an exponent beyond ±{MAX_EXPONENT}"))),
    })
}

fn unknown_suffix(number: &str, suffix: &str) -> AmountError {
    let lower = suffix.to_ascii_lowercase();
    let bare = lower.trim_end_matches("/s").trim_end_matches("ps").trim_end_matches("ytes").trim_end_matches("yte");
    let bare = bare.strip_suffix('b').unwrap_or(bare);
    let (letter, binary_only) = match bare.strip_suffix('i') {
        Some(letter) => (letter, true),
        None => (bare, false),
    };
    if letter.is_empty() && lower.starts_with('b') {
        return AmountError(format!("{suffix} is no suffix; bytes have none, write {number}"));
    }
    let Some((binary, _)) = BINARY.iter().find(|(name, _)| name[..1].eq_ignore_ascii_case(letter)) else {
        return AmountError(format!("{suffix} is no suffix; use Ki, Mi, Gi, Ti, Pi, Ei or k, M, G, T, P, E"));
    };
    let decimal = if *binary == "Ki" { "k" } else { &binary[..1] };
    let mut ways = vec![with_value(number, binary)];
    if !binary_only {
        ways.push(with_value(number, decimal));
    }
    AmountError(format!("{suffix} is no suffix; write {}", ways.join(" or ")))
}

/// An amount beside its value, for hints: `4Ki (4,096)`.
pub(super) fn with_value(number: &str, suffix: &str) -> String {
    let text = format!("{number}{suffix}");
    match Quantity::parse(&text).map(|quantity| quantity.whole()) {
        Ok(Ok(value)) => format!("{text} ({})", grouped(value)),
        Ok(Err(_)) | Err(_) => text,
    }
}

/// An amount with a decimal suffix as its number and the binary suffix that people may have meant: `4k` → `4`, `Ki`.
pub(super) fn binary_sibling(text: &str) -> Option<(&str, &'static str)> {
    let (number, suffix) = split(text).ok()?;
    let (binary, _) = BINARY.iter().find(|(name, _)| !suffix.is_empty() && name[..1].eq_ignore_ascii_case(suffix))?;
    Some((number, binary))
}

/// A whole number with separators between its thousands: `4,096`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A whole number as the shortest exact quantity: `4Ki`, `10G`, `4097`. Reads back as the same number.
pub fn quantity_text(number: u64) -> String {
    if number == 0 {
        return "0".into();
    }
    for (suffix, two) in BINARY.iter().rev() {
        if number.is_multiple_of(1 << two) {
            return format!("{}{suffix}", number >> two);
        }
    }
    for (suffix, ten) in DECIMAL.iter().rev().filter(|(_, ten)| *ten > 0) {
        let unit = 10u64.pow(*ten as u32);
        if number.is_multiple_of(unit) {
            return format!("{}{suffix}", number / unit);
        }
    }
    number.to_string()
}
