//! Which file system a directory is on, and whether that is memory. Reads only.

use std::os::fd::AsFd;
use std::path::Path;

use procfs::process::{MountInfo, Process};
use rustix::fs::{AtFlags, StatxFlags, fstatfs, statfs, statx};

const TMPFS: u64 = 0x0102_1994;
const RAMFS: u64 = 0x8584_58f6;
const HUGETLBFS: u64 = 0x9584_58f6;
const OVERLAY: u64 = 0x794c_7630;

/// What a file system is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// As the kernel calls it: `ext4`, `tmpfs`, `fuse.sshfs`; or its magic number.
    pub name: String,
    /// How it keeps its data in memory, if it does: `tmpfs`, or `ext4 on zram0`.
    pub memory: Option<String>,
    pub overlay: bool,
}

impl FileSystem {
    /// The file system that an open directory is on.
    pub fn of(directory: impl AsFd) -> std::io::Result<FileSystem> {
        let magic = magic_of(fstatfs(&directory)?.f_type);
        let stat = statx(&directory, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID)?;
        let device = (stat.stx_dev_major, stat.stx_dev_minor);
        let mount = mount(stat.stx_mnt_id, device);
        Ok(describe(magic, mount.as_ref(), backing(device).as_deref()))
    }
}

/// Which cache may serve reads although they are direct, by what the kernel calls the file system.
pub fn cache_text(name: &str) -> Option<&'static str> {
    match name {
        "zfs" => Some("ZFS before 2.3 accepts direct I/O and serves reads from its cache in memory all the same"),
        "9p" | "virtiofs" | "fuse" | "fuseblk" | "nfs" | "nfs4" | "cifs" | "smb3" => Some(SERVED),
        other if other.starts_with("fuse.") => Some(SERVED),
        _ => None,
    }
}

const SERVED: &str =
    "direct I/O passes this machine's cache by, and whoever serves the file system may have one of its own";

/// Only the lower half of the number is the magic; how wide the field is depends on the machine.
fn magic_of(f_type: rustix::fs::FsWord) -> u64 {
    f_type as u64 & 0xffff_ffff
}

fn describe(magic: u64, mount: Option<&MountInfo>, backing: Option<&str>) -> FileSystem {
    let name = mount.map_or_else(|| name_of(magic), |mount| mount.fs_type.clone());
    let overlay = magic == OVERLAY;
    let memory = if is_memory(magic) {
        Some(name.clone())
    } else if overlay {
        upper(mount)
            .filter(|path| magic_at(path).is_some_and(is_memory))
            .map(|path| format!("{name} over memory at {path}"))
    } else {
        backing.map(|device| format!("{name} on {device}"))
    };
    FileSystem { name, memory, overlay }
}

fn is_memory(magic: u64) -> bool {
    matches!(magic, TMPFS | RAMFS | HUGETLBFS)
}

fn name_of(magic: u64) -> String {
    match magic {
        TMPFS => "tmpfs".into(),
        RAMFS => "ramfs".into(),
        HUGETLBFS => "hugetlbfs".into(),
        OVERLAY => "overlay".into(),
        0xef53 => "ext4".into(),
        0x5846_5342 => "xfs".into(),
        0x9123_683e => "btrfs".into(),
        0x2fc1_2fc1 => "zfs".into(),
        0x6573_5546 => "fuse".into(),
        0x6969 => "nfs".into(),
        0x00c3_6400 => "ceph".into(),
        other => format!("a file system of type {other:#x}"),
    }
}

fn magic_at(path: &str) -> Option<u64> {
    statfs(Path::new(path)).ok().map(|stat| magic_of(stat.f_type))
}

fn mount(id: u64, device: (u32, u32)) -> Option<MountInfo> {
    let mounts = Process::myself().ok()?.mountinfo().ok()?.0;
    let device = format!("{}:{}", device.0, device.1);
    let at = mounts
        .iter()
        .position(|mount| u64::try_from(mount.mnt_id) == Ok(id))
        .or_else(|| mounts.iter().position(|mount| mount.majmin == device))?;
    mounts.into_iter().nth(at)
}

