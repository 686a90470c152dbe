//! What a test measures: its target checked, and the lists that belong to the kind.

use super::super::problem::{Problems, quoted, written};
use super::super::{PlannedKind, PlannedPool};
use super::sweep::{self, Bounds};
use crate::api::{Disk, DiskFile, Kind, Network, NetworkPattern, Op, PoolCreate, Rados, RadosPool, RawDevice};
use crate::units::{self, AmountError, grouped};

/// Files and direct I/O count in pages of this size.
const FILE_UNIT: u64 = 4096;
const MAX_STREAMS: u32 = 64;
const MAX_POOL_SIZE: u32 = 10;
const MAX_PG_NUM: u32 = 4096;
const OBJECT_SIZES: Bounds = Bounds { min: 4 << 10, max: 128 << 20, multiple: 512 };
const DEFAULT_OBJECT_SIZE: u64 = 4 << 20;

/// Every op there is, and those that librados serves here.
const DISK_OPS: [Op; 4] = [Op::Read, Op::Write, Op::RandRead, Op::RandWrite];
const RADOS_OPS: [Op; 3] = [Op::Write, Op::Read, Op::RandRead];

/// A kind read. Parts that were refused are absent.
pub(super) struct ReadKind {
    /// Its field in a test.
    pub(super) name: &'static str,
    pub(super) kind: Option<PlannedKind>,
    /// A file's size as it was asked for.
    pub(super) asked: Option<Asked>,
    /// RADOS only.
    pub(super) object_sizes: Option<Vec<u64>>,
    /// Network only.
    pub(super) streams: Option<Vec<u32>>,
    pub(super) ops: &'static [Op],
    pub(super) default_ops: &'static [Op],
}

/// A file's size before it was cut to whole pages: as written, and in bytes.
pub(super) struct Asked {
    pub(super) text: String,
    pub(super) bytes: u64,
}

/// Writes to a device are accepted here: only the bench can look at the device, and it refuses with what is on it.
pub(super) fn read(field: &str, kind: &Kind, problems: &mut Problems) -> ReadKind {
    match kind {
        Kind::Disk(Disk::File(file)) => ReadKind {
            name: "disk",
            kind: read_file(&format!("{field}.disk.file"), file, problems),
            asked: units::bytes(&file.size).ok().map(|bytes| Asked { text: written(&file.size), bytes }),
            object_sizes: None,
            streams: None,
            ops: &DISK_OPS,
            default_ops: &[Op::Read],
        },
        Kind::Disk(Disk::Device(RawDevice { path })) => ReadKind {
            name: "disk",
            kind: check_path(&format!("{field}.disk.device.path"), path, "/dev/", problems)
                .then(|| PlannedKind::Device { path: path.clone() }),
            asked: None,
            object_sizes: None,
            streams: None,
            ops: &DISK_OPS,
            default_ops: &[Op::Read],
        },
        Kind::Network(Network { pattern, streams }) => ReadKind {
            name: "network",
            kind: match pattern {
                NetworkPattern::Pairs => Some(PlannedKind::Network),
            },
            asked: None,
            object_sizes: None,
            streams: sweep::numbers(&format!("{field}.network.streams"), streams, MAX_STREAMS, 1, problems),
            ops: &[],
            default_ops: &[],
        },
        Kind::Rados(Rados { pool, object_size }) => ReadKind {
            name: "rados",
            kind: read_pool(&format!("{field}.rados.pool"), pool, problems).map(PlannedKind::Rados),
            asked: None,
            object_sizes: sweep::sizes(
                &format!("{field}.rados.objectSize"),
                object_size,
                &OBJECT_SIZES,
                DEFAULT_OBJECT_SIZE,
                problems,
            ),
            streams: None,
            ops: &RADOS_OPS,
            default_ops: &[Op::Write, Op::Read],
        },
    }
}

/// A file's size counts in whole pages; what is left over is left out, and the test's notes say so.
fn read_file(field: &str, file: &DiskFile, problems: &mut Problems) -> Option<PlannedKind> {
    let DiskFile { directory, size } = file;
    let directory_is_fine = check_path(&format!("{field}.directory"), directory, "/", problems);
    let read = units::bytes(size).and_then(|bytes| {
        if bytes < FILE_UNIT {
            return Err(AmountError(format!(
                "is {} bytes; at least {} are needed",
                grouped(bytes),
                grouped(FILE_UNIT)
            )));
        }
        Ok(bytes - bytes % FILE_UNIT)
    });
    let size = problems.keep(&format!("{field}.size"), written(size), read)?;
    directory_is_fine.then(|| PlannedKind::File { directory: directory.clone(), size })
}

/// Absolute and without `..`: which paths may be asked for is decided by how they begin.
fn check_path(field: &str, path: &str, begin: &str, problems: &mut Problems) -> bool {
    let fault = if !path.starts_with(begin) || path.len() == begin.len() && begin != "/" {
        format!("is no path below {begin}")
    } else if path.split('/').any(|part| part == "..") {
        "has .. in it; write the path itself".to_owned()
    } else if path.contains('\0') {
        "has a zero byte in it".to_owned()
    } else {
        return true;
    };
    problems.add(field, quoted(path), fault);
    false
}

fn read_pool(field: &str, pool: &RadosPool, problems: &mut Problems) -> Option<PlannedPool> {
    match pool {
        RadosPool::Create(PoolCreate { size, pg_num }) => {
            let before = problems.0.len();
            if !(1..=MAX_POOL_SIZE).contains(size) {
                let message = format!("1 to {MAX_POOL_SIZE} copies are possible");
                problems.add(format!("{field}.create.size"), size.to_string(), message);
            }
            if let Some(pg_num) = pg_num {
                check_pg_num(&format!("{field}.create.pgNum"), *pg_num, problems);
            }
            (problems.0.len() == before).then_some(PlannedPool::Create { size: *size, pg_num: *pg_num })
        }
        RadosPool::Name(name) if is_pool_name(name) => Some(PlannedPool::Existing { name: name.clone() }),
        RadosPool::Name(name) => {
            let message = "is no pool's name: letters, digits, '.', '_' and '-' are possible";
            problems.add(format!("{field}.name"), quoted(name), message);
            None
        }
    }
}

/// Nothing that could end the pool's name in a CephX capability and grant something else.
fn is_pool_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

fn check_pg_num(field: &str, pg_num: u32, problems: &mut Problems) {
    if pg_num == 0 || pg_num > MAX_PG_NUM {
        problems.add(field, pg_num.to_string(), format!("1 to {MAX_PG_NUM} are possible, powers of two"));
    } else if !pg_num.is_power_of_two() {
        let above = pg_num.next_power_of_two();
        problems.add(field, pg_num.to_string(), format!("is no power of two; {} or {above} are", above / 2));
    }
}
