//! Preflight on a small cluster of three nodes, and the cases B9.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Taint, Toleration};

use super::*;
use crate::plan::policy::Policy;
use crate::plan::validate;

const SPEC: &str = "
tests:
- name: file
  disk: {file: {directory: /var/tmp, size: 1Gi}}
- name: net
  network: {}
- name: pool
  rados: {pool: {create: {size: 3}}}
  workload: {bytes: 1Gi}
";

fn node(name: &str) -> NodeFacts {
    NodeFacts {
        name: name.into(),
        labels: BTreeMap::from([("kubernetes.io/hostname".into(), name.into()), ("tier".into(), "storage".into())]),
        cordoned: false,
        ready: true,
        taints: Vec::new(),
        memory: Some(16 << 30),
    }
}

fn survey() -> Survey {
    let osd = |node: &str| OsdFacts { host: Some(node.into()), node: Some(node.into()), tolerations: Vec::new() };
    Survey {
        namespace: "rook-ceph".into(),
        clusters: vec![ClusterFacts {
            name: "rook-ceph".into(),
            fsid: Some("7436e88c-597d-421e-96ed-608998d422d2".into()),
            health: Some("HEALTH_OK".into()),
            image: Some("ceph:v20".into()),
            version: Some("20.2.4-0".into()),
            capacity: Some((100 << 30, 10 << 30)),
            ..ClusterFacts::default()
        }],
        osds: vec![osd("node1"), osd("node2"), osd("node3")],
        pools: Vec::new(),
        monitors: Monitors { data: Some("a=10.0.0.1:6789".into()), out_of_quorum: String::new() },
        nodes: vec![node("node1"), node("node2"), node("node3"), node("other")],
    }
}

fn config() -> OperatorConfig {
    OperatorConfig {
        bench_image: "bench:1".into(),
        bench_image_pull_policy: None,
        policy: Policy { host_paths: vec!["/var/tmp".into()], ..Policy::default() },
    }
}

fn run(yaml: &str, survey: &Survey, config: &OperatorConfig) -> Result<Prepared, Refusal> {
    let json: serde_json::Value = serde_yaml_ng::from_str(yaml).expect("the test's spec is YAML");
    let spec: CephBenchmarkSpec = serde_json::from_value(json).expect("the test's spec is well formed");
    let plan = validate(&spec).expect("the test's spec is valid").plan;
    check(&spec, &plan, survey, config)
}

fn refusal(yaml: &str, survey: &Survey) -> String {
    run(yaml, survey, &config()).expect_err("it is refused").message
}

const DISK: &str = "tests: [{name: t, disk: {file: {directory: /var/tmp, size: 1Gi}}}]";
const RADOS: &str = "tests: [{name: t, rados: {pool: {create: {size: 3}}}, workload: {bytes: 1Gi}}]";

fn with_clients(clients: &str) -> String {
    format!("clients: {clients}\n{DISK}")
}

#[test]
fn the_clients_run_where_osds_run() {
    let prepared = run(SPEC, &survey(), &config()).expect("all is well");
    for test in &prepared.tests {
        assert_eq!(test.nodes, ["node1", "node2", "node3"]);
        assert_eq!(test.image, "ceph:v20");
    }
    assert_eq!(prepared.mon_host, "[v2:10.0.0.1:3300,v1:10.0.0.1:6789]");
    let cluster = &prepared.cluster;
    assert_eq!((cluster.osds, cluster.hosts, cluster.nodes), (Some(3), Some(3), Some(3)));
    assert_eq!(cluster.pools.len(), 1);
}

#[test]
fn more_points_than_can_be_kept_are_refused_before_they_are_measured() {
    let depths: Vec<String> = (1..=400).map(|depth| depth.to_string()).collect();
    let sweep = |tests: usize| {
        let test = |index| {
            format!(
                "{{name: t{index}, disk: {{file: {{directory: /var/tmp, size: 1Gi}}}}, \
                 workload: {{blockSize: [4Ki], queueDepth: [{}]}}}}",
                depths.join(", ")
            )
        };
        format!("tests: [{}]", (0..tests).map(test).collect::<Vec<_>>().join(", "))
    };
    assert!(run(&sweep(2), &survey(), &config()).is_ok());
    let told = refusal(&sweep(32), &survey());
    assert!(told.starts_with("spec.tests[0] (t0): 400 points with 3 rounds each") && told.contains("276"), "{told}");
}

#[test]
fn osds_on_claims_are_found_by_their_pods_node_not_their_crush_host() {
    let mut survey = survey();
    survey.nodes.push(node("w7"));
    survey.osds = (0..3)
        .map(|index| OsdFacts {
            host: Some(format!("set1-{index}-data-x6svc")),
            node: Some("w7".into()),
            tolerations: Vec::new(),
        })
        .collect();
    let prepared = run(DISK, &survey, &config()).expect("one client, on w7");
    assert_eq!(prepared.tests[0].nodes, ["w7"]);
    assert_eq!((prepared.cluster.hosts, prepared.cluster.nodes), (Some(3), Some(1)));
}

