//! Files as people write them, right and wrong.

mod anything;

use super::*;
use crate::plan::validate;

/// A whole file around the lines of a spec.
fn file(spec: &str) -> String {
    let spec = spec.replace('\n', "\n  ");
    format!("apiVersion: cephbench.io/v1alpha1\nkind: CephBenchmark\nmetadata: {{name: b}}\nspec:\n  {spec}\n")
}

fn refusals(yaml: &str) -> Vec<String> {
    parse(yaml).expect_err("refused").iter().map(ToString::to_string).collect()
}

const TEST: &str = "{name: t, network: {}}";

#[test]
fn unknown_fields_are_named_with_the_one_that_was_meant() {
    for (spec, says) in [
        (
            "tests: [{name: t, network: {}, workload: {blocksize: [4Ki]}}]",
            r#"spec.tests[0].workload.blocksize: ["4Ki"]: is no field here; did you mean blockSize?"#,
        ),
        (
            "tests: [{name: t, network: {}, workload: {readPercent: 50}}]",
            "spec.tests[0].workload.readPercent: 50: is no field here; there are blockSize, bytes, duration, jobs, op, queueDepth, rampUp, rounds",
        ),
        (
            "tests: [{name: t, network: {stream: [1]}}]",
            "spec.tests[0].network.stream: [1]: is no field here; did you mean streams?",
        ),
        (
            "tests: [{name: t, network: {}}]\nschedule: daily",
            r#"spec.schedule: "daily": is no field here; there are cephCluster, clients, defaults, gates, onFailure, suspend, tests, trigger"#,
        ),
        (
            "tests: [{name: t, network: {}}]\ngates: [{name: g, test: t, metric: bandwidth, min: 1, maxRegression: 5%}]",
            r#"spec.gates[0].maxRegression: "5%": is no field here; there are blockSize, jobs, max, metric, min, name, objectSize, op, queueDepth, streams, test"#,
        ),
        (
            "tests: [{name: t, network: {}}]\nclients: {resources: {claims: []}}",
            "spec.clients.resources.claims: []: is no field here; there are limits, requests",
        ),
    ] {
        assert_eq!(refusals(&file(spec)), [says], "{spec}");
    }
    let top = format!("{}spce: 1\n", file(&format!("tests: [{TEST}]")));
    assert_eq!(refusals(&top), ["spce: 1: is no field here; did you mean spec?"]);
    let metadata = file(&format!("tests: [{TEST}]")).replace("{name: b}", "{name: b, lables: {}}");
    assert_eq!(refusals(&metadata), ["metadata.lables: {}: is no field here; did you mean labels?"]);
}

