//! A load: what one client of one test works on, from the first preparation to the last clean-up. It hands the runner one engine per job
//! for each round and keeps what outlives a round: the file, the connection, the objects written.

use super::engine::{Engine, EngineError};
use crate::contract::Point;

/// The engines of one round, ready to be timed, one per job.
pub struct PreparedRound {
    pub engines: Vec<Box<dyn Engine>>,
    /// What people should know of this round: data that are read again, a remainder left out.
    pub notes: Vec<String>,
}

pub trait Load: Send {
    /// Name of the engine, and why it is not the best one. Known once the load is open, and for good after its last round:
    /// it may turn out only at a point that the engine can't serve its depth and size.
    fn engine(&self) -> (&'static str, Option<String>);

    /// Notes on the whole client, for the report.
    fn notes(&self) -> Vec<String>;

    /// Makes all ready that must not be timed for this round of this point: prefill, removal of earlier objects, buffers, connections.
    /// `round` counts from 0. Long work tells `say` what it does, for progress lines.
    fn prepare(&mut self, point: &Point, round: u32, say: &mut dyn FnMut(&str)) -> Result<PreparedRound, EngineError>;

    /// Removes all that the load made. Called once, also after an error; says what it could not remove.
    fn clean_up(&mut self, say: &mut dyn FnMut(&str)) -> Result<(), EngineError>;
}
