//! The types of `CephBenchmark`: what people write and what they read back. Types only, no behaviour.

mod amount;
mod benchmark;
mod clients;
mod gate;
mod kind;
mod status;
mod workload;

pub use amount::{Amount, Time};
pub use benchmark::{CephBenchmark, CephBenchmarkSpec, Defaults, OnFailure, Test};
pub use clients::{Clients, NodeSelection, PullSecret};
pub use gate::{Gate, Metric};
pub use kind::{Disk, DiskFile, Kind, Network, NetworkPattern, PoolCreate, Rados, RadosPool, RawDevice};
pub use status::{
    ArtifactStatus, Bandwidth, BenchmarkStatus, ClusterStatus, Cpu, EngineStatus, GateStatus, Latency, Phase,
    PointStatus, PoolStatus, Progress, RoundStatus, RunStatus, TestPhase, TestStatus, Validity, ValidityReason,
    ValidityVerdict, Verdict,
};
pub use workload::{Op, Workload};