/// Case B9 (b).
#[test]
fn an_external_cluster_needs_its_clients_named() {
    let mut survey = survey();
    survey.osds.clear();
    survey.clusters[0].external = true;
    for spec in [DISK, RADOS, "tests: [{name: t, network: {}}]"] {
        let message = refusal(spec, &survey);
        assert!(message.contains("spec.clients.nodes") && message.contains("external"), "{message}");
    }
    let named = format!("clients: {{nodes: {{names: [other]}}}}\n{RADOS}");
    let prepared = run(&named, &survey, &config()).expect("named nodes do");
    assert_eq!(prepared.tests[0].nodes, ["other"]);
    assert_eq!(prepared.cluster.osds, None);
}

#[test]
fn which_cluster_it_is_must_be_clear() {
    let mut none = survey();
    none.clusters.clear();
    assert!(refusal(DISK, &none).contains("spec.cephCluster: not set, and namespace rook-ceph has no CephCluster"));
    let named = format!("cephCluster: x\n{DISK}");
    assert!(refusal(&named, &survey()).contains("spec.cephCluster: \"x\""));
    let mut two = survey();
    let mut second = two.clusters[0].clone();
    second.name = "second".into();
    two.clusters.push(second);
    let message = refusal(DISK, &two);
    assert!(message.contains("rook-ceph, second: name one"), "{message}");
    assert!(run(&format!("cephCluster: second\n{DISK}"), &two, &config()).is_ok());
}

#[test]
fn a_cluster_that_is_not_up_or_in_error_is_not_measured() {
    let mut young = survey();
    young.clusters[0].fsid = None;
    young.clusters[0].phase = Some("Progressing".into());
    assert!(refusal(DISK, &young).contains("phase Progressing"));
    let mut ill = survey();
    ill.clusters[0].health = Some("HEALTH_ERR".into());
    ill.clusters[0].health_details.insert("OSD_FULL".into(), "1 full osd(s)".into());
    assert!(refusal(DISK, &ill).contains("OSD_FULL: 1 full osd(s)"));
    let mut warned = survey();
    warned.clusters[0].health = Some("HEALTH_WARN".into());
    warned.clusters[0].health_details.insert("OSD_DOWN".into(), "1 osds down".into());
    let prepared = run(DISK, &warned, &config()).expect("a warning is measured");
    assert_eq!(prepared.cluster.health.as_deref(), Some("HEALTH_WARN (OSD_DOWN: 1 osds down)"));
}

#[test]
fn nodes_that_do_not_do_are_named() {
    let matches = refusal(&with_clients("{nodes: {matchLabels: {tier: gold}}}"), &survey());
    assert!(matches.contains("spec.clients.nodes") && matches.contains("tier=gold"), "{matches}");
    let unknown = refusal(&with_clients("{nodes: {names: [node1, node9]}}"), &survey());
    assert!(unknown.contains("\"node9\""), "{unknown}");
    let mut cordoned = survey();
    cordoned.nodes[1].cordoned = true;
    assert!(refusal(DISK, &cordoned).contains("node node2 is cordoned"));
    let mut ill = survey();
    ill.nodes[2].ready = false;
    assert!(refusal(DISK, &ill).contains("node node3 is not ready"));
}

#[test]
fn taints_need_a_toleration_of_the_osds_or_of_the_spec() {
    let taint =
        Taint { key: "storage".into(), value: Some("yes".into()), effect: "NoSchedule".into(), time_added: None };
    let mut tainted = survey();
    tainted.nodes[0].taints.push(taint);
    let message = refusal(DISK, &tainted);
    assert!(message.contains("node1") && message.contains("storage=yes:NoSchedule"), "{message}");
    let spec = with_clients("{tolerations: [{key: storage, operator: Equal, value: 'yes'}]}");
    assert!(run(&spec, &tainted, &config()).is_ok());
    let osds = Toleration { key: Some("storage".into()), operator: Some("Exists".into()), ..Toleration::default() };
    let passing = Toleration {
        key: Some("node.kubernetes.io/not-ready".into()),
        operator: Some("Exists".into()),
        toleration_seconds: Some(300),
        ..Toleration::default()
    };
    tainted.osds[1].tolerations = vec![passing, osds.clone()];
    let prepared = run(DISK, &tainted, &config()).expect("the OSDs tolerate it");
    assert_eq!(prepared.tests[0].tolerations, [osds]);
}

