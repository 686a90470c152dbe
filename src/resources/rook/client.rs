//! CephClient: made for a test.

use std::collections::BTreeMap;

use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(Clone, CustomResource, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "ceph.rook.io",
    version = "v1",
    kind = "CephClient",
    namespaced,
    schema = "disabled",
    status = "CephClientStatus",
    derive = "PartialEq"
)]
pub struct CephClientSpec {
    /// By daemon: mon, osd, mgr, mds.
    pub caps: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct CephClientStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<BTreeMap<String, String>>,
}

impl CephClient {
    /// Name of the Secret with `userID` and `userKey`, once it is there.
    pub fn secret_name(&self) -> Option<&str> {
        self.status.as_ref()?.info.as_ref()?.get("secretName").map(String::as_str)
    }
}