/// Where an overlay's writes go, as far as this mount namespace can see it.
fn upper(mount: Option<&MountInfo>) -> Option<String> {
    mount?.super_options.get("upperdir").cloned().flatten()
}

/// The block device under a file system, where that device is memory: `zram0`, `ram0`, or a loop device over a file in memory.
pub fn backing((major, minor): (u32, u32)) -> Option<String> {
    let link = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let name = link.file_name()?.to_str()?.to_owned();
    if name.starts_with("zram") || name.starts_with("ram") {
        return Some(name);
    }
    let file = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/loop/backing_file")).ok()?;
    magic_at(file.trim()).is_some_and(is_memory).then(|| format!("{name}, whose file is in memory,"))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn mount(line: &str) -> MountInfo {
        MountInfo::from_line(line).expect("a line of mountinfo")
    }

    #[test]
    fn memory_is_told_by_type() {
        let shm = mount("25 30 0:23 / /dev/shm rw,nosuid,nodev shared:4 - tmpfs tmpfs rw");
        for (magic, mount, name) in
            [(TMPFS, Some(&shm), "tmpfs"), (RAMFS, None, "ramfs"), (HUGETLBFS, None, "hugetlbfs")]
        {
            let system = describe(magic, mount, None);
            assert_eq!((system.name.as_str(), system.memory.as_deref()), (name, Some(name)));
        }
    }

    #[test]
    fn disks_are_not_memory() {
        let root = mount("30 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw");
        let system = describe(0xef53, Some(&root), None);
        assert_eq!(system, FileSystem { name: "ext4".into(), memory: None, overlay: false });
        assert_eq!(describe(0x1234, None, None).name, "a file system of type 0x1234");
    }

    #[test]
    fn a_disk_in_memory_is_memory() {
        let system = describe(0xef53, None, Some("zram0"));
        assert_eq!(system.memory.as_deref(), Some("ext4 on zram0"));
    }

    #[test]
    fn fuse_names_its_program() {
        let fuse = mount("90 30 0:50 / /mnt rw,nosuid,nodev - fuse.sshfs host: rw,user_id=0,group_id=0");
        assert_eq!(describe(0x6573_5546, Some(&fuse), None).name, "fuse.sshfs");
    }

    #[test]
    fn caches_beyond_direct_io_are_known() {
        for name in ["zfs", "9p", "virtiofs", "fuse", "fuse.sshfs", "fuseblk", "nfs4"] {
            assert!(cache_text(name).is_some(), "{name}");
        }
        for name in ["ext4", "xfs", "btrfs", "overlay", "fusectl"] {
            assert_eq!(cache_text(name), None, "{name}");
        }
    }

    #[test]
    fn overlays_are_judged_by_their_upper_layer() {
        let over = |upper: &str| {
            let line = format!("99 30 0:60 / / rw - overlay overlay rw,lowerdir=/usr,upperdir={upper},workdir=/w");
            describe(OVERLAY, Some(&mount(&line)), None)
        };
        if magic_at("/dev/shm") == Some(TMPFS) {
            assert_eq!(over("/dev/shm").memory.as_deref(), Some("overlay over memory at /dev/shm"));
        }
        let hidden = over("/not/visible/here");
        assert_eq!((hidden.memory, hidden.overlay), (None, true));
    }

    #[test]
    fn real_directories() {
        let proc = FileSystem::of(File::open("/proc").expect("there is a /proc")).expect("statfs");
        assert_eq!(proc.name, "proc");
        if magic_at("/dev/shm") == Some(TMPFS) {
            let shm = FileSystem::of(File::open("/dev/shm").expect("a directory")).expect("statfs");
            assert_eq!(shm.memory.as_deref(), Some("tmpfs"));
        }
    }
}
