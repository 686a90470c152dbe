//! The bench: engines that move data, the runner that times them, and the conductor that starts clients together and merges.

pub mod engine;
pub mod engines;
pub mod load;
