//! Sizes and times as they stand in a spec: kept exactly as written, so that a GitOps tool never sees drift.
//! Parsing them is the validator's work, not theirs.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// An amount: a whole number, or a Kubernetes quantity such as `4Ki`, `200Mi`, `10G`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Amount {
    Number(i64),
    Text(String),
}

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "x-kubernetes-int-or-string": true,
            "maxLength": 32,
        })
    }
}

/// How a [`Time`] is written, as far as a pattern can say it.
pub(crate) const TIME_PATTERN: &str = "^([0-9]+(us|ms|s|m|h))+$";

/// A length of time: whole numbers with units, largest first, such as `90s`, `1h30m`, `20ms`, `500us`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Time(pub String);

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "maxLength": 32,
            "pattern": TIME_PATTERN,
        })
    }
}
