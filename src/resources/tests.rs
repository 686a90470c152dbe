//! Whole objects, as reviewed snapshots.

use k8s_openapi::ByteString;
use k8s_openapi::jiff::Timestamp;

use super::names::Owner;
use super::*;
use crate::api::{CephBenchmarkSpec, TestPhase, TestStatus};
use crate::contract::{Outcome, Report};
use crate::plan::decide::TestEnd;
use crate::plan::frozen::{Frozen, RunKey};
use crate::plan::policy::{OperatorConfig, Policy};
use crate::plan::preflight::{ClusterFacts, Monitors, NodeFacts, OsdFacts, Survey, check};
use crate::plan::validate;
use crate::results::artifact::StoredTest;

const SPEC: &str = "
trigger: '1'
clients: {priorityClassName: bench, imagePullSecrets: [{name: pull}]}
tests:
- name: file
  disk: {file: {directory: /var/tmp/fast, size: 1Gi}}
- name: device
  disk: {device: {path: /dev/disk/by-id/x}}
- name: net
  network: {}
- name: new-pool
  rados: {pool: {create: {size: 2, pgNum: 32}}}
  workload: {bytes: 1Gi, rounds: 1, duration: 10s}
- name: old-pool
  rados: {pool: {name: rbd}}
  workload: {bytes: 1Gi, rounds: 1, duration: 10s, op: [write]}
";

fn owner() -> Owner {
    Owner { namespace: "rook-ceph".into(), name: "nightly".into(), uid: "11111111-2222-3333-4444-555555555555".into() }
}

fn config() -> OperatorConfig {
    OperatorConfig {
        bench_image: "cephbench:0.1.0".into(),
        bench_image_pull_policy: Some("IfNotPresent".into()),
        policy: Policy { host_paths: vec!["/var/tmp".into()], ..Policy::default() },
    }
}

fn spec() -> CephBenchmarkSpec {
    let json: serde_json::Value = serde_yaml_ng::from_str(SPEC).expect("YAML");
    serde_json::from_value(json).expect("a spec")
}

fn now() -> Timestamp {
    "2026-11-30T21:00:00Z".parse().expect("a time")
}

fn frozen() -> Frozen {
    let nodes = ["node1", "node2"];
    let survey = Survey {
        namespace: "rook-ceph".into(),
        clusters: vec![ClusterFacts {
            name: "rook-ceph".into(),
            fsid: Some("7436e88c-597d-421e-96ed-608998d422d2".into()),
            health: Some("HEALTH_OK".into()),
            image: Some("ceph:v20.2.4".into()),
            version: Some("20.2.4-0".into()),
            capacity: Some((100 << 30, 0)),
            tolerations: vec![k8s_openapi::api::core::v1::Toleration {
                key: Some("storage".into()),
                operator: Some("Exists".into()),
                ..Default::default()
            }],
            ..ClusterFacts::default()
        }],
        osds: nodes
            .map(|node| OsdFacts { host: Some(node.into()), node: Some(node.into()), tolerations: Vec::new() })
            .to_vec(),
        pools: Vec::new(),
        monitors: Monitors { data: Some("a=10.0.0.1:6789".into()), out_of_quorum: String::new() },
        nodes: nodes.map(|name| NodeFacts { name: name.into(), ready: true, ..NodeFacts::default() }).to_vec(),
    };
    let plan = validate(&spec()).expect("it is valid").plan;
    let prepared = check(&spec(), &plan, &survey, &config()).expect("it can run");
    // The hash is the planner's affair.
    let key = RunKey { spec_hash: "hash".into(), trigger: Some("1".into()) };
    Frozen { number: 7, key, started: now(), prepared }
}

/// Calls `with` with the context of a run of [`SPEC`].
fn in_context(with: impl Fn(&RunContext)) {
    let (owner, frozen) = (owner(), frozen());
    with(&RunContext { owner: &owner, frozen: &frozen, platform: Platform::default() });
}

const FILE: usize = 0;
const DEVICE: usize = 1;
const NETWORK: usize = 2;
const NEW_POOL: usize = 3;
const OLD_POOL: usize = 4;

#[test]
fn jobs() {
    in_context(|context| {
        insta::assert_yaml_snapshot!("job_file_conductor", build_job(context, FILE, 0, None));
        insta::assert_yaml_snapshot!("job_device_conductor", build_job(context, DEVICE, 0, None));
        insta::assert_yaml_snapshot!("job_network_client", build_job(context, NETWORK, 1, Some("10.1.2.3:4000")));
        insta::assert_yaml_snapshot!("job_rados_conductor", build_job(context, NEW_POOL, 0, None));
        insta::assert_yaml_snapshot!("job_sweeper", build_sweeper_job(context, OLD_POOL, 1));
    });
}

