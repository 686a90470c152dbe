//! What is wrong with a spec: one field, its value, and what would be right.

use std::fmt;

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
