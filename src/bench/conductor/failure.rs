//! Why a test stopped, as the conductor knows it. The words for people are made in [`super::ensemble`], which knows nodes and times.

use std::fmt;

use crate::bench::protocol::ToConductor;

/// What the conductor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    Registration,
    Opening,
    Preparation,
    Round,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Waiting::Registration => "the clients register",
            Waiting::Opening => "it opens its target",
            Waiting::Preparation => "it prepares",
            Waiting::Round => "it runs a round",
        })
    }
}

/// What ends a test before its end.
#[derive(Debug)]
pub enum Failure {
    /// These did not register in time.
    Missing { clients: Vec<u32>, seconds: u64 },
    /// These did not do in time what they were asked.
    Late { clients: Vec<u32>, what: Waiting },
    /// The connection to a client is gone, or nothing comes over it any more.
    Lost { client: u32, cause: String },
    /// A client says that it can't go on, or its round ended by errors.
    Client { client: u32, cause: String },
    /// The test itself: a link that crosses no network, figures that do not fit together.
    Test { cause: String },
    /// A signal.
    Stopped { signal: &'static str },
}

impl Failure {
    pub fn unexpected(client: u32, message: &ToConductor) -> Failure {
        let kind = match message {
            ToConductor::Pong { .. } => "Pong",
            ToConductor::Opened(_) => "Opened",
            ToConductor::Saying { .. } => "Saying",
            ToConductor::Ready { .. } => "Ready",
            ToConductor::Started => "Started",
            ToConductor::Progress(_) => "Progress",
            ToConductor::Done { .. } => "Done",
            ToConductor::CleanedUp { .. } => "CleanedUp",
            ToConductor::Failed { .. } => "Failed",
        };
        Failure::Client { client, cause: format!("it sent {kind} where that makes no sense") }
    }
}
