//! The lists that sweep: each entry read and bounded, none twice.

use super::super::problem::{Problems, quoted, written};
use crate::api::{Amount, Op};
use crate::units::{self, AmountError, binary_hint, grouped, quantity_text};

/// Points of one test, at most.
pub const MAX_POINTS: usize = 512;
/// Bytes at which a client's writes to RADOS end in one round where the workload says nothing.
pub const RADOS_DEFAULT_BYTES: u64 = 4 << 30;

/// What sizes are possible.
pub(super) struct Bounds {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) multiple: u64,
}

/// Sizes in bytes. Absent when an entry was refused.
pub(super) fn sizes(
    field: &str,
    list: &[Amount],
    bounds: &Bounds,
    default: u64,
    problems: &mut Problems,
) -> Option<Vec<u64>> {
    entries(field, list, problems, default, written, |amount| size(amount, bounds))
}

/// Counts of 1 to `max`. Absent when an entry was refused.
pub(super) fn numbers(field: &str, list: &[u32], max: u32, default: u32, problems: &mut Problems) -> Option<Vec<u32>> {
    entries(field, list, problems, default, u32::to_string, |number| {
        let fits = (1..=max).contains(number);
        fits.then_some(*number).ok_or_else(|| AmountError(format!("1 to {max} are possible")))
    })
}

/// Operations that the kind has. Absent when an entry was refused.
pub(super) fn ops(field: &str, list: &[Op], kind: &str, possible: &[Op], problems: &mut Problems) -> Option<Vec<Op>> {
    let mut read = Vec::with_capacity(list.len());
    let before = problems.0.len();
    for (index, op) in list.iter().enumerate() {
        let at = format!("{field}[{index}]");
        if !possible.contains(op) {
            let names: Vec<&str> = possible.iter().map(|op| op_name(*op)).collect();
            problems.add(at, quoted(op_name(*op)), format!("{kind} does not have it; it has {}", names.join(", ")));
        } else if let Some(first) = list[..index].iter().position(|earlier| earlier == op) {
            problems.add(at, quoted(op_name(*op)), format!("is {field}[{first}] too; write it once"));
        } else {
            read.push(*op);
        }
    }
    (problems.0.len() == before).then_some(read)
}

pub(super) fn op_name(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::RandRead => "randread",
        Op::RandWrite => "randwrite",
    }
}

/// Reads every entry; refuses one that equals an earlier one however it is written (`4096`, `4Ki`).
fn entries<W, T: PartialEq>(
    field: &str,
    list: &[W],
    problems: &mut Problems,
    default: T,
    show: impl Fn(&W) -> String,
    read: impl Fn(&W) -> Result<T, AmountError>,
) -> Option<Vec<T>> {
    if list.is_empty() {
        return Some(vec![default]);
    }
    let mut values: Vec<Option<T>> = Vec::with_capacity(list.len());
    for (index, entry) in list.iter().enumerate() {
        let at = format!("{field}[{index}]");
        let value = problems.keep(&at, show(entry), read(entry));
        let first = value.as_ref().and_then(|value| values.iter().position(|earlier| earlier.as_ref() == Some(value)));
        match first {
            Some(first) => {
                problems.add(at, show(entry), format!("is the same as {field}[{first}]; write it once"));
                values.push(None);
            }
            None => values.push(value),
        }
    }
    values.into_iter().collect()
}

fn size(amount: &Amount, bounds: &Bounds) -> Result<u64, AmountError> {
    let Bounds { min, max, multiple } = *bounds;
    let bytes = units::bytes(amount)?;
    if bytes < min || bytes > max {
        let range = format!("{} to {} are possible", quantity_text(min), quantity_text(max));
        return Err(AmountError(format!("is {} bytes; {range}", grouped(bytes))));
    }
    if bytes.is_multiple_of(multiple) {
        return Ok(bytes);
    }
    let hint = binary_hint(amount).filter(|(value, _)| (min..=max).contains(value) && value.is_multiple_of(multiple));
    let hint = hint.map_or_else(|| neighbours(bytes, bounds), |(_, hint)| hint);
    Err(AmountError(format!("is {} bytes, no multiple of {multiple}; {hint}", grouped(bytes))))
}

fn neighbours(bytes: u64, bounds: &Bounds) -> String {
    let below = bytes - bytes % bounds.multiple;
    format!("{} and {} are", grouped(below), grouped(below + bounds.multiple))
}
