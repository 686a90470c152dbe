//! What is generated from the types stands in the repository as it would be generated now.

use std::fs;
use std::path::Path;

use cephbench::api::{crd, crd_yaml};
use serde_json::Value;

#[test]
fn the_stored_crds_are_the_one_of_the_types() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["crds", "charts/cephbench/files"] {
        let path = root.join(folder).join("cephbenchmarks.cephbench.io.yaml");
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == crd_yaml(), "{} is not what the types generate; run: make generate", path.display());
    }
}

#[test]
fn nothing_in_the_schema_takes_null_and_every_list_of_the_spec_has_an_end() {
    let crd = serde_json::to_value(crd()).expect("a CRD is plain data");
    let schema = crd.pointer("/spec/versions/0/schema/openAPIV3Schema/properties").expect("a schema");
    assert!(!schema.to_string().contains("nullable"));
    walk(&schema["spec"], "spec", &|at, schema| {
        assert!(!schema["enum"].as_array().is_some_and(|values| values.contains(&Value::Null)), "{at}");
        if schema["type"] == "array" {
            assert!(schema["maxItems"].is_number(), "{at} has no maxItems");
        }
        if schema["additionalProperties"].is_object() {
            assert!(schema["maxProperties"].is_number(), "{at} has no maxProperties");
        }
    });
    assert_eq!(schema["status"]["default"], serde_json::json!({"observedGeneration": -1}));
    assert_eq!(schema["status"]["properties"]["observedGeneration"]["default"], -1);
}

/// Lists by name merge by name; all others are replaced whole, which is what a list without a type is.
#[test]
fn tests_gates_and_conditions_are_maps_and_other_lists_are_atomic() {
    let crd = serde_json::to_value(crd()).expect("a CRD is plain data");
    let schema = crd.pointer("/spec/versions/0/schema/openAPIV3Schema").expect("a schema");
    let maps = std::cell::RefCell::new(Vec::new());
    walk(schema, "", &|at, schema| {
        let kind = &schema["x-kubernetes-list-type"];
        assert!(kind.is_null() || kind == "map", "{at}");
        if kind == "map" {
            maps.borrow_mut().push(format!("{at} by {}", schema["x-kubernetes-list-map-keys"][0]));
        }
    });
    let mut maps = maps.into_inner();
    maps.sort();
    assert_eq!(maps, [r#".spec.gates by "name""#, r#".spec.tests by "name""#, r#".status.conditions by "type""#]);
}

fn walk(schema: &Value, at: &str, look: &dyn Fn(&str, &Value)) {
    look(at, schema);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        walk(property, &format!("{at}.{name}"), look);
    }
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            walk(&schema[inner], &format!("{at}[]"), look);
        }
    }
}