#[test]
fn on_openshift_no_user_is_set() {
    let (owner, frozen) = (owner(), frozen());
    let context = RunContext { owner: &owner, frozen: &frozen, platform: Platform { assigns_users: true } };
    // Case C2 (3): no fixed user, in the pod or in a container of it, sweepers' included.
    for job in [
        build_job(&context, NETWORK, 0, None),
        build_job(&context, OLD_POOL, 0, None),
        build_sweeper_job(&context, OLD_POOL, 0),
    ] {
        let pod = job.spec.and_then(|job| job.template.spec).expect("a pod");
        let security = pod.security_context.expect("a context");
        assert_eq!((security.run_as_user, security.run_as_group, security.run_as_non_root), (None, None, Some(true)));
        for container in pod.init_containers.iter().flatten().chain(&pod.containers) {
            let user = container.security_context.as_ref().and_then(|security| security.run_as_user);
            assert_eq!(user, None, "{}", container.name);
        }
    }
}

#[test]
fn every_container_has_requests_and_limits_and_no_token_is_mounted() {
    in_context(|context| {
        // Case C2 (2): a quota wants them on every container.
        let jobs = [FILE, DEVICE, NETWORK, NEW_POOL, OLD_POOL].map(|test| build_job(context, test, 0, None));
        let sweepers = [FILE, OLD_POOL].map(|test| build_sweeper_job(context, test, 0));
        for job in jobs.into_iter().chain(sweepers) {
            let pod = job.spec.and_then(|job| job.template.spec).expect("a pod");
            assert_eq!(pod.automount_service_account_token, Some(false));
            assert_eq!(pod.node_name, None);
            let containers = pod.init_containers.iter().flatten().chain(&pod.containers);
            for container in containers {
                let resources = container.resources.as_ref().expect("resources");
                for list in [&resources.requests, &resources.limits] {
                    let list = list.as_ref().expect("a list");
                    for resource in ["cpu", "memory", "ephemeral-storage"] {
                        assert!(list.contains_key(resource), "{}: {resource}", container.name);
                    }
                }
                assert!(OURS.contains(&container.name.as_str()));
            }
        }
    });
}

#[test]
fn tasks() {
    in_context(|context| {
        for (test, name) in [(FILE, "file"), (DEVICE, "device"), (NETWORK, "network"), (OLD_POOL, "rados")] {
            let mut config_map = build_task_config_map(context, test, 1).expect("it is written");
            let data = config_map.data.take().expect("data");
            let task: crate::contract::Task = serde_json::from_str(&data["task.json"]).expect("the bench reads it");
            assert_eq!((task.client, task.nodes.len()), (1, 2));
            insta::assert_yaml_snapshot!(format!("task_{name}"), (config_map, task.target));
        }
    });
}

#[test]
fn rooks_objects() {
    in_context(|context| {
        insta::assert_yaml_snapshot!("pool", build_block_pool(context, NEW_POOL));
        assert_eq!(build_block_pool(context, OLD_POOL), None);
        insta::assert_yaml_snapshot!("user_new_pool", build_ceph_client(context, NEW_POOL));
        insta::assert_yaml_snapshot!("user_old_pool", build_ceph_client(context, OLD_POOL));
        assert_eq!(build_ceph_client(context, FILE), None);
    });
}

#[test]
fn what_serves_the_run() {
    in_context(|context| {
        let policy = build_network_policy(context);
        let selected = policy.spec.as_ref().and_then(|spec| spec.pod_selector.as_ref()?.match_labels.clone());
        let sweeper = build_sweeper_job(context, OLD_POOL, 0).spec.and_then(|job| job.template.metadata?.labels);
        let (selected, sweeper) = (selected.expect("labels"), sweeper.expect("labels"));
        assert!(selected.iter().all(|(key, value)| sweeper.get(key) == Some(value)), "sweepers reach Ceph, too");
        insta::assert_yaml_snapshot!("network_policy", policy);
        let left = ["directory d of client 0: no\nspace".into(), "objects x".into()];
        let left = build_left_config_map(context, OLD_POOL, &left);
        assert_eq!(left_of(left.metadata.annotations.as_ref()), ["directory d of client 0: no space", "objects x"]);
        insta::assert_yaml_snapshot!("left", left);
        insta::assert_yaml_snapshot!("sweeps", build_sweeps_config_map(context, OLD_POOL, &[0, 2]));
        insta::assert_yaml_snapshot!("token_secret", build_token_secret(context, "not a secret"));
        let lease = build_cluster_lease("cephbench-system", "7436E88C-x", &Holder::of(context.owner), now());
        assert_eq!(holder_of(&lease), Some(Holder::of(context.owner)));
        insta::assert_yaml_snapshot!("cluster_lease", lease);
        let notice = Notice {
            severity: Severity::Warning,
            reason: "TestError",
            note: "test net: client 1 on node2: ErrImagePull".into(),
            occasion: "7/net".into(),
        };
        insta::assert_yaml_snapshot!("event", build_event(context.owner, &notice, "operator-0", now()));
    });
}

