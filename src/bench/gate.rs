//! Where threads wait until all of them are there, to begin together; or until it is known that one could not be had.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A gate that gives everybody the same `T` when it opens.
pub(super) struct Gate<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: usize,
    sent_away: bool,
    /// Set when the gate opens.
    shared: Option<Arc<T>>,
}

impl<T> Default for Gate<T> {
    fn default() -> Self {
        let state = State { waiting: 0, sent_away: false, shared: None };
        Gate { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<T> Gate<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens for `count` threads, once they are all there. What they do begins when `share` is called.
    pub fn open(&self, count: usize, share: impl FnOnce() -> T) -> Arc<T> {
        let state = self.changed.wait_while(self.lock(), |state| state.waiting < count);
        let shared = Arc::new(share());
        state.unwrap_or_else(PoisonError::into_inner).shared = Some(shared.clone());
        self.changed.notify_all();
        shared
    }

    /// Nobody is to begin.
    pub fn send_away(&self) {
        self.lock().sent_away = true;
        self.changed.notify_all();
    }

    /// Waits until the gate opens. `None` for who is sent away.
    pub fn wait(&self) -> Option<Arc<T>> {
        let mut state = self.lock();
        state.waiting += 1;
        self.changed.notify_all();
        let state = self.changed.wait_while(state, |state| state.shared.is_none() && !state.sent_away);
        state.unwrap_or_else(PoisonError::into_inner).shared.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn who_waits_gets_what_is_shared_or_is_sent_away() {
        let (open, closed) = (Gate::default(), Gate::<u32>::default());
        thread::scope(|scope| {
            let begun: Vec<_> = (0..3).map(|_| scope.spawn(|| open.wait())).collect();
            let away: Vec<_> = (0..3).map(|_| scope.spawn(|| closed.wait())).collect();
            open.open(3, || 7);
            closed.send_away();
            for (begun, away) in begun.into_iter().zip(away) {
                assert_eq!(begun.join().expect("no panic").as_deref(), Some(&7));
                assert_eq!(away.join().expect("no panic"), None);
            }
        });
    }
}
