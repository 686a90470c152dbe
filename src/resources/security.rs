//! Security contexts: the restricted profile, and what file and device tests need beyond it.

use k8s_openapi::api::core::v1::{Capabilities, PodSecurityContext, SeccompProfile, SecurityContext};

use super::run_context::Platform;
use crate::plan::PlannedKind;

/// Nobody, as most images of small tools have it. The Ceph image's own user is root.
const USER: i64 = 65532;

/// All containers of a pod have one user: what the bench writes, the report container reads.
pub(super) fn pod_security(kind: &PlannedKind, platform: Platform) -> PodSecurityContext {
    let seccomp = SeccompProfile { type_: "RuntimeDefault".into(), localhost_profile: None };
    let user = match kind {
        PlannedKind::File { .. } | PlannedKind::Device { .. } => Some(0),
        PlannedKind::Network | PlannedKind::Rados(_) => (!platform.assigns_users).then_some(USER),
    };
    PodSecurityContext {
        run_as_non_root: Some(user != Some(0)),
        run_as_user: user,
        run_as_group: user,
        seccomp_profile: Some(seccomp),
        ..PodSecurityContext::default()
    }
}

/// No capability, nothing to gain, nothing to write to but what is mounted for it.
pub(super) fn restricted() -> SecurityContext {
    SecurityContext {
        allow_privilege_escalation: Some(false),
        capabilities: Some(Capabilities { add: None, drop: Some(vec!["ALL".into()]) }),
        read_only_root_filesystem: Some(true),
        ..SecurityContext::default()
    }
}

pub(super) fn bench_security(kind: &PlannedKind) -> SecurityContext {
    match kind {
        PlannedKind::Device { .. } => SecurityContext {
            privileged: Some(true),
            read_only_root_filesystem: Some(true),
            ..SecurityContext::default()
        },
        PlannedKind::File { .. } | PlannedKind::Network | PlannedKind::Rados(_) => restricted(),
    }
}
