//! Local files are read as strictly as a server reads: the same specs are refused, for the same field.

use cephbench::plan::{parse, validate};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    spec: String,
    refused: Option<String>,
}

#[test]
fn what_a_strict_server_refuses_is_refused_here_too() {
    let cases: Vec<Case> = serde_yaml_ng::from_str(include_str!("strict/specs.yaml")).expect("the list");
    let mut wrong = Vec::new();
    for Case { spec, refused } in cases {
        let indented = spec.replace('\n', "\n  ");
        let file = format!(
            "apiVersion: cephbench.io/v1alpha1\nkind: CephBenchmark\nmetadata: {{name: b}}\nspec:\n  {indented}\n"
        );
        // Names that stand twice and gates without a limit are the validator's.
        let read = parse(&file).and_then(|benchmark| match &refused {
            Some(_) => validate(&benchmark.spec).map(|_| ()),
            None => Ok(()),
        });
        match (&refused, &read) {
            (None, Ok(())) => {}
            (Some(field), Err(problems)) if problems.iter().any(|problem| problem.field.starts_with(field)) => {}
            (Some(_) | None, Ok(()) | Err(_)) => wrong.push(format!("{spec}: {refused:?}: {read:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
