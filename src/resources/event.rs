//! Events about a benchmark. The name follows from what is told, so that it is told once, whoever tells it.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::Resource;
use sha2::{Digest, Sha256};

use super::names::{BENCHMARK_UID, Owner};
use crate::api::CephBenchmark;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Normal,
    Warning,
}

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub severity: Severity,
    /// A word for machines.
    pub reason: &'static str,
    pub note: String,
    /// What makes it the same when it is told again: run, test.
    pub occasion: String,
}

/// Kubernetes takes 1,024 bytes.
const LONGEST_NOTE: usize = 1000;

pub fn build_event(owner: &Owner, notice: &Notice, instance: &str, now: Timestamp) -> Event {
    let mut hash = Sha256::new();
    for part in [owner.uid.as_str(), notice.reason, notice.occasion.as_str()] {
        hash.update(part);
        hash.update([0]);
    }
    let digest: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Event {
        metadata: ObjectMeta {
            name: Some(format!("cephbench-{digest}")),
            namespace: Some(owner.namespace.clone()),
            labels: Some([(BENCHMARK_UID.to_owned(), owner.uid.clone())].into()),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(now)),
        action: Some("Run".into()),
        reason: Some(notice.reason.into()),
        note: Some(shortened(&notice.note)),
        type_: Some(match notice.severity {
            Severity::Normal => "Normal".into(),
            Severity::Warning => "Warning".into(),
        }),
        reporting_controller: Some("cephbench.io/operator".into()),
        reporting_instance: Some(instance.chars().take(128).collect()),
        regarding: Some(ObjectReference {
            api_version: Some(CephBenchmark::api_version(&()).into()),
            kind: Some(CephBenchmark::kind(&()).into()),
            name: Some(owner.name.clone()),
            namespace: Some(owner.namespace.clone()),
            uid: Some(owner.uid.clone()),
            ..ObjectReference::default()
        }),
        ..Event::default()
    }
}

fn shortened(note: &str) -> String {
    if note.len() <= LONGEST_NOTE {
        return note.into();
    }
    let mut end = LONGEST_NOTE;
    while !note.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &note[..end])
}
