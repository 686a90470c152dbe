//! Snapshots of every format over small objects.

use crate::api::CephBenchmark;

fn fixture(text: &str) -> CephBenchmark {
    serde_yaml_ng::from_str(text).expect("a fixture is a CephBenchmark")
}

const FINISHED: &str = include_str!("fixtures/finished.yaml");
const RUNNING: &str = include_str!("fixtures/running.yaml");

#[test]
fn a_finished_benchmark_as_a_table() {
    insta::assert_snapshot!(super::table(&fixture(FINISHED)));
}

#[test]
fn a_running_benchmark_as_a_table() {
    insta::assert_snapshot!(super::table(&fixture(RUNNING)));
}

#[test]
fn a_benchmark_that_nobody_looked_at() {
    let mut benchmark = fixture(RUNNING);
    benchmark.status = None;
    assert_eq!(super::table(&benchmark), "quick: not looked at yet\n");
}

#[test]
fn json_and_yaml_are_the_whole_object_and_read_back() {
    let benchmark = fixture(FINISHED);
    let json: serde_json::Value = serde_json::from_str(&super::json(&benchmark)).expect("JSON");
    let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["apiVersion", "kind", "metadata", "spec", "status"]);
    assert_eq!(json["metadata"], serde_json::json!({"name": "nightly", "namespace": "rook-ceph", "generation": 2}));
    let mut read_back: CephBenchmark = serde_json::from_value(json).expect("a CephBenchmark");
    assert_eq!(serde_yaml_ng::from_str::<CephBenchmark>(&super::yaml(&benchmark)).expect("YAML"), read_back);
    read_back.metadata.managed_fields = benchmark.metadata.managed_fields.clone();
    assert_eq!(read_back, benchmark);
}
