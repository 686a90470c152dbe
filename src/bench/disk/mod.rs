//! Disk tests: a file made for the test, or a block device opened for reading. What both share: how jobs divide a target, and checks on
//! the points. Moving the data is the engines' work.

mod device;
mod directory;
mod file;
mod file_system;
#[cfg(test)]
mod fixtures;
mod prefill;
mod probe;
mod users;

use std::fs::File;
use std::sync::Arc;

use crate::contract::{DeviceTarget, FileTarget, Point, Task};

use super::engine::EngineError;
use super::engines::region::Region;
use super::load::Load;
use super::pattern;

/// Opens a file test: checks the directory, makes the subdirectory and an empty file in it.
pub fn open_file(task: &Task, target: &FileTarget) -> Result<Box<dyn Load>, EngineError> {
    Ok(Box::new(file::FileLoad::open(task, target)?))
}

/// Removes what the client of this task left in the directory, if it was killed before it could.
pub fn remove_left(task: &Task, target: &FileTarget) -> Result<(), EngineError> {
    file::remove_left(task, target)
}

/// Opens a device test. A task that would write is refused, naming what is on the device, before anything is opened for writing.
pub fn open_device(task: &Task, target: &DeviceTarget) -> Result<Box<dyn Load>, EngineError> {
    Ok(Box::new(device::DeviceLoad::open(task, target)?))
}

/// The part of each job: as many whole blocks as all jobs can have, one after the other. What remains is told. Content differs with
/// `writes`, so that no round writes over a block what the one before wrote there.
fn divide(
    file: &Arc<File>,
    size: u64,
    point: &Point,
    client: u32,
    writes: u64,
    what: &str,
) -> Result<(Vec<Region>, Option<String>), EngineError> {
    let jobs = u64::from(point.jobs.max(1));
    let share = size / jobs / point.block_size.max(1) * point.block_size;
    if share == 0 {
        return Err(EngineError::new(
            format!("divide {what}"),
            format!("{size} bytes don't hold one block of {} bytes for each of {jobs} jobs", point.block_size),
        ));
    }
    let regions = (0..jobs)
        .map(|job| Region {
            file: file.clone(),
            base: job * share,
            size: share,
            seed: pattern::seed(client, job as u32, writes),
        })
        .collect();
    let left = size - share * jobs;
    let note = (left > 0).then(|| {
        format!(
            "{what}: {jobs} × {} blocks of {} bytes are used, the last {left} of {size} bytes are not",
            share / point.block_size,
            point.block_size
        )
    });
    Ok((regions, note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Op;

    fn point(block_size: u64, jobs: u32) -> Point {
        Point { block_size, jobs, ..fixtures::point(Op::Read) }
    }

    /// Start and size of each part, and the note.
    type Parts = (Vec<(u64, u64)>, Option<String>);

    fn parts(size: u64, point: &Point) -> Result<Parts, EngineError> {
        let file = Arc::new(File::open("/dev/null").expect("there is a /dev/null"));
        divide(&file, size, point, 0, 0, "the file")
            .map(|(regions, note)| (regions.iter().map(|region| (region.base, region.size)).collect(), note))
    }

    #[test]
    fn jobs_have_parts_of_their_own() {
        let (regions, note) = parts(64 << 20, &point(1 << 20, 16)).expect("it fits");
        let expected: Vec<(u64, u64)> = (0..16).map(|job| (job * (4 << 20), 4 << 20)).collect();
        assert_eq!((regions, note), (expected, None));
    }

    /// Case D2: a remainder is said, not rounded up.
    #[test]
    fn a_remainder_is_told() {
        let (regions, note) = parts(10_000_000_000, &point(4096, 1)).expect("it fits");
        assert_eq!(regions, [(0, 2_441_406 * 4096)]);
        let note = note.expect("a remainder");
        assert!(note.contains("2441406 blocks of 4096") && note.contains("last 1024 of 10000000000"), "{note}");
    }

    #[test]
    fn too_many_jobs_are_refused() {
        let error = parts(1 << 20, &point(1 << 20, 2)).expect_err("one block for two jobs");
        assert!(error.to_string().contains("1048576 bytes") && error.to_string().contains("2 jobs"), "{error}");
    }
}
