//! librados, opened at run time: where Ceph is not installed all else works, and what is missing is an error that says so.
//!
//! `raw` holds the C declarations; [`Cluster`], [`IoContext`] and [`Pipeline`] own what C hands out and give it back. A call that fails
//! becomes a [`RadosError`] in one place. Nothing here knows what a benchmark is.

mod cluster;
mod completions;
mod io_context;
mod pipeline;
mod raw;

pub use cluster::{Cluster, version};
pub use io_context::{IoContext, Listing};
pub use pipeline::{Ended, Pipeline, WriteHint};
pub use raw::{Functions, LibraryError, SONAME, functions};

use std::ffi::c_int;

/// A call that failed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{call}: {}", std::io::Error::from_raw_os_error(*errno))]
pub struct RadosError {
    /// The C function, and what it was about.
    pub call: String,
    /// Positive.
    pub errno: i32,
}

/// librados' convention: a negative result is an errno, any other a success.
fn check(call: impl FnOnce() -> String, code: c_int) -> Result<c_int, RadosError> {
    if code < 0 { Err(RadosError { call: call(), errno: code.saturating_neg() }) } else { Ok(code) }
}
