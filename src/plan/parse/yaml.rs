//! From YAML to plain JSON values: one document, no tags, no numbers that aren't any.

use serde::Deserialize;
use serde_json::{Map, Number, Value};
use serde_yaml_ng::{Deserializer, Mapping, Value as Yaml};

use super::super::problem::{Problems, quoted};

/// The one document of a file. JSON is YAML.
pub(super) fn read(text: &str, problems: &mut Problems) -> Option<Value> {
    let mut documents = Vec::new();
    // Some editors begin a file with it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for document in Deserializer::from_str(text) {
        // Twice the same key is an error of this step.
        match Yaml::deserialize(document).and_then(|mut yaml| yaml.apply_merge().map(|()| yaml)) {
            Ok(Yaml::Null) => {}
            Ok(yaml) => documents.push(yaml),
            Err(error) => {
                problems.add("", "", format!("cannot be read as YAML: {error}"));
                return None;
            }
        }
    }
    match documents.as_slice() {
        [document] => Some(to_json("", document, problems)),
        [] => {
            problems.add("", "", "holds no document; one CephBenchmark is wanted");
            None
        }
        many => {
            problems.add("", format!("{} documents", many.len()), "one CephBenchmark is wanted, alone in its file");
            None
        }
    }
}

fn to_json(path: &str, yaml: &Yaml, problems: &mut Problems) -> Value {
    match yaml {
        Yaml::Null => Value::Null,
        Yaml::Bool(value) => Value::Bool(*value),
        Yaml::Number(number) => number_to_json(path, number, problems),
        Yaml::String(text) => Value::String(text.clone()),
        Yaml::Sequence(items) => {
            let items = items.iter().enumerate();
            Value::Array(items.map(|(index, item)| to_json(&format!("{path}[{index}]"), item, problems)).collect())
        }
        Yaml::Mapping(mapping) => Value::Object(mapping_to_json(path, mapping, problems)),
        Yaml::Tagged(tagged) => {
            problems.add(path, tagged.tag.to_string(), "is a YAML tag, which has no meaning here; leave it out");
            Value::Null
        }
    }
}

/// A whole number stays whole however it is written: servers read 4.0 as 4.
fn number_to_json(path: &str, number: &serde_yaml_ng::Number, problems: &mut Problems) -> Value {
    if let Some(whole) = number.as_i64() {
        return Value::from(whole);
    }
    if let Some(whole) = number.as_u64() {
        return Value::from(whole);
    }
    let float = number.as_f64().unwrap_or(f64::NAN);
    if float.fract() == 0.0 && float.abs() < 2f64.powi(53) {
        return Value::from(float as i64);
    }
    match Number::from_f64(float) {
        Some(number) => Value::Number(number),
        None => {
            problems.add(path, number.to_string(), "is no number that anything can be held against");
            Value::Null
        }
    }
}

fn mapping_to_json(path: &str, mapping: &Mapping, problems: &mut Problems) -> Map<String, Value> {
    let mut fields = Map::new();
    for (key, value) in mapping {
        match key {
            Yaml::String(key) => {
                let field = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                fields.insert(key.clone(), to_json(&field, value, problems));
            }
            Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::Sequence(_) | Yaml::Mapping(_) | Yaml::Tagged(_) => {
                let shown = serde_yaml_ng::to_string(key).unwrap_or_default();
                problems.add(path, quoted(shown.trim()), "is a key, and keys are text; put it in quotes");
            }
        }
    }
    fields
}