#[test]
fn what_the_policy_does_not_allow_names_the_charts_value() {
    let etc = refusal("tests: [{name: t, disk: {file: {directory: /etc, size: 1Gi}}}]", &survey());
    assert!(
        etc.starts_with("spec.tests[0].disk.file.directory: \"/etc\":") && etc.contains("policy.hostPaths"),
        "{etc}"
    );
    let image = refusal(&with_clients("{image: evil}"), &survey());
    assert!(image.contains("\"evil\"") && image.contains("policy.clientImages"), "{image}");
    let network = refusal(&with_clients("{hostNetwork: true}"), &survey());
    assert!(network.contains("policy.hostNetwork"), "{network}");
    let mut host = survey();
    host.clusters[0].network = ClusterNetwork::Host;
    for clients in ["{}", "{hostNetwork: true}"] {
        assert!(run(&with_clients(clients), &host, &config()).expect("as the cluster").tests[0].host_network);
    }
    assert!(
        !run(&with_clients("{hostNetwork: false}"), &host, &config()).expect("told otherwise").tests[0].host_network
    );
}

#[test]
fn pods_join_the_public_network_of_multus() {
    let mut multus = survey();
    multus.clusters[0].network = ClusterNetwork::Multus(Some("rook-ceph/public".into()));
    let prepared = run(DISK, &multus, &config()).expect("all is well");
    let annotations = &prepared.tests[0].network_annotations;
    assert_eq!(annotations.get("k8s.v1.cni.cncf.io/networks").map(String::as_str), Some("rook-ceph/public"));
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_made() {
    let mut full = survey();
    full.clusters[0].capacity = Some((100 << 30, 80 << 30));
    let refusal = run(RADOS, &full, &config()).expect_err("5 GiB are left, 9 are needed");
    assert!(refusal.passing, "another run can be the cause");
    assert!(refusal.message.contains("5 GiB left below 85 % of 100 GiB"), "{}", refusal.message);

    let existing = "tests: [{name: t, rados: {pool: {name: p}}, workload: {bytes: 1Gi}}]";
    let mut limited = survey();
    limited.pools = vec![PoolFacts { name: "p".into(), copies: 2.0, size: Some(2), quota: Some(1 << 30) }];
    assert!(self::refusal(existing, &limited).contains("whose quota is 1 GiB"));

    let wide = "tests: [{name: t, rados: {pool: {create: {size: 4}}}}]";
    assert!(self::refusal(wide, &survey()).contains("spec.tests[0].rados.pool.create.size: 4"));
}

#[test]
fn buffers_must_fit_a_nodes_memory() {
    let spec = "
clients: {perNode: 16}
tests:
- name: t
  disk: {file: {directory: /var/tmp, size: 4Gi}}
  workload: {op: [read], blockSize: [4Mi], queueDepth: [64], jobs: [8]}
";
    let message = refusal(spec, &survey());
    assert!(message.contains("node node1, which has 16 GiB"), "{message}");
}

#[test]
fn every_resource_has_a_request_and_a_limit() {
    for clients in ["{}", "{resources: {limits: {cpu: 100m}}}", "{resources: {requests: {memory: 2Gi}}}"] {
        let prepared = run(&with_clients(clients), &survey(), &config()).expect("all is well");
        let resources = &prepared.tests[0].resources;
        let (requests, limits) = (resources.requests.as_ref(), resources.limits.as_ref());
        for name in ["cpu", "memory", "ephemeral-storage"] {
            let of = |list: Option<&BTreeMap<_, k8s_openapi::apimachinery::pkg::api::resource::Quantity>>| {
                crate::units::resource(&list.and_then(|list| list.get(name)).expect(name).0).expect("a quantity")
            };
            assert!(of(requests) <= of(limits), "{clients} {name}");
        }
    }
}

#[test]
fn a_network_of_one_client_is_refused() {
    let mut single = survey();
    single.osds.truncate(1);
    assert!(refusal("tests: [{name: t, network: {}}]", &single).contains("two clients"));
}

#[test]
fn only_rados_needs_monitors_and_an_image_with_librados() {
    let mut bare = survey();
    bare.monitors = Monitors::default();
    bare.clusters[0].image = None;
    assert_eq!(run(DISK, &bare, &config()).expect("disk needs neither").tests[0].image, "bench:1");
    assert!(refusal(RADOS, &bare).contains("names no image"));
    bare.clusters[0].image = Some("ceph:v20".into());
    assert!(refusal(RADOS, &bare).contains("rook-ceph-mon-endpoints"));
}

#[test]
fn placement_groups_leave_room_for_other_pools() {
    for (osds, size, wanted) in [(3, 3, 32), (4, 2, 64), (16, 3, 256), (0, 3, 16), (1, 10, 4), (1000, 1, 4096)] {
        assert_eq!(sizing::pg_num(osds, size), wanted, "{osds} OSDs, {size} copies");
    }
}
