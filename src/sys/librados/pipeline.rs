//! Asynchronous operations in numbered slots, each with a buffer of its own. A buffer belongs to librados from the moment its operation
//! is submitted until its completion is reaped; what is still in flight at the end is left to librados for good rather than freed.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::CStr;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::completions::{Completions, completed};
use super::io_context::IoContext;
use super::raw::{
    ALLOC_HINT_APPEND_ONLY, ALLOC_HINT_IMMUTABLE, ALLOC_HINT_SEQUENTIAL_READ, ALLOC_HINT_SEQUENTIAL_WRITE, Functions,
    Handle, OPERATION_FULL_TRY,
};

const ALIGNMENT: usize = 4096;

/// How long operations that were cancelled may take to say so.
const CANCELLED_WITHIN: Duration = Duration::from_secs(2);

/// What BlueStore is told with each write: objects are written once, in order. rados bench says the same.
#[derive(Clone, Copy, Debug)]
pub struct WriteHint {
    pub object_size: u64,
    pub write_size: u64,
}

/// An operation that ended: bytes moved, or a positive errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    pub slot: u32,
    pub result: Result<u32, i32>,
}

#[derive(Clone, Copy)]
struct Slot {
    /// Null while nothing is in flight here.
    completion: Handle,
    /// Bytes moved where librados says 0, as it does for each write.
    moved: u32,
}

pub struct Pipeline {
    context: Arc<IoContext>,
    completions: Arc<Completions>,
    slots: Box<[Slot]>,
    buffers: NonNull<u8>,
    layout: Layout,
    block_size: usize,
    in_flight: u32,
    refused: Vec<Ended>,
    taken: Vec<u32>,
}

// SAFETY: the buffers belong to this value and, while in flight, to librados; handles may move between threads.
unsafe impl Send for Pipeline {}

impl Pipeline {
    /// So many slots, each with a zeroed buffer of `block_size` bytes (0 where only removals are wanted).
    pub fn new(context: Arc<IoContext>, slots: u32, block_size: u32) -> Self {
        let block_size = block_size as usize;
        let size = (slots as usize).checked_mul(block_size).expect("the plan bounds depth and block size").max(1);
        let layout = Layout::from_size_align(size, ALIGNMENT).expect("a size that the plan bounds");
        // SAFETY: the layout's size is not zero.
        let buffers = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        Self {
            context,
            completions: Completions::new(slots),
            slots: vec![Slot { completion: null_mut(), moved: 0 }; slots as usize].into(),
            buffers,
            layout,
            block_size,
            in_flight: 0,
            refused: Vec::with_capacity(slots as usize),
            taken: Vec::with_capacity(slots as usize),
        }
    }

    /// The buffer of a slot that has nothing in flight.
    pub fn buffer(&mut self, slot: u32) -> &mut [u8] {
        assert!(self.slots[slot as usize].completion.is_null(), "slot {slot} is in flight: its buffer is librados'");
        // SAFETY: within the allocation, apart from every other slot's, and nobody else uses it while the slot is idle.
        unsafe { std::slice::from_raw_parts_mut(self.address(slot).as_ptr(), self.block_size) }
    }

    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Writes the first `length` bytes of the slot's buffer. A full pool is an error (ENOSPC, EDQUOT), not a wait.
    pub fn write(&mut self, slot: u32, name: &CStr, offset: u64, length: u32, hint: Option<WriteHint>) {
        let source = self.claimed(slot, length);
        self.mutate(slot, name, length, |functions, operation| {
            if let (Some(set_hint), Some(hint)) = (functions.rados_write_op_set_alloc_hint2, hint) {
                let flags = ALLOC_HINT_SEQUENTIAL_WRITE
                    | ALLOC_HINT_SEQUENTIAL_READ
                    | ALLOC_HINT_APPEND_ONLY
                    | ALLOC_HINT_IMMUTABLE;
                // SAFETY: a live operation.
                unsafe { set_hint(operation, hint.object_size, hint.write_size, flags) };
            }
            // SAFETY: a live operation, and so many bytes of a buffer that stays untouched until the completion is reaped.
            unsafe { (functions.rados_write_op_write)(operation, source.as_ptr().cast(), length as usize, offset) };
        });
    }

    /// Removes an object, on a full pool too.
    pub fn remove(&mut self, slot: u32, name: &CStr) {
        self.claimed(slot, 0);
        // SAFETY: a live operation.
        self.mutate(slot, name, 0, |functions, operation| unsafe { (functions.rados_write_op_remove)(operation) });
    }

    /// Reads into the slot's buffer. Past the end of an object fewer bytes are moved.
    pub fn read(&mut self, slot: u32, name: &CStr, offset: u64, length: u32) {
        let target = self.claimed(slot, length);
        let completion = self.begin(slot, 0);
        // SAFETY: live handles, a valid string, and so many bytes of a buffer that stays untouched until the completion is reaped.
        let code = unsafe {
            (self.functions().rados_aio_read)(
                self.context.raw(),
                name.as_ptr(),
                completion,
                target.as_ptr().cast(),
                length as usize,
                offset,
            )
        };
        self.submitted(slot, code);
    }

