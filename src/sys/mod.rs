//! All unsafe code of the crate: raw declarations apart from owned handles.
#![allow(unsafe_code)]

pub mod aio;
pub mod buffer;
pub mod librados;
#[cfg(test)]
pub mod restrict;
pub mod signals;
mod slots;
pub mod tcp;
pub mod uring;

/// Which way an operation on a file goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Read,
    Write,
}
