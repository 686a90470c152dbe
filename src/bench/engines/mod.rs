//! One file per engine.

pub mod null;
pub mod rados;
