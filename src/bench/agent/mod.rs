//! The bench in a pod: what its containers do. `run` plays a client, the first one the conductor as well; `report` prints the report once
//! `run` has ended, however it ended; `install` puts the program where another image's container finds it;
//! `sweep` removes what a client left that was killed.
//!
//! The two long-lived containers share a directory. `run` holds a lock on a file there for as long as it lives: the kernel lets go of it
//! when the process ends, killed or not.

mod attached;
mod install;
mod report;
mod run;
mod shared;
mod sweep;

pub use attached::attached_address;
pub use install::install;
pub use report::report;
pub use run::{RunOptions, run};
pub use sweep::sweep;
