//! Asks the monitors what the cluster is and how it does. All but [`facts`] is pure: texts in, one struct out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::bench::engine::EngineError;
use crate::contract::{ClusterFacts, HealthCheck, PgState, PoolFacts, RadosTarget};

use super::connect::{self, Connection, InFlight};

/// Connects as the target's user and asks. The mon cap `allow r` is enough. Each question may take the target's connect timeout.
pub fn facts(target: &RadosTarget) -> Result<ClusterFacts, EngineError> {
    let connection = connect::connect(target, target.connect_timeout_seconds, InFlight::DEFAULT)?;
    let answers = Answers {
        status: ask(&connection, "\"status\"")?,
        df: ask(&connection, "\"df\"")?,
        osd_tree: ask(&connection, "\"osd tree\"")?,
        pools: ask(&connection, "\"osd pool ls\", \"detail\": \"detail\"")?,
        versions: ask(&connection, "\"versions\"")?,
    };
    answers.facts(&target.pool).map_err(|error| EngineError::new("understand the monitors' answers", error.to_string()))
}

fn ask(connection: &Connection, prefix: &str) -> Result<Vec<u8>, EngineError> {
    let command = format!("{{\"prefix\": {prefix}, \"format\": \"json\"}}");
    connection.cluster.mon_command(&command).map_err(|error| {
        let cause = format!("{} ({})", error.call, crate::bench::errno::text(error.errno));
        EngineError::new(format!("ask the monitors for {prefix}"), cause)
    })
}

/// An answer that is not what was expected.
#[derive(Debug, thiserror::Error)]
#[error("{question}: {cause}")]
struct AnswerError {
    question: &'static str,
    cause: serde_json::Error,
}

/// The monitors' answers, as JSON.
struct Answers {
    status: Vec<u8>,
    df: Vec<u8>,
    osd_tree: Vec<u8>,
    pools: Vec<u8>,
    versions: Vec<u8>,
}

impl Answers {
    fn facts(&self, pool: &str) -> Result<ClusterFacts, AnswerError> {
        let Status { fsid, health, osdmap, pgmap } = parse("status", &self.status)?;
        let df: Df = parse("df", &self.df)?;
        let tree: Tree = parse("osd tree", &self.osd_tree)?;
        let pools: Vec<Pool> = parse("osd pool ls detail", &self.pools)?;
        let versions: Versions = parse("versions", &self.versions)?;
        let stats = df.pools.into_iter().find(|stats| stats.name == pool).map(|known| known.stats);
        Ok(ClusterFacts {
            fsid,
            health: health.status,
            checks: health.checks.into_iter().map(check).collect(),
            osd_versions: versions.osd.keys().map(|text| release(text)).collect::<BTreeSet<_>>().into_iter().collect(),
            osds: osdmap.num_osds,
            osds_up: osdmap.num_up_osds,
            osds_in: osdmap.num_in_osds,
            hosts: tree.hosts(),
            used_bytes: pgmap.bytes_used,
            available_bytes: pgmap.bytes_avail,
            total_bytes: pgmap.bytes_total,
            pgs: pgmap.num_pgs,
            pg_states: pgmap
                .pgs_by_state
                .into_iter()
                .map(|PgsByState { state_name, count }| PgState { state: state_name, count })
                .collect(),
            degraded_objects: pgmap.degraded_objects,
            misplaced_objects: pgmap.misplaced_objects,
            recovering_bytes_per_second: pgmap.recovering_bytes_per_sec,
            pool: pools
                .into_iter()
                .find(|known| known.pool_name == pool)
                .map(|known| known.facts(stats.unwrap_or_default())),
        })
    }
}

fn parse<T: DeserializeOwned>(question: &'static str, answer: &[u8]) -> Result<T, AnswerError> {
    serde_json::from_slice(answer).map_err(|cause| AnswerError { question, cause })
}

