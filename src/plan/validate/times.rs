//! Ramp, duration and rounds: from the workload, else from `spec.defaults`, else as the API says.

use std::time::Duration;

use super::super::problem::{Problems, quoted};
use crate::api::{Defaults, Time, Workload};
use crate::units::{self, AmountError, time_as_written};

const DEFAULT_RAMP_UP: Duration = Duration::from_secs(5);
const DEFAULT_DURATION: Duration = Duration::from_secs(60);
const DEFAULT_ROUNDS: u32 = 3;
const MAX_RAMP_UP: Duration = Duration::from_secs(3600);
const MIN_DURATION: Duration = Duration::from_secs(1);
/// A week: soak tests run for days.
const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 3600);
const MAX_ROUNDS: u32 = 20;

/// When a point is measured and how often. A part that was refused stands at its default; the refusal is among the problems.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) ramp_up: Duration,
    pub(super) duration: Duration,
    pub(super) rounds: u32,
}

pub(super) fn defaults(defaults: Option<&Defaults>, problems: &mut Problems) -> Times {
    let builtin = Times { ramp_up: DEFAULT_RAMP_UP, duration: DEFAULT_DURATION, rounds: DEFAULT_ROUNDS };
    let Some(Defaults { ramp_up, duration, rounds }) = defaults else { return builtin };
    over(builtin, "spec.defaults", ramp_up.as_ref(), duration.as_ref(), *rounds, problems)
}

pub(super) fn of_workload(field: &str, workload: &Workload, defaults: &Times, problems: &mut Problems) -> Times {
    over(*defaults, field, workload.ramp_up.as_ref(), workload.duration.as_ref(), workload.rounds, problems)
}

fn over(
    base: Times,
    field: &str,
    ramp_up: Option<&Time>,
    duration: Option<&Time>,
    rounds: Option<u32>,
    problems: &mut Problems,
) -> Times {
    let mut read = |name: &str, time: Option<&Time>, min: Duration, max: Duration| {
        let time = time?;
        problems.keep(&format!("{field}.{name}"), quoted(&time.0), between(time, min, max))
    };
    let ramp_up = read("rampUp", ramp_up, Duration::ZERO, MAX_RAMP_UP).unwrap_or(base.ramp_up);
    let duration = read("duration", duration, MIN_DURATION, MAX_DURATION).unwrap_or(base.duration);
    if let Some(rounds) = rounds.filter(|rounds| !(1..=MAX_ROUNDS).contains(rounds)) {
        problems.add(format!("{field}.rounds"), rounds.to_string(), format!("1 to {MAX_ROUNDS} are possible"));
    }
    Times { ramp_up, duration, rounds: rounds.unwrap_or(base.rounds) }
}

fn between(time: &Time, min: Duration, max: Duration) -> Result<Duration, AmountError> {
    let duration = units::time(time)?;
    if duration < min || duration > max {
        return Err(AmountError(format!("{} to {} are possible", time_as_written(min), time_as_written(max))));
    }
    Ok(duration)
}
