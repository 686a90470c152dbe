//! The CephX user made for a test: objects in one pool, or in one namespace of it, and nothing else.

use std::collections::BTreeMap;

use super::names::Role;
use super::rook::{CephClient, CephClientSpec};
use super::run_context::RunContext;

/// `None` for a test that does not speak to Ceph.
pub fn build_ceph_client(context: &RunContext, test: usize) -> Option<CephClient> {
    let pool = context.pool(test)?;
    let namespace = context.rados_namespace(test);
    let osd = if namespace.is_empty() {
        format!("allow rw pool={pool}")
    } else {
        format!("allow rw pool={pool} namespace={namespace}")
    };
    let caps = BTreeMap::from([("mon".to_owned(), "allow r".to_owned()), ("osd".to_owned(), osd)]);
    let metadata = context.test_metadata(user_name(context, test), Role::User, test);
    Some(CephClient { metadata, spec: CephClientSpec { caps }, status: None })
}

/// The user's name without `client.`.
pub fn user_name(context: &RunContext, test: usize) -> String {
    context.names().test(&context.test(test).0.name)
}
