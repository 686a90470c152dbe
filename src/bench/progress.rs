//! What a round has done so far, for progress lines: numbers that the jobs add to about twenty times a second and another thread reads
//! when it likes. Everything since the round began, ramp included; no figure of a report comes from here.

use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering::Relaxed};

/// Where a round is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Not started.
    #[default]
    Idle,
    /// Load applied, nothing counted.
    RampUp,
    Measuring,
    /// The window is over; what is in flight is waited for.
    Draining,
}

#[derive(Debug, Default)]
pub struct Progress {
    stage: AtomicU8,
    ops: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    in_flight: AtomicI64,
    latency_sum_nanos: AtomicU64,
    last_latency_nanos: AtomicU64,
}

/// One reading. The numbers are read one after the other, so they fit together only nearly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub stage: Stage,
    /// Operations that ended well.
    pub ops: u64,
    pub bytes: u64,
    pub errors: u64,
    pub in_flight: u64,
    /// Over `ops`.
    pub latency_sum_nanos: u64,
    pub last_latency_nanos: u64,
}

/// What one job adds at a time.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub ops: u64,
    pub bytes: u64,
    pub errors: u64,
    pub latency_sum_nanos: u64,
    pub last_latency_nanos: u64,
}

impl Progress {
    pub fn new() -> Progress {
        Progress::default()
    }

    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            stage: match self.stage.load(Relaxed) {
                1 => Stage::RampUp,
                2 => Stage::Measuring,
                3 => Stage::Draining,
                _ => Stage::Idle,
            },
            ops: self.ops.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            errors: self.errors.load(Relaxed),
            in_flight: self.in_flight.load(Relaxed).max(0) as u64,
            latency_sum_nanos: self.latency_sum_nanos.load(Relaxed),
            last_latency_nanos: self.last_latency_nanos.load(Relaxed),
        }
    }

    /// Back to nothing, for the next round.
    pub(super) fn reset(&self) {
        let Progress { stage, ops, bytes, errors, in_flight, latency_sum_nanos, last_latency_nanos } = self;
        stage.store(0, Relaxed);
        in_flight.store(0, Relaxed);
        for number in [ops, bytes, errors, latency_sum_nanos, last_latency_nanos] {
            number.store(0, Relaxed);
        }
    }

    /// Takes over the numbers of another, not its stage.
    pub(super) fn mirror(&self, other: &Progress) {
        let Progress { stage: _, ops, bytes, errors, in_flight, latency_sum_nanos, last_latency_nanos } = other;
        self.ops.store(ops.load(Relaxed), Relaxed);
        self.bytes.store(bytes.load(Relaxed), Relaxed);
        self.errors.store(errors.load(Relaxed), Relaxed);
        self.in_flight.store(in_flight.load(Relaxed), Relaxed);
        self.latency_sum_nanos.store(latency_sum_nanos.load(Relaxed), Relaxed);
        self.last_latency_nanos.store(last_latency_nanos.load(Relaxed), Relaxed);
    }

    pub(super) fn enter(&self, stage: Stage) {
        let number = match stage {
            Stage::Idle => 0,
            Stage::RampUp => 1,
            Stage::Measuring => 2,
            Stage::Draining => 3,
        };
        self.stage.store(number, Relaxed);
    }

    /// Adds a job's step and empties it. `in_flight` is the change of what the job has in flight.
    pub(super) fn add(&self, step: &mut Step, in_flight: i64) {
        let Step { ops, bytes, errors, latency_sum_nanos, last_latency_nanos } = std::mem::take(step);
        self.ops.fetch_add(ops, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        self.errors.fetch_add(errors, Relaxed);
        self.in_flight.fetch_add(in_flight, Relaxed);
        self.latency_sum_nanos.fetch_add(latency_sum_nanos, Relaxed);
        if ops > 0 {
            self.last_latency_nanos.store(last_latency_nanos, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_add_up_and_reset_empties() {
        let progress = Progress::new();
        progress.enter(Stage::Measuring);
        let mut step = Step { ops: 2, bytes: 8192, errors: 1, latency_sum_nanos: 30, last_latency_nanos: 20 };
        progress.add(&mut step, 4);
        progress.add(&mut step, -1);
        let expected = Snapshot {
            stage: Stage::Measuring,
            ops: 2,
            bytes: 8192,
            errors: 1,
            in_flight: 3,
            latency_sum_nanos: 30,
            last_latency_nanos: 20,
        };
        assert_eq!(progress.snapshot(), expected);
        progress.reset();
        assert_eq!(progress.snapshot(), Snapshot::default());
    }
}
