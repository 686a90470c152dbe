//! What is noted of sweeping up, for an operator that is killed in between. Which clients of a test that was stopped are to be swept up after:
//! before their Jobs go, and until the test's tasks do. And what sweepers could not remove: it is kept with the run.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;

use super::names::{LEFT, Role, SWEEP};
use super::run_context::RunContext;
use crate::plan::shortened;

pub fn build_sweeps_config_map(context: &RunContext, test: usize, clients: &[u32]) -> ConfigMap {
    let mut metadata = context.test_metadata(context.names().sweeps(test), Role::Sweeps, test);
    metadata.annotations.get_or_insert_default().insert(SWEEP.into(), list_of(clients));
    ConfigMap { metadata, data: None, binary_data: None, immutable: Some(true) }
}

/// Bytes of an annotation that others' messages are cut to.
const MOST_LEFT: usize = 16 << 10;

pub fn build_left_config_map(context: &RunContext, test: usize, left: &[String]) -> ConfigMap {
    let mut metadata = context.test_metadata(context.names().left(test), Role::Left, test);
    let lines: Vec<String> = left.iter().map(|line| line.replace('\n', " ")).collect();
    metadata.annotations.get_or_insert_default().insert(LEFT.into(), shortened(lines.join("\n"), MOST_LEFT));
    ConfigMap { metadata, data: None, binary_data: None, immutable: Some(true) }
}

/// What could not be removed, from the annotations alone.
pub fn left_of(annotations: Option<&BTreeMap<String, String>>) -> Vec<String> {
    let text = annotations.and_then(|all| all.get(LEFT)).map(String::as_str).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Clients as an annotation has them: `0,2`.
pub fn list_of(clients: &[u32]) -> String {
    let list: Vec<String> = clients.iter().map(u32::to_string).collect();
    list.join(",")
}

pub fn clients_in(list: &str) -> Vec<u32> {
    list.split(',').filter_map(|client| client.parse().ok()).collect()
}
