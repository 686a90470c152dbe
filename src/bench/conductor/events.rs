//! What a conductor tells whoever watches: for progress lines and bars, never for figures.

use crate::contract::{Point, RoundReport};

pub enum Event<'a> {
    Registered {
        client: u32,
        node: &'a str,
        clients: u32,
    },
    /// What a client's preparation or clean-up is doing.
    Saying {
        client: u32,
        node: &'a str,
        text: &'a str,
    },
    Preparing(Place<'a>),
    Started(Place<'a>),
    /// About once a second while a round runs.
    Second(Line),
    Done {
        place: Place<'a>,
        round: &'a RoundReport,
    },
    CleaningUp,
    NotCleaned {
        client: u32,
        node: &'a str,
        problem: &'a str,
    },
}

/// Where in the test it happens. Indices count from 0.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub point: &'a Point,
    pub index: usize,
    pub points: usize,
    pub round: u32,
}

/// All clients of a round, added, since its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    pub second: u64,
    /// Load applied, nothing counted yet.
    pub ramp: bool,
    pub in_flight: u64,
    pub started: u64,
    pub finished: u64,
    pub errors: u64,
    pub average_bytes_per_second: f64,
    pub current_bytes_per_second: f64,
    /// In seconds; absent before the first operation ended and on network streams.
    pub last_latency: Option<f64>,
    pub average_latency: Option<f64>,
}
