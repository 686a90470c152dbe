//! What conductor and clients say to each other: the messages, how they are framed, and how each proves that it knows the run's token.
//! Who says what when is not here: see [`super::conductor`] and [`super::client`].

mod auth;
mod frame;

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use auth::{Nonce, Proof, Token, TokenError};
pub use frame::{FrameError, MAX_FRAME, MAX_GREETING, read_frame, read_frame_before, write_frame};

use super::progress::{Snapshot, Stage};
use crate::contract::{RoundReport, Task};

/// Version of the messages. Both sides must have the same.
pub const PROTOCOL: u32 = 1;

/// The conductor's first frame on a connection.
#[derive(Debug, Deserialize, Serialize)]
pub struct Hello {
    pub protocol: u32,
    /// For messages to people.
    pub program: String,
    pub nonce: Nonce,
}

/// The client's first frame.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Register {
    pub protocol: u32,
    pub program: String,
    pub nonce: Nonce,
    pub claim: Claim,
    /// Over both nonces and the claim.
    pub proof: Proof,
}

/// Who a client says it is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Claim {
    pub run: String,
    pub test: String,
    pub client: u32,
    pub uid: String,
    /// Where the other clients reach this one; absent: at the address it comes from.
    pub advertise: Option<IpAddr>,
    /// Of all in the task that is the same for every client.
    pub task_digest: String,
}

/// The conductor's answer to a registration.
#[derive(Debug, Deserialize, Serialize)]
pub enum Answer {
    Welcome { proof: Proof },
    Refused { reason: String },
}

/// From the conductor to a client that is registered.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum ToClient {
    /// Answered at once, whatever else goes on.
    Ping { id: u64 },
    /// Get ready for a round; `point` counts through the task's points. `peer` for the sending end of a link only.
    Prepare { point: usize, round: u32, peer: Option<Peer> },
    /// Run the round that was prepared.
    Start,
    /// Give up what is prepared or going; nothing is answered.
    Stop,
    /// Remove all that was made.
    CleanUp,
    /// Nothing more will come. The cause is why the test failed.
    End { cause: Option<String> },
}

/// The receiving end of a link.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Peer {
    pub address: SocketAddr,
    /// What the receiver wants to see proven by each connection.
    pub nonce: Nonce,
}

/// From a client to the conductor.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum ToConductor {
    Pong {
        id: u64,
    },
    /// The target is open.
    Opened(EngineUsed),
    /// What a long preparation or clean-up is doing.
    Saying {
        text: String,
    },
    /// Prepared. `door` from the receiving end of a link only.
    Ready {
        notes: Vec<String>,
        door: Option<Door>,
    },
    /// Sent on `Start`, before the first operation.
    Started,
    /// About once a second while a round runs.
    Progress(Doing),
    /// The round ran. `moved` counts all bytes since the round's start, ramp and tail included; both ends of a link must agree on it.
    Done {
        report: Box<RoundReport>,
        moved: u64,
        notes: Vec<String>,
    },
    CleanedUp {
        notes: Vec<String>,
        problem: Option<String>,
        /// What was used in the end: depths and sizes that an engine can't do show only at their points. Absent when nothing was open.
        engine: Option<EngineUsed>,
    },
    /// This client can't go on.
    Failed {
        cause: String,
    },
}

/// A client's engine, and why it is not the best one.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct EngineUsed {
    pub name: String,
    pub reason: Option<String>,
}

/// Where a link's receiving end listens. The address is the client's own, known to the conductor.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Door {
    pub port: u16,
    pub nonce: Nonce,
}

/// A [`Snapshot`] of a client's progress, as sent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Doing {
    pub measuring: bool,
    pub ops: u64,
    pub bytes: u64,
    pub errors: u64,
    pub in_flight: u64,
    pub latency_sum_nanos: u64,
    pub last_latency_nanos: u64,
}

impl From<Snapshot> for Doing {
    fn from(snapshot: Snapshot) -> Self {
        let Snapshot { stage, ops, bytes, errors, in_flight, latency_sum_nanos, last_latency_nanos } = snapshot;
        let measuring = match stage {
            Stage::Idle | Stage::RampUp => false,
            Stage::Measuring | Stage::Draining => true,
        };
        Doing { measuring, ops, bytes, errors, in_flight, latency_sum_nanos, last_latency_nanos }
    }
}

/// Digest of what must be the same in the tasks of all clients.
pub fn task_digest(task: &Task) -> String {
    let Task { version, run, test, client: _, nodes, target: _, points, .. } = task;
    let text = serde_json::to_vec(&(version, run, test, nodes, points)).expect("plain data is always JSON");
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
