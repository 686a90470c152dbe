//! What can go wrong between the operator and the API server. Waiting is no error, and neither is a test that fails.

use crate::resources::StoredError;

#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    #[error("{act}: {}", text(.source))]
    Api { act: String, source: Box<kube::Error> },
    #[error("{what} exists and belongs to {owner}")]
    Foreign { what: String, owner: String },
    #[error(transparent)]
    Stored(#[from] StoredError),
    #[error("the object can't be read: {0}")]
    Unreadable(String),
    #[error("{0}")]
    Missing(String),
    /// By the operator's owner.
    #[error("no longer allowed: {0}")]
    Denied(String),
}

/// What the API server said, in its own words.
fn text(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if !status.message.is_empty() => status.message.clone(),
        other => other.to_string(),
    }
}

/// Names what was tried when a call failed.
pub trait During<T> {
    fn during(self, act: impl FnOnce() -> String) -> Result<T, ControllerError>;
}

impl<T> During<T> for Result<T, kube::Error> {
    fn during(self, act: impl FnOnce() -> String) -> Result<T, ControllerError> {
        self.map_err(|source| ControllerError::Api { act: act(), source: Box::new(source) })
    }
}

impl ControllerError {
    /// Somebody else changed the object meanwhile: look again.
    pub fn is_conflict(&self) -> bool {
        match self {
            ControllerError::Api { act: _, source } => {
                matches!(source.as_ref(), kube::Error::Api(status) if status.is_conflict())
            }
            ControllerError::Foreign { .. }
            | ControllerError::Stored(_)
            | ControllerError::Unreadable(_)
            | ControllerError::Missing(_)
            | ControllerError::Denied(_) => false,
        }
    }
}

impl ControllerError {
    pub fn is_forbidden(&self) -> bool {
        match self {
            ControllerError::Api { act: _, source } => {
                matches!(source.as_ref(), kube::Error::Api(status) if status.is_forbidden() || status.code == 403)
            }
            ControllerError::Foreign { .. }
            | ControllerError::Stored(_)
            | ControllerError::Unreadable(_)
            | ControllerError::Missing(_)
            | ControllerError::Denied(_) => false,
        }
    }

    /// Trying the same again will be refused again.
    pub fn is_refused(&self) -> bool {
        match self {
            ControllerError::Foreign { .. } | ControllerError::Denied(_) => true,
            ControllerError::Api { act: _, source } => match source.as_ref() {
                kube::Error::Api(status) => matches!(status.code, 400 | 403 | 422),
                _ => false,
            },
            ControllerError::Stored(_) | ControllerError::Unreadable(_) | ControllerError::Missing(_) => false,
        }
    }
}

/// `None` for an object, or a kind, that is not there.
pub fn found<T>(result: Result<T, kube::Error>) -> Result<Option<T>, kube::Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(kube::Error::Api(status)) if status.is_not_found() || status.code == 404 => Ok(None),
        Err(error) => Err(error),
    }
}
