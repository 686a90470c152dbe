//! The load of a file test: one file, written full once, a part of it for each job. It has no name, so its space is free again when this
//! process ends, however it ends.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};
use rustix::io::Errno;

use crate::bench::engine::{Engine, EngineError, check_block};
use crate::bench::engines::choice::Choice;
use crate::bench::engines::region::Region;
use crate::bench::load::{Load, PreparedRound};
use crate::bench::{errno, pattern, stop};
use crate::contract::{FileTarget, Point, Task};
use crate::sys::buffer::Buffers;
use crate::units::bytes_text;

use super::directory::{Directory, OwnDirectory, no_direct_text};
use super::file_system::{FileSystem, cache_text};
use super::{divide, prefill};

/// What direct I/O needs at most: the file is a whole number of these.
const GRAIN: u64 = 4096;

pub struct FileLoad {
    client: u32,
    size: u64,
    op_timeout: Duration,
    own: OwnDirectory,
    path: PathBuf,
    file_system: FileSystem,
    file: Option<Arc<File>>,
    filled: bool,
    /// Rounds prepared so far: each writes content of its own.
    rounds: u64,
    choice: Choice,
    notes: Vec<String>,
}

impl FileLoad {
    pub fn open(task: &Task, target: &FileTarget) -> Result<FileLoad, EngineError> {
        let size = target.size / GRAIN * GRAIN;
        if size == 0 {
            let cause = format!("{} bytes are less than {GRAIN}", target.size);
            return Err(EngineError::new(format!("make a file in {}", target.directory), cause));
        }
        let directory = Directory::open(&target.directory)?;
        directory.check_space(size)?;
        let own = directory.make_own(&own_name(task)?)?;
        let file = own.make_file(&directory.file_system)?;
        let mut notes = Vec::new();
        if size < target.size {
            notes.push(format!(
                "size {}: direct I/O works on whole blocks of {GRAIN} bytes, so the last {} bytes are left out",
                target.size,
                target.size - size
            ));
        }
        if directory.file_system.overlay {
            notes.push(format!(
                "{} is on {}: operations pass through it to the file system of its upper layer",
                target.directory, directory.file_system.name
            ));
        }
        if let Some(cache) = cache_text(&directory.file_system.name) {
            notes.push(format!("{} is on {}: {cache}", target.directory, directory.file_system.name));
        }
        Ok(FileLoad {
            client: task.client,
            size,
            op_timeout: Duration::from_secs(task.op_timeout_seconds),
            own,
            path: directory.path,
            file_system: directory.file_system,
            file: Some(Arc::new(file)),
            filled: false,
            rounds: 0,
            choice: Choice::new(),
            notes,
        })
    }

    fn file(&self) -> Result<&Arc<File>, EngineError> {
        self.file.as_ref().ok_or_else(|| EngineError::new("use the file", "it was removed"))
    }

    /// Writes the file full and to the disk, and drops what of it is in the page cache.
    fn fill(&mut self, say: &mut dyn FnMut(&str)) -> Result<(), EngineError> {
        let file = self.file()?.clone();
        let here = |act: &str| format!("{act} in {}", self.path.display());
        match fallocate(&*file, FallocateFlags::empty(), 0, self.size) {
            // Where space can't be set aside, writing takes it.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => {
                let act = here(&format!("set aside {}", bytes_text(self.size)));
                return Err(EngineError::new(act, errno::text(error.raw_os_error())));
            }
        }
        say(&format!("prefill: writing {} in {}", bytes_text(self.size), self.path.display()));
        let region = Region {
            file: file.clone(),
            base: 0,
            size: self.size,
            seed: pattern::seed(self.client, u32::MAX, u64::MAX),
        };
        for mut engine in self.choice.engines(&[region], prefill::DEPTH, prefill::BLOCK)? {
            prefill::fill(engine.as_mut(), self.size, self.op_timeout, &|| stop::asked().load(Relaxed), say)
                .map_err(|error| EngineError::new(here(&error.act), self.direct_text(error.cause)))?;
        }
        file.sync_all().map_err(|error| EngineError::new(here("sync the file"), errno::io_text(&error)))?;
        // Direct I/O leaves nothing there on most file systems; where it does, advice is all that can be given.
        let _ = fadvise(&*file, 0, None, Advice::DontNeed);
        self.filled = true;
        Ok(())
    }

    /// Some file systems accept O_DIRECT when a file is opened and refuse the first operation.
    fn direct_text(&self, cause: String) -> String {
        if cause == errno::text(libc::EINVAL) { no_direct_text(&self.path, &self.file_system, &cause) } else { cause }
    }

    /// Reads one block, not the first, as an engine would: finds blocks too small for direct I/O here.
    fn try_block(&self, block: u32) -> Result<(), EngineError> {
        let act = format!("use blockSize {block} in {}", self.path.display());
        let failed = |error: &std::io::Error| EngineError::new(&*act, errno::io_text(error));
        let mut buffer = Buffers::new(1, block as usize).map_err(|error| failed(&error))?;
        let offset = if u64::from(block) * 2 <= self.size { u64::from(block) } else { 0 };
        match self.file()?.read_at(buffer.slot_mut(0), offset) {
            Ok(bytes) if bytes == block as usize => Ok(()),
            Ok(bytes) => Err(EngineError::new(act, format!("a read moved {bytes} bytes only"))),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                let cause =
                    format!("direct I/O on {} needs larger blocks, or multiples of 4096", self.file_system.name);
                Err(EngineError::new(act, cause))
            }
            Err(error) => Err(failed(&error)),
        }
    }
}

impl Load for FileLoad {
    fn engine(&self) -> (&'static str, Option<String>) {
        (self.choice.name(), self.choice.reason())
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn prepare(&mut self, point: &Point, _round: u32, say: &mut dyn FnMut(&str)) -> Result<PreparedRound, EngineError> {
        let block = check_block(point.block_size)?;
        let what = format!("the file in {}", self.path.display());
        let (regions, note) = divide(self.file()?, self.size, point, self.client, self.rounds, &what)?;
        self.rounds += 1;
        if !self.filled {
            self.fill(say)?;
        }
        self.try_block(block)?;
        let engines: Vec<Box<dyn Engine>> = self.choice.engines(&regions, point.queue_depth, block)?;
        Ok(PreparedRound { engines, notes: note.into_iter().chain(self.choice.note()).collect() })
    }

    fn clean_up(&mut self, say: &mut dyn FnMut(&str)) -> Result<(), EngineError> {
        self.file = None;
        self.own.remove().inspect_err(|error| say(&error.to_string()))
    }
}

pub(super) fn remove_left(task: &Task, target: &FileTarget) -> Result<(), EngineError> {
    Directory::open(&target.directory)?.remove_left(&own_name(task)?)
}

/// The subdirectory's name: from run, test and client, which must not lead elsewhere.
fn own_name(task: &Task) -> Result<String, EngineError> {
    for (field, value) in [("run", &task.run), ("test", &task.test)] {
        let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if value.is_empty() || !plain || value.len() > 100 {
            let cause = "letters, digits, `-`, `_` and `.` are possible, 1 to 100 of them";
            return Err(EngineError::new(format!("name a directory after {field} {value:?}"), cause));
        }
    }
    Ok(format!("cephbench-{}-{}-{}", task.run, task.test, task.client))
}

#[cfg(test)]
mod tests;
