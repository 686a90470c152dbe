//! What the kernel knows of a TCP connection.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// Segments that were sent again since the connection began.
pub fn retransmitted_segments(stream: &TcpStream) -> io::Result<u64> {
    // SAFETY: `tcp_info` is plain integers; zeroes are valid, and older kernels leave the rest of it as it is.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `info`, which has that many; the descriptor is open while `stream` lives.
    let result = unsafe {
        libc::getsockopt(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, (&raw mut info).cast(), &raw mut length)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(info.tcpi_total_retrans.into())
}
