//! One file per engine.

pub mod null;
