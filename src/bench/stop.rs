//! Whether this process was asked to stop. One flag for all that takes long: a signal handler sets it, rounds take it as their `cancel`,
//! preparations ask it.

use std::sync::atomic::AtomicBool;

static ASKED: AtomicBool = AtomicBool::new(false);

/// True once the process should end soon and cleanly.
pub fn asked() -> &'static AtomicBool {
    &ASKED
}
