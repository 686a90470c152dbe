//! What the types' derived schema can't say by itself, and the CRD as a document.
//!
//! Absent is the one way to say nothing: no field of the CRD takes null. Lists, maps and texts of the spec are bounded.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::CustomResourceExt;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::CephBenchmark;

/// The CustomResourceDefinition: the derived one, tidied.
pub fn crd() -> CustomResourceDefinition {
    serde_json::from_value(tidied()).expect("a CRD without some of its keys is a CRD")
}

/// The same as a document, as `crds/` holds it.
pub fn crd_yaml() -> String {
    serde_yaml_ng::to_string(&tidied()).expect("JSON is YAML")
}

/// The schema of a whole object: of `spec` and `status`; the server has its own for the rest.
pub(crate) fn object_schema() -> Value {
    let mut crd = tidied();
    crd.pointer_mut(SCHEMA).expect("the derived CRD has a schema").take()
}

/// The schema of `metadata`, which every object has and no CRD states.
pub(crate) fn metadata_schema() -> Value {
    let settings = SchemaSettings::openapi3().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<ObjectMeta>().to_value()
}

const SCHEMA: &str = "/spec/versions/0/schema/openAPIV3Schema";

fn tidied() -> Value {
    let mut crd = serde_json::to_value(CephBenchmark::crd()).expect("a CRD is plain data");
    tidy(&mut crd);
    // A new object is not yet observed: tools that wait for a status don't take it for done.
    let status = crd.pointer_mut(SCHEMA).and_then(|schema| schema.pointer_mut("/properties/status"));
    status.expect("the object has a status")["default"] = json!({"observedGeneration": -1});
    crd
}

/// Takes `nullable` away, and writes bounds whole that are kept as floating point (`16`, not `16.0`).
fn tidy(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15);
            if let Some(whole) = whole {
                *value = json!(whole as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(fields) => {
            if fields.get("nullable") == Some(&Value::Bool(true)) {
                fields.remove("nullable");
            }
            fields.values_mut().for_each(tidy);
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

pub(super) fn match_labels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "minProperties": 1,
        "maxProperties": 16,
        "additionalProperties": {"type": "string", "maxLength": 63},
    })
}

pub(super) fn node_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "minItems": 1,
        "maxItems": 128,
        "items": {"type": "string", "minLength": 1, "maxLength": 253},
    })
}

/// Kubernetes' own rules, in time: a Job with another operator or effect would be refused in the middle of a run.
pub(super) fn tolerations(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "maxItems": 16,
        "items": {
            "type": "object",
            "properties": {
                "key": {"type": "string", "maxLength": 316},
                "operator": {"type": "string", "enum": ["Exists", "Equal"]},
                "value": {"type": "string", "maxLength": 63},
                "effect": {"type": "string", "enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"]},
                "tolerationSeconds": {"type": "integer", "format": "int64"},
            },
        },
    })
}

/// It becomes part of a CephX capability, where a comma or a space would begin another grant.
pub(super) fn pool_name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[A-Za-z0-9_.-]*$"})
}

/// Requests and limits without what has no effect here (claims).
pub(super) fn resources(_: &mut SchemaGenerator) -> Schema {
    let amounts = json!({
        "type": "object",
        "maxProperties": 16,
        "additionalProperties": {"x-kubernetes-int-or-string": true, "maxLength": 32},
    });
    json_schema!({"type": "object", "properties": {"limits": amounts, "requests": amounts}})
}
