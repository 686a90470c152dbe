//! Every package that a program of ours is built from is under a licence that allows shipping it in an image under Apache-2.0
//! with no more than a notice. Advisories are not looked up here: that needs a database from outside.

use std::process::Command;

const ALLOWED: [&str; 11] = [
    "Apache-2.0",
    "MIT",
    "ISC",
    "Zlib",
    "Unlicense",
    "0BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "Unicode-3.0",
    "CDLA-Permissive-2.0",
];

/// Whether an SPDX expression (also in the older form with slashes) can be satisfied from the allowed licences.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ").replace("WITH LLVM-exception", "");
    expression.split(" AND ").all(|part| {
        part.split(" OR ")
            .any(|licence| ALLOWED.contains(&licence.trim_matches(|c: char| c == '(' || c == ')' || c == ' ')))
    })
}

#[test]
fn expressions_are_understood() {
    assert!(is_allowed("MIT OR Apache-2.0"));
    assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(is_allowed("MIT/GPL-3.0"));
    assert!(!is_allowed("GPL-3.0"));
    assert!(!is_allowed("MIT AND GPL-3.0"));
}

#[test]
fn every_package_may_be_shipped() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    assert!(packages.len() > 50, "cargo named only {} packages", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(is_allowed))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "licences that were not agreed on: {refused:#?}");
}
