//! A little memory of what could not be created: how long it has been tried in a row, and what is done without. An operator that is started
//! anew tries it all again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::error::ControllerError;

/// What fails for so long is taken to fail for ever: whoever waits for it, and all who wait behind him, are to know.
const PATIENCE: Duration = Duration::from_secs(180);
/// Things that are remembered: with more, all are tried again.
const MOST: usize = 1024;

#[derive(Default)]
pub struct Tries {
    failing: Mutex<HashMap<String, Instant>>,
    without: Mutex<HashMap<String, String>>,
}

impl Tries {
    /// Whether an act that failed is not to be tried again: it was refused, or has failed ever since for too long.
    pub fn is_hopeless(&self, act: &str, error: &ControllerError, now: Instant) -> bool {
        let lasts = self.failing_for(act, now) > PATIENCE;
        error.is_refused() || lasts
    }

    /// How long an act that failed now has failed in a row, as far as this process knows.
    pub fn failing_for(&self, act: &str, now: Instant) -> Duration {
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        now.duration_since(*bounded(&mut failing).entry(act.to_owned()).or_insert(now))
    }

    pub fn worked(&self, act: &str) {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner).remove(act);
    }

    /// Goes on without an object, by its name.
    pub fn do_without(&self, name: String, told: String) {
        let mut without = self.without.lock().unwrap_or_else(PoisonError::into_inner);
        bounded(&mut without).insert(name, told);
    }

    /// What is known of an object that could not be made.
    pub fn without(&self, name: &str) -> Option<String> {
        self.without.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

fn bounded<T>(memory: &mut HashMap<String, T>) -> &mut HashMap<String, T> {
    if memory.len() >= MOST {
        memory.clear();
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(code: u16) -> ControllerError {
        let status = kube::core::Status { code, ..kube::core::Status::default() };
        ControllerError::Api { act: "create".into(), source: Box::new(kube::Error::Api(Box::new(status))) }
    }

    #[test]
    fn a_refusal_is_final_and_a_failure_when_it_lasts() {
        let (tries, begin) = (Tries::default(), Instant::now());
        let fails = |act, after| tries.is_hopeless(act, &answered(500), begin + Duration::from_secs(after));
        assert!(tries.is_hopeless("a", &answered(403), begin));
        assert!(!fails("b", 0) && !fails("b", 180));
        assert!(fails("b", 181));
        assert!(!fails("c", 181), "each act has its own time");
        tries.worked("b");
        assert!(!fails("b", 200), "what worked once begins anew");
    }
}
