//! Whatever stands in a file, reading it ends in a benchmark or in problems that name a field.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{file, parse};
use crate::plan::validate;

/// Values in the shape of specs: known names, unknown ones, and anything below them.
fn anything() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "tests",
        "gates",
        "name",
        "network",
        "disk",
        "rados",
        "file",
        "device",
        "path",
        "directory",
        "size",
        "pool",
        "create",
        "pgNum",
        "workload",
        "op",
        "blockSize",
        "queueDepth",
        "jobs",
        "bytes",
        "rounds",
        "rampUp",
        "duration",
        "clients",
        "nodes",
        "names",
        "matchLabels",
        "perNode",
        "resources",
        "limits",
        "cpu",
        "tolerations",
        "key",
        "streams",
        "pattern",
        "objectSize",
        "metric",
        "test",
        "min",
        "max",
        "defaults",
        "trigger",
        "suspend",
        "onFailure",
        "unknown",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..5000).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            "t",
            "4Ki",
            "4k",
            "1Gi",
            "5s",
            "/d",
            "/dev/x",
            "read",
            "write",
            "bandwidth",
            "latencyP99",
            "Pairs",
            ""
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone().prop_map(String::from), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_makes_parsing_panic(text in ".{0,200}") {
        let _ = parse(&text);
        let _ = parse(&file(&text));
    }

    #[test]
    fn what_the_schema_takes_can_be_read_and_validated(spec in anything()) {
        let document = json!({"apiVersion": "cephbench.io/v1alpha1", "kind": "CephBenchmark", "metadata": {"name": "b"}, "spec": spec});
        match parse(&document.to_string()) {
            Ok(benchmark) => {
                let _ = validate(&benchmark.spec);
            }
            // A problem of no field is one of reading what the schema took.
            Err(problems) => prop_assert!(problems.iter().all(|problem| !problem.field.is_empty()), "{problems:?}"),
        }
    }

    #[test]
    fn a_changed_part_of_a_good_spec_is_taken_or_refused_by_name(part in anything(), at in 0usize..12) {
        let mut document = json!({"apiVersion": "cephbench.io/v1alpha1", "kind": "CephBenchmark", "metadata": {"name": "b"},
            "spec": {"clients": {"nodes": {"names": ["a", "b"]}}, "tests": [
                {"name": "f", "disk": {"file": {"directory": "/d", "size": "1Gi"}}, "workload": {"op": ["read"], "blockSize": ["4Ki"]}},
                {"name": "n", "network": {"streams": [1]}},
                {"name": "r", "rados": {"pool": {"create": {}}, "objectSize": ["4Mi"]}},
            ], "gates": [{"name": "g", "test": "f", "metric": "iops", "min": 1}]}});
        let places = [
            "/spec/clients/nodes", "/spec/clients/nodes/names", "/spec/tests/0/disk", "/spec/tests/0/disk/file/size",
            "/spec/tests/0/workload", "/spec/tests/0/workload/op", "/spec/tests/0/workload/blockSize/0", "/spec/tests/1/network",
            "/spec/tests/2/rados/pool", "/spec/tests/2/rados/objectSize/0", "/spec/gates/0/min", "/spec/tests/1/name",
        ];
        *document.pointer_mut(places[at]).expect("a place") = part;
        match parse(&document.to_string()) {
            Ok(benchmark) => if let Err(problems) = validate(&benchmark.spec) {
                prop_assert!(problems.iter().all(|problem| problem.field.starts_with("spec.")), "{problems:?}");
            },
            Err(problems) => prop_assert!(problems.iter().all(|problem| problem.field.starts_with("spec")), "{problems:?}"),
        }
    }
}