/// `20.2.4` of `ceph version 20.2.4 (abc…) tentacle (stable)`.
fn release(version: &str) -> String {
    version.split_whitespace().nth(2).unwrap_or(version).to_owned()
}

fn check((code, Check { severity, summary }): (String, Check)) -> HealthCheck {
    HealthCheck { code, severity, message: summary.message }
}

#[derive(Deserialize)]
struct Status {
    fsid: String,
    health: Health,
    osdmap: OsdMap,
    pgmap: PgMap,
}

#[derive(Deserialize)]
struct Health {
    status: String,
    #[serde(default)]
    checks: BTreeMap<String, Check>,
}

#[derive(Deserialize)]
struct Check {
    severity: String,
    summary: Summary,
}

#[derive(Deserialize)]
struct Summary {
    message: String,
}

#[derive(Deserialize)]
struct OsdMap {
    num_osds: u32,
    num_up_osds: u32,
    num_in_osds: u32,
}

/// Rates and counts of objects are left out by Ceph while they are 0.
#[derive(Deserialize)]
struct PgMap {
    pgs_by_state: Vec<PgsByState>,
    num_pgs: u64,
    bytes_used: u64,
    bytes_avail: u64,
    bytes_total: u64,
    #[serde(default)]
    degraded_objects: u64,
    #[serde(default)]
    misplaced_objects: u64,
    #[serde(default)]
    recovering_bytes_per_sec: u64,
}

#[derive(Deserialize)]
struct PgsByState {
    state_name: String,
    count: u64,
}

#[derive(Deserialize)]
struct Df {
    pools: Vec<DfPool>,
}

#[derive(Deserialize)]
struct DfPool {
    name: String,
    stats: DfStats,
}

#[derive(Default, Deserialize)]
struct DfStats {
    stored: u64,
    objects: u64,
    max_avail: u64,
}

#[derive(Deserialize)]
struct Tree {
    nodes: Vec<TreeNode>,
}

#[derive(Deserialize)]
struct TreeNode {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    children: Vec<i64>,
}

impl Tree {
    /// Hosts below which there is an OSD, directly or not. OSDs have the numbers from 0, all else in the tree is below.
    fn hosts(&self) -> u32 {
        let holds_osd = |host: &TreeNode| {
            let mut below = host.children.clone();
            while let Some(id) = below.pop() {
                if id >= 0 {
                    return true;
                }
                let node = self.nodes.iter().find(|node| node.id == id);
                below.extend(node.into_iter().flat_map(|node| &node.children));
            }
            false
        };
        self.nodes.iter().filter(|node| node.kind == "host" && holds_osd(node)).count() as u32
    }
}

#[derive(Deserialize)]
struct Pool {
    pool_id: i64,
    pool_name: String,
    flags_names: String,
    /// 1: replicated, 3: erasure-coded.
    #[serde(rename = "type")]
    kind: i64,
    size: u32,
    min_size: u32,
    crush_rule: i64,
    pg_num: u32,
    pg_placement_num: u32,
    quota_max_bytes: u64,
    quota_max_objects: u64,
}

impl Pool {
    fn facts(self, stats: DfStats) -> PoolFacts {
        PoolFacts {
            id: self.pool_id,
            name: self.pool_name,
            size: self.size,
            min_size: self.min_size,
            erasure_coded: self.kind == 3,
            pg_num: self.pg_num,
            pgp_num: self.pg_placement_num,
            crush_rule: self.crush_rule,
            flags: self.flags_names.split(',').filter(|flag| !flag.is_empty()).map(str::to_owned).collect(),
            quota_bytes: self.quota_max_bytes,
            quota_objects: self.quota_max_objects,
            stored_bytes: stats.stored,
            objects: stats.objects,
            max_available_bytes: stats.max_avail,
        }
    }
}

