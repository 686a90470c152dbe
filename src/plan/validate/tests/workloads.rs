//! The tests of a spec: kinds, workloads and clients.

use super::*;
use crate::api::Op;
use crate::contract::{Link, Point};
use crate::plan::{PlannedKind, PlannedPool};

#[test]
fn silence_means_the_documented_defaults() {
    let plan = valid(&format!(
        "tests: [{{name: a, {FILE}}}, {{name: b, {NETWORK}}}, {{name: c, rados: {{pool: {{create: {{}}}}}}}}]"
    ))
    .plan;
    let base = Point {
        op: Some(Op::Read),
        block_size: 4 << 20,
        object_size: None,
        queue_depth: 16,
        jobs: 1,
        link: None,
        ramp_up_micros: 5_000_000,
        duration_micros: 60_000_000,
        bytes: None,
        rounds: 3,
    };
    assert_eq!(plan.tests[0].points, std::slice::from_ref(&base));
    assert_eq!(plan.tests[0].clients.per_node, 1);
    let link = Some(Link { source: 0, target: 1, streams: 1 });
    assert_eq!(plan.tests[1].points, [Point { op: None, block_size: 128 << 10, queue_depth: 1, link, ..base.clone() }]);
    let object_size = Some(4 << 20);
    let read = Point { object_size, ..base.clone() };
    let write = Point { op: Some(Op::Write), bytes: Some(4 << 30), ..read.clone() };
    assert_eq!(plan.tests[2].points, [write, read]);
    assert_eq!(plan.tests[2].kind, PlannedKind::Rados(PlannedPool::Create { size: 3, pg_num: None }));
    assert_eq!(
        plan.tests[2].notes,
        ["a round of writes ends at 4Gi per client at the latest (default of workload.bytes)"]
    );
}

#[test]
fn ops_are_innermost_so_that_reads_find_what_was_just_written() {
    let plan = valid(&one(
        "rados: {pool: {name: p}, objectSize: [4Mi, 1Mi]}",
        "{op: [write, randread], blockSize: [64Ki, 4Ki], queueDepth: [1, 8], jobs: [1, 2]}",
    ))
    .plan;
    let points = &plan.tests[0].points;
    assert_eq!(points.len(), 32);
    for pair in points.chunks(2) {
        assert_eq!((pair[0].op, pair[1].op), (Some(Op::Write), Some(Op::RandRead)));
        let both = [Point { op: None, bytes: None, ..pair[0].clone() }, Point { op: None, ..pair[1].clone() }];
        assert_eq!(both[0], both[1]);
    }
    let order: Vec<_> = points
        .iter()
        .step_by(2)
        .map(|point| (point.object_size, point.block_size, point.jobs, point.queue_depth))
        .collect();
    assert_eq!(order[0], (Some(4 << 20), 64 << 10, 1, 1));
    assert_eq!(order[1], (Some(4 << 20), 64 << 10, 1, 8));
    assert_eq!(order[2], (Some(4 << 20), 64 << 10, 2, 1));
    assert_eq!(order[4], (Some(4 << 20), 4 << 10, 1, 1));
    assert_eq!(order[8], (Some(1 << 20), 64 << 10, 1, 1));
}

#[test]
fn d2_block_sizes_in_thousands_are_told_what_was_meant() {
    assert_eq!(
        refusals(&one(FILE, "{blockSize: [4k, 4K, 1000, 256, 128Mi, nan, -5]}")),
        [
            r#"spec.tests[0].workload.blockSize[0]: "4k": is 4,000 bytes, no multiple of 512; 4Ki is 4,096"#,
            r#"spec.tests[0].workload.blockSize[1]: "4K": K is no suffix; write 4Ki (4,096) or 4k (4,000)"#,
            "spec.tests[0].workload.blockSize[2]: 1000: is 1,000 bytes, no multiple of 512; 512 and 1,024 are",
            "spec.tests[0].workload.blockSize[3]: 256: is 256 bytes; 512 to 64Mi are possible",
            r#"spec.tests[0].workload.blockSize[4]: "128Mi": is 134,217,728 bytes; 512 to 64Mi are possible"#,
            r#"spec.tests[0].workload.blockSize[5]: "nan": is no number that anything can be held against"#,
            "spec.tests[0].workload.blockSize[6]: -5: is negative; an amount is zero or more",
        ]
    );
}

