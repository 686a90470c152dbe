//! Removes what a client left that was killed before it could clean up. Nothing to remove is fine.

use std::path::{Path, PathBuf};

use super::run::{RunError, leave_termination_message, read_task};
use crate::bench::{disk, engine::EngineError, rados};
use crate::contract::{EXIT_FAILED, Target, Task, Termination};

/// Sweeps up after the client that the task is of; for objects, after every client of its run. Returns the exit code.
pub fn sweep(task: &Path, termination_log: Option<PathBuf>) -> u8 {
    let swept = read_task(task)
        .map_err(|error: RunError| error.to_string())
        .and_then(|task| remove(&task).map_err(|error| error.to_string()));
    let cause = swept.err();
    if let Some(cause) = &cause {
        println!("{cause}");
    }
    let code = if cause.is_some() { EXIT_FAILED } else { 0 };
    leave_termination_message(termination_log.as_deref(), &Termination::new(cause, None));
    code
}

fn remove(task: &Task) -> Result<(), EngineError> {
    match &task.target {
        Target::File(target) => disk::remove_left(task, target),
        Target::Rados(target) => {
            rados::remove_run(target, &task.run, task.op_timeout_seconds, &mut |line| println!("{line}"))
        }
        Target::Null(_) | Target::Device(_) | Target::Network(_) => Ok(()),
    }
}
