//! The bench: engines that move data, the runner that times them, and the conductor that starts clients together and merges.

pub mod content;
pub mod engine;
pub mod engines;
pub mod errno;
mod job;
pub mod load;
pub mod null;
pub mod pattern;
pub mod progress;
pub mod rados;
pub mod recorder;
pub mod runner;
pub mod series;
