//! Memory for direct I/O: slots of one size, each on a page of its own. Who may touch a slot, and when, is the owner's to know.

use std::io;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

const PAGE: usize = 4096;

/// Slots of page-aligned memory, zeroed and touched, so that no page fault is timed.
pub struct Buffers {
    base: NonNull<u8>,
    length: usize,
    stride: usize,
    slot_size: usize,
    slots: usize,
}

// SAFETY: the memory is owned by this value alone and reached only through it.
unsafe impl Send for Buffers {}

impl Buffers {
    pub fn new(slots: usize, slot_size: usize) -> io::Result<Buffers> {
        let too_large = || io::Error::from_raw_os_error(libc::ENOMEM);
        let stride = slot_size.max(1).checked_next_multiple_of(PAGE).ok_or_else(too_large)?;
        let length = stride.checked_mul(slots.max(1)).ok_or_else(too_large)?;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice; nothing else is touched.
        let base = unsafe {
            mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(too_large)?;
        let mut buffers = Buffers { base, length, stride, slot_size, slots };
        // Large pages make fewer segments of one operation. Where there are none, small ones serve.
        // SAFETY: the range is the mapping made above; the advice changes no content.
        let _ = unsafe { madvise(base.as_ptr().cast(), length, Advice::LinuxHugepage) };
        for slot in 0..slots {
            buffers.slot_mut(slot).fill(0);
        }
        Ok(buffers)
    }

    pub fn slots(&self) -> usize {
        self.slots
    }

    pub fn slot_size(&self) -> usize {
        self.slot_size
    }

    pub fn slot_mut(&mut self, slot: usize) -> &mut [u8] {
        let start = self.pointer(slot);
        // SAFETY: `pointer` keeps within the mapping, slots don't overlap, and `self` is borrowed for as long as the slice lives.
        unsafe { std::slice::from_raw_parts_mut(start, self.slot_size) }
    }

    /// Where a slot begins.
    pub(super) fn pointer(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: slot × stride is below the mapping's length.
        unsafe { self.base.as_ptr().add(slot * self.stride) }
    }

    /// Never gives the memory back: the kernel may still be working on it.
    pub(super) fn abandon(self) {
        std::mem::forget(self);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` and is not used after this.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_aligned_and_apart() {
        let mut buffers = Buffers::new(3, 5000).expect("memory");
        for slot in 0..3 {
            assert_eq!(buffers.pointer(slot) as usize % PAGE, 0);
            let bytes = buffers.slot_mut(slot);
            assert_eq!(bytes.len(), 5000);
            bytes.fill(slot as u8 + 1);
        }
        for slot in 0..3 {
            assert!(buffers.slot_mut(slot).iter().all(|byte| *byte == slot as u8 + 1));
        }
    }

    #[test]
    #[should_panic(expected = "slot 2 of 2")]
    fn there_is_no_slot_behind_the_last() {
        Buffers::new(2, 512).expect("memory").slot_mut(2);
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(Buffers::new(usize::MAX, 4096).is_err());
        assert!(Buffers::new(1, usize::MAX).is_err());
    }
}
