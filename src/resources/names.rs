//! Names and labels of what a run makes: the same for the same run whoever builds them, never longer than 63 characters.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

/// Label with the UID of the benchmark: what all its objects are found by.
pub const BENCHMARK_UID: &str = "cephbench.io/benchmark-uid";
/// Label with the benchmark's name, shortened where a label can't hold it: for people.
pub const BENCHMARK: &str = "cephbench.io/benchmark";
/// Annotation with the benchmark's whole name: what a pod's change is traced back by.
pub const BENCHMARK_NAME: &str = "cephbench.io/benchmark-name";
/// Label with the run's number.
pub const RUN: &str = "cephbench.io/run";
/// Label with the test's index in the plan.
pub const TEST: &str = "cephbench.io/test";
/// Label with the test's name: for people.
pub const TEST_NAME: &str = "cephbench.io/test-name";
/// Label with the client's index.
pub const CLIENT: &str = "cephbench.io/client";
/// Label that says what the object is for.
pub const ROLE: &str = "cephbench.io/role";
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
pub const OPERATOR: &str = "cephbench-operator";
/// Held by a benchmark while something needs cleaning.
pub const FINALIZER: &str = "cephbench.io/cleanup";

/// Annotation of a plan with the number of its tests.
pub const TESTS: &str = "cephbench.io/tests";
/// Annotation of a plan that says what an error of a test does to the rest.
pub const ON_FAILURE: &str = "cephbench.io/on-failure";

/// Annotation with the clients that are to be swept up after: `0,2`.
pub const SWEEP: &str = "cephbench.io/sweep";

/// Annotation with what could not be swept up, a line each.
pub const LEFT: &str = "cephbench.io/left";

/// What an object is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Plan,
    Result,
    Task,
    Sweeps,
    Left,
    Token,
    Client,
    Sweeper,
    Network,
    Pool,
    User,
}

impl Role {
    pub fn word(self) -> &'static str {
        match self {
            Role::Plan => "plan",
            Role::Result => "result",
            Role::Task => "task",
            Role::Sweeps => "sweeps",
            Role::Left => "left",
            Role::Token => "token",
            Role::Client => "client",
            Role::Sweeper => "sweeper",
            Role::Network => "network",
            Role::Pool => "pool",
            Role::User => "user",
        }
    }
}

/// Hexadecimal digits of a hash in a name: 48 bits, over the UID of the benchmark.
const DIGITS: usize = 12;
/// Characters of a test's name in a name.
const TEST_CHARACTERS: usize = 20;

fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
}

/// The names of one run's objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunNames {
    uid: String,
    number: i64,
    run: String,
}

impl RunNames {
    pub fn new(uid: &str, number: i64) -> Self {
        RunNames { uid: uid.into(), number, run: digest(&[uid, &number.to_string()]) }
    }

    /// Identifies the run in tasks and reports.
    pub fn run(&self) -> &str {
        &self.run
    }

    pub fn plan(&self) -> String {
        format!("cephbench-{}-plan", self.run)
    }

    pub fn result(&self, test: usize) -> String {
        format!("cephbench-{}-result-{test}", self.run)
    }

    pub fn sweeps(&self, test: usize) -> String {
        format!("cephbench-{}-sweeps-{test}", self.run)
    }

    pub fn left(&self, test: usize) -> String {
        format!("cephbench-{}-left-{test}", self.run)
    }

    pub fn token(&self) -> String {
        format!("cephbench-{}-token", self.run)
    }

    pub fn network_policy(&self) -> String {
        format!("cephbench-{}", self.run)
    }

    /// Pool and user of a test, and what its clients' names begin with.
    pub fn test(&self, name: &str) -> String {
        let hash = digest(&[&self.uid, &self.number.to_string(), name]);
        let short: String = name.chars().take(TEST_CHARACTERS).collect();
        format!("cephbench-{}-{hash}", short.trim_end_matches('-'))
    }

    /// Job and task of a client.
    pub fn client(&self, test: &str, client: u32) -> String {
        format!("{}-{client}", self.test(test))
    }
}

impl RunNames {
    /// Job that sweeps up after a client.
    pub fn sweeper(&self, test: &str, client: u32) -> String {
        format!("{}-sweep", self.client(test, client))
    }
}

/// The benchmark that objects belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

impl Owner {
    /// Labels of an object of a run.
    pub fn labels(&self, number: i64, role: Role) -> BTreeMap<String, String> {
        BTreeMap::from(
            [
                ("app.kubernetes.io/name", "cephbench".to_owned()),
                (MANAGED_BY, OPERATOR.into()),
                (BENCHMARK_UID, self.uid.clone()),
                (BENCHMARK, label_value(&self.name)),
                (RUN, number.to_string()),
                (ROLE, role.word().into()),
            ]
            .map(|(key, value)| (key.to_owned(), value)),
        )
    }

    /// Labels of an object of a test.
    pub fn test_labels(&self, number: i64, role: Role, test: usize, name: &str) -> BTreeMap<String, String> {
        let mut labels = self.labels(number, role);
        labels.insert(TEST.into(), test.to_string());
        labels.insert(TEST_NAME.into(), name.into());
        labels
    }
}

/// A label holds at most 63 characters and ends in a letter or digit.
fn label_value(name: &str) -> String {
    let short: String = name.chars().take(63).collect();
    short.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_whatever_the_test_is_called() {
        let names = RunNames::new("5af7b69d-39f4-40ae-b048-d0ffebd9eb15", 1_000_000);
        let long = "a-very-long-name-for-a-test-of-forty-ch";
        for name in [
            names.plan(),
            names.result(31),
            names.sweeps(31),
            names.token(),
            names.test(long),
            names.client(long, 9999),
            names.sweeper(long, 9999),
        ] {
            // A Job's pod adds six characters.
            assert!(name.len() + 6 <= 63, "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{name}");
        }
        assert!(names.test("abcdefghijklmnopqrs--x").starts_with("cephbench-abcdefghijklmnopqrs-"));
    }

    #[test]
    fn names_differ_by_benchmark_run_test_and_client() {
        let first = RunNames::new("u", 1);
        let test = first.test("t");
        for other in [RunNames::new("v", 1).test("t"), RunNames::new("u", 2).test("t"), first.test("s")] {
            assert_ne!(test, other);
        }
        assert_ne!(first.client("t", 0), first.client("t", 1));
        // Cut to the same characters, and still apart.
        let long = "a-name-that-goes-on-and-on-";
        assert_ne!(first.test(&format!("{long}1")), first.test(&format!("{long}2")));
        assert_eq!(test, RunNames::new("u", 1).test("t"), "the same whoever builds it");
    }

    #[test]
    fn a_long_name_makes_a_label_all_the_same() {
        let value = label_value(&format!("{}.{}", "a".repeat(62), "b".repeat(100)));
        assert_eq!(value, "a".repeat(62));
    }
}
