//! The report container: waits until the bench has ended and prints the lines of its report, nothing else, on standard output.

use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::shared::{self, Bench, SharedError};
use crate::bench::stop::Stop;
use crate::contract::{CLEANUP_GRACE_SECONDS, LogError, Packed, report_lines, unpack};

const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How long after a stop a bench may still begin: both containers of a pod start within moments.
const START_AFTER_STOP: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error(transparent)]
    Shared(#[from] SharedError),
    #[error("the bench did not start within {} s", .0.as_secs())]
    NotStarted(Duration),
    #[error("the bench did not end within {} s", .0.as_secs())]
    NotEnded(Duration),
    #[error("the bench ended without a report")]
    NoReport,
    #[error("the bench left a report that is not whole: {0}")]
    Broken(#[source] LogError),
    #[error("print the report: {0}")]
    Print(#[source] io::Error),
}

/// Prints the report that the bench leaves in `directory`. A stop does not end it at once: a bench that is stopped as well still has a
/// report to leave, of the rounds that it did measure.
pub fn report(directory: &Path, timeout: Duration, stop: &Stop, out: &mut impl Write) -> Result<(), ReportError> {
    wait(directory, timeout, stop)?;
    let gzip = shared::read_report(directory)?.ok_or(ReportError::NoReport)?;
    unpack(&gzip).map_err(ReportError::Broken)?;
    for line in report_lines(&Packed::from_gzip(gzip)) {
        writeln!(out, "{line}").map_err(ReportError::Print)?;
    }
    out.flush().map_err(ReportError::Print)
}

fn wait(directory: &Path, timeout: Duration, stop: &Stop) -> Result<(), ReportError> {
    let began = Instant::now();
    let mut until = began + timeout;
    let mut stopping = false;
    loop {
        let bench = shared::look(directory)?;
        if bench == Bench::Ended {
            return Ok(());
        }
        if !stopping && stop.asked().is_some() {
            stopping = true;
            let patience = match bench {
                // Its image may never come: nobody is to wait for it now.
                Bench::NotStarted => START_AFTER_STOP,
                Bench::Running | Bench::Ended => Duration::from_secs(CLEANUP_GRACE_SECONDS + 5),
            };
            until = until.min(Instant::now() + patience);
        }
        if Instant::now() >= until {
            return Err(match bench {
                Bench::NotStarted => ReportError::NotStarted(began.elapsed()),
                Bench::Running | Bench::Ended => ReportError::NotEnded(began.elapsed()),
            });
        }
        thread::sleep(LOOK_AGAIN);
    }
}
