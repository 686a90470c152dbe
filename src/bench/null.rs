//! The load of the null target: engines that do nothing. It keeps nothing between rounds.

use crate::contract::{NullTarget, Point};

use super::engine::{Engine, EngineError, check_block};
use super::engines::null::NullEngine;
use super::load::{Load, PreparedRound};

struct NullLoad {
    size: u64,
}

/// A load whose jobs share `size` bytes of nothing.
pub fn open(target: &NullTarget) -> Box<dyn Load> {
    Box::new(NullLoad { size: target.size })
}

impl Load for NullLoad {
    fn engine(&self) -> (&'static str, Option<String>) {
        ("null", None)
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    fn prepare(
        &mut self,
        point: &Point,
        _round: u32,
        _say: &mut dyn FnMut(&str),
    ) -> Result<PreparedRound, EngineError> {
        let block_size = check_block(point.block_size)?;
        let share = self.size / u64::from(point.jobs.max(1));
        let mut engines: Vec<Box<dyn Engine>> = Vec::new();
        for _ in 0..point.jobs {
            let mut engine = NullEngine::new(share);
            engine.prepare(point.queue_depth, block_size)?;
            engines.push(Box::new(engine));
        }
        Ok(PreparedRound { engines, notes: Vec::new() })
    }

    fn clean_up(&mut self, _say: &mut dyn FnMut(&str)) -> Result<(), EngineError> {
        Ok(())
    }
}
