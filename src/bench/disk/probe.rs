//! What is on a block device: partition tables, file systems, and the labels of those who keep data there. Reads a few blocks; a name
//! that is missing here shows as data of an unknown kind.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const KIB: u64 = 1024;

/// Bytes at a fixed place that tell what follows.
struct Mark {
    name: &'static str,
    offset: u64,
    bytes: &'static [u8],
}

const fn mark(name: &'static str, offset: u64, bytes: &'static [u8]) -> Mark {
    Mark { name, offset, bytes }
}

const BLUESTORE: &[u8] = b"bluestore block device\n";

const MARKS: &[Mark] = &[
    mark("a GPT partition table", 512, b"EFI PART"),
    mark("a GPT partition table", 4096, b"EFI PART"),
    mark("an ext file system", KIB + 56, &[0x53, 0xef]),
    mark("an XFS file system", 0, b"XFSB"),
    mark("a Btrfs file system", 64 * KIB + 64, b"_BHRfS_M"),
    mark("an F2FS file system", KIB, &[0x10, 0x20, 0xf5, 0xf2]),
    mark("an EROFS file system", KIB, &[0xe2, 0xe1, 0xf5, 0xe0]),
    mark("a SquashFS file system", 0, b"hsqs"),
    mark("an ISO 9660 file system", 32 * KIB + 1, b"CD001"),
    mark("a FAT file system", 54, b"FAT1"),
    mark("a FAT file system", 82, b"FAT32"),
    mark("an exFAT file system", 3, b"EXFAT   "),
    mark("an NTFS file system", 3, b"NTFS    "),
    mark("a LUKS volume", 0, b"LUKS\xba\xbe"),
    mark("a LUKS volume", 16 * KIB, b"SKUL\xba\xbe"),
    mark("swap space", 4096 - 10, b"SWAPSPACE2"),
    mark("swap space", 64 * KIB - 10, b"SWAPSPACE2"),
    mark("a member of an MD array", 0, MD),
    mark("a member of an MD array", 4096, MD),
    mark("a bcache device", 4096 + 24, &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca]),
];

const MD: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];

/// What a device of this size holds, in words that follow "holds"; nothing for one that is empty as far as can be seen.
pub fn holds(device: &File, size: u64) -> io::Result<Vec<String>> {
    let mut head = vec![0; (KIB * KIB) as usize];
    read_all(device, &mut head, 0)?;
    let mut found: Vec<String> = Vec::new();
    if let Some(label) = bluestore(&head) {
        found.push(label);
    }
    for Mark { name, offset, bytes } in MARKS {
        if at(&head, *offset, bytes) && !found.iter().any(|known| known == name) {
            found.push((*name).into());
        }
    }
    let lvm = (0..4).any(|sector| at(&head, sector * 512, b"LABELONE") && at(&head, sector * 512 + 24, b"LVM2 001"));
    let zfs = (0..128).any(|slot| {
        let offset = 128 * KIB + slot * KIB;
        at(&head, offset, &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]) || at(&head, offset, &[0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c])
    });
    for (there, name) in [(lvm, "an LVM physical volume"), (zfs, "a ZFS pool's member")] {
        if there {
            found.push(name.into());
        }
    }
    if found.is_empty() && is_mbr(&head) {
        found.push("an MBR partition table".into());
    }
    if !found.iter().any(|known| known.contains("MD array")) && md_at_end(device, size)? {
        found.push("a member of an MD array".into());
    }
    if found.is_empty() && (any(&head) || any(&tail(device, size)?)) {
        found.push("data of an unknown kind".into());
    }
    Ok(found)
}

fn at(head: &[u8], offset: u64, bytes: &[u8]) -> bool {
    head[offset as usize..].starts_with(bytes)
}

fn any(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| *byte != 0)
}

/// BlueStore's label is text first; the number of its OSD is among the settings encoded behind, each a length and a text.
fn bluestore(head: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"\x06\0\0\0whoami";
    if !head.starts_with(BLUESTORE) {
        return None;
    }
    let label = &head[..4096];
    let osd = label.windows(KEY.len()).position(|window| window == KEY).and_then(|found| {
        let rest = &label[found + KEY.len()..];
        let length = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?) as usize;
        let text = std::str::from_utf8(rest.get(4..4 + length)?).ok()?;
        text.parse::<u32>().ok()
    });
    Some(match osd {
        Some(osd) => format!("a BlueStore label (osd.{osd})"),
        None => "a BlueStore label".into(),
    })
}

/// A boot signature with four entries that could be partitions, and at least one that is.
fn is_mbr(head: &[u8]) -> bool {
    let entries = || (0..4).map(|index| &head[446 + index * 16..462 + index * 16]);
    at(head, 510, &[0x55, 0xaa])
        && entries().all(|entry| entry[0] & 0x7f == 0)
        && entries().any(|entry| entry[4] != 0 && any(&entry[12..16]))
}

