//! Directories that are fit for a test and those that are not.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::fixtures::directory;
use super::*;

fn refused(path: &Path) -> String {
    let Err(error) = Directory::open(path.to_str().expect("text")) else { panic!("{path:?} was accepted") };
    assert!(error.act.starts_with("use directory "), "{error}");
    error.cause
}

#[test]
fn no_part_of_the_path_is_a_link() {
    let parent = directory();
    let real = parent.path().join("real");
    std::fs::create_dir_all(real.join("below")).expect("directories");
    let link = parent.path().join("link");
    symlink(&real, &link).expect("a link");
    for path in [link.clone(), link.join("below")] {
        let cause = refused(&path);
        assert!(cause.contains(&format!("{} is a link to {}", link.display(), real.display())), "{cause}");
    }
    let up = real.join("below/..");
    assert!(refused(&up).contains("`..`"), "{}", refused(&up));
    assert!(Directory::open(real.join("below").to_str().expect("text")).is_ok());
}

#[test]
fn what_is_no_directory_is_named() {
    let parent = directory();
    let file = parent.path().join("file");
    std::fs::write(&file, "x").expect("a file");
    assert_eq!(refused(&file), format!("{} is not a directory", file.display()));
    assert_eq!(refused(&file.join("x")), format!("{} is not a directory", file.display()));
    let missing = parent.path().join("missing/x");
    assert_eq!(refused(&missing), format!("{} doesn't exist", parent.path().join("missing").display()));
    assert!(refused(Path::new("relative")).starts_with("not an absolute path"));
}

/// Case B11: refused by the file system's type, before anything is opened, so it doesn't matter whether an open would succeed.
#[test]
fn memory_is_refused() {
    let shm = Path::new("/dev/shm");
    let mounts = std::fs::read_to_string("/proc/mounts").expect("the kernel tells its mounts");
    assert!(mounts.contains(" /dev/shm tmpfs "), "this test needs /dev/shm on tmpfs: {mounts}");
    let own = tempfile::tempdir_in(shm).expect("a directory");
    let cause = refused(own.path());
    assert!(cause.starts_with("it is on tmpfs: that is memory"), "{cause}");
    assert_eq!(std::fs::read_dir(own.path()).expect("a directory").count(), 0);
}

#[test]
fn too_little_space_says_how_much() {
    assert_eq!(space_suffices(1 << 30, (1 << 30) + (1 << 30) / 100 * 5), Ok(()));
    let cause = space_suffices(1 << 30, 1 << 30).expect_err("no margin");
    assert!(cause.ends_with(" needed (the file and 5 %): 1073741824 of 1127428914 bytes"), "{cause}");
    let parent = directory();
    let opened = Directory::open(parent.path().to_str().expect("text")).expect("a directory");
    let error = opened.check_space(1 << 60).expect_err("an EiB");
    assert!(error.act.contains("1 EiB") && error.act.contains(parent.path().to_str().expect("text")), "{error}");
}

#[test]
fn the_subdirectory_is_private_new_and_removed() {
    let parent = directory();
    let opened = Directory::open(parent.path().to_str().expect("text")).expect("a directory");
    let own = opened.make_own("own").expect("it is new");
    let mode = std::fs::metadata(&own.path).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let Err(error) = opened.make_own("own") else { panic!("used twice") };
    assert!(error.cause.contains("it is there already"), "{error}");
    assert!(own.path.exists(), "a refusal must not remove what is there");
    let file = own.make_file(&opened.file_system).expect("a file");
    assert_eq!(std::fs::read_dir(&own.path).expect("a directory").count(), 0, "the file has a name");
    drop((own, file));
    assert_eq!(std::fs::read_dir(parent.path()).expect("a directory").count(), 0);
}

#[test]
fn a_link_in_place_of_the_subdirectory_is_not_followed() {
    let (parent, elsewhere) = (directory(), directory());
    symlink(elsewhere.path(), parent.path().join("own")).expect("a link");
    let opened = Directory::open(parent.path().to_str().expect("text")).expect("a directory");
    assert!(opened.make_own("own").is_err());
    assert_eq!(std::fs::read_dir(elsewhere.path()).expect("a directory").count(), 0);
}

#[test]
fn a_removed_subdirectory_is_not_removed_again() {
    let parent = directory();
    let opened = Directory::open(parent.path().to_str().expect("text")).expect("a directory");
    let mut own = opened.make_own("own").expect("it is new");
    own.remove().expect("it is empty");
    let other = opened.make_own("own").expect("it is free again");
    drop(own);
    assert!(other.path.exists());
}

#[test]
fn what_is_in_the_way_is_told() {
    let parent = directory();
    let opened = Directory::open(parent.path().to_str().expect("text")).expect("a directory");
    let mut own = opened.make_own("own").expect("it is new");
    std::fs::write(own.path.join("strange"), "x").expect("a file");
    let error = own.remove().expect_err("not empty");
    assert!(error.to_string().contains("Directory not empty (ENOTEMPTY)"), "{error}");
}

#[test]
fn refusals_of_direct_io_name_directory_and_file_system() {
    let system = FileSystem { name: "fuse.sshfs".into(), memory: None, overlay: false };
    let text = open_text(Errno::INVAL, Path::new("/mnt/x"), &system);
    assert!(
        text.starts_with("/mnt/x is on fuse.sshfs, which doesn't support direct I/O (open with O_DIRECT: Inv"),
        "{text}"
    );
    assert_eq!(open_text(Errno::ACCESS, Path::new("/mnt/x"), &system), "Permission denied (EACCES)");
}

#[test]
fn what_a_killed_client_left_is_removed_and_nothing_else() {
    let parent = directory();
    let path = parent.path().to_str().expect("text");
    let open = Directory::open(path).expect("a directory");
    open.remove_left("cephbench-r-t-0").expect("nothing to remove is fine");
    let own = open.make_own("cephbench-r-t-0").expect("a subdirectory");
    // As if the client had been killed between making the file and removing its name.
    std::fs::write(own.path.join("data"), "x").expect("a file");
    std::mem::forget(own);
    open.remove_left("cephbench-r-t-0").expect("it goes");
    assert_eq!(std::fs::read_dir(path).expect("readable").count(), 0);

    std::fs::create_dir(parent.path().join("others")).expect("a directory");
    std::fs::write(parent.path().join("others/precious"), "x").expect("a file");
    assert!(open.remove_left("others").is_err());
    assert!(parent.path().join("others/precious").exists());
    symlink(parent.path().join("others"), parent.path().join("link")).expect("a link");
    assert!(open.remove_left("link").is_err(), "a link is not followed");
}
