//! The operator: watches, observes, asks the pure core what is next, and applies it.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod client_state;
mod foreign;
