//! The whole object for machines, the same from a local run as from a cluster: apiVersion, kind, metadata, spec, status.
//! Keys stand in alphabetical order, as they do in what an API server's clients print.

use serde_json::Value;

use crate::api::CephBenchmark;

/// JSON, indented, with a line end.
pub fn json(benchmark: &CephBenchmark) -> String {
    json_of(value(benchmark))
}

/// YAML, with a line end.
pub fn yaml(benchmark: &CephBenchmark) -> String {
    yaml_of(value(benchmark))
}

/// As [`json`], of an object as an API server gave it: fields that this program does not know stay.
pub fn json_of(object: Value) -> String {
    let text = serde_json::to_string_pretty(&printed(object)).expect("a JSON value has text keys only");
    text + "\n"
}

/// As [`yaml`], of an object as an API server gave it.
pub fn yaml_of(object: Value) -> String {
    serde_yaml_ng::to_string(&printed(object)).expect("a JSON value is a YAML value")
}

fn value(benchmark: &CephBenchmark) -> Value {
    serde_json::to_value(benchmark).expect("the resource's types have text keys and finite numbers")
}

/// Without the server's book-keeping about who owns which field.
fn printed(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}
