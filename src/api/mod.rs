//! The types of `CephBenchmark`: what people write and what they read back. Types and their schema, no behaviour.

mod amount;
mod benchmark;
mod clients;
mod gate;
mod kind;
mod schema;
mod status;
mod workload;

pub(crate) use amount::TIME_PATTERN;
pub use amount::{Amount, Time};
pub use benchmark::{CephBenchmark, CephBenchmarkSpec, Defaults, OnFailure, Test};
pub use clients::{Clients, NodeSelection, PullSecret};
pub use gate::{Gate, Metric};
pub use kind::{Disk, DiskFile, Kind, Network, NetworkPattern, PoolCreate, Rados, RadosPool, RawDevice};
pub use schema::{crd, crd_yaml};
pub(crate) use schema::{metadata_schema, object_schema};
pub use status::{
    ArtifactStatus, Bandwidth, BenchmarkStatus, ClusterStatus, Cpu, EngineStatus, GateStatus, Latency, Phase,
    PointStatus, PoolStatus, Progress, RoundStatus, RunStatus, TestPhase, TestStatus, Validity, ValidityReason,
    ValidityVerdict, Verdict,
};
pub use workload::{Op, Workload};
