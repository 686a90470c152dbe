//! The operator: watches, observes, asks the pure core what is next, and applies it.
//!
//! [`run()`] leads and watches; [`reconcile`] is the loop of look ([`observe`]), decide (`plan::decide`) and [`apply`]. Everything that does
//! not have to talk to the API server is pure: what a client's pods say ([`client_state`]), what Rook's objects say ([`rook_facts`]), what the
//! status says ([`status`]).
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod apply;
mod client_state;
mod cluster_lease;
mod collect;
mod context;
mod error;
#[cfg(test)]
mod fixtures;
mod foreign;
mod health;
mod leader;
mod notices;
mod observe;
mod progress;
mod reconcile;
mod rook_facts;
mod run;
mod say;
#[cfg(test)]
mod scripted;
mod status;
mod tries;
mod warning;
mod write;

pub use error::ControllerError;
pub use health::{Ready, serve};
pub use run::{Settings, run};
