//! One file per engine.
