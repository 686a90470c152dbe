//! The load of a device test: a block device opened for reading, a part of it for each job. Nothing here opens one for writing.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::ioctl_blksszget;

use crate::bench::engine::{Direction, EngineError, check_block};
use crate::bench::engines::choice::Choice;
use crate::bench::load::{Load, PreparedRound};
use crate::bench::{errno, pattern};
use crate::contract::{DeviceTarget, Point, Task};
use crate::sys::buffer::Buffers;

use super::users::{self, Number};
use super::{divide, file_system, probe};

/// Blocks that are looked at to tell whether a device was ever written, spread over it. Their size is a multiple of any sector.
const SAMPLES: u64 = 64;
const SAMPLE_BYTES: u32 = 4096;

pub struct DeviceLoad {
    client: u32,
    path: PathBuf,
    size: u64,
    file: Arc<File>,
    choice: Choice,
    notes: Vec<String>,
}

impl DeviceLoad {
    pub fn open(task: &Task, target: &DeviceTarget) -> Result<DeviceLoad, EngineError> {
        let refuse = |cause: String| EngineError::new(format!("use device {}", target.path), cause);
        let path = fs::canonicalize(&target.path).map_err(|error| refuse(errno::io_text(&error)))?;
        let metadata = fs::metadata(&path).map_err(|error| refuse(errno::io_text(&error)))?;
        if metadata.mode() & libc::S_IFMT != libc::S_IFBLK {
            return Err(refuse("it is not a block device".into()));
        }
        let number = Number::new(metadata.rdev());
        if task.points.iter().any(writes) {
            return Err(refuse_writing(&target.path, &path, number));
        }
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECT)
            .open(&path)
            .map_err(|error| refuse(format!("open for reading: {}", errno::io_text(&error))))?;
        let size = size_of(&file).map_err(|error| refuse(format!("its size: {}", errno::io_text(&error))))?;
        let sector = ioctl_blksszget(&file).map_err(|error| refuse(format!("its block size: {error}")))?;
        for point in &task.points {
            check_point(point, size, sector).map_err(&refuse)?;
        }
        let mut notes = notes(target, &path, number);
        notes.extend(unwritten_text(&target.path, &file, size));
        Ok(DeviceLoad { client: task.client, path, size, file: Arc::new(file), choice: Choice::new(), notes })
    }
}

fn writes(point: &Point) -> bool {
    point.op.is_some_and(|op| pattern::direction(op) == Direction::Write)
}

fn size_of(mut file: &File) -> std::io::Result<u64> {
    file.seek(SeekFrom::End(0))
}

fn check_point(point: &Point, size: u64, sector: u32) -> Result<(), String> {
    let Point { block_size, jobs, .. } = point;
    if block_size % u64::from(sector) != 0 || *block_size == 0 {
        return Err(format!("blockSize {block_size} is no multiple of its blocks of {sector} bytes"));
    }
    if block_size.saturating_mul(u64::from(*jobs)) > size {
        return Err(format!("its {size} bytes don't hold one block of {block_size} bytes for each of {jobs} jobs"));
    }
    Ok(())
}

/// What people should know: who else uses the device while it is read, and whether it is a disk at all.
fn notes(target: &DeviceTarget, path: &Path, number: Number) -> Vec<String> {
    let uses = users::uses(path, number);
    let used = (!uses.is_empty()).then(|| format!("{} {}: others may use it meanwhile", target.path, uses.join(", ")));
    let memory = file_system::backing((number.major, number.minor))
        .map(|device| format!("{} is {device}: that is memory, no disk", target.path));
    used.into_iter().chain(memory).collect()
}

/// What is to be said of a device of which so much reads as zeros that it looks unwritten: a thin or trimmed one answers such reads
/// without touching its medium. The samples lie within its parts, apart from labels and tables at the edges.
fn unwritten_text(name: &str, file: &File, size: u64) -> Option<String> {
    let blocks = size / u64::from(SAMPLE_BYTES);
    let mut buffer = Buffers::new(1, SAMPLE_BYTES as usize).ok()?;
    let mut zeros = 0;
    for sample in 0..SAMPLES {
        let block = (blocks * sample + blocks / 2) / SAMPLES;
        // What can't be read shows when it is measured.
        file.read_exact_at(buffer.slot_mut(0), block * u64::from(SAMPLE_BYTES)).ok()?;
        zeros += u64::from(buffer.slot_mut(0).iter().all(|byte| *byte == 0));
    }
    (zeros * 2 >= SAMPLES).then(|| {
        format!("{name}: {zeros} of {SAMPLES} blocks looked at are zeros; reads of what is unwritten may not touch the medium")
    })
}

/// Says what would have been lost. Looks at the device through a handle that can only read.
fn refuse_writing(name: &str, path: &Path, number: Number) -> EngineError {
    let held = File::open(path).and_then(|file| probe::holds(&file, size_of(&file)?));
    let uses = users::uses(path, number);
    let what = match held {
        Ok(held) if held.is_empty() && uses.is_empty() => {
            "nothing was found on it, but this version doesn't write to devices".into()
        }
        Ok(held) => {
            let held = (!held.is_empty()).then(|| format!("holds {}", held.join(", ")));
            let all: Vec<String> = held.into_iter().chain(uses).collect();
            format!("it {}", all.join(", "))
        }
        Err(error) => format!("what is on it can't be read ({})", errno::io_text(&error)),
    };
    EngineError::new(format!("write to device {name}"), format!("{what}; cephbench opens devices for reading only"))
}

impl Load for DeviceLoad {
    fn engine(&self) -> (&'static str, Option<String>) {
        (self.choice.name(), self.choice.reason())
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn prepare(
        &mut self,
        point: &Point,
        _round: u32,
        _say: &mut dyn FnMut(&str),
    ) -> Result<PreparedRound, EngineError> {
        if writes(point) {
            let cause = "cephbench opens devices for reading only";
            return Err(EngineError::new(format!("write to device {}", self.path.display()), cause));
        }
        let block = check_block(point.block_size)?;
        let what = self.path.display().to_string();
        let (regions, note) = divide(&self.file, self.size, point, self.client, 0, &what)?;
        let engines = self.choice.engines(&regions, point.queue_depth, block)?;
        Ok(PreparedRound { engines, notes: note.into_iter().chain(self.choice.note()).collect() })
    }

    fn clean_up(&mut self, _say: &mut dyn FnMut(&str)) -> Result<(), EngineError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
