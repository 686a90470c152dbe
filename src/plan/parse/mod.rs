//! Reads a `CephBenchmark` from a local file as strictly as an API server with strict field validation: what the schema of the CRD
//! refuses is refused here. Whether names and amounts hold together is for [`validate`](super::validate()) to say, as it is in a cluster.

mod nearest;
mod schema;
#[cfg(test)]
mod tests;
mod yaml;

use std::sync::LazyLock;

use kube::Resource;
use serde_json::{Value, json};

use super::Problem;
use super::problem::{Problems, quoted};
use crate::api::{CephBenchmark, metadata_schema, object_schema};

static METADATA: LazyLock<Value> = LazyLock::new(metadata_schema);

/// The CRD's schema, and beside it the server's own fields: known, and checked apart.
static OBJECT: LazyLock<Value> = LazyLock::new(|| {
    let mut schema = object_schema();
    for field in ["apiVersion", "kind", "metadata"] {
        schema["properties"][field] = json!({"x-kubernetes-preserve-unknown-fields": true});
    }
    schema
});

/// Reads one `CephBenchmark` from YAML or JSON. Unknown fields, wrong types, two kinds in a test are problems that name the field. The
/// spec is kept as written; a status is checked and dropped, as a server does with one that is applied. Words that only older YAML takes
/// for true and false (`on`, `n`) are text here.
pub fn parse(yaml: &str) -> Result<CephBenchmark, Vec<Problem>> {
    let mut problems = Problems::default();
    let read = read(yaml, &mut problems);
    match read {
        Some(benchmark) if problems.0.is_empty() => Ok(benchmark),
        Some(_) | None => Err(problems.0),
    }
}

/// The one document of a YAML or JSON file as plain JSON: keys that stand twice, tags, and numbers that aren't any are refused, for a
/// reader that drops them would change what is asked for. What the fields mean is not looked at.
pub fn document(text: &str) -> Result<Value, Vec<Problem>> {
    let mut problems = Problems::default();
    match yaml::read(text, &mut problems) {
        Some(value) if problems.0.is_empty() => Ok(value),
        Some(_) | None => Err(problems.0),
    }
}

fn read(yaml: &str, problems: &mut Problems) -> Option<CephBenchmark> {
    let mut object = yaml::read(yaml, problems)?;
    if !problems.0.is_empty() {
        return None;
    }
    check_kind(&object, problems)?;
    check_metadata(&mut object, problems);
    schema::without_nulls(&OBJECT, &mut object);
    schema::check("", &OBJECT, &object, problems);
    if !problems.0.is_empty() {
        return None;
    }
    let read: Result<CephBenchmark, serde_json::Error> = serde_json::from_value(object);
    let mut benchmark = problems.keep("", String::new(), read)?;
    benchmark.status = None;
    Some(benchmark)
}

fn check_kind(object: &Value, problems: &mut Problems) -> Option<()> {
    if !object.is_object() {
        problems.add("", schema::shown(object), "is no object; write apiVersion, kind, metadata and spec");
        return None;
    }
    let mut fine = true;
    let wanted = [("apiVersion", CephBenchmark::api_version(&())), ("kind", CephBenchmark::kind(&()))];
    for (field, wanted) in wanted {
        match object.get(field) {
            Some(Value::String(text)) if *text == wanted => {}
            Some(other) => {
                fine = false;
                problems.add(field, schema::shown(other), format!("is not {wanted}"));
            }
            None => {
                fine = false;
                problems.add(field, "", format!("is missing; write {field}: {wanted}"));
            }
        }
    }
    fine.then_some(())
}

fn check_metadata(object: &mut Value, problems: &mut Problems) {
    let Some(metadata @ Value::Object(_)) = object.get_mut("metadata") else {
        problems.add("metadata", "", "is missing; write metadata: {name: …}");
        return;
    };
    schema::without_nulls(&METADATA, metadata);
    schema::check("metadata", &METADATA, metadata, problems);
    match metadata.get("name") {
        Some(Value::String(name)) if !is_subdomain(name) => {
            let message = "is no name of an object: at most 253 of a to z, 0 to 9, - and ., beginning and ending with a letter or digit";
            problems.add("metadata.name", quoted(name), message);
        }
        Some(_) => {}
        None => problems.add("metadata.name", "", "is missing"),
    }
}

fn is_subdomain(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_part =
        |part: &str| part.starts_with(is_end) && part.ends_with(is_end) && part.chars().all(|c| is_end(c) || c == '-');
    name.len() <= 253 && name.split('.').all(is_part)
}
