//! Counts taken by the kernel and by Ceph, to hold against what cephbench reports.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Cluster, Node};

/// What the kernel counted on a block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceBytes {
    /// Requests as they were asked for: those that the kernel merged into others count as well.
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
        Ok(Self {
            reads: field(0)? + field(1)?,
            read: field(2)? * 512,
            writes: field(4)? + field(5)?,
            written: field(6)? * 512,
        })
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

/// What the kernel counted on a node's way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkBytes {
    sent: u64,
    packets: u64,
}

impl LinkBytes {
    /// Ethernet, IPv4 and TCP with timestamps: in front of every packet that the kernel counts, however large it lets them be.
    const HEADERS: u64 = 14 + 20 + 32;

    pub async fn of(node: &Node<'_>) -> Result<Self> {
        let route = node.run(&["ip", "-o", "route", "show", "default"]).await?;
        let mut words = route.split_whitespace().skip_while(|word| *word != "dev");
        let link = words.nth(1).with_context(|| format!("no default route on {}: {route}", node.name))?;
        // /sys is the machine's, /proc/net the node's own.
        let table = node.run(&["cat", "/proc/net/dev"]).await?;
        let line = table.lines().find_map(|line| line.trim_start().strip_prefix(&format!("{link}:")));
        let fields: Vec<&str> = line.with_context(|| format!("no {link} in {table}"))?.split_whitespace().collect();
        let field = |index: usize| -> Result<u64> {
            let text = fields.get(index).with_context(|| format!("{link} in {table}"))?;
            text.parse().with_context(|| format!("{link} in {table}"))
        };
        Ok(Self { sent: field(8)?, packets: field(9)? })
    }

    /// Bytes that were sent beyond the packets' headers.
    pub fn payload_since(self, before: Self) -> u64 {
        (self.sent - before.sent).saturating_sub(Self::HEADERS * (self.packets - before.packets))
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
        let all = cluster.ceph_json(&["rados", "df"]).await?;
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
    within(counted, reported, 0.02)
}

/// Whether `counted` differs from `reported` by at most this part of it. Nothing reported agrees with nothing.
pub fn within(counted: u64, reported: u64, part: f64) -> bool {
    reported > 0 && counted.abs_diff(reported) as f64 <= part * reported as f64
}

/// A number from JSON, by pointer, as the story expects it.
pub fn number(value: &Value, pointer: &str) -> Result<u64> {
    let found = value.pointer(pointer).and_then(Value::as_u64);
    ensure!(found.is_some(), "{pointer} in {value}");
    found.context("a number")
}
