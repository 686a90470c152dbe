//! The bench: engines that move data, the runner that times them, and the conductor that starts clients together and merges.

pub mod agent;
pub mod client;
pub mod conductor;
pub mod content;
mod cpu;
pub mod disk;
pub mod engine;
pub mod engines;
pub mod errno;
mod gate;
mod job;
pub mod load;
pub mod local;
pub mod network;
pub mod null;
pub mod pattern;
pub mod progress;
pub mod protocol;
pub mod rados;
pub mod recorder;
pub mod runner;
pub mod series;
pub mod stop;
