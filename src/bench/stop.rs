//! A request to stop: set once, by a signal or by whoever runs the bench in a thread, and looked at by everything that waits.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// 0 until somebody asks; then the signal's number.
#[derive(Debug, Default)]
pub struct Stop(AtomicI32);

impl Stop {
    pub const fn new() -> Stop {
        Stop(AtomicI32::new(0))
    }

    /// Safe in a signal handler.
    pub fn ask(&self, signal: i32) {
        self.0.store(signal, Relaxed);
    }

    /// The signal's name, once asked.
    pub fn asked(&self) -> Option<&'static str> {
        match self.0.load(Relaxed) {
            0 => None,
            libc::SIGTERM => Some("SIGTERM"),
            libc::SIGINT => Some("SIGINT"),
            _ => Some("a signal"),
        }
    }
}