#[test]
fn d2_a_decimal_size_is_taken_and_its_remainder_said() {
    let plan = valid(&one("disk: {file: {directory: /d, size: 10G}}", "{blockSize: [4Ki]}")).plan;
    assert_eq!(plan.tests[0].kind, PlannedKind::File { directory: "/d".into(), size: 2_441_406 * 4096 });
    assert_eq!(
        plan.tests[0].notes,
        [
            r#"size "10G" is 10,000,000,000 bytes: with blockSize 4Ki and jobs 1, 2,441,406 blocks per job are used and 1,024 bytes are left out"#
        ]
    );
    let whole = valid(&one("disk: {file: {directory: /d, size: 10Gi}}", "{blockSize: [4Ki]}")).plan;
    assert!(whole.tests[0].notes.is_empty());
    let many = valid(&one("disk: {file: {directory: /d, size: 10G}}", "{blockSize: [4Ki, 8Ki], jobs: [1, 2, 3]}")).plan;
    assert_eq!(many.tests[0].notes.len(), 5);
    assert_eq!(many.tests[0].notes[4], "2 more combinations of blockSize and jobs leave bytes out");
}

#[test]
fn five_hundred_and_thirteen_points_are_refused() {
    let depths: Vec<String> = (1..=19).map(|depth| depth.to_string()).collect();
    let blocks: Vec<String> = (1..=27).map(|block| (block * 512).to_string()).collect();
    let workload =
        |blocks: &[String]| format!("{{blockSize: [{}], queueDepth: [{}]}}", blocks.join(", "), depths.join(", "));
    assert_eq!(
        refusals(&one(FILE, &workload(&blocks))),
        [
            "spec.tests[0].workload: 27 × 19 = 513: points out of blockSize × queueDepth; at most 512 in one test: shorten a list or split the test"
        ]
    );
    assert_eq!(valid(&one(FILE, &workload(&blocks[..26]))).plan.tests[0].points.len(), 494);
}

