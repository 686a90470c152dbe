//! The file that is applied: found to be one CephBenchmark, and sent as it was written. What its fields mean is for the server to judge.

use serde_json::Value;

use crate::plan::{Problem, document};

const API_VERSION: &str = "cephbench.io/v1alpha1";
const KIND: &str = "CephBenchmark";

/// Why a file can't be applied.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DocumentError {
    #[error("{}", all(.0))]
    NotRead(Vec<Problem>),
    #[error("{field} is {found}, not {wanted}")]
    Kind { field: &'static str, found: Value, wanted: &'static str },
    #[error("{0} is missing")]
    Missing(&'static str),
    #[error("metadata.namespace is {written}, but {asked} is asked for by --namespace")]
    Namespace { written: String, asked: String },
}

/// One CephBenchmark as it was written.
#[derive(Debug, PartialEq)]
pub struct Document(Value);

impl Document {
    /// Reads YAML or JSON.
    pub fn read(text: &str) -> Result<Document, DocumentError> {
        let value = document(text).map_err(DocumentError::NotRead)?;
        for (field, wanted) in [("apiVersion", API_VERSION), ("kind", KIND)] {
            if value[field] != wanted {
                return Err(DocumentError::Kind { field, found: value[field].clone(), wanted });
            }
        }
        if !value["metadata"]["name"].is_string() {
            return Err(DocumentError::Missing("metadata.name"));
        }
        if !value["spec"].is_object() {
            return Err(DocumentError::Missing("spec"));
        }
        Ok(Document(value))
    }

    pub fn name(&self) -> &str {
        self.0["metadata"]["name"].as_str().expect("checked when it was read")
    }

    /// The namespace to apply it in: as it is written, else as asked for, else the kubeconfig's.
    pub fn namespace(&self, asked: Option<&str>, default: &str) -> Result<String, DocumentError> {
        match (self.0["metadata"]["namespace"].as_str(), asked) {
            (Some(written), Some(asked)) if written != asked => {
                Err(DocumentError::Namespace { written: written.to_owned(), asked: asked.to_owned() })
            }
            (Some(namespace), _) | (None, Some(namespace)) => Ok(namespace.to_owned()),
            (None, None) => Ok(default.to_owned()),
        }
    }

    /// Asks for a new run.
    pub fn set_trigger(&mut self, trigger: &str) {
        self.0["spec"]["trigger"] = trigger.into();
    }

    pub fn value(&self) -> &Value {
        &self.0
    }
}

fn all(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "apiVersion: cephbench.io/v1alpha1
kind: CephBenchmark
metadata: {name: quick}
spec: {trigger: '1', tests: [{name: disk, disk: {file: {directory: /var/tmp, size: 1024Mi}}}]}
";

    fn error(text: &str) -> String {
        Document::read(text).expect_err("is refused").to_string()
    }

    /// Case D7: what is sent is what was written.
    #[test]
    fn a_document_is_sent_as_written() {
        let mut document = Document::read(&format!("---\n{GOOD}---\n")).expect("one benchmark");
        assert_eq!(document.name(), "quick");
        assert_eq!(document.value()["spec"]["tests"][0]["disk"]["file"]["size"], "1024Mi");
        assert_eq!(document.value()["spec"]["trigger"], "1");
        document.set_trigger("2");
        assert_eq!(document.value()["spec"]["trigger"], "2");
    }

    #[test]
    fn what_is_no_benchmark_is_refused_by_name() {
        assert!(error("a: [").contains("cannot be read as YAML"), "{}", error("a: ["));
        assert!(error("").contains("one CephBenchmark is wanted"), "{}", error(""));
        assert!(error(&format!("{GOOD}---\n{GOOD}")).contains("2 documents"));
        assert_eq!(error("kind: Pod\napiVersion: v1"), "apiVersion is \"v1\", not cephbench.io/v1alpha1");
        assert_eq!(error(&GOOD.replace("CephBenchmark", "Pod")), "kind is \"Pod\", not CephBenchmark");
        assert_eq!(error(&GOOD.replace("name: quick", "namespace: x")), "metadata.name is missing");
        assert_eq!(error(&GOOD.replace("spec: {", "spac: {")), "spec is missing");
        assert!(
            error(&format!("{GOOD}kind: CephBenchmark\n")).contains("duplicate"),
            "{}",
            error(&format!("{GOOD}kind: x\n"))
        );
    }

    /// Case D2: a limit that is no number would be dropped on its way, and the gate with it.
    #[test]
    fn numbers_that_are_none_are_refused() {
        for number in [".nan", ".inf", "-.inf"] {
            let gates = format!("gates: [{{name: g, test: disk, metric: iops, min: 5, max: {number}}}], tests: [");
            let said = error(&GOOD.replace("tests: [", &gates));
            assert!(said.contains("spec.gates[0].max"), "{said}");
        }
    }

    #[test]
    fn the_namespace_is_the_documents_then_the_one_asked_for() {
        let without = Document::read(GOOD).expect("one benchmark");
        assert_eq!(without.namespace(None, "default"), Ok("default".into()));
        assert_eq!(without.namespace(Some("rook-ceph"), "default"), Ok("rook-ceph".into()));
        let with =
            Document::read(&GOOD.replace("name: quick", "name: quick, namespace: rook-ceph")).expect("one benchmark");
        assert_eq!(with.namespace(None, "default"), Ok("rook-ceph".into()));
        assert_eq!(with.namespace(Some("rook-ceph"), "default"), Ok("rook-ceph".into()));
        assert!(with.namespace(Some("other"), "default").is_err());
    }
}
