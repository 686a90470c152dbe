//! SIGTERM and SIGINT become a request to stop.

use std::io;

use crate::bench::stop::Stop;

static STOP: Stop = Stop::of_process();

extern "C" fn handle(signal: libc::c_int) {
    STOP.ask(signal);
}

/// Catches both signals from now on.
pub fn stop_on_signals() -> io::Result<&'static Stop> {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        // SAFETY: zeroes are a valid sigaction: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handle as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: `action` is whole, and its handler only stores to an atomic, which is safe at any instant.
        let result = unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(&STOP)
}
