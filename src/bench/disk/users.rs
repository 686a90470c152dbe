//! Who uses a block device: mounts, swap, devices on top of it, partitions, and whoever opened it for itself alone. Reads only.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use procfs::process::Process;
use rustix::fs::{CWD, Mode, OFlags, major, minor, openat};
use rustix::io::Errno;

/// A device's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    pub major: u32,
    pub minor: u32,
}

impl Number {
    pub fn new(device: u64) -> Number {
        Number { major: major(device), minor: minor(device) }
    }

    fn parse(text: &str) -> Option<Number> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Number { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    fn sys(self) -> PathBuf {
        format!("/sys/dev/block/{}:{}", self.major, self.minor).into()
    }

    /// The device that a path names, if it is a block device.
    fn at(path: &str) -> Option<Number> {
        let metadata = fs::metadata(path).ok()?;
        let is_block = metadata.mode() & libc::S_IFMT == libc::S_IFBLK;
        is_block.then(|| Number::new(metadata.rdev()))
    }
}

/// Uses of a device and of its partitions, in words that follow the device's name: `is mounted at /srv`.
pub fn uses(path: &Path, number: Number) -> Vec<String> {
    let partitions = partitions(number);
    let mut uses = Vec::new();
    if !partitions.is_empty() {
        let names: Vec<&str> = partitions.iter().map(|(name, _)| name.as_str()).collect();
        uses.push(format!("has partitions ({})", names.join(", ")));
    }
    let whole = [(None, number)];
    let parts = partitions.iter().map(|(name, number)| (Some(name.as_str()), *number));
    for (part, number) in whole.into_iter().chain(parts) {
        let of = part.map_or_else(String::new, |name| format!(" ({name})"));
        uses.extend(holders(number).into_iter().map(|holder| format!("is part of {holder}{of}")));
        uses.extend(mounts(number).into_iter().map(|mount| format!("is mounted at {mount}{of}")));
        if swaps(number) {
            uses.push(format!("is in use as swap{of}"));
        }
    }
    if uses.is_empty() && is_held(path) {
        uses.push("is held by another program or by the kernel".into());
    }
    uses
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn partitions(number: Number) -> Vec<(String, Number)> {
    let device = number.sys();
    names(&device)
        .into_iter()
        .filter(|name| device.join(name).join("partition").exists())
        .filter_map(|name| {
            let number = Number::parse(&fs::read_to_string(device.join(&name).join("dev")).ok()?)?;
            Some((name, number))
        })
        .collect()
}

/// Devices made of this one: `dm-0 (ceph--vg-osd)`, `md0`.
fn holders(number: Number) -> Vec<String> {
    let directory = number.sys().join("holders");
    names(&directory)
        .into_iter()
        .map(|holder| match fs::read_to_string(directory.join(&holder).join("dm/name")) {
            Ok(name) => format!("{holder} ({})", name.trim()),
            Err(_) => holder,
        })
        .collect()
}

fn mounts(number: Number) -> Vec<String> {
    let mounts = Process::myself().and_then(|process| process.mountinfo());
    mounts
        .into_iter()
        .flat_map(|mounts| mounts.0)
        // Some file systems show a number of their own and name the device as their source.
        .filter(|mount| {
            Number::parse(&mount.majmin) == Some(number)
                || mount.mount_source.as_deref().and_then(Number::at) == Some(number)
        })
        .map(|mount| mount.mount_point.display().to_string())
        .collect()
}

fn swaps(number: Number) -> bool {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next()).any(|path| Number::at(path) == Some(number))
}

/// Opening for reading, alone: refused while a mount, a device on top or a careful program has it.
fn is_held(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    matches!(openat(CWD, path, flags, Mode::empty()), Err(Errno::BUSY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(Number::parse("254:0\n"), Some(Number { major: 254, minor: 0 }));
        assert_eq!(Number::parse("254"), None);
        assert_eq!(Number::at("/dev/null"), None);
    }

    /// The device that the root is on, where it is one.
    #[test]
    fn the_root_is_mounted() {
        let mounts = Process::myself().and_then(|process| process.mountinfo()).expect("mounts");
        let root = mounts.0.iter().find(|mount| mount.mount_point == Path::new("/")).expect("a root");
        let Some(number) = Number::parse(&root.majmin).filter(|number| number.sys().exists()) else {
            eprintln!("the root is not on a block device here: not tried");
            return;
        };
        assert!(
            uses(Path::new("/"), number).iter().any(|text| text == "is mounted at /"),
            "{:?}",
            uses(Path::new("/"), number)
        );
    }
}
