//! The kinds of test, one struct each. Exactly one stands in a test: an externally tagged enum makes the schema's `oneOf`.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Amount;

/// What a test measures.
#[derive(Clone, Debug, Deserialize, PartialEq, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A file on the client's node, or a block device of it, without Ceph.
    Disk(Disk),
    /// TCP between the clients.
    Network(Network),
    /// Objects in a pool, through librados.
    Rados(Rados),
}

/// A file or a block device: exactly one.
#[derive(Clone, Debug, Deserialize, PartialEq, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Disk {
    /// A file made for the test, written full before anything is measured, removed afterwards.
    File(DiskFile),
    /// A block device, opened for reading only.
    Device(RawDevice),
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiskFile {
    /// An absolute directory on the client's node. The test works in a subdirectory of its own there. In a cluster, the operator's chart
    /// says which directories may be asked for.
    #[schemars(length(min = 1, max = 255), regex(pattern = "^/"))]
    pub directory: String,
    /// Size of the file, per client: at least one block per job, and 4Ki. Each job has its own part, as large for all, in whole blocks; what is
    /// left over is not used, and the plan says so.
    pub size: Amount,
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawDevice {
    /// The device's path on the client's node, best a stable one below /dev/disk/by-id.
    #[schemars(length(min = 1, max = 255), regex(pattern = "^/dev/"))]
    pub path: String,
}

/// Which clients send to which.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, JsonSchema, Serialize)]
pub enum NetworkPattern {
    /// Every ordered pair of nodes, one pair at a time.
    #[default]
    Pairs,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Network {
    /// Default: Pairs.
    #[serde(default)]
    pub pattern: NetworkPattern,
    /// TCP connections at once between a pair, 1 to 64. Default: `[1]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 16), inner(range(min = 1, max = 64)))]
    pub streams: Vec<u32>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rados {
    pub pool: RadosPool,
    /// Bytes of one object, 4Ki to 128Mi (Ceph's osd_max_object_size). Default: `[4Mi]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 16))]
    pub object_size: Vec<Amount>,
}

/// A pool to make for the run, or one that is there: exactly one.
#[derive(Clone, Debug, Deserialize, PartialEq, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RadosPool {
    /// A replicated pool made for the run, with a quota, and removed after it.
    Create(PoolCreate),
    /// An existing pool. The run works in a RADOS namespace of its own there, removes its objects, and never removes the pool.
    Name(#[schemars(schema_with = "super::schema::pool_name")] String),
}

#[derive(Clone, Debug, Deserialize, PartialEq, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolCreate {
    /// Copies, 1 to 10. Default: 3.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 10))]
    pub size: u32,
    /// Placement groups, a power of two up to 4096. Default: OSDs × 50 ÷ size, down to a power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub pg_num: Option<u32>,
}

fn three() -> u32 {
    3
}
