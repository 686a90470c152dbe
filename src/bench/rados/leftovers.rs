//! What is left in a pool, found by listing it: a client makes sure that nothing of it stays, and a run whose clients died is removed whole.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::bench::engine::EngineError;
use crate::contract::RadosTarget;
use crate::sys::librados::{IoContext, RadosError};

use super::batch::{Batch, Halt, Kept};
use super::connect::{self, InFlight};
use super::explain::Situation;
use super::objects::Name;

/// A namespace's listing reads through its whole pool: a big one isn't worth more.
const LISTING: Duration = Duration::from_secs(60);

/// What is there after a removal by listing.
pub(super) enum Left {
    Nothing,
    Objects {
        count: usize,
        why: Option<Halt>,
    },
    /// The listing did not come to its end.
    Unknown(String),
}

/// Removes each object of the namespace whose name begins so, and looks again. A write that the cluster had accepted but that nobody waited
/// for may come late, so that the second look can find more; the third says what stays.
pub(super) fn remove(batch: &mut Batch<'_>, prefix: &str) -> Left {
    let mut why = None;
    for look in 0.. {
        let names = match list(batch.context, prefix, Instant::now() + LISTING) {
            Ok(names) => names,
            Err(cause) => return Left::Unknown(cause),
        };
        if names.is_empty() {
            return Left::Nothing;
        }
        if look == 2 {
            return Left::Objects { count: names.len(), why };
        }
        let names: Vec<Name> = names.iter().map(|name| Name::exact(&String::from_utf8_lossy(name))).collect();
        let removed = batch.remove(names.len(), |pipeline, slot, index| pipeline.remove(slot, names[index].as_c_str()));
        why = removed.err().map(|Kept { first, .. }| first);
    }
    unreachable!("the loop ends by itself")
}

/// Removes all objects of a run, whatever client made them.
pub fn remove_run(
    target: &RadosTarget,
    run: &str,
    op_timeout_seconds: u64,
    say: &mut dyn FnMut(&str),
) -> Result<(), EngineError> {
    let connection = connect::connect(target, connect::op_timeout_seconds(op_timeout_seconds), InFlight::DEFAULT)?;
    let context = connection.open_pool()?;
    let prefix = format!("cephbench.{run}.");
    let patience = patience(&connection.situation);
    let mut batch = Batch { context: &context, patience, cancel: &AtomicBool::new(false), say };
    let act = format!("remove the objects {prefix}* from pool {}", target.pool);
    match remove(&mut batch, &prefix) {
        Left::Nothing => Ok(()),
        Left::Unknown(cause) => Err(EngineError::new(act, format!("the pool can't be listed: {cause}"))),
        Left::Objects { count, why } => Err(EngineError::new(act, stay_text(count, why, &connection.situation))),
    }
}

/// How long a batch goes on without a success: two operations that time out one after the other, and a little.
pub(super) fn patience(situation: &Situation) -> Duration {
    Duration::from_secs(situation.op_timeout_seconds * 2 + 5)
}

pub(super) fn stay_text(count: usize, why: Option<Halt>, situation: &Situation) -> String {
    let why = match why {
        Some(Halt::Failed(number)) => situation.operation(number),
        Some(Halt::Cancelled) => "stopped".into(),
        None => "they came back".into(),
    };
    format!("{count} objects stay: {why}")
}

fn list(context: &IoContext, prefix: &str, deadline: Instant) -> Result<Vec<Vec<u8>>, String> {
    let text = |error: RadosError| crate::bench::errno::text(error.errno);
    let mut names = Vec::new();
    for name in context.list().map_err(text)? {
        if Instant::now() >= deadline {
            return Err(format!("not done after {} s", LISTING.as_secs()));
        }
        let name = name.map_err(text)?;
        if name.starts_with(prefix.as_bytes()) {
            names.push(name);
        }
    }
    Ok(names)
}
