//! The directory of a file test: opened without following links, judged, and the client's own subdirectory in it.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstatvfs, mkdirat, openat, readlinkat, unlinkat};
use rustix::io::Errno;

use crate::bench::engine::EngineError;
use crate::bench::errno;
use crate::units::bytes_text;

use super::file_system::FileSystem;

/// What is wanted beyond the file itself: metadata, and that other writers on the file system don't meet a full disk.
const MARGIN_PERCENT: u64 = 5;

/// The file's name, for the moment that it has one.
const FILE_NAME: &str = "data";

/// A directory that is fit to be measured.
pub struct Directory {
    pub path: PathBuf,
    pub file_system: FileSystem,
    handle: OwnedFd,
}

impl Directory {
    /// Opens an absolute path step by step, so that no part of it is a link.
    pub fn open(path: &str) -> Result<Directory, EngineError> {
        let refuse = |cause: String| EngineError::new(format!("use directory {path}"), cause);
        let handle = walk(Path::new(path)).map_err(refuse)?;
        let file_system = FileSystem::of(&handle).map_err(|error| refuse(errno::io_text(&error)))?;
        if let Some(memory) = &file_system.memory {
            return Err(refuse(format!(
                "it is on {memory}: that is memory, and a file there measures no disk; give a directory on the disk to be measured"
            )));
        }
        Ok(Directory { path: path.into(), file_system, handle })
    }

    /// Refuses a file that doesn't fit with a margin.
    pub fn check_space(&self, size: u64) -> Result<(), EngineError> {
        let act = format!("make a file of {} in {}", bytes_text(size), self.path.display());
        let stat = fstatvfs(&self.handle).map_err(|error| EngineError::new(&*act, rustix_text(error)))?;
        space_suffices(size, stat.f_bavail.saturating_mul(stat.f_frsize)).map_err(|cause| EngineError::new(act, cause))
    }

    /// Removes a subdirectory that a client made and could not remove, with its file if that still has its name. None is fine.
    pub fn remove_left(&self, name: &str) -> Result<(), EngineError> {
        let act = || format!("remove directory {}", self.path.join(name).display());
        let text = |error| EngineError::new(act(), rustix_text(error));
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let own = match openat(&self.handle, name, flags, Mode::empty()) {
            Ok(own) => own,
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(text(error)),
        };
        match unlinkat(&own, FILE_NAME, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(text(error)),
        }
        unlinkat(&self.handle, name, AtFlags::REMOVEDIR).map_err(text)
    }

    /// Makes a subdirectory that only this user may enter. One that is there already is not used.
    pub fn make_own(&self, name: &str) -> Result<OwnDirectory, EngineError> {
        let path = self.path.join(name);
        let act = format!("make directory {}", path.display());
        mkdirat(&self.handle, name, Mode::RWXU).map_err(|error| {
            let cause = match error {
                Errno::EXIST => "it is there already: another client works in it, or one that was killed left it; \
                    remove it if none does"
                    .into(),
                other => rustix_text(other),
            };
            EngineError::new(&*act, cause)
        })?;
        let parent = self.handle.try_clone().map_err(|error| EngineError::new(&*act, errno::io_text(&error)));
        let mut own = OwnDirectory { path, name: name.into(), parent: parent?, handle: None, removed: false };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(&own.parent, name, flags, Mode::empty());
        own.handle = Some(handle.map_err(|error| EngineError::new(act, rustix_text(error)))?);
        Ok(own)
    }
}

/// The client's own subdirectory; removed when dropped, if it is empty.
pub struct OwnDirectory {
    pub path: PathBuf,
    name: String,
    parent: OwnedFd,
    /// Absent before it is opened and once it is removed.
    handle: Option<OwnedFd>,
    removed: bool,
}

impl OwnDirectory {
    /// A new file for direct I/O, without a name: when the last handle of it is closed, its space is free again, whatever becomes of
    /// this process.
    pub fn make_file(&self, file_system: &FileSystem) -> Result<File, EngineError> {
        let act = format!("make a file in {}", self.path.display());
        let Some(handle) = &self.handle else { return Err(EngineError::new(act, "the directory was removed")) };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::DIRECT;
        let made = openat(handle, FILE_NAME, flags, Mode::RUSR | Mode::WUSR);
        // The kernel may have made the file before it refused to open it.
        let removed = unlinkat(handle, FILE_NAME, AtFlags::empty());
        match (made, removed) {
            (Ok(file), Ok(())) => Ok(File::from(file)),
            (Ok(_), Err(error)) => Err(EngineError::new(act, format!("remove its name: {}", rustix_text(error)))),
            (Err(error), _) => Err(EngineError::new(act, open_text(error, &self.path, file_system))),
        }
    }

    pub fn remove(&mut self) -> Result<(), EngineError> {
        if self.removed {
            return Ok(());
        }
        self.handle = None;
        unlinkat(&self.parent, &*self.name, AtFlags::REMOVEDIR).map_err(|error| {
            EngineError::new(format!("remove directory {}", self.path.display()), rustix_text(error))
        })?;
        self.removed = true;
        Ok(())
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // Whoever wanted to know of a failure has called `remove`.
        let _ = self.remove();
    }
}

/// What a refused O_DIRECT means.
pub fn no_direct_text(path: &Path, file_system: &FileSystem, error: &str) -> String {
    format!(
        "{} is on {}, which doesn't support direct I/O ({error}); without it the page cache would be measured",
        path.display(),
        file_system.name
    )
}

fn open_text(error: Errno, path: &Path, file_system: &FileSystem) -> String {
    match error {
        Errno::INVAL | Errno::OPNOTSUPP => {
            no_direct_text(path, file_system, &format!("open with O_DIRECT: {}", rustix_text(error)))
        }
        other => rustix_text(other),
    }
}

fn rustix_text(error: Errno) -> String {
    errno::text(error.raw_os_error())
}

fn space_suffices(size: u64, free: u64) -> Result<(), String> {
    let need = size.saturating_add(size / 100 * MARGIN_PERCENT);
    if need <= free {
        return Ok(());
    }
    Err(format!(
        "{} free, {} needed (the file and {MARGIN_PERCENT} %): {free} of {need} bytes",
        bytes_text(free),
        bytes_text(need)
    ))
}

fn walk(path: &Path) -> Result<OwnedFd, String> {
    if !path.is_absolute() {
        return Err("not an absolute path: it has to start with /".into());
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut handle = openat(CWD, "/", flags, Mode::empty()).map_err(|error| format!("/: {}", rustix_text(error)))?;
    let mut walked = PathBuf::from("/");
    for component in path.components() {
        let name = match component {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => name,
            Component::ParentDir | Component::Prefix(_) => {
                return Err("`..` is not followed: give the real path".into());
            }
        };
        walked.push(name);
        handle = openat(&handle, name, flags, Mode::empty())
            .map_err(|error| step_text(handle.as_fd(), name, &walked, error))?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(&handle, ".", flags, Mode::empty()).map_err(|error| format!("open: {}", rustix_text(error)))
}

fn step_text(parent: impl AsFd, name: &std::ffi::OsStr, walked: &Path, error: Errno) -> String {
    let walked = walked.display();
    if let Ok(target) = readlinkat(parent, name, Vec::new()) {
        return format!(
            "{walked} is a link to {}, and links are not followed: give the real path",
            target.to_string_lossy()
        );
    }
    match error {
        Errno::NOTDIR => format!("{walked} is not a directory"),
        Errno::NOENT => format!("{walked} doesn't exist"),
        other => format!("{walked}: {}", rustix_text(other)),
    }
}

#[cfg(test)]
mod tests;
