//! Linux error numbers as people read them: `No space left on device (ENOSPC)`. Names only; what an error means for a round is the
//! runner's to say.

/// The kernel's text and its name for an error number (positive).
pub fn text(errno: i32) -> String {
    let full = std::io::Error::from_raw_os_error(errno).to_string();
    let text = full.strip_suffix(&format!(" (os error {errno})")).unwrap_or(&full);
    match name(errno) {
        Some(name) => format!("{text} ({name})"),
        None => format!("{text} (errno {errno})"),
    }
}

/// An I/O error as people read it; one that carries no error number keeps its own text.
pub fn io_text(error: &std::io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), text)
}

fn name(errno: i32) -> Option<&'static str> {
    NAMES.iter().find(|(number, _)| *number == errno).map(|(_, name)| *name)
}

macro_rules! names {
    ($($name:ident),* $(,)?) => { &[$((libc::$name, stringify!($name))),*] };
}

const NAMES: &[(i32, &str)] = names![
    EPERM,
    ENOENT,
    EINTR,
    EIO,
    ENXIO,
    E2BIG,
    EBADF,
    EAGAIN,
    ENOMEM,
    EACCES,
    EFAULT,
    ENOTBLK,
    EBUSY,
    EEXIST,
    EXDEV,
    ENODEV,
    ENOTDIR,
    EISDIR,
    EINVAL,
    ENFILE,
    EMFILE,
    ENOTTY,
    ETXTBSY,
    EFBIG,
    ENOSPC,
    ESPIPE,
    EROFS,
    EMLINK,
    EPIPE,
    EDOM,
    ERANGE,
    EDEADLK,
    ENAMETOOLONG,
    ENOSYS,
    ENOTEMPTY,
    ELOOP,
    ENODATA,
    ETIME,
    EREMOTEIO,
    EOVERFLOW,
    EOPNOTSUPP,
    EADDRINUSE,
    EADDRNOTAVAIL,
    ENETDOWN,
    ENETUNREACH,
    ECONNABORTED,
    ECONNRESET,
    ENOBUFS,
    EISCONN,
    ENOTCONN,
    ESHUTDOWN,
    ETIMEDOUT,
    ECONNREFUSED,
    EHOSTDOWN,
    EHOSTUNREACH,
    EALREADY,
    EINPROGRESS,
    ESTALE,
    EUCLEAN,
    EDQUOT,
    ENOMEDIUM,
    ECANCELED,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown_numbers() {
        assert_eq!(text(libc::ENOSPC), "No space left on device (ENOSPC)");
        assert_eq!(text(libc::EPERM), "Operation not permitted (EPERM)");
        assert!(text(4095).ends_with("(errno 4095)"), "{}", text(4095));
    }

    #[test]
    fn an_error_without_a_number_keeps_its_text() {
        assert_eq!(io_text(&std::io::Error::other("disk on fire")), "disk on fire");
        assert_eq!(io_text(&std::io::Error::from_raw_os_error(libc::EIO)), "Input/output error (EIO)");
    }
}
