//! Requests to stop. A [`Stop`] is set once, by a signal or by whoever runs a conductor or a client in a thread, and looked at by all that
//! waits. Beside it stands one flag for the whole process, for what takes long where no `Stop` is at hand: preparations ask it.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

static ASKED: AtomicBool = AtomicBool::new(false);

/// True once the process should end soon and cleanly.
pub fn asked() -> &'static AtomicBool {
    &ASKED
}

#[derive(Debug)]
pub struct Stop {
    /// 0 until somebody asks; then the signal's number.
    signal: AtomicI32,
    whole_process: bool,
}

impl Stop {
    /// Stops one part of the process.
    pub const fn new() -> Stop {
        Stop { signal: AtomicI32::new(0), whole_process: false }
    }

    /// Stops preparations of the whole process with it. For a process that serves one test at a time.
    pub const fn of_process() -> Stop {
        Stop { signal: AtomicI32::new(0), whole_process: true }
    }

    /// Safe in a signal handler.
    pub fn ask(&self, signal: i32) {
        self.signal.store(signal, Relaxed);
        self.give_up();
    }

    /// Ends preparations, without a signal: what they prepare for will not happen.
    pub fn give_up(&self) {
        if self.whole_process {
            ASKED.store(true, Relaxed);
        }
    }

    /// The signal's name, once asked.
    pub fn asked(&self) -> Option<&'static str> {
        match self.signal.load(Relaxed) {
            0 => None,
            libc::SIGTERM => Some("SIGTERM"),
            libc::SIGINT => Some("SIGINT"),
            libc::SIGHUP => Some("SIGHUP"),
            _ => Some("a signal"),
        }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop::new()
    }
}
