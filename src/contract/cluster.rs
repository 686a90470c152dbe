//! What a client sees of the Ceph cluster with the mon cap `allow r`: the context in which figures stand. Bytes are bytes.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterFacts {
    pub fsid: String,
    /// Such as `HEALTH_WARN`.
    pub health: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<HealthCheck>,
    /// Ceph releases that the OSDs run, without duplicates, such as `20.2.4`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub osd_versions: Vec<String>,
    pub osds: u32,
    pub osds_up: u32,
    pub osds_in: u32,
    /// CRUSH hosts that hold an OSD.
    pub hosts: u32,
    pub used_bytes: u64,
    pub available_bytes: u64,
    pub total_bytes: u64,
    pub pgs: u64,
    /// Placement groups by state, all of them.
    pub pg_states: Vec<PgState>,
    pub degraded_objects: u64,
    pub misplaced_objects: u64,
    pub recovering_bytes_per_second: u64,
    /// Absent where there is none of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolFacts>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HealthCheck {
    /// Such as `OSD_DOWN`.
    pub code: String,
    pub severity: String,
    pub message: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PgState {
    /// Such as `active+undersized+degraded`.
    pub state: String,
    pub count: u64,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolFacts {
    pub id: i64,
    pub name: String,
    /// Copies; chunks of an erasure-coded pool.
    pub size: u32,
    pub min_size: u32,
    pub erasure_coded: bool,
    pub pg_num: u32,
    pub pgp_num: u32,
    /// Number of the CRUSH rule.
    pub crush_rule: i64,
    /// Such as `hashpspool`; `full` and `full_quota` among them stop writes.
    pub flags: Vec<String>,
    /// 0: none.
    pub quota_bytes: u64,
    /// 0: none.
    pub quota_objects: u64,
    pub stored_bytes: u64,
    pub objects: u64,
    /// What can still be written, copies already divided out, quotas not regarded.
    pub max_available_bytes: u64,
}

impl ClusterFacts {
    /// Placement groups that are not `active+clean`, scrubbing ones among them.
    pub fn pgs_not_clean(&self) -> u64 {
        self.pg_states.iter().filter(|pgs| pgs.state != "active+clean").map(|pgs| pgs.count).sum()
    }
}
