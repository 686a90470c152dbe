//! Stories and the local cluster of cephbench.

pub mod standin;
pub mod story;
