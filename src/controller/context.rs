//! What every reconcile shares: the client, what the operator's owner decided, and a little memory that nothing depends on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kube::Client;

use super::tries::Tries;
use crate::plan::frozen::Frozen;
use crate::plan::policy::OperatorConfig;
use crate::resources::Platform;

/// The operator itself.
pub struct Context {
    pub client: Client,
    pub config: OperatorConfig,
    pub platform: Platform,
    /// The operator's own namespace: its Leases are there.
    pub namespace: String,
    /// Names this process in Leases and Events.
    pub identity: String,
    /// Plans that were read, by the UID of their ConfigMap, which is immutable.
    plans: Mutex<HashMap<String, Arc<Frozen>>>,
    /// When a benchmark's progress was last looked at, by UID.
    progress: Mutex<HashMap<String, Instant>>,
    pub tries: Tries,
}

/// Progress is written at most so often.
const PROGRESS: Duration = Duration::from_secs(10);

/// Plans that are held: more benchmarks than this at once only read theirs again.
const MOST_PLANS: usize = 16;

impl Context {
    pub fn new(
        client: Client,
        config: OperatorConfig,
        platform: Platform,
        namespace: String,
        identity: String,
    ) -> Self {
        Context {
            client,
            config,
            platform,
            namespace,
            identity,
            plans: Mutex::default(),
            progress: Mutex::default(),
            tries: Tries::default(),
        }
    }

    pub fn known_plan(&self, uid: &str) -> Option<Arc<Frozen>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).get(uid).cloned()
    }

    pub fn remember_plan(&self, uid: &str, plan: Arc<Frozen>) {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        plans.insert(uid.to_owned(), plan);
    }

    /// Whether it is time to write a benchmark's progress; asking counts as writing.
    pub fn progress_is_due(&self, uid: &str) -> bool {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        progress.retain(|_, last| now.duration_since(*last) < PROGRESS);
        if progress.contains_key(uid) {
            return false;
        }
        progress.insert(uid.to_owned(), now);
        true
    }
}
