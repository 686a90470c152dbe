//! Which clients of a test that was stopped are to be swept up after: noted before their Jobs go, and removed with the test's tasks.

use k8s_openapi::api::core::v1::ConfigMap;

use super::names::{Role, SWEEP};
use super::run_context::RunContext;

pub fn build_sweeps_config_map(context: &RunContext, test: usize, clients: &[u32]) -> ConfigMap {
    let mut metadata = context.test_metadata(context.names().sweeps(test), Role::Sweeps, test);
    metadata.annotations.get_or_insert_default().insert(SWEEP.into(), list_of(clients));
    ConfigMap { metadata, data: None, binary_data: None, immutable: Some(true) }
}

/// Clients as an annotation has them: `0,2`.
pub(super) fn list_of(clients: &[u32]) -> String {
    let list: Vec<String> = clients.iter().map(u32::to_string).collect();
    list.join(",")
}
