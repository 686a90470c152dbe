//! A file system that fails on demand, through FUSE: one directory with one file in it, kept in memory. It stands for network file systems
//! and for disks that are broken; nothing about its speed means anything.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyEmpty, ReplyEntry, ReplyStatfs,
    ReplyWrite, Request, WriteFlags,
};
use tempfile::TempDir;

/// Inodes of the directories are even, those of the files odd; each new one has a number of its own, as the kernel may still remember
/// the one before.
const ROOT: u64 = 1;
const TTL: Duration = Duration::ZERO;

/// What the file system does with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    Sound,
    /// Opening for direct I/O fails with EINVAL; opening without would succeed.
    RefuseDirect,
    FailReads(i32),
    FailWrites(i32),
}

/// What the file system holds, and how it was used.
#[derive(Default)]
struct State {
    behaviour: Option<Behaviour>,
    directory: Option<OsString>,
    named: Option<OsString>,
    data: Vec<u8>,
    made: u64,
    buffered_opens: u32,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<State>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn directory(&self) -> FileAttr {
        attributes(2 * self.made, FileType::Directory, 0)
    }

    /// The file in the directory that was made last.
    fn file(&self) -> FileAttr {
        attributes(2 * self.made + 1, FileType::RegularFile, self.data.len() as u64)
    }
}

/// A mounted stand-in; unmounted when dropped.
pub struct StandIn {
    shared: Shared,
    directory: TempDir,
    _session: BackgroundSession,
}

impl StandIn {
    /// None where this process may not mount one.
    pub fn mount() -> Option<StandIn> {
        let shared = Shared::default();
        let directory = tempfile::tempdir().expect("a directory");
        let mut options = Config::default();
        options.mount_options = vec![MountOption::FSName("stand-in".into()), MountOption::Subtype("standin".into())];
        match fuser::spawn_mount(shared.clone(), directory.path(), &options) {
            Ok(session) => Some(StandIn { shared, directory, _session: session }),
            Err(error) => {
                assert!(!std::env::var("CI").is_ok_and(|ci| ci == "true"), "FUSE can't be mounted: {error}");
                eprintln!("FUSE can't be mounted here ({error}): not tried");
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn behave(&self, behaviour: Behaviour) {
        self.shared.lock().behaviour = Some(behaviour);
    }

    /// Whether anything is left in it that has a name.
    pub fn is_empty(&self) -> bool {
        let state = self.shared.lock();
        state.directory.is_none() && state.named.is_none()
    }

    /// How often a file was opened without O_DIRECT.
    pub fn buffered_opens(&self) -> u32 {
        self.shared.lock().buffered_opens
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // The kernel lets go of files that were closed a moment ago in its own time.
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

fn attributes(inode: u64, kind: FileType, size: u64) -> FileAttr {
    FileAttr {
        ino: INodeNo(inode),
        size,
        blocks: size / 512,
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm: 0o700,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        flags: 0,
        blksize: 4096,
    }
}

impl Filesystem for Shared {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let state = self.lock();
        match parent.0 {
            ROOT if state.directory.as_deref() == Some(name) => {
                reply.entry(&TTL, &state.directory(), Generation(0));
            }
            _ if state.named.as_deref() == Some(name) => {
                reply.entry(&TTL, &state.file(), Generation(0));
            }
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let state = self.lock();
        let attributes = match inode.0 {
            ROOT => attributes(ROOT, FileType::Directory, 0),
            other if other % 2 == 0 => state.directory(),
            _ => state.file(),
        };
        reply.attr(&TTL, &attributes);
    }

    fn mkdir(&self, _: &Request, _: INodeNo, name: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        let mut state = self.lock();
        state.directory = Some(name.into());
        state.made += 1;
        reply.entry(&TTL, &state.directory(), Generation(0));
    }

    fn rmdir(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        self.lock().directory = None;
        reply.ok();
    }

    fn create(&self, _: &Request, _: INodeNo, name: &OsStr, _: u32, _: u32, flags: i32, reply: ReplyCreate) {
        let mut state = self.lock();
        let direct = flags & libc::O_DIRECT != 0;
        state.buffered_opens += u32::from(!direct);
        if direct && state.behaviour == Some(Behaviour::RefuseDirect) {
            return reply.error(Errno::EINVAL);
        }
        state.named = Some(name.into());
        state.data.clear();
        reply.created(&TTL, &state.file(), Generation(0), FileHandle(0), FopenFlags::empty());
    }

    fn unlink(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let mut state = self.lock();
        if state.named.as_deref() != Some(name) {
            return reply.error(Errno::ENOENT);
        }
        state.named = None;
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let state = self.lock();
        match state.behaviour {
            Some(Behaviour::FailReads(errno)) => reply.error(Errno::from_i32(errno)),
            Some(_) | None => {
                let start = (offset as usize).min(state.data.len());
                let end = (start + size as usize).min(state.data.len());
                reply.data(&state.data[start..end]);
            }
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut state = self.lock();
        match state.behaviour {
            Some(Behaviour::FailWrites(errno)) => reply.error(Errno::from_i32(errno)),
            Some(_) | None => {
                let (start, end) = (offset as usize, offset as usize + data.len());
                if state.data.len() < end {
                    state.data.resize(end, 0);
                }
                state.data[start..end].copy_from_slice(data);
                reply.written(data.len() as u32);
            }
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(1 << 20, 1 << 20, 1 << 20, 100, 100, 4096, 255, 4096);
    }
}
