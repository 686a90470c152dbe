//! Holds a value against a structural schema, as an API server does with strict field validation. Knows the keywords that this
//! project's CRD uses; a test fails when another one appears.

use regex_lite::Regex;
use serde_json::{Map, Value};

use super::super::problem::{Problems, quoted};
use super::nearest::nearest;
use crate::api::{TIME_PATTERN, Time};
use crate::units;

/// Keywords that [`check`] looks at, and those that need no look: words for people, defaults, formats that the types see to, and rules
/// that the validator has too.
#[cfg(test)]
pub(super) const KNOWN: [&str; 25] = [
    "additionalProperties",
    "default",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// Longest value that a message shows.
const MAX_SHOWN: usize = 60;

/// Takes known fields away that are null, as a server does before it looks at anything else: null says nothing. Nulls in lists stay.
pub(super) fn without_nulls(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let of = |name: &String| {
                schema
                    .get("properties")
                    .and_then(|known| known.get(name))
                    .or_else(|| schema.get("additionalProperties"))
            };
            fields.retain(|name, value| !value.is_null() || of(name).is_none());
            for (name, value) in fields {
                if let Some(schema) = of(name) {
                    without_nulls(schema, value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without_nulls(&schema["items"], item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(super) fn check(path: &str, schema: &Value, value: &Value, problems: &mut Problems) {
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true)) {
        return;
    }
    let int_or_text = schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true));
    let wanted = if int_or_text { "int-or-string" } else { schema["type"].as_str().unwrap_or_default() };
    if let Some(message) = wrong_type(wanted, schema, value) {
        problems.add(path, shown(value), message);
        return;
    }
    match value {
        Value::Object(fields) => check_object(path, schema, fields, problems),
        Value::Array(items) => {
            check_size(path, schema, ["minItems", "maxItems"], items.len(), "entries", problems);
            for (index, item) in items.iter().enumerate() {
                check(&format!("{path}[{index}]"), &schema["items"], item, problems);
            }
        }
        Value::String(text) => check_text(path, schema, text, problems),
        Value::Number(_) => check_number(path, schema, value, problems),
        Value::Null | Value::Bool(_) => {}
    }
}

/// What is wrong with the value's type, if anything.
fn wrong_type(wanted: &str, schema: &Value, value: &Value) -> Option<String> {
    let right = match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "int-or-string" => value.is_i64() || value.is_string(),
        _ => true,
    };
    if right {
        return None;
    }
    if is_time(schema) && value.is_number() {
        let error = units::time(&Time(value.to_string())).err();
        return Some(error.map_or_else(|| "has no unit".into(), |error| error.to_string()));
    }
    if matches!(wanted, "integer" | "int-or-string") && value.is_u64() {
        return Some("is above the largest number, 2^63 − 1".into());
    }
    let is = match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    let in_quotes = format!("text is wanted: write {}", quoted(&value.to_string()));
    let scalar = value.is_number() || value.is_boolean();
    Some(match wanted {
        "object" => format!("is {is}; an object is wanted"),
        "array" => format!("is {is}; a list is wanted: [{}]", shown(value)),
        "string" if scalar => format!("is {is}; {in_quotes}"),
        "string" => format!("is {is}; text is wanted"),
        "boolean" => format!("is {is}; true or false is wanted"),
        "integer" => format!("is {is}; a whole number is wanted"),
        "int-or-string" if value.is_number() => {
            format!("is no whole number; write it as text: {}", quoted(&value.to_string()))
        }
        "int-or-string" => format!("is {is}; a whole number or text is wanted"),
        _ => format!("is {is}; a number is wanted"),
    })
}

fn check_object(path: &str, schema: &Value, fields: &Map<String, Value>, problems: &mut Problems) {
    check_size(path, schema, ["minProperties", "maxProperties"], fields.len(), "entries", problems);
    let known = schema.get("properties").and_then(Value::as_object);
    if known.is_none() && schema.get("additionalProperties").is_none() {
        return;
    }
    for (name, value) in fields {
        let field = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if let Some(schema) = known.and_then(|known| known.get(name)) {
            check(&field, schema, value, problems);
        } else if let Some(schema) = schema.get("additionalProperties") {
            check(&field, schema, value, problems);
        } else {
            let names: Vec<&str> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
            let message = match nearest(name, &names) {
                Some(near) => format!("is no field here; did you mean {near}?"),
                None => format!("is no field here; there are {}", names.join(", ")),
            };
            problems.add(field, shown(value), message);
        }
    }
    for name in texts(schema.get("required")).filter(|name| !fields.contains_key(*name)) {
        let field = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        problems.add(field, "", "is missing");
    }
    check_one_of(path, schema, fields, problems);
}

/// Alternatives that each require a field of their own.
fn check_one_of(path: &str, schema: &Value, fields: &Map<String, Value>, problems: &mut Problems) {
    let Some(alternatives) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let names: Vec<&str> = alternatives.iter().flat_map(|alternative| texts(alternative.get("required"))).collect();
    let given: Vec<&str> = names.iter().copied().filter(|name| fields.contains_key(*name)).collect();
    if given.len() != 1 {
        let value = if given.is_empty() { format!("none of {}", names.join(", ")) } else { given.join(" and ") };
        problems.add(path, value, format!("exactly one of {}", names.join(", ")));
    }
}

fn check_text(path: &str, schema: &Value, text: &str, problems: &mut Problems) {
    if let Some(values) = schema.get("enum").filter(|values| !texts(Some(values)).any(|value| value == text)) {
        let values: Vec<&str> = texts(Some(values)).collect();
        problems.add(path, quoted(text), format!("is none of {}", values.join(", ")));
    }
    check_size(path, schema, ["minLength", "maxLength"], text.chars().count(), "characters", problems);
    let Some(pattern) = schema.get("pattern").and_then(Value::as_str) else { return };
    if Regex::new(pattern).is_ok_and(|regex| regex.is_match(text)) {
        return;
    }
    let message = if is_time(schema) {
        units::time(&Time(text.to_owned())).err().map_or_else(|| "is no time".into(), |error| error.to_string())
    } else {
        match pattern.strip_prefix('^').filter(|begin| begin.chars().all(|c| c == '/' || c.is_ascii_alphanumeric())) {
            Some(begin) => format!("does not begin with {begin}"),
            None => format!("does not match {pattern}"),
        }
    };
    problems.add(path, quoted(text), message);
}

fn check_number(path: &str, schema: &Value, value: &Value, problems: &mut Problems) {
    let bound = |name: &str| schema.get(name).and_then(Value::as_i64);
    let (min, max) = (bound("minimum"), bound("maximum"));
    let Some(number) = value.as_i64() else { return };
    if min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max) {
        problems.add(path, number.to_string(), possible(min, max));
    }
}

fn check_size(path: &str, schema: &Value, [min, max]: [&str; 2], size: usize, what: &str, problems: &mut Problems) {
    let bound = |name: &str| schema.get(name).and_then(Value::as_i64);
    let (min, max) = (bound(min), bound(max));
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    if min.is_some_and(|min| size < min) || max.is_some_and(|max| size > max) {
        problems.add(path, format!("{size} {what}"), possible(min, max));
    }
}

fn possible(min: Option<i64>, max: Option<i64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max} are possible"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    }
}

fn is_time(schema: &Value) -> bool {
    schema.get("pattern").is_some_and(|pattern| pattern == TIME_PATTERN)
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// A value for a message: as JSON, cut when it is long.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= MAX_SHOWN {
        return text;
    }
    text.chars().take(MAX_SHOWN - 1).chain(['…']).collect()
}
