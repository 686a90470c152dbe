//! What is wrong with a spec: one field, its value, and what would be right.

use std::fmt;

use crate::api::Amount;

/// One thing that is wrong. All of them are reported at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field's path, such as `spec.tests[0].workload.blockSize[1]`.
    pub field: String,
    /// What stands there, as it was written: text in quotes, numbers plain. Empty where nothing stands there.
    pub value: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, value, message } = self;
        match (field.is_empty(), value.is_empty()) {
            (true, true) => write!(f, "{message}"),
            (true, false) => write!(f, "{value}: {message}"),
            (false, true) => write!(f, "{field}: {message}"),
            (false, false) => write!(f, "{field}: {value}: {message}"),
        }
    }
}

/// What was found wrong so far.
#[derive(Debug, Default)]
pub(super) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    pub(super) fn add(&mut self, field: impl Into<String>, value: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem { field: field.into(), value: value.into(), message: message.into() });
    }

    /// Keeps what a check gave, or notes why it gave nothing.
    pub(super) fn keep<T, E: fmt::Display>(&mut self, field: &str, value: String, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(field, value, error.to_string());
                None
            }
        }
    }
}

/// An amount as it was written: text in quotes.
pub(super) fn written(amount: &Amount) -> String {
    match amount {
        Amount::Number(number) => number.to_string(),
        Amount::Text(text) => quoted(text),
    }
}

pub(super) fn quoted(text: &str) -> String {
    format!("{text:?}")
}