/// Versions 0.90 and 1.0 of MD's metadata stand at the end.
fn md_at_end(device: &File, size: u64) -> io::Result<bool> {
    let old = (size & !(64 * KIB - 1)).checked_sub(64 * KIB);
    let new = (size / 512).checked_sub(16).map(|sector| (sector & !7) * 512);
    for offset in [old, new].into_iter().flatten() {
        let mut magic = [0; 4];
        read_all(device, &mut magic, offset)?;
        if magic == MD {
            return Ok(true);
        }
    }
    Ok(false)
}

fn tail(device: &File, size: u64) -> io::Result<Vec<u8>> {
    let mut tail = vec![0; size.min(64 * KIB) as usize];
    let start = size - tail.len() as u64;
    read_all(device, &mut tail, start)?;
    Ok(tail)
}

/// Reads what is there; what lies behind the end stays zero.
fn read_all(device: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match device.read_at(&mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(bytes) => done += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const SIZE: u64 = 32 << 20;

    /// A file of zeros, with these bytes at these places.
    fn device(parts: &[(u64, &[u8])]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().set_len(SIZE).expect("room");
        for (offset, bytes) in parts {
            file.as_file().write_all_at(bytes, *offset).expect("a write");
        }
        file
    }

    fn found(parts: &[(u64, &[u8])]) -> Vec<String> {
        holds(device(parts).as_file(), SIZE).expect("reads")
    }

    #[test]
    fn nothing_on_a_blank_device() {
        assert_eq!(found(&[]), [""; 0]);
    }

    #[test]
    fn every_mark_is_found() {
        for Mark { name, offset, bytes } in MARKS {
            assert_eq!(found(&[(*offset, bytes)]), [*name]);
        }
    }

    #[test]
    fn bluestore_tells_its_osd() {
        let uuid = b"bluestore block device\n0a1b2c3d-0000-4000-8000-000000000000\n";
        assert_eq!(found(&[(0, uuid)]), ["a BlueStore label"]);
        let settings: (u64, &[u8]) = (200, b"\x06\0\0\0whoami\x02\0\0\x0012");
        assert_eq!(found(&[(0, uuid), settings]), ["a BlueStore label (osd.12)"]);
        let broken: (u64, &[u8]) = (200, b"\x06\0\0\0whoami\xff\xff\xff\xff12");
        assert_eq!(found(&[(0, uuid), broken]), ["a BlueStore label"]);
    }

    #[test]
    fn lvm_zfs_and_md_at_the_end() {
        let label: (u64, &[u8]) = (512, b"LABELONE");
        assert_eq!(found(&[label, (536, b"LVM2 001")]), ["an LVM physical volume"]);
        assert_eq!(found(&[label]), ["data of an unknown kind"]);
        assert_eq!(found(&[(132 * KIB, &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0])]), ["a ZFS pool's member"]);
        assert_eq!(found(&[(SIZE - 64 * KIB, MD)]), ["a member of an MD array"]);
        assert_eq!(found(&[(SIZE - 8 * KIB, MD)]), ["a member of an MD array"]);
    }

    #[test]
    fn an_mbr_has_a_partition() {
        let entry = [0x80, 0, 2, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0, 1, 0];
        let signature: (u64, &[u8]) = (510, &[0x55, 0xaa]);
        assert_eq!(found(&[(446, &entry), signature]), ["an MBR partition table"]);
        assert_eq!(found(&[signature]), ["data of an unknown kind"]);
    }

    #[test]
    fn data_at_either_end_is_seen() {
        assert_eq!(found(&[(700_000, b"x")]), ["data of an unknown kind"]);
        assert_eq!(found(&[(SIZE - 1, b"x")]), ["data of an unknown kind"]);
    }

    #[test]
    fn a_device_smaller_than_what_is_looked_at() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().set_len(8192).expect("room");
        assert_eq!(holds(file.as_file(), 8192).expect("reads"), [""; 0]);
        file.as_file().set_len(0).expect("room");
        assert_eq!(holds(file.as_file(), 0).expect("reads"), [""; 0]);
    }

    /// What the real programs write, where they are installed.
    #[test]
    fn what_mkfs_and_mkswap_write() {
        let tools: [(&str, &[&str], &str); 3] = [
            ("mkfs.ext4", &["-q", "-F"], "an ext file system"),
            ("mkswap", &[], "swap space"),
            ("mkfs.btrfs", &["-q", "-f", "--mixed"], "a Btrfs file system"),
        ];
        for (tool, arguments, expected) in tools {
            let file = device(&[]);
            match Command::new(tool).args(arguments).arg(file.path()).output() {
                Ok(output) if output.status.success() => {
                    assert_eq!(holds(file.as_file(), SIZE).expect("reads"), [expected], "{tool}");
                }
                Ok(output) => panic!("{tool}: {}", String::from_utf8_lossy(&output.stderr)),
                Err(error) => eprintln!("{tool} is not here ({error}): not tried"),
            }
        }
    }
}
