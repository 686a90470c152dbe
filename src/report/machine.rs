//! The whole object for machines, the same from a local run as from a cluster: apiVersion, kind, metadata, spec, status.
//! Keys stand in alphabetical order, as they do in what an API server's clients print.

use serde_json::Value;

use crate::api::CephBenchmark;

/// JSON, indented, with a line end.
pub fn json(benchmark: &CephBenchmark) -> String {
    let text = serde_json::to_string_pretty(&value(benchmark)).expect("a JSON value has text keys only");
    text + "\n"
}

/// YAML, with a line end.
pub fn yaml(benchmark: &CephBenchmark) -> String {
    serde_yaml_ng::to_string(&value(benchmark)).expect("a JSON value is a YAML value")
}

/// Without the server's book-keeping about who owns which field.
fn value(benchmark: &CephBenchmark) -> Value {
    let mut value = serde_json::to_value(benchmark).expect("the resource's types have text keys and finite numbers");
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    value
}
