//! What a test will take, before anything runs: points, time, bytes, space and memory.

use super::PlannedTest;

/// Upper bounds where there are any; over all rounds and points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub points: u64,
    /// Ramps and measuring. Preparation (filling a file, making a pool) comes on top and is not known beforehand.
    pub seconds: u64,
    /// Written by all clients, preparation included. Absent when only time ends the writing.
    pub bytes_written_max: Option<u64>,
    /// Read by all clients. Absent when only time ends the reading.
    pub bytes_read_max: Option<u64>,
    /// Disk: needed per client on its node. RADOS: needed in the pool by all clients, before replication.
    pub space: u64,
    /// Buffers of one client at its largest point.
    pub buffer_memory: u64,
}

/// What `test` will take with this many clients, each on a node of its own.
pub fn estimate(_test: &PlannedTest, _clients: u32) -> Estimate {
    todo!("estimate")
}
