//! The pool made for a test.

use std::collections::BTreeMap;

use super::names::Role;
use super::rook::{CephBlockPool, CephBlockPoolSpec, Quotas, Replicated};
use super::run_context::RunContext;
use crate::plan::preflight::pg_num;
use crate::plan::{PlannedKind, PlannedPool};

/// `None` for a test that makes no pool. The autoscaler stays out of it: it would move data while it is measured.
pub fn build_block_pool(context: &RunContext, test: usize) -> Option<CephBlockPool> {
    let (planned, prepared) = context.test(test);
    let (size, wanted) = match &planned.kind {
        PlannedKind::Rados(PlannedPool::Create { size, pg_num }) => (*size, *pg_num),
        PlannedKind::Rados(PlannedPool::Existing { .. })
        | PlannedKind::File { .. }
        | PlannedKind::Device { .. }
        | PlannedKind::Network => return None,
    };
    let osds = context.frozen.prepared.cluster.osds.and_then(|osds| usize::try_from(osds).ok()).unwrap_or(0);
    let groups = wanted.unwrap_or_else(|| pg_num(osds, size));
    let parameters = [("pg_autoscale_mode", "off".to_owned()), ("pg_num", groups.to_string())];
    let spec = CephBlockPoolSpec {
        failure_domain: Some("host".into()),
        replicated: Some(Replicated { size, require_safe_replica_size: Some(size > 1) }),
        erasure_coded: None,
        quotas: Some(Quotas { max_size: Some(prepared.quota.to_string()), max_bytes: None }),
        parameters: Some(BTreeMap::from(parameters.map(|(key, value)| (key.to_owned(), value)))),
    };
    let metadata = context.test_metadata(context.names().test(&planned.name), Role::Pool, test);
    Some(CephBlockPool { metadata, spec, status: None })
}
