//! SIGTERM, SIGINT and SIGHUP (a terminal that is gone) become a request to stop. Who interrupts a second time does not want to wait for it: SIGINT then does what it
//! does by default. SIGTERM may be sent again by whoever runs the process without meaning more, so it stays a request.

use std::io;

use crate::bench::stop::Stop;

static STOP: Stop = Stop::of_process();

extern "C" fn handle(signal: libc::c_int) {
    STOP.ask(signal);
}

/// Catches these signals from now on.
pub fn stop_on_signals() -> io::Result<&'static Stop> {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: zeroes are a valid sigaction: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handle as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        if signal == libc::SIGINT {
            action.sa_flags |= libc::SA_RESETHAND;
        }
        // SAFETY: `action` is whole, and its handler only stores to an atomic, which is safe at any instant.
        let result = unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(&STOP)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    fn raise(signal: libc::c_int) {
        // SAFETY: the signal goes to this thread, which has no locks to leave behind.
        assert_eq!(unsafe { libc::raise(signal) }, 0);
    }

    #[test]
    fn the_second_interrupt_ends_the_process() {
        const CHILD: &str = "CEPHBENCH_TEST_CHILD";
        const NAME: &str = "sys::signals::tests::the_second_interrupt_ends_the_process";
        if std::env::var_os(CHILD).is_some() {
            let stop = stop_on_signals().expect("both can be caught");
            for signal in [libc::SIGTERM, libc::SIGTERM, libc::SIGINT] {
                raise(signal);
            }
            assert_eq!(stop.asked(), Some("SIGINT"));
            eprintln!("asked");
            raise(libc::SIGINT);
            panic!("it goes on");
        }
        let mut again = Command::new(std::env::current_exe().expect("this binary"));
        let output = again.args([NAME, "--exact", "--nocapture"]).env(CHILD, "1").output().expect("this binary again");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(libc::SIGINT), "{text}");
        assert!(text.contains("asked"), "{text}");
    }
}
