//! The part of a file or device that one job works on.

use std::fs::File;
use std::sync::Arc;

use crate::bench::engine::Direction;
use crate::sys::Way;

/// A file opened for direct I/O, and the job's range in it.
#[derive(Clone)]
pub struct Region {
    pub file: Arc<File>,
    /// Bytes from the start of the file.
    pub base: u64,
    pub size: u64,
    /// Decides what is written.
    pub seed: u64,
}

pub(super) fn way(direction: Direction) -> Way {
    match direction {
        Direction::Read => Way::Read,
        Direction::Write => Way::Write,
    }
}

/// A completion's result out of the kernel's: bytes, or a negative error number.
pub(super) fn result(kernel: i32) -> Result<u32, i32> {
    u32::try_from(kernel).map_err(|_| -kernel)
}
