//! A ring of io_uring over one file, with the buffers it works on. Safe to use: memory in flight belongs to the ring. What to read or
//! write, and when, is the engine's.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};

use super::Way;
use super::slots::Slots;

pub struct Ring {
    ring: IoUring,
    slots: Slots,
    /// The ring is created disabled and enabled by the thread that uses it, which is then the only one that may.
    enabled: bool,
    registered_buffers: bool,
    queued: u32,
    _file: Arc<File>,
}

/// Why a ring's buffers could not be registered with the kernel. The ring works all the same.
#[derive(Debug)]
pub struct Unregistered(pub io::Error);

impl Ring {
    /// A ring of so many slots of `slot_size` bytes. Any thread may make it; the first that submits keeps it.
    pub fn new(file: Arc<File>, slots: u32, slot_size: u32) -> io::Result<(Ring, Option<Unregistered>)> {
        let ring = build(slots)?;
        let slots = Slots::new(slots as usize, slot_size as usize)?;
        ring.submitter().register_files(&[file.as_raw_fd()])?;
        let unregistered = register(&ring, &slots).err().map(Unregistered);
        let registered_buffers = unregistered.is_none();
        let ring = Ring { ring, slots, enabled: false, registered_buffers, queued: 0, _file: file };
        Ok((ring, unregistered))
    }

    /// A slot's memory, unless it is in flight.
    pub fn slot_mut(&mut self, slot: u32) -> io::Result<&mut [u8]> {
        self.slots.slot_mut(slot)
    }

    pub fn in_flight(&self) -> usize {
        self.slots.in_flight()
    }

    /// Queues an operation on the file; it starts at the next [`Ring::wait`].
    pub fn push(&mut self, way: Way, slot: u32, offset: u64, length: u32) -> io::Result<()> {
        let memory = self.slots.lend(slot, length)?;
        let entry = match (way, self.registered_buffers) {
            (Way::Read, true) => opcode::ReadFixed::new(Fixed(0), memory, length, slot as u16).offset(offset).build(),
            (Way::Read, false) => opcode::Read::new(Fixed(0), memory, length).offset(offset).build(),
            (Way::Write, true) => opcode::WriteFixed::new(Fixed(0), memory, length, slot as u16).offset(offset).build(),
            (Way::Write, false) => opcode::Write::new(Fixed(0), memory, length).offset(offset).build(),
        };
        // SAFETY: the slot is lent to the kernel until its completion, and its memory outlives the ring even if that never comes.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(u64::from(slot))) };
        if pushed.is_err() {
            self.slots.give_back(slot);
            return Err(io::Error::other("the submission queue is full"));
        }
        self.queued += 1;
        Ok(())
    }

    /// Starts what is queued and tells of each completion: its slot, and the bytes moved or a negative error number. Waits for one at
    /// most `timeout`.
    pub fn wait(&mut self, timeout: Duration, mut done: impl FnMut(u32, i32)) -> io::Result<()> {
        if !self.enabled {
            self.ring.submitter().register_enable_rings()?;
            self.enabled = true;
        }
        let waiting = self.ring.completion().len();
        if self.queued > 0 || waiting == 0 {
            self.enter(usize::from(waiting == 0), timeout)?;
        }
        for entry in self.ring.completion() {
            let slot = entry.user_data() as u32;
            if self.slots.give_back(slot) {
                done(slot, entry.result());
            }
        }
        Ok(())
    }

    fn enter(&mut self, want: usize, timeout: Duration) -> io::Result<()> {
        let time = Timespec::from(timeout);
        let args = SubmitArgs::new().timespec(&time);
        match self.ring.submitter().submit_with_args(want, &args) {
            Ok(submitted) => self.queued -= submitted as u32,
            Err(error) => match error.raw_os_error() {
                // The time is over, or a signal or a lack of memory came between: what was queued may have gone or not.
                Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => {
                    self.queued = self.ring.submission().len() as u32;
                }
                Some(_) | None => return Err(error),
            },
        }
        Ok(())
    }
}

/// Whether this process may use io_uring.
pub fn probe() -> io::Result<()> {
    build(1).map(drop)
}

/// A ring with all that this kernel knows of: one thread that submits, completions handled by it when it waits.
fn build(slots: u32) -> io::Result<IoUring> {
    let single = IoUring::builder().setup_r_disabled().setup_single_issuer().setup_defer_taskrun().build(slots);
    let ring = match single {
        Err(error) if unknown(&error) => {
            match IoUring::builder().setup_r_disabled().setup_coop_taskrun().build(slots) {
                Err(error) if unknown(&error) => IoUring::builder().setup_r_disabled().build(slots),
                other => other,
            }
        }
        other => other,
    }?;
    // Without it there is no waiting with a timeout: Linux before 5.11.
    if !ring.params().is_feature_ext_arg() {
        return Err(io::Error::from_raw_os_error(libc::ENOSYS));
    }
    Ok(ring)
}

fn unknown(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EINVAL)
}

fn register(ring: &IoUring, slots: &Slots) -> io::Result<()> {
    let buffers = slots.buffers();
    let length = buffers.slot_size();
    let vectors: Vec<libc::iovec> = (0..buffers.slots())
        .map(|slot| libc::iovec { iov_base: buffers.pointer(slot).cast(), iov_len: length })
        .collect();
    // SAFETY: the memory is mapped, and given back only after the ring is closed or never: `slots` stands behind `ring` in `Ring`.
    unsafe { ring.submitter().register_buffers(&vectors) }
}
