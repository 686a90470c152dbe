//! From a spec to a plan, or to everything that is wrong with it. Whether cluster, nodes and devices are as the spec needs them is not
//! known here: preflight and the bench look at those.

mod clients;
mod fit;
mod gates;
mod kind;
mod sweep;
mod test;
#[cfg(test)]
mod tests;
mod times;

use std::collections::HashMap;

use super::problem::{Problems, quoted};
use super::{Plan, PlannedGate, PlannedTest, Problem, hash};
use crate::api::CephBenchmarkSpec;

pub(super) use fit::buffers;
pub use sweep::{MAX_POINTS, RADOS_DEFAULT_BYTES};

const MAX_TESTS: usize = 32;
const MAX_GATES: usize = 64;
const MAX_NAME: usize = 40;

/// A spec that holds together.
#[derive(Clone, Debug, PartialEq)]
pub struct Validated {
    pub plan: Plan,
    /// Apart from the plan: gates judge, they change nothing of what is measured.
    pub gates: Vec<PlannedGate>,
}

/// Checks a spec and expands it. Reports all that is wrong at once.
pub fn validate(spec: &CephBenchmarkSpec) -> Result<Validated, Vec<Problem>> {
    let mut problems = Problems::default();
    bounded("spec.tests", spec.tests.len(), 1, MAX_TESTS, &mut problems);
    bounded("spec.gates", spec.gates.len(), 0, MAX_GATES, &mut problems);
    check_names("spec.tests", spec.tests.iter().map(|test| test.name.as_str()), &mut problems);
    check_names("spec.gates", spec.gates.iter().map(|gate| gate.name.as_str()), &mut problems);

    let defaults = times::defaults(spec.defaults.as_ref(), &mut problems);
    if let Some(clients) = &spec.clients {
        clients::check("spec.clients", clients, &mut problems);
    }
    let mut tests: Vec<Option<PlannedTest>> = Vec::with_capacity(spec.tests.len());
    for (index, test) in spec.tests.iter().enumerate() {
        let field = format!("spec.tests[{index}]");
        let clients = clients::merge(spec.clients.as_ref(), test.clients.as_ref());
        tests.push(test::plan(&field, test, clients, &defaults, &mut problems));
    }
    let mut gates = Vec::with_capacity(spec.gates.len());
    for (index, gate) in spec.gates.iter().enumerate() {
        let field = format!("spec.gates[{index}]");
        gates.extend(gates::plan(&field, gate, &spec.tests, &tests, &mut problems));
    }

    if !problems.0.is_empty() {
        return Err(problems.0);
    }
    let tests: Vec<PlannedTest> = tests.into_iter().flatten().collect();
    let spec_hash = hash::of(spec.ceph_cluster.as_deref(), spec.on_failure, &tests);
    Ok(Validated { plan: Plan { on_failure: spec.on_failure, tests, spec_hash }, gates })
}

fn bounded(field: &str, length: usize, min: usize, max: usize, problems: &mut Problems) {
    if length < min || length > max {
        problems.add(field, format!("{length} entries"), format!("{min} to {max} are possible"));
    }
}

/// Names become parts of Kubernetes names and the keys of lists: labels, each once.
fn check_names<'a>(field: &str, names: impl Iterator<Item = &'a str>, problems: &mut Problems) {
    let mut seen = HashMap::new();
    for (index, name) in names.enumerate() {
        let at = format!("{field}[{index}].name");
        if !is_label(name) {
            let wanted = format!("is no name: 1 to {MAX_NAME} of a to z, 0 to 9 and -, no - at either end");
            problems.add(at, quoted(name), wanted);
        } else if let Some(first) = seen.insert(name, index) {
            problems.add(at, quoted(name), format!("is the name of {field}[{first}] too; names are unique"));
        }
    }
}

fn is_label(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('-') && !name.ends_with('-')
}