#[test]
fn what_does_not_apply_or_fit_is_refused() {
    let network_has = "network has blockSize, rampUp, duration, bytes and rounds, and its own streams; leave this out";
    let file = |size: &str| format!("disk: {{file: {{directory: /d, size: {size}}}}}");
    for (kind, workload, says) in [
        (RADOS.into(), "{op: [randwrite]}", r#"spec.tests[0].workload.op[0]: "randwrite": rados does not have it; it has write, read, randread"#.to_owned()),
        (NETWORK.into(), "{queueDepth: [4]}", format!("spec.tests[0].workload.queueDepth: [4]: {network_has}")),
        (NETWORK.into(), "{jobs: [4, 8]}", format!("spec.tests[0].workload.jobs: [4, 8]: {network_has}")),
        (NETWORK.into(), "{op: [read]}", format!("spec.tests[0].workload.op: [read]: {network_has}")),
        (FILE.into(), "{op: [read, write, read]}", r#"spec.tests[0].workload.op[2]: "read": is spec.tests[0].workload.op[0] too; write it once"#.into()),
        (FILE.into(), "{blockSize: [4096, 4Ki]}", r#"spec.tests[0].workload.blockSize[1]: "4Ki": is the same as spec.tests[0].workload.blockSize[0]; write it once"#.into()),
        (FILE.into(), "{queueDepth: [8, 8]}", "spec.tests[0].workload.queueDepth[1]: 8: is the same as spec.tests[0].workload.queueDepth[0]; write it once".into()),
        (FILE.into(), "{queueDepth: [0]}", "spec.tests[0].workload.queueDepth[0]: 0: 1 to 1024 are possible".into()),
        (FILE.into(), "{jobs: [257]}", "spec.tests[0].workload.jobs[0]: 257: 1 to 256 are possible".into()),
        (FILE.into(), "{rounds: 21}", "spec.tests[0].workload.rounds: 21: 1 to 20 are possible".into()),
        (FILE.into(), "{duration: 1m30}", r#"spec.tests[0].workload.duration: "1m30": has a number without a unit at its end: 30"#.into()),
        (FILE.into(), "{duration: 500ms}", r#"spec.tests[0].workload.duration: "500ms": 1s to 168h are possible"#.into()),
        (FILE.into(), "{bytes: 1Mi}", r#"spec.tests[0].workload.bytes: "1Mi": is less than one operation; at least 4Mi"#.into()),
        (file("1Mi"), "{}", r#"spec.tests[0].disk.file.size: "1Mi": has no room for a block of 4Mi; at least 4Mi"#.into()),
        (file("100Mi"), "{jobs: [1, 32]}", r#"spec.tests[0].disk.file.size: "100Mi": has no room for a block of 4Mi for each of 32 jobs; at least 128Mi"#.into()),
        (file("4095"), "{blockSize: [512]}", "spec.tests[0].disk.file.size: 4095: is 4,095 bytes; at least 4,096 are needed".into()),
        (FILE.into(), "{queueDepth: [1024], jobs: [16], blockSize: [1Mi, 512Ki]}", "spec.tests[0].workload: queueDepth 1024 × jobs 16 × blockSize 1Mi = 16 GiB: of buffers in each client; at most 8 GiB".into()),
        ("network: {streams: [65]}".into(), "{}", "spec.tests[0].network.streams[0]: 65: 1 to 64 are possible".into()),
        ("rados: {pool: {name: p}, objectSize: [5Gi]}".into(), "{blockSize: [1Mi]}", r#"spec.tests[0].rados.objectSize[0]: "5Gi": is 5,368,709,120 bytes; 4Ki to 128Mi are possible"#.into()),
        ("rados: {pool: {name: p}, objectSize: [128Mi]}".into(), "{}", "spec.tests[0].rados.objectSize[0]: 128Mi: is the block size too, and blocks are at most 64Mi; set workload.blockSize".into()),
        (RADOS.into(), "{blockSize: [3Mi, 1Mi]}", "spec.tests[0].rados.objectSize[0]: 4Mi: is no multiple of blockSize 3Mi; objects are whole blocks".into()),
        ("rados: {pool: {create: {pgNum: 100}}}".into(), "{}", "spec.tests[0].rados.pool.create.pgNum: 100: is no power of two; 64 or 128 are".into()),
        ("rados: {pool: {create: {size: 0}}}".into(), "{}", "spec.tests[0].rados.pool.create.size: 0: 1 to 10 copies are possible".into()),
        ("disk: {file: {directory: tmp, size: 1Gi}}".into(), "{}", r#"spec.tests[0].disk.file.directory: "tmp": is no path below /"#.into()),
        ("disk: {file: {directory: /tmp/../etc, size: 1Gi}}".into(), "{}", r#"spec.tests[0].disk.file.directory: "/tmp/../etc": has .. in it; write the path itself"#.into()),
        ("disk: {device: {path: /dev/}}".into(), "{}", r#"spec.tests[0].disk.device.path: "/dev/": is no path below /dev/"#.into()),
    ] {
        assert_eq!(refusals(&one(&kind, workload)), [says], "{kind} {workload}");
    }
}

#[test]
fn a_pools_name_can_grant_nothing_else() {
    for name in ["replicapool", ".mgr", "default.rgw.buckets-data_1"] {
        let plan = valid(&one(&format!("rados: {{pool: {{name: {name}}}}}"), "{}")).plan;
        assert_eq!(plan.tests[0].kind, PlannedKind::Rados(PlannedPool::Existing { name: name.into() }));
    }
    for name in ["x, allow rwx pool=replicapool", "a b", "a=b", "a*", "a\\n", "ä"] {
        let told = refusals(&one(&format!("rados: {{pool: {{name: \"{name}\"}}}}"), "{}"));
        assert!(told[0].ends_with("is no pool's name: letters, digits, '.', '_' and '-' are possible"), "{told:?}");
    }
}

#[test]
fn writes_to_a_device_are_left_to_the_bench_to_refuse() {
    let plan = valid(&one("disk: {device: {path: /dev/vdb}}", "{op: [write]}")).plan;
    assert_eq!(plan.tests[0].points[0].op, Some(Op::Write));
}

#[test]
fn a_network_send_is_of_any_size() {
    let plan = valid(&one("network: {streams: [4, 1]}", "{blockSize: [1, 1000]}")).plan;
    let sizes: Vec<_> =
        plan.tests[0].points.iter().map(|point| (point.block_size, point.link.map(|link| link.streams))).collect();
    assert_eq!(sizes, [(1, Some(4)), (1, Some(1)), (1000, Some(4)), (1000, Some(1))]);
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let said = refusals(
        r#"
clients: {perNode: 17, nodes: {names: [a, a]}, image: "a b", resources: {limits: {cpu: 100m}, requests: {cpu: "1", memory: 1GB}}}
defaults: {duration: 60}
tests:
- {name: T, disk: {file: {directory: /d, size: 4K}}, workload: {blockSize: [4K], queueDepth: [0], bytes: nan}}
- {name: n, network: {}, clients: {nodes: {names: [a]}, perNode: 1}}
- {name: n, rados: {pool: {name: ""}}}
gates:
- {name: g, test: x, metric: bandwidth}
"#
        .replace("duration: 60", "duration: '60'")
        .as_str(),
    );
    let fields: Vec<&str> = said.iter().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(
        fields,
        [
            "spec.tests[0].name",
            "spec.tests[2].name",
            "spec.defaults.duration",
            "spec.clients.nodes.names[1]",
            "spec.clients.perNode",
            "spec.clients.resources.requests.memory",
            "spec.clients.resources.requests.cpu",
            "spec.clients.image",
            "spec.tests[0].disk.file.size",
            "spec.tests[0].workload.bytes",
            "spec.tests[0].workload.blockSize[0]",
            "spec.tests[0].workload.queueDepth[0]",
            "spec.tests[1].network",
            "spec.tests[2].rados.pool.name",
            "spec.gates[0].test",
            "spec.gates[0]",
        ],
        "{said:#?}"
    );
}

#[test]
fn a_test_overrides_the_clients_field_by_field() {
    let plan = valid(&format!(
        "clients: {{perNode: 2, image: i, hostNetwork: true, nodes: {{names: [a, b]}}}}\ntests: [{{name: t, {FILE}, clients: {{perNode: 4, hostNetwork: false}}}}]"
    ))
    .plan;
    let clients = &plan.tests[0].clients;
    assert_eq!(clients.per_node, 4);
    assert_eq!(clients.spec.image.as_deref(), Some("i"));
    assert_eq!(clients.spec.host_network, Some(false));
    assert!(clients.spec.nodes.is_some());
}

#[test]
fn a_memory_limit_below_the_buffers_is_refused() {
    let yaml = format!("clients: {{resources: {{limits: {{memory: 32Mi}}}}}}\n{}", one(FILE, "{queueDepth: [16]}"));
    assert_eq!(
        refusals(&yaml),
        ["spec.tests[0].workload: 32Mi: is clients.resources.limits.memory; the buffers alone need 64 MiB"]
    );
}
