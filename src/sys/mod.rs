//! All unsafe code of the crate: raw declarations apart from owned handles.
#![allow(unsafe_code)]

pub mod librados;