#[derive(Deserialize)]
struct Versions {
    #[serde(default)]
    osd: BTreeMap<String, u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! captured {
        ($name:literal) => {
            include_bytes!(concat!("../../../e2e/rook/", $name)).to_vec()
        };
    }

    fn answers(status: Vec<u8>) -> Answers {
        Answers {
            status,
            df: captured!("ceph-df.json"),
            osd_tree: captured!("ceph-osd-tree.json"),
            pools: captured!("ceph-osd-pool-ls.json"),
            versions: captured!("ceph-versions.json"),
        }
    }

    #[test]
    fn a_quiet_cluster() {
        let facts = answers(captured!("ceph-status.json")).facts("bench").expect("Ceph's own answers");
        assert_eq!(facts.fsid, "7436e88c-597d-421e-96ed-608998d422d2");
        assert_eq!(facts.health, "HEALTH_WARN");
        assert_eq!(facts.checks.len(), 3);
        assert_eq!(
            facts.checks[0],
            HealthCheck {
                code: "AUTH_INSECURE_CLIENT_KEY_TYPE".into(),
                severity: "HEALTH_WARN".into(),
                message: "4 auth client entities with insecure key types".into(),
            }
        );
        assert_eq!((facts.osds, facts.osds_up, facts.osds_in, facts.hosts), (4, 4, 4, 3));
        assert_eq!(facts.osd_versions, ["20.2.4"]);
        assert_eq!((facts.used_bytes, facts.available_bytes, facts.total_bytes), (202747904, 25567055872, 25769803776));
        assert_eq!((facts.pgs, facts.pgs_not_clean()), (81, 0));
        assert_eq!((facts.degraded_objects, facts.misplaced_objects, facts.recovering_bytes_per_second), (0, 0, 0));
        let pool = facts.pool.expect("there is one of this name");
        assert_eq!((pool.id, pool.size, pool.min_size, pool.erasure_coded), (2, 2, 1, false));
        assert_eq!((pool.pg_num, pool.pgp_num, pool.crush_rule), (32, 32, 1));
        assert_eq!(pool.flags, ["hashpspool", "selfmanaged_snaps"]);
        assert_eq!((pool.quota_bytes, pool.quota_objects), (0, 0));
        assert_eq!((pool.stored_bytes, pool.objects, pool.max_available_bytes), (263, 6, 12136798208));
    }

    #[test]
    fn an_osd_that_is_down() {
        let facts = answers(captured!("ceph-status-osd-down.json")).facts("nobody's").expect("Ceph's own answers");
        assert_eq!((facts.osds, facts.osds_up, facts.osds_in), (3, 2, 3));
        assert_eq!((facts.pgs, facts.pgs_not_clean()), (81, 66));
        assert_eq!(facts.degraded_objects, 20);
        assert!(facts.checks.iter().any(|check| check.code == "OSD_DOWN" && check.message == "1 osds down"));
        assert_eq!(facts.pool, None);
    }

    #[test]
    fn a_host_without_osds_is_none() {
        let tree = r#"{"nodes": [
            {"id": -1, "name": "default", "type": "root", "children": [-2, -3, -4]},
            {"id": -2, "name": "a", "type": "host", "children": [0]},
            {"id": -3, "name": "b", "type": "host", "children": []},
            {"id": -4, "name": "c", "type": "host", "children": [-5]},
            {"id": -5, "name": "c-disk", "type": "chassis", "children": [1]},
            {"id": 0, "name": "osd.0", "type": "osd"}, {"id": 1, "name": "osd.1", "type": "osd"}]}"#;
        assert_eq!(parse::<Tree>("osd tree", tree.as_bytes()).expect("a tree").hosts(), 2);
    }

    #[test]
    fn an_answer_of_another_shape_is_named() {
        let broken = Answers { df: b"[]".to_vec(), ..answers(captured!("ceph-status.json")) };
        let error = broken.facts("bench").expect_err("no df").to_string();
        assert!(error.starts_with("df: "), "{error}");
    }
}
