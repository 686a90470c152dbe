//! What counts as the same measurement.

use super::*;

const HASHED: &str = r#"
cephCluster: rook-ceph
trigger: "1"
clients: {nodes: {names: [a, b]}, perNode: 2, resources: {limits: {cpu: 500m}}}
defaults: {duration: 90s, rounds: 2}
tests:
- {name: d, disk: {file: {directory: /d, size: 1024Mi}}, workload: {blockSize: ["4096"], queueDepth: [1, 4]}}
- {name: n, network: {streams: [1]}}
- {name: r, rados: {pool: {create: {}}, objectSize: [4Mi]}}
gates:
- {name: g, test: d, metric: iops, min: 1}
"#;

#[test]
fn d7_the_same_measurement_has_the_same_hash_however_it_is_written() {
    let first = valid(HASHED).plan.spec_hash;
    for (from, to) in [
        ("1024Mi", "1Gi"),
        ("1024Mi", "1073741824"),
        (r#"["4096"]"#, "[4Ki]"),
        (r#"["4096"]"#, "[4096]"),
        ("90s", "1m30s"),
        ("500m", "'0.5'"),
        ("[a, b]", "[b, a]"),
        (r#"trigger: "1""#, r#"trigger: "2""#),
        ("min: 1}", "min: 2}"),
        ("perNode: 2,", "perNode: 2, tolerations: [{key: k}], priorityClassName: p,"),
        ("network: {streams: [1]}", "network: {}, workload: {blockSize: [128Ki], rounds: 2}"),
        ("{create: {}}", "{create: {size: 3}}"),
        ("[4Mi]}}", "[4Mi]}, workload: {op: [write, read]}}"),
    ] {
        let other = HASHED.replace(from, to);
        assert_ne!(other, HASHED);
        assert_eq!(valid(&other).plan.spec_hash, first, "{to}");
    }
}

#[test]
fn another_measurement_has_another_hash() {
    let first = valid(HASHED).plan.spec_hash;
    for (from, to) in [
        ("1024Mi", "1025Mi"),
        (r#"["4096"]"#, "[8Ki]"),
        ("90s", "91s"),
        ("500m", "501m"),
        ("[a, b]", "[a, c]"),
        ("perNode: 2", "perNode: 3"),
        ("perNode: 2", "perNode: 2, hostNetwork: true"),
        ("perNode: 2", "perNode: 2, image: i"),
        ("rook-ceph", "other"),
        ("name: r,", "name: s,"),
        ("[1, 4]", "[4, 1]"),
        ("{create: {}}", "{create: {size: 2}}"),
        ("defaults:", "onFailure: Abort\ndefaults:"),
    ] {
        let other = HASHED.replace(from, to);
        assert_ne!(other, HASHED);
        assert_ne!(valid(&other).plan.spec_hash, first, "{to}");
    }
}

/// A change here makes every benchmark in every cluster measure again when the operator is upgraded: only on purpose.
#[test]
fn the_hash_is_the_same_in_every_version() {
    assert_eq!(valid(HASHED).plan.spec_hash, "ea7bcd2cd74f2d4a6a29c97901742b14ba2f413f8ee6ec7f0906d905fd4f6e12");
}
