//! CPU time used so far, of the process and of one thread. Reading it neither allocates nor locks.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the process.
pub(super) fn process() -> Duration {
    read(ClockId::ProcessCPUTime)
}

/// CPU time of this thread.
pub(super) fn thread() -> Duration {
    read(ClockId::ThreadCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
