//! Devices: read, never written. A loop device stands for a disk; making one needs root.

use std::io::{Read, Write};

use super::super::fixtures::{Loop, MIB, Mount, directory, point, sound_round, task};
use super::*;
use crate::api::Op;

fn target(path: &Path) -> DeviceTarget {
    DeviceTarget { path: path.to_str().expect("text").into() }
}

fn refused(points: Vec<Point>, path: &Path) -> String {
    match DeviceLoad::open(&task(points), &target(path)) {
        Ok(_) => panic!("{path:?} was accepted"),
        Err(error) => error.to_string(),
    }
}

/// A file of random bytes behind a loop device.
fn loop_device(directory: &Path, start: &[u8]) -> Option<(Loop, Vec<u8>)> {
    let mut content = vec![0; 16 * MIB as usize];
    crate::bench::content::Content::new(5).fill(&mut content);
    content[..start.len()].copy_from_slice(start);
    let image = directory.join("disk");
    File::create(&image).expect("a file").write_all(&content).expect("room");
    Some((Loop::over(&image)?, content))
}

#[test]
fn what_is_no_device_is_refused() {
    let directory = directory();
    let file = directory.path().join("file");
    std::fs::write(&file, "x").expect("a file");
    let read = || vec![point(Op::Read)];
    assert!(refused(read(), &file).ends_with(": it is not a block device"));
    assert!(refused(read(), Path::new("/dev/null")).ends_with(": it is not a block device"));
    let missing = directory.path().join("missing");
    assert!(refused(read(), &missing).ends_with("No such file or directory (ENOENT)"));
}

#[test]
fn a_device_is_read_through_a_link_and_keeps_its_content() {
    let directory = directory();
    let Some((device, content)) = loop_device(directory.path(), b"") else { return };
    let link = directory.path().join("by-id");
    std::os::unix::fs::symlink(&device.path, &link).expect("a link");
    let mut load = DeviceLoad::open(&task(vec![point(Op::Read)]), &target(&link)).expect("a device");
    for op in [Op::Read, Op::RandRead] {
        sound_round(&mut load, &point(op));
    }
    assert!(load.prepare(&point(Op::Write), 0, &mut |_| ()).is_err());
    load.clean_up(&mut |_| ()).expect("nothing to do");
    let mut after = Vec::new();
    File::open(directory.path().join("disk")).expect("a file").read_to_end(&mut after).expect("a read");
    assert!(content == after, "the device was written to");
}

#[test]
fn writing_is_refused_and_says_what_would_be_lost() {
    let directory = directory();
    let label = b"bluestore block device\n0a1b2c3d-0000-4000-8000-000000000000\n\x06\0\0\0whoami\x01\0\0\x003";
    let Some((device, content)) = loop_device(directory.path(), label) else { return };
    for op in [Op::Write, Op::RandWrite] {
        let error = refused(vec![point(Op::Read), point(op)], &device.path);
        let path = device.path.display();
        let expected = format!("write to device {path}: it holds a BlueStore label (osd.3)");
        assert!(
            error.starts_with(&expected) && error.ends_with("; cephbench opens devices for reading only"),
            "{error}"
        );
    }
    assert!(std::fs::read(directory.path().join("disk")).expect("a file") == content, "the device was written to");
}

#[test]
fn a_blank_device_is_not_written_either() {
    let directory = directory();
    let image = directory.path().join("disk");
    File::create(&image).expect("a file").set_len(4 * MIB).expect("room");
    let Some(device) = Loop::over(&image) else { return };
    let error = refused(vec![point(Op::Write)], &device.path);
    assert!(error.contains("nothing was found on it, but this version doesn't write to devices"), "{error}");
}

/// A label at its start does not make a device written.
#[test]
fn a_device_of_zeros_looks_unwritten() {
    let directory = directory();
    let image = directory.path().join("disk");
    let file = File::create(&image).expect("a file");
    file.set_len(4 * MIB).expect("room");
    file.write_all_at(b"bluestore block device\n", 0).expect("room");
    let text = unwritten_text("/dev/x", &File::open(&image).expect("a file"), 4 * MIB);
    let expected = "/dev/x: 64 of 64 blocks looked at are zeros; reads of what is unwritten may not touch the medium";
    assert_eq!(text.as_deref(), Some(expected));

    let mut content = vec![0; 4 * MIB as usize];
    crate::bench::content::fill(&mut content[MIB as usize..], 1);
    std::fs::write(&image, content).expect("room");
    assert_eq!(unwritten_text("/dev/x", &File::open(&image).expect("a file"), 4 * MIB), None);

    let Some((device, _)) = loop_device(directory.path(), b"") else { return };
    let load = DeviceLoad::open(&task(vec![point(Op::Read)]), &target(&device.path)).expect("a device");
    assert!(load.notes().iter().all(|note| !note.contains("zeros")), "{:?}", load.notes());
}

#[test]
fn a_mounted_device_says_where() {
    let directory = directory();
    let Some(mount) = Mount::ext4(directory.path(), 16 * MIB) else { return };
    let source = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let place = mount.path.to_str().expect("text");
    let line = source.lines().find(|line| line.contains(place)).expect("it is mounted");
    let device = line.split_whitespace().rev().nth(1).expect("a source").to_owned();
    let error = refused(vec![point(Op::RandWrite)], Path::new(&device));
    assert!(error.contains("it holds an ext file system, is mounted at ") && error.contains(place), "{error}");
    let load = DeviceLoad::open(&task(vec![point(Op::Read)]), &target(Path::new(&device))).expect("reading is fine");
    assert!(load.notes()[0].contains(&format!("is mounted at {place}")), "{:?}", load.notes());
}

#[test]
fn points_that_do_not_fit_are_refused_at_once() {
    let check = |block_size, jobs| check_point(&Point { block_size, jobs, ..point(Op::Read) }, 16 * MIB, 4096);
    assert_eq!(check(4096, 2), Ok(()));
    assert_eq!(check(16 * MIB, 1), Ok(()));
    assert!(check(512, 1).expect_err("4K sectors").starts_with("blockSize 512 is no multiple of its blocks of 4096"));
    assert!(check(8 * MIB, 3).expect_err("24 MiB").contains("16777216 bytes"));
}
