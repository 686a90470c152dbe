//! A small run for tests: a spec of two tests, and what was frozen and seen of it.

use k8s_openapi::jiff::Timestamp;
use kube::core::ObjectMeta;

use super::observe::{Look, Records, SeenClients};
use super::scripted::owner;
use crate::api::{CephBenchmark, CephBenchmarkSpec, ClusterStatus, PoolStatus};
use crate::plan::decide::{Home, Lease, Observed, Preflight, Recorded, RecordedRun, Wanted};
use crate::plan::frozen::{Frozen, Prepared, PreparedTest, RunKey};
use crate::plan::{Validated, validate};

pub const SPEC: &str = r#"{"tests": [
    {"name": "a", "network": {}},
    {"name": "b", "rados": {"pool": {"create": {"size": 2}}}}],
  "gates": [{"name": "g", "test": "a", "metric": "errors", "max": 0}]}"#;

pub fn now() -> Timestamp {
    "2026-11-30T21:10:00Z".parse().expect("a time")
}

pub fn validated() -> Validated {
    let spec: CephBenchmarkSpec = serde_json::from_str(SPEC).expect("a spec");
    validate(&spec).expect("it is valid")
}

pub fn key() -> RunKey {
    RunKey { spec_hash: "h".into(), trigger: Some("1".into()) }
}

pub fn frozen() -> Frozen {
    let test = || PreparedTest {
        nodes: vec!["n1".into(), "n2".into()],
        image: "i".into(),
        host_mount: None,
        host_network: false,
        network_annotations: Default::default(),
        tolerations: Vec::new(),
        resources: Default::default(),
        priority_class: None,
        pull_secrets: Vec::new(),
        seconds: 100,
        prepare_seconds: 600,
        deadline_seconds: 800,
        quota: 0,
    };
    let pool = PoolStatus { name: "b".into(), size: Some(2), pg_num: Some(64), created: true };
    Frozen {
        number: 3,
        key: key(),
        started: "2026-11-30T21:00:00Z".parse().expect("a time"),
        prepared: Prepared {
            plan: validated().plan,
            cluster: ClusterStatus { fsid: Some("f".into()), pools: vec![pool], ..ClusterStatus::default() },
            cluster_name: "c".into(),
            fsid: "f".into(),
            ceph_version: None,
            mon_host: String::new(),
            bench_image: "bench:1".into(),
            bench_image_pull_policy: None,
            tests: vec![test(), test()],
        },
    }
}

pub fn observed(wanted: Wanted) -> Observed {
    Observed {
        now: now(),
        generation: 5,
        deleting: false,
        finalizer: true,
        suspend: false,
        wanted,
        recorded: Recorded {
            observed_generation: 4,
            run: Some(RecordedRun { number: 3, key: key(), finished: false }),
            ..Recorded::default()
        },
        lease: Lease::Ours,
        run: None,
        things: Vec::new(),
        records: Vec::new(),
        preflight: Preflight::Skipped,
        home: Home::default(),
    }
}

pub fn spec() -> CephBenchmarkSpec {
    serde_json::from_str(SPEC).expect("a spec")
}

/// A look at the run while it goes, without any of its objects.
pub fn look() -> Look {
    let owner = owner();
    let metadata = ObjectMeta {
        name: Some(owner.name.clone()),
        namespace: Some(owner.namespace.clone()),
        uid: Some(owner.uid.clone()),
        ..ObjectMeta::default()
    };
    Look {
        observed: observed(Wanted::Valid(key())),
        benchmark: CephBenchmark { metadata, spec: spec(), status: None },
        owner,
        validated: Some(validated()),
        records: Records::default(),
        frozen: Some(frozen().into()),
        prepared: None,
        lease: Default::default(),
        clients: SeenClients::default(),
    }
}
