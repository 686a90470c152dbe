//! How completions get from librados' threads to the one that reaps them: a stack of slot numbers that callbacks push onto without
//! allocating or locking, and that the reaper takes whole, sleeping on it while it is empty.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::thread::futex;

use super::raw::Handle;

const EMPTY: u32 = u32::MAX;

/// Completions of the operations of one pipeline. Lives until no callback can touch it any more.
pub struct Completions {
    /// The slot that completed last, or EMPTY; also the word that the reaper sleeps on.
    head: AtomicU32,
    /// Operations whose callback has not returned yet.
    outstanding: AtomicU32,
    entries: Box<[Entry]>,
}

struct Entry {
    slot: u32,
    /// The slot below on the stack.
    below: AtomicU32,
    owner: AtomicPtr<Completions>,
}

impl Completions {
    pub fn new(slots: u32) -> Arc<Self> {
        Arc::new_cyclic(|this: &Weak<Self>| {
            let entry = |slot| Entry { slot, below: EMPTY.into(), owner: this.as_ptr().cast_mut().into() };
            Self { head: EMPTY.into(), outstanding: 0.into(), entries: (0..slots).map(entry).collect() }
        })
    }

    /// What to give to librados with [`completed`] for an operation in this slot. To be called just before it is submitted.
    pub fn expect(&self, slot: u32) -> *mut c_void {
        self.outstanding.fetch_add(1, Ordering::Relaxed);
        std::ptr::from_ref(&self.entries[slot as usize]).cast_mut().cast()
    }

    /// The last expected operation was refused: its callback will never come.
    pub fn unexpect(&self) {
        self.outstanding.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a callback may still come or is running.
    pub fn outstanding(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) > 0
    }

    /// Waits until something completed or the time is over.
    pub fn wait(&self, timeout: Duration) {
        if self.head.load(Ordering::Acquire) != EMPTY {
            return;
        }
        let deadline = Instant::now() + timeout;
        while self.head.load(Ordering::Acquire) == EMPTY {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let left = futex::Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            match futex::wait(&self.head, futex::Flags::PRIVATE, EMPTY, Some(&left)) {
                Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {}
                Err(error) => unreachable!("a futex wait on a valid word: {error}"),
            }
        }
    }

    /// Hands over the slots that completed since the last call, the latest first.
    pub fn take(&self, mut each: impl FnMut(u32)) {
        let mut slot = self.head.swap(EMPTY, Ordering::Acquire);
        while slot != EMPTY {
            // Read before the slot is handed over: its next operation may complete, and be pushed, at once.
            let below = self.entries[slot as usize].below.load(Ordering::Relaxed);
            each(slot);
            slot = below;
        }
    }

    fn push(&self, entry: &Entry) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            entry.below.store(head, Ordering::Relaxed);
            match self.head.compare_exchange_weak(head, entry.slot, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(seen) => head = seen,
            }
        }
        if head == EMPTY {
            // Only an empty stack can have a sleeper.
            let _ = futex::wake(&self.head, futex::Flags::PRIVATE, 1);
        }
    }
}

/// The callback: librados calls it on a thread of its own, once for each operation.
///
/// # Safety
/// `argument` is what [`Completions::expect`] returned, and the Completions lives until [`Completions::outstanding`] is false.
pub unsafe extern "C" fn completed(_completion: Handle, argument: *mut c_void) {
    // SAFETY: by the contract above the entry and its owner are alive until `outstanding` is counted down, which comes last.
    unsafe {
        let entry = &*argument.cast::<Entry>();
        let owner = &*entry.owner.load(Ordering::Relaxed);
        owner.push(entry);
        owner.outstanding.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_completion_of_many_threads_is_taken_once() {
        const SLOTS: u32 = 64;
        const ROUNDS: u32 = 500;
        let completions = Completions::new(SLOTS);
        for _ in 0..ROUNDS {
            let arguments: Vec<usize> = (0..SLOTS).map(|slot| completions.expect(slot) as usize).collect();
            let mut seen = vec![0; SLOTS as usize];
            std::thread::scope(|scope| {
                for part in arguments.chunks(16) {
                    scope.spawn(move || {
                        for argument in part {
                            // SAFETY: as `completed` asks: from `expect`, and the scope ends before the Completions.
                            unsafe { completed(std::ptr::null_mut(), *argument as *mut c_void) };
                        }
                    });
                }
                while seen.iter().sum::<i32>() < SLOTS as i32 {
                    completions.wait(Duration::from_secs(10));
                    completions.take(|slot| seen[slot as usize] += 1);
                }
            });
            assert!(seen.iter().all(|count| *count == 1), "{seen:?}");
            assert!(!completions.outstanding());
        }
    }

    #[test]
    fn waiting_for_nothing_ends_with_the_time() {
        let completions = Completions::new(1);
        let begun = Instant::now();
        completions.wait(Duration::from_millis(30));
        assert!(begun.elapsed() >= Duration::from_millis(30));
        completions.take(|slot| panic!("slot {slot} was never submitted"));
    }

    #[test]
    fn a_refused_operation_leaves_nothing_outstanding() {
        let completions = Completions::new(1);
        completions.expect(0);
        assert!(completions.outstanding());
        completions.unexpect();
        assert!(!completions.outstanding());
    }
}
