//! Specs that hold together and specs that don't, as people write them.

mod gates;
mod measured;
mod workloads;

use super::*;
use crate::api::CephBenchmarkSpec;

fn spec(yaml: &str) -> CephBenchmarkSpec {
    let value: serde_json::Value = serde_yaml_ng::from_str(yaml).expect("YAML");
    serde_json::from_value(value).expect("a spec")
}

fn valid(yaml: &str) -> Validated {
    validate(&spec(yaml)).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn refusals(yaml: &str) -> Vec<String> {
    validate(&spec(yaml)).expect_err("refused").iter().map(ToString::to_string).collect()
}

const FILE: &str = "disk: {file: {directory: /var/tmp, size: 1Gi}}";
const RADOS: &str = "rados: {pool: {name: p}}";
const NETWORK: &str = "network: {}";

/// A spec of one test with this kind and workload.
fn one(kind: &str, workload: &str) -> String {
    format!("tests: [{{name: t, {kind}, workload: {workload}}}]")
}

fn gated(kind: &str, workload: &str, gate: &str) -> String {
    format!("{}\ngates: [{{name: g, test: t, {gate}}}]", one(kind, workload))
}
