//! RADOS as a load: a client's connection, its objects from round to round, and what is left behind: nothing. How one operation is done
//! is the engine's ([`super::engines::rados`]).

mod batch;
mod connect;
pub(crate) mod explain;
mod facts;
mod key;
mod leftovers;
mod load;
pub(crate) mod objects;

pub use facts::facts;
pub use leftovers::remove_run;

use std::sync::Arc;
use std::time::Duration;

use crate::contract::{RadosTarget, Task};
use crate::sys::librados::Pipeline;

use super::engine::EngineError;
use super::load::Load;
use connect::{Connection, InFlight};
use load::RadosLoad;
use objects::{Name, Names};

/// Connects, opens the pool, and proves with one small object that it can be written, read and removed.
pub fn open(task: &Task, target: &RadosTarget) -> Result<Box<dyn Load>, EngineError> {
    let op_timeout = connect::op_timeout_seconds(task.op_timeout_seconds);
    let connection = connect::connect(target, op_timeout, in_flight(task))?;
    let context = connection.open_pool()?;
    let load = RadosLoad::new(connection, context, task);
    load.probe()?;
    Ok(Box::new(load))
}

/// The most that a point of the task has in flight.
fn in_flight(task: &Task) -> InFlight {
    let most = |of: fn(u64, u64) -> u64| {
        let each =
            task.points.iter().map(|point| of(u64::from(point.queue_depth) * u64::from(point.jobs), point.block_size));
        // Room for what is being completed.
        each.max().unwrap_or(0).saturating_mul(2)
    };
    InFlight { operations: most(|operations, _| operations), bytes: most(u64::saturating_mul) }
}

/// Writes, reads and removes one object: what a user may not do, and a pool that is full, are known before anything is measured.
fn probe(
    connection: &Connection,
    context: &Arc<crate::sys::librados::IoContext>,
    names: &Names,
) -> Result<(), EngineError> {
    const LENGTH: u32 = 16;
    let name = Name::exact(&format!("{}probe", names.prefix()));
    let mut pipeline = Pipeline::new(context.clone(), 1, LENGTH);
    let mut step = |act: &str, submit: &dyn Fn(&mut Pipeline)| {
        submit(&mut pipeline);
        let mut result = Err(libc::ETIMEDOUT);
        // librados ends it before.
        let bound = Duration::from_secs(connection.situation.op_timeout_seconds + 10);
        pipeline.settle(bound, |ended| result = ended.result);
        result.map_err(|number| {
            EngineError::new(
                format!("{act} pool {}", connection.situation.pool),
                connection.situation.operation(number),
            )
        })
    };
    step("write to", &|pipeline| pipeline.write(0, name.as_c_str(), 0, LENGTH, None))?;
    step("read from", &|pipeline| pipeline.read(0, name.as_c_str(), 0, LENGTH))?;
    step("remove from", &|pipeline| pipeline.remove(0, name.as_c_str()))?;
    Ok(())
}
