//! What `kubectl cephbench` does: apply a benchmark, follow its run, print its result. Reads and writes nothing but CephBenchmarks.
//!
//! `document`, `follow` and `listing` decide and are pure; [`commands`] talks to the API server; `show` to the terminal.

pub mod commands;
mod connect;
mod document;
mod follow;
mod listing;
mod show;

pub use connect::{Connection, connect};
