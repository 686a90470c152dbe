//! The directory that the bench and the report container share: a lock, a mark that the bench began, and the report.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

const LOCK: &str = "lock";
const STARTED: &str = "started";
const REPORT: &str = "report.json.gz";

#[derive(Debug, thiserror::Error)]
#[error("{act} {path}: {cause}")]
pub struct SharedError {
    act: &'static str,
    path: PathBuf,
    #[source]
    cause: io::Error,
}

fn error(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SharedError {
    let path = path.to_owned();
    move |cause| SharedError { act, path, cause }
}

/// The directory, held by a bench that is alive.
pub struct Held {
    directory: PathBuf,
    _lock: File,
}

impl Held {
    pub fn take(directory: &Path) -> Result<Held, SharedError> {
        fs::create_dir_all(directory).map_err(error("make", directory))?;
        let lock = open_lock(directory)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|errno| error("lock", &directory.join(LOCK))(errno.into()))?;
        let started = directory.join(STARTED);
        fs::write(&started, "").map_err(error("write", &started))?;
        Ok(Held { directory: directory.into(), _lock: lock })
    }

    /// The report is there whole or not at all.
    pub fn write_report(&self, gzip: &[u8]) -> Result<(), SharedError> {
        write_whole(&self.directory.join(REPORT), gzip)
    }
}

pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), SharedError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    fs::write(&part, bytes).map_err(error("write", &part))?;
    fs::rename(&part, path).map_err(error("write", path))
}

fn open_lock(directory: &Path) -> Result<File, SharedError> {
    let path = directory.join(LOCK);
    OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(error("open", &path))
}

/// Where a bench is, seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bench {
    NotStarted,
    Running,
    Ended,
}

pub fn look(directory: &Path) -> Result<Bench, SharedError> {
    if !directory.join(STARTED).try_exists().map_err(error("look at", directory))? {
        return Ok(Bench::NotStarted);
    }
    match flock(open_lock(directory)?, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Bench::Ended),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(Bench::Running),
        Err(errno) => Err(error("lock", &directory.join(LOCK))(errno.into())),
    }
}

/// `None` when the bench left no report.
pub fn read_report(directory: &Path) -> Result<Option<Vec<u8>>, SharedError> {
    let path = directory.join(REPORT);
    match fs::read(&path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(error("read", &path)(cause)),
    }
}