#[test]
fn the_frozen_plan_reads_back_as_it_was() {
    in_context(|context| {
        let mut config_map = build_plan_config_map(context, &spec()).expect("it is written");
        assert_eq!(read_plan_config_map(&config_map).expect("it reads"), *context.frozen);
        assert_eq!(outline_of(config_map.metadata.annotations.as_ref()), Some((5, crate::api::OnFailure::Continue)));
        config_map.binary_data = None;
        insta::assert_yaml_snapshot!("plan", config_map);
        assert!(read_plan_config_map(&config_map).is_err(), "half of it is none");
    });
}

fn status(phase: TestPhase) -> TestStatus {
    TestStatus {
        name: "file".into(),
        phase,
        message: None,
        summary: None,
        engine: None,
        points: Vec::new(),
        points_omitted: None,
    }
}

#[test]
fn a_result_reads_back_and_tells_its_end_without_its_contents() {
    in_context(|context| {
        for (phase, end) in [(TestPhase::Completed, TestEnd::Completed), (TestPhase::Error, TestEnd::Error)] {
            let result = StoredTest { status: status(phase), report: None };
            let mut config_map =
                build_result_config_map(context, FILE, result.clone(), &[0, 2]).expect("it is written");
            assert_eq!(read_result_config_map(&config_map).expect("it reads").status, result.status);
            assert_eq!(end_of(config_map.metadata.annotations.as_ref()), end);
            let sweeps: &[u32] = if end == TestEnd::Error { &[0, 2] } else { &[] };
            assert_eq!(sweeps_of(config_map.metadata.annotations.as_ref()), sweeps);
            config_map.binary_data = None;
            if phase == TestPhase::Error {
                insta::assert_yaml_snapshot!("result", config_map);
            }
        }
    });
}

#[test]
fn figures_that_do_not_fit_end_the_test_with_an_error_that_says_so() {
    // Text that does not compress.
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(35 + (state >> 33) as u8 % 90)
    };
    let summary: String = (0..400_000).map(|_| noise()).collect();
    let large = TestStatus { summary: Some(summary), ..status(TestPhase::Completed) };
    in_context(|context| {
        let result = StoredTest { status: large.clone(), report: None };
        let config_map = build_result_config_map(context, FILE, result, &[0, 2]).expect("it is written");
        let annotations = config_map.metadata.annotations.as_ref();
        assert_eq!((end_of(annotations), sweeps_of(annotations)), (TestEnd::Error, vec![0, 2]));
        let stored = read_result_config_map(&config_map).expect("it reads").status;
        assert_eq!((stored.name.as_str(), stored.phase), ("file", TestPhase::Error));
        assert!(stored.message.is_some_and(|cause| cause.starts_with("its result can't be kept")));
    });
}

#[test]
fn a_report_that_is_too_large_is_left_out_by_parts_and_the_figures_stay() {
    let clients = |length: usize| {
        // Text that does not compress, so that the size is known.
        let noise =
            |seed: usize| (0..length).map(|i| char::from(33 + ((seed * 7919 + i * i * 31) % 90) as u8)).collect();
        (0..64)
            .map(|client| crate::contract::ClientReport {
                client: client as u32,
                node: noise(client),
                pod_uid: String::new(),
                engine: "null".into(),
                engine_reason: None,
                notes: Vec::new(),
            })
            .collect()
    };
    let report = |length| Report {
        version: crate::contract::VERSION,
        run: "r".into(),
        test: "t".into(),
        clients: clients(length),
        points: Vec::new(),
        outcome: Outcome::Complete,
    };
    in_context(|context| {
        for (length, kept) in [(10, true), (1_000_000, false)] {
            let result = StoredTest { status: status(TestPhase::Completed), report: Some(report(length)) };
            let config_map = build_result_config_map(context, FILE, result.clone(), &[0, 2]).expect("it is written");
            let data = config_map.binary_data.as_ref().expect("data");
            assert_eq!(read_result_config_map(&config_map).expect("it reads").report.is_some(), kept, "{length}");
            let size: usize = data.values().map(|ByteString(bytes)| bytes.len()).sum();
            assert!(size <= (1 << 20) / 5, "{size}");
            assert_eq!(read_result_config_map(&config_map).expect("it reads").status, result.status);
        }
    });
}