    /// Waits until something ended, at most so long, and hands over all that did. Allocates nothing.
    pub fn reap(&mut self, timeout: Duration, mut each: impl FnMut(Ended)) {
        if self.in_flight > 0 && self.refused.is_empty() {
            self.completions.wait(timeout);
        }
        for ended in self.refused.drain(..) {
            each(ended);
        }
        let Self { completions, taken, .. } = self;
        completions.take(|slot| taken.push(slot));
        // The stack gives the latest first.
        while let Some(slot) = self.taken.pop() {
            each(self.end(slot));
        }
    }

    /// Asks librados to end all that is in flight; it then ends with ECANCELED, unless it ends otherwise first.
    pub fn cancel(&mut self) {
        let Some(cancel) = self.functions().rados_aio_cancel else { return };
        for slot in &self.slots {
            if !slot.completion.is_null() {
                // SAFETY: live handles; an operation that has ended already is left as it is.
                unsafe { cancel(self.context.raw(), slot.completion) };
            }
        }
    }

    /// Waits at most so long for all that is in flight, handing it over. Whether nothing is left.
    pub fn settle(&mut self, timeout: Duration, mut each: impl FnMut(Ended)) -> bool {
        let deadline = Instant::now() + timeout;
        while self.in_flight > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            self.reap(left, &mut each);
            if left.is_zero() {
                break;
            }
        }
        self.in_flight == 0
    }

    fn functions(&self) -> &'static Functions {
        self.context.functions()
    }

    fn address(&self, slot: u32) -> NonNull<u8> {
        // SAFETY: `buffer` and `claimed` index `slots` first, so the slot is within the allocation.
        unsafe { self.buffers.add(slot as usize * self.block_size) }
    }

    /// The buffer of an idle slot, for an operation of so many bytes.
    fn claimed(&self, slot: u32, length: u32) -> NonNull<u8> {
        assert!(self.slots[slot as usize].completion.is_null(), "slot {slot} is in flight already");
        assert!(length as usize <= self.block_size, "{length} bytes don't fit the slot's {}", self.block_size);
        self.address(slot)
    }

    fn mutate(&mut self, slot: u32, name: &CStr, length: u32, fill: impl FnOnce(&Functions, Handle)) {
        let functions = self.functions();
        // SAFETY: no precondition.
        let operation = unsafe { (functions.rados_create_write_op)() };
        assert!(!operation.is_null(), "librados aborts rather than run out of memory");
        fill(functions, operation);
        let completion = self.begin(slot, length);
        // SAFETY: live handles and a valid string; librados keeps what it needs of the operation, which is then released once.
        let code = unsafe {
            let code = (functions.rados_aio_write_op_operate)(
                operation,
                self.context.raw(),
                completion,
                name.as_ptr(),
                null_mut(),
                OPERATION_FULL_TRY,
            );
            (functions.rados_release_write_op)(operation);
            code
        };
        self.submitted(slot, code);
    }

    fn begin(&mut self, slot: u32, moved: u32) -> Handle {
        let argument = self.completions.expect(slot);
        let mut completion = null_mut();
        // SAFETY: `completed` gets what `expect` gave, which lives until nothing is outstanding: `drop` sees to that.
        unsafe { (self.functions().rados_aio_create_completion2)(argument, Some(completed), &mut completion) };
        assert!(!completion.is_null(), "librados aborts rather than run out of memory");
        self.slots[slot as usize] = Slot { completion, moved };
        completion
    }

    fn submitted(&mut self, slot: u32, code: i32) {
        if code >= 0 {
            self.in_flight += 1;
            return;
        }
        self.completions.unexpect();
        self.release(slot);
        self.refused.push(Ended { slot, result: Err(code.saturating_neg()) });
    }

    fn end(&mut self, slot: u32) -> Ended {
        let Slot { completion, moved } = self.slots[slot as usize];
        // SAFETY: its callback has come, so it is complete.
        let code = unsafe { (self.functions().rados_aio_get_return_value)(completion) };
        self.release(slot);
        self.in_flight -= 1;
        let result = match code {
            ..0 => Err(code.saturating_neg()),
            0 => Ok(moved),
            bytes => Ok(bytes as u32),
        };
        Ended { slot, result }
    }

    fn release(&mut self, slot: u32) {
        let completion = std::mem::replace(&mut self.slots[slot as usize].completion, null_mut());
        // SAFETY: made by `begin`, released once; librados holds a reference of its own while its callback runs.
        unsafe { (self.functions().rados_aio_release)(completion) };
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            self.cancel();
        }
        if !self.settle(CANCELLED_WITHIN, |_| {}) {
            // librados may still write to a buffer and call back: both stay, and so does the client.
            std::mem::forget((self.context.clone(), self.completions.clone()));
            return;
        }
        // All were reaped, so their callbacks are at their last instructions.
        while self.completions.outstanding() {
            std::thread::yield_now();
        }
        // SAFETY: allocated with this layout, freed once, and nothing in flight refers to it.
        unsafe { dealloc(self.buffers.as_ptr(), self.layout) };
    }
}
