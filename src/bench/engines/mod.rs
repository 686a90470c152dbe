//! One file per engine.

pub mod choice;
pub mod io_uring;
pub mod libaio;
pub mod null;
pub mod rados;
pub mod region;
pub mod threads;
