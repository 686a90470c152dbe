//! The pure folders hold plain functions over plain data: no Kubernetes client, no tokio, no async, no clock.

use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;

const PURE: [&str; 7] = ["api", "plan", "resources", "results", "report", "contract", "units"];

/// What must not stand in the code of a pure folder, and what it would be.
const FORBIDDEN: [(&str, &str); 8] = [
    (r"\btokio\b", "tokio"),
    (r"\bfutures\b", "futures"),
    (r"\basync\s+(fn|move)\b|\basync\s*\{|\.await\b", "async code"),
    (r"\bkube(::|\s*=).*\b(Client|Api|Config)\b|\bkube::(client|runtime|config|discovery)\b", "the Kubernetes client"),
    (r"\bkube_(client|runtime)\b", "the Kubernetes client"),
    (r"\b(Instant|SystemTime|UNIX_EPOCH)\b|::now\(\)", "a clock"),
    (r"\bstd::(net|process|thread|fs|env)\b", "the machine"),
    (r"\bcrate::(controller|bench|sys)\b", "an edge of the program"),
];

#[test]
fn pure_folders_touch_no_client_no_clock_and_no_machine() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rules = FORBIDDEN.map(|(pattern, name)| (Regex::new(pattern).expect("a pattern"), name));
    let mut found = Vec::new();
    for part in PURE {
        let files = files_of(&source, part);
        assert!(!files.is_empty(), "src/{part} holds no file");
        for file in files {
            let text = fs::read_to_string(&file).expect("a source file");
            for (line, code) in statements(&text) {
                for (rule, name) in &rules {
                    if rule.is_match(&code) {
                        found.push(format!("{}:{line}: {name}: {code}", file.display()));
                    }
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_scan_finds_what_it_is_for() {
    let rules = FORBIDDEN.map(|(pattern, _)| Regex::new(pattern).expect("a pattern"));
    for bad in [
        "use tokio::sync::mpsc;",
        "pub async fn reconcile() {",
        "let x = call().await;",
        "use kube::Client;",
        "use kube::{\n    Api,\n    ResourceExt,\n};",
        "use kube::runtime::watcher;",
        "let now = std::time::Instant::now();",
        "let now = Timestamp::now();",
        "let text = std::fs::read_to_string(path);",
        "use crate::bench::engine::Engine;",
    ] {
        let caught = statements(bad).iter().any(|(_, code)| rules.iter().any(|rule| rule.is_match(code)));
        assert!(caught, "{bad}");
    }
    for good in [
        "use kube::{CustomResource, KubeSchema};",
        "use kube::ResourceExt;",
        "// tokio is not for here",
        "use std::time::Duration;",
        "use kube::CustomResourceExt;",
    ] {
        let caught = statements(good).iter().any(|(_, code)| rules.iter().any(|rule| rule.is_match(code)));
        assert!(!caught, "{good}");
    }
}

/// `src/part.rs` and all below `src/part/`. Tests may read fixtures, so their files don't count.
fn files_of(source: &Path, part: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let single = source.join(format!("{part}.rs"));
    if single.is_file() {
        files.push(single);
    }
    let mut folders = vec![source.join(part)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("an entry").path();
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            if path.is_dir() && !is_test {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
                files.push(path);
            }
        }
    }
    files
}

/// Lines of code with their numbers, without comments, tests at the end of a file, and with each `use` on one line.
fn statements(text: &str) -> Vec<(usize, String)> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let mut statements: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (index, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or(line).trim();
        if line.is_empty() {
            continue;
        }
        match statements.last_mut() {
            Some((_, use_so_far)) if open => {
                use_so_far.push(' ');
                use_so_far.push_str(line);
            }
            Some(_) | None => {
                statements.push((index + 1, line.to_owned()));
                open = line.starts_with("use ") || line.starts_with("pub use ");
            }
        }
        if line.ends_with(';') {
            open = false;
        }
    }
    statements
}
