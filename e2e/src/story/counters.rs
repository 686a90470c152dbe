//! Counts taken by the kernel and by Ceph, to hold against what cephbench reports.

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Cluster, Node};

/// What the kernel counted on a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceBytes {
    pub reads: u64,
    pub read: u64,
    pub writes: u64,
    pub written: u64,
}

impl DeviceBytes {
    /// Of a device by its kernel name, such as `loop7`, from the statistics that the kernel keeps in sectors of 512 bytes.
    pub async fn of(node: &Node<'_>, device: &str) -> Result<Self> {
        let text = node.run(&["cat", &format!("/sys/block/{device}/stat")]).await?;
        let fields: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let field = |index: usize| fields.get(index).copied().with_context(|| format!("stat of {device}: {text}"));
        Ok(Self { reads: field(0)?, read: field(2)? * 512, writes: field(4)?, written: field(6)? * 512 })
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            reads: self.reads - before.reads,
            read: self.read - before.read,
            writes: self.writes - before.writes,
            written: self.written - before.written,
        }
    }
}

/// What Ceph counted in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolCount {
    pub objects: u64,
    pub read_ops: u64,
    pub read_bytes: u64,
    pub write_ops: u64,
    pub write_bytes: u64,
}

impl PoolCount {
    /// From `rados df`; none when the pool is not there.
    pub async fn of(cluster: &Cluster, pool: &str) -> Result<Option<Self>> {
        let all = cluster.ceph_json(&["rados", "df", "--format", "json"]).await?;
        let pools = all["pools"].as_array().context("rados df has pools")?;
        let Some(found) = pools.iter().find(|entry| entry["name"] == pool) else { return Ok(None) };
        let number = |name: &str| found[name].as_u64().with_context(|| format!("rados df: {name} in {found}"));
        Ok(Some(Self {
            objects: number("num_objects")?,
            read_ops: number("read_ops")?,
            read_bytes: number("read_bytes")?,
            write_ops: number("write_ops")?,
            write_bytes: number("write_bytes")?,
        }))
    }
}

/// Whether `counted` and `reported` differ by at most 2 %.
pub fn agree(counted: u64, reported: u64) -> bool {
    counted.abs_diff(reported) as f64 <= 0.02 * reported as f64
}

/// A number from JSON, by pointer, as the story expects it.
pub fn number(value: &Value, pointer: &str) -> Result<u64> {
    value.pointer(pointer).and_then(Value::as_u64).with_context(|| format!("{pointer} in {value}"))
}
