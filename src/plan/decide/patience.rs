//! How long each thing is waited for, in seconds. Nothing waits for ever.

use k8s_openapi::jiff::Timestamp;

/// A pod that can't be scheduled, an image that does not come, a volume that does not mount: from when its cause is known.
pub const TROUBLE: i64 = 60;
/// A pod that does not start, without a cause: a large image may still be on its way.
pub const START: i64 = 600;
/// A conductor that runs and does not say where it listens.
pub const ADDRESS: i64 = 60;
/// The report container, after the bench has stopped; and reading its log.
pub const REPORT: i64 = 60;
/// The conductor's own word on why a client is gone.
pub const EXPLANATION: i64 = 30;
/// A pool that Rook makes: it takes about 7 s, and up to 80 s while Rook is busy with the cluster itself.
pub const POOL: i64 = 180;
/// A CephX user that Rook makes: 2 to 15 s.
pub const USER: i64 = 120;
/// An object that was asked to go.
pub const REMOVAL: i64 = 90;
/// Sweeping up after a client that was killed.
pub const SWEEP: i64 = 120;
/// Between looks while another run has the cluster.
pub const QUEUE: u64 = 5;
/// Between tries to remove what did not go.
pub const LEFT_BEHIND: u64 = 20;

pub fn seconds_between(earlier: Timestamp, later: Timestamp) -> i64 {
    later.as_second() - earlier.as_second()
}