#[test]
fn a_test_has_exactly_one_kind() {
    let disk = "disk: {file: {directory: /d, size: 1Gi}}";
    for (test, says) in [
        (
            format!("{{name: t, {disk}, network: {{}}}}"),
            "spec.tests[0]: disk and network: exactly one of disk, network, rados",
        ),
        ("{name: t}".into(), "spec.tests[0]: none of disk, network, rados: exactly one of disk, network, rados"),
        (
            "{name: t, disk: null}".into(),
            "spec.tests[0]: none of disk, network, rados: exactly one of disk, network, rados",
        ),
        (
            "{name: t, disk: {file: {directory: /d, size: 1}, device: {path: /dev/x}}}".into(),
            "spec.tests[0].disk: file and device: exactly one of file, device",
        ),
        (
            "{name: t, rados: {pool: {name: p, create: {}}}}".into(),
            "spec.tests[0].rados.pool: create and name: exactly one of create, name",
        ),
        (
            "{name: t, network: {}, clients: {nodes: {names: [a], matchLabels: {a: b}}}}".into(),
            "spec.tests[0].clients.nodes: matchLabels and names: exactly one of matchLabels, names",
        ),
    ] {
        assert_eq!(refusals(&file(&format!("tests: [{test}]"))), [says], "{test}");
    }
    let unknown = refusals(&file("tests: [{name: t, rbd: {pool: p}}]"));
    assert_eq!(unknown.len(), 2, "{unknown:?}");
    assert!(unknown[0].starts_with(r#"spec.tests[0].rbd: {"pool":"p"}: is no field here; there are clients, disk"#));
}

#[test]
fn types_and_bounds_are_the_schemas() {
    let workload = |workload: &str| format!("tests: [{{name: t, network: {{}}, workload: {workload}}}]");
    for (spec, says) in [
        (
            workload("{duration: 60}"),
            "spec.tests[0].workload.duration: 60: has no unit; did you mean 60s, 60ms or 60us?".into(),
        ),
        (
            workload("{duration: 1.5s}"),
            r#"spec.tests[0].workload.duration: "1.5s": is no whole number of its unit; write 1s500ms"#.into(),
        ),
        (workload("{rounds: 21}"), "spec.tests[0].workload.rounds: 21: 1 to 20 are possible".to_owned()),
        (workload("{rounds: '3'}"), r#"spec.tests[0].workload.rounds: "3": is text; a whole number is wanted"#.into()),
        (workload("{rounds: 2.5}"), "spec.tests[0].workload.rounds: 2.5: is a number; a whole number is wanted".into()),
        (
            workload("{blockSize: 4Ki}"),
            r#"spec.tests[0].workload.blockSize: "4Ki": is text; a list is wanted: ["4Ki"]"#.into(),
        ),
        (workload("{blockSize: []}"), "spec.tests[0].workload.blockSize: 0 entries: 1 to 32 are possible".into()),
        (
            workload("{blockSize: [true]}"),
            "spec.tests[0].workload.blockSize[0]: true: is true or false; a whole number or text is wanted".into(),
        ),
        (
            workload("{bytes: 1.5}"),
            r#"spec.tests[0].workload.bytes: 1.5: is no whole number; write it as text: "1.5""#.into(),
        ),
        (
            workload("{bytes: 9223372036854775808}"),
            "spec.tests[0].workload.bytes: 9223372036854775808: is above the largest number, 2^63 − 1".into(),
        ),
        (
            workload("{bytes: .nan}"),
            "spec.tests[0].workload.bytes: .nan: is no number that anything can be held against".into(),
        ),
        (
            workload("{op: [rewrite]}"),
            r#"spec.tests[0].workload.op[0]: "rewrite": is none of read, write, randread, randwrite"#.into(),
        ),
        (workload("[]"), "spec.tests[0].workload: []: is a list; an object is wanted".into()),
        (
            workload("{rounds: !!int 3, op: !x [read]}"),
            "spec.tests[0].workload.op: !x: is a YAML tag, which has no meaning here; leave it out".into(),
        ),
        (format!("tests: [{TEST}]\ntrigger: 1"), r#"spec.trigger: 1: is a number; text is wanted: write "1""#.into()),
        (
            format!("tests: [{TEST}]\nsuspend: 'true'"),
            r#"spec.suspend: "true": is text; true or false is wanted"#.into(),
        ),
        (format!("tests: [{TEST}]\nonFailure: Stop"), r#"spec.onFailure: "Stop": is none of Continue, Abort"#.into()),
        (
            format!("tests: [{TEST}]\nclients: {{nodes: {{names: []}}}}"),
            "spec.clients.nodes.names: 0 entries: 1 to 128 are possible".into(),
        ),
        (
            format!("tests: [{TEST}]\nclients: {{nodes: {{matchLabels: {{}}}}}}"),
            "spec.clients.nodes.matchLabels: 0 entries: 1 to 16 are possible".into(),
        ),
        ("tests: []".into(), "spec.tests: 0 entries: 1 to 32 are possible".into()),
        ("tests: [{network: {}}]".into(), "spec.tests[0].name: is missing".into()),
        (
            "tests: [{name: T, network: {}}]".into(),
            r#"spec.tests[0].name: "T": does not match ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"#.into(),
        ),
        (
            "tests: [{name: t, disk: {file: {directory: tmp, size: 1}}}]".into(),
            r#"spec.tests[0].disk.file.directory: "tmp": does not begin with /"#.into(),
        ),
        (
            "tests: [{name: t, rados: {pool: {name: ''}}}]".into(),
            "spec.tests[0].rados.pool.name: 0 characters: 1 to 128 are possible".into(),
        ),
    ] {
        assert_eq!(refusals(&file(&spec)), [says], "{spec}");
    }
}

#[test]
fn one_benchmark_stands_in_a_file() {
    let good = file(&format!("tests: [{TEST}]"));
    assert!(parse(&good).is_ok());
    assert!(parse(&format!("# comment\n---\n{good}---\n")).is_ok());
    assert_eq!(
        refusals(&format!("{good}---\n{good}")),
        ["2 documents: one CephBenchmark is wanted, alone in its file"]
    );
    assert_eq!(refusals(""), ["holds no document; one CephBenchmark is wanted"]);
    assert_eq!(refusals("[]"), ["[]: is no object; write apiVersion, kind, metadata and spec"]);
    assert_eq!(
        refusals(&good.replace("CephBenchmark", "CephCluster")),
        [r#"kind: "CephCluster": is not CephBenchmark"#]
    );
    assert_eq!(
        refusals(&good.replace("apiVersion: cephbench.io/v1alpha1\n", "")),
        ["apiVersion: is missing; write apiVersion: cephbench.io/v1alpha1"]
    );
    assert_eq!(refusals(&good.replace("{name: b}", "{}")), ["metadata.name: is missing"]);
    assert_eq!(
        refusals(&good.replace("metadata: {name: b}\n", "")),
        ["metadata: is missing; write metadata: {name: …}"]
    );
    assert!(
        refusals(&good.replace("{name: b}", "{name: B_}"))[0]
            .starts_with(r#"metadata.name: "B_": is no name of an object"#)
    );
    assert!(parse(&good.replace("{name: b}", "{name: b, creationTimestamp: null, labels: {a: b}}")).is_ok());
    let twice = refusals(&good.replace("kind:", "kind: CephBenchmark\nkind:"));
    assert!(twice[0].starts_with("cannot be read as YAML") && twice[0].contains("kind"), "{twice:?}");
    assert!(refusals("a: [")[0].starts_with("cannot be read as YAML"));
}

#[test]
fn everything_is_said_at_once() {
    let said = refusals(&file("tests: [{name: T, network: {x: 1}}, {disk: {}}]\nfoo: 1"));
    assert_eq!(said.len(), 5, "{said:#?}");
}

#[test]
fn json_and_merge_keys_are_yaml_too() {
    let json = json!({"apiVersion": "cephbench.io/v1alpha1", "kind": "CephBenchmark", "metadata": {"name": "b"},
        "spec": {"tests": [{"name": "t", "network": {}}]}});
    assert!(parse(&json.to_string()).is_ok());
    let merged = file(
        "tests:\n- {name: t, network: {}, workload: &w {rounds: 1}}\n- {name: u, network: {}, workload: {<<: *w, bytes: 1Mi}}",
    );
    let merged = parse(&merged).expect("merged");
    assert_eq!(merged.spec.tests[1].workload.as_ref().and_then(|workload| workload.rounds), Some(1));
}

/// What a server would write into a spec that is silent.
fn with_defaults(mut document: Value) -> Value {
    let spec = &mut document["spec"];
    spec["onFailure"] = json!("Continue");
    for test in spec["tests"].as_array_mut().into_iter().flatten() {
        if test["network"].is_object() {
            test["network"]["pattern"] = json!("Pairs");
        }
        if test["rados"]["pool"]["create"].is_object() && test["rados"]["pool"]["create"]["size"].is_null() {
            test["rados"]["pool"]["create"]["size"] = json!(3);
        }
    }
    document
}

#[test]
fn d7_every_field_reads_back_as_written() {
    let document = json!({
        "apiVersion": "cephbench.io/v1alpha1",
        "kind": "CephBenchmark",
        "metadata": {"name": "b", "namespace": "n", "labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {
            "cephCluster": "rook-ceph",
            "trigger": "1",
            "suspend": true,
            "clients": {
                "nodes": {"matchLabels": {"k": "v"}}, "perNode": 2, "hostNetwork": false, "image": "i",
                "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
                "resources": {"limits": {"memory": "1024Mi"}, "requests": {"cpu": "0.5"}},
                "priorityClassName": "p", "imagePullSecrets": [{"name": "s"}],
            },
            "defaults": {"rampUp": "0s", "duration": "90s", "rounds": 1},
            "tests": [
                {"name": "f", "disk": {"file": {"directory": "/d", "size": "1024Mi"}}, "clients": {"nodes": {"names": ["x"]}},
                 "workload": {"op": ["read", "randwrite"], "blockSize": ["4096", 8192, "1Mi"], "queueDepth": [1, 2], "jobs": [4],
                              "rampUp": "1m30s", "duration": "90s", "bytes": "1000000k", "rounds": 2}},
                {"name": "e", "disk": {"device": {"path": "/dev/vdb"}}},
                {"name": "n", "network": {"streams": [1, 4]}},
                {"name": "r", "rados": {"pool": {"create": {"pgNum": 64}}, "objectSize": ["4096Ki"]}},
                {"name": "s", "rados": {"pool": {"name": "p"}}},
            ],
            "gates": [
                {"name": "g", "test": "f", "metric": "latencyP999", "op": "read", "blockSize": 4096, "queueDepth": 1, "jobs": 4,
                 "min": "1us", "max": "1000ms"},
                {"name": "h", "test": "n", "metric": "bandwidth", "streams": 4, "min": 1},
                {"name": "i", "test": "r", "metric": "errors", "objectSize": "4Mi", "max": 0},
            ],
        },
    });
    let benchmark = parse(&document.to_string()).expect("read");
    assert!(validate(&benchmark.spec).is_ok(), "{:?}", validate(&benchmark.spec));
    assert_eq!(serde_json::to_value(&benchmark).expect("written"), with_defaults(document));
}

#[test]
fn a_finished_benchmark_is_read_without_its_status() {
    let mut document = with_defaults(
        json!({"apiVersion": "cephbench.io/v1alpha1", "kind": "CephBenchmark", "metadata": {"name": "b"},
        "spec": {"tests": [{"name": "t", "network": {}}]}}),
    );
    let bare = parse(&document.to_string()).expect("read");
    document["status"] = json!({"observedGeneration": 1, "phase": "Passed"});
    assert_eq!(parse(&document.to_string()).expect("read"), bare);
}

#[test]
fn the_schema_holds_no_keyword_that_would_go_unchecked() {
    fn walk(schema: &Value, at: &str) {
        for (keyword, value) in schema.as_object().expect("a schema is an object") {
            assert!(schema::KNOWN.contains(&keyword.as_str()), "{keyword} at {at}");
            match keyword.as_str() {
                "properties" => {
                    for (name, schema) in value.as_object().expect("properties") {
                        walk(schema, &format!("{at}.{name}"));
                    }
                }
                "items" | "additionalProperties" => walk(value, &format!("{at}[]")),
                "oneOf" => {
                    for alternative in value.as_array().expect("alternatives") {
                        let keys: Vec<&String> = alternative.as_object().expect("an alternative").keys().collect();
                        assert_eq!(keys, ["required"], "{at}");
                    }
                }
                "pattern" => {
                    assert!(regex_lite::Regex::new(value.as_str().expect("a pattern")).is_ok(), "{at}");
                }
                _ => {}
            }
        }
    }
    walk(&object_schema(), "");
}
