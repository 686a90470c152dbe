//! cephbench measures Ceph clusters: a Kubernetes operator, a bench and a kubectl plugin over one pure core.
//!
//! Data moves one way:
//!
//! ```text
//! spec → validate → plan → tasks → Jobs → reports → merge → results → validity → gates → status
//! ```
//!
//! All but "Jobs → reports" and talking to the API is plain functions over plain data.
//!
//! | module | what it holds | edge |
//! | --- | --- | --- |
//! | [`api`] | the types of the resource | pure |
//! | [`units`] | bytes, times and rates: parsing what people write, printing what they read | pure |
//! | [`plan`] | validate, expand sweeps, decide the next step | pure |
//! | [`contract`] | the task a client gets and the report a conductor hands back | pure |
//! | [`resources`] | one builder per Kubernetes object | pure |
//! | [`results`] | merge, statistics, validity, gates, status | pure |
//! | [`report`] | tables and machine formats | pure |
//! | [`controller`] | watch, observe, collect, apply | Kubernetes |
//! | [`plugin`] | apply, follow and print from a terminal | Kubernetes |
//! | [`mod@bench`] | engines, runner, conductor | devices |
//! | [`stdout`] | printing results | standard output |
//! | [`sys`] | all unsafe code: io_uring, librados | FFI |

pub mod api;
pub mod bench;
pub mod contract;
#[cfg(feature = "kubernetes")]
pub mod controller;
pub mod plan;
#[cfg(feature = "kubernetes")]
pub mod plugin;
pub mod report;
#[cfg(feature = "kubernetes")]
pub mod resources;
pub mod results;
pub mod stdout;
pub mod sys;
pub mod units;
