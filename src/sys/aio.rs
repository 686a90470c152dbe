//! Linux's older asynchronous I/O (what libaio wraps) over one file, with the buffers it works on. Safe to use: memory in flight belongs
//! to the context. What to read or write, and when, is the engine's.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

use super::Way;
use super::slots::Slots;

/// The kernel's `struct iocb`. `key` and `rw_flags` are both 0 here, so their order, which depends on the machine, doesn't matter.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    length: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_file: u32,
}

/// The kernel's `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    iocb: u64,
    result: i64,
    result2: i64,
}

const PREAD: u16 = 0;
const PWRITE: u16 = 1;

/// A context of the kernel's, destroyed when dropped.
struct Context(libc::c_ulong);

pub struct Aio {
    slots: Slots,
    iocbs: Vec<Iocb>,
    /// Slots queued and not yet given to the kernel.
    queue: Vec<u32>,
    pointers: Vec<*mut Iocb>,
    events: Vec<Event>,
    context: Option<Context>,
    file: Arc<File>,
}

// SAFETY: the pointers are scratch space, filled and used within one call; a context may be used from any thread.
unsafe impl Send for Aio {}

impl Aio {
    /// A context of so many slots of `slot_size` bytes.
    pub fn new(file: Arc<File>, slots: u32, slot_size: u32) -> io::Result<Aio> {
        let context = Context::new(slots)?;
        let count = slots as usize;
        Ok(Aio {
            slots: Slots::new(count, slot_size as usize)?,
            iocbs: vec![Iocb::default(); count],
            queue: Vec::with_capacity(count),
            pointers: Vec::with_capacity(count),
            events: vec![Event::default(); count],
            context: Some(context),
            file,
        })
    }

    /// A slot's memory, unless it is in flight.
    pub fn slot_mut(&mut self, slot: u32) -> io::Result<&mut [u8]> {
        self.slots.slot_mut(slot)
    }

    pub fn in_flight(&self) -> usize {
        self.slots.in_flight()
    }

    /// Queues an operation on the file; it starts at the next [`Aio::wait`].
    pub fn push(&mut self, way: Way, slot: u32, offset: u64, length: u32) -> io::Result<()> {
        let memory = self.slots.lend(slot, length)?;
        self.iocbs[slot as usize] = Iocb {
            data: u64::from(slot),
            opcode: match way {
                Way::Read => PREAD,
                Way::Write => PWRITE,
            },
            file: self.file.as_raw_fd() as u32,
            buffer: memory as u64,
            length: u64::from(length),
            offset: offset as i64,
            ..Iocb::default()
        };
        self.queue.push(slot);
        Ok(())
    }

    /// Starts what is queued and tells of each completion: its slot, and the bytes moved or a negative error number. Waits for one at
    /// most `timeout`.
    pub fn wait(&mut self, timeout: Duration, mut done: impl FnMut(u32, i32)) -> io::Result<()> {
        let refused = self.start(&mut done)?;
        if self.slots.in_flight() == self.queue.len() {
            return Ok(());
        }
        let count = self.collect(if refused > 0 { Duration::ZERO } else { timeout })?;
        for event in &self.events[..count] {
            let slot = event.data as u32;
            if self.slots.give_back(slot) {
                done(slot, event.result as i32);
            }
        }
        Ok(())
    }

    /// Gives the kernel what is queued. An operation that it refuses outright is done, with its error; tells how many.
    fn start(&mut self, done: &mut impl FnMut(u32, i32)) -> io::Result<usize> {
        let (mut begun, mut refused) = (0, 0);
        while begun < self.queue.len() {
            self.pointers.clear();
            for slot in &self.queue[begun..] {
                self.pointers.push(&raw mut self.iocbs[*slot as usize]);
            }
            let context = self.context.as_ref().expect("taken only when dropped").0;
            // SAFETY: the pointers are to live control blocks, whose buffers are lent to the kernel until their completion.
            let result =
                unsafe { libc::syscall(libc::SYS_io_submit, context, self.pointers.len(), self.pointers.as_mut_ptr()) };
            if result > 0 {
                begun += result as usize;
                continue;
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EINTR) => break,
                Some(errno @ (libc::EINVAL | libc::EFAULT | libc::EBADF | libc::EOPNOTSUPP)) => {
                    let slot = self.queue[begun];
                    begun += 1;
                    refused += 1;
                    if self.slots.give_back(slot) {
                        done(slot, -errno);
                    }
                }
                Some(_) | None => return Err(error),
            }
        }
        self.queue.drain(..begun);
        Ok(refused)
    }

    fn collect(&mut self, timeout: Duration) -> io::Result<usize> {
        let mut time = libc::timespec { tv_sec: timeout.as_secs() as _, tv_nsec: timeout.subsec_nanos().into() };
        let context = self.context.as_ref().expect("taken only when dropped").0;
        // SAFETY: `events` has room for as many as are asked for, and the time outlives the call.
        let result = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                context,
                1 as libc::c_long,
                self.events.len(),
                self.events.as_mut_ptr(),
                &raw mut time,
            )
        };
        if result >= 0 {
            return Ok(result as usize);
        }
        match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::EINTR) => Ok(0),
            error => Err(error),
        }
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        // Destroying a context waits for what is in flight, for ever if that hangs: it is left to the end of the process then.
        if self.slots.in_flight() > self.queue.len()
            && let Some(context) = self.context.take()
        {
            std::mem::forget(context);
        }
    }
}

impl Context {
    fn new(slots: u32) -> io::Result<Context> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes one number through the pointer, which is live.
        let result = unsafe { libc::syscall(libc::SYS_io_setup, slots, &raw mut context) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(Context(context)) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context was made by io_setup and is destroyed once.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

/// Whether this process may use it.
pub fn probe() -> io::Result<()> {
    Context::new(1).map(drop)
}
