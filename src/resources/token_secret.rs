//! The token by which a run's clients know each other. The operator creates it and never reads it.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;

use super::names::Role;
use super::run_context::RunContext;

/// Key of the token in the Secret, and name of its file in the pods.
pub const TOKEN_KEY: &str = "token";

/// `token`: random, at least 32 bytes of text.
pub fn build_token_secret(context: &RunContext, token: &str) -> Secret {
    Secret {
        metadata: context.metadata(context.names().token(), Role::Token),
        data: Some(BTreeMap::from([(TOKEN_KEY.to_owned(), ByteString(token.as_bytes().to_vec()))])),
        immutable: Some(true),
        string_data: None,
        type_: Some("Opaque".into()),
    }
}
