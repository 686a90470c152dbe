//! Frames: four bytes of length, big-endian, then that many bytes of JSON. Lengths are bounded before anything is allocated.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::{Serialize, de::DeserializeOwned};

/// Largest frame between a conductor and a registered client: a round's report with its histograms is well below.
pub const MAX_FRAME: usize = 4 << 20;
/// Largest frame from somebody who has not proven to belong to the run.
pub const MAX_GREETING: usize = 4096;

#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("connection closed")]
    Closed,
    #[error("connection closed within a message")]
    Cut,
    #[error("{0}")]
    Io(#[source] io::Error),
    #[error("no answer in time")]
    Late,
    #[error("a message of {length} bytes, at most {max} are taken")]
    TooLong { length: usize, max: usize },
    #[error("a message that can't be read: {0}")]
    Content(#[source] serde_json::Error),
}

/// One write, so that a frame is one packet where it fits.
pub fn write_frame(writer: &mut impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message).map_err(FrameError::Content)?;
    let length = bytes.len() - 4;
    if length > MAX_FRAME {
        return Err(FrameError::TooLong { length, max: MAX_FRAME });
    }
    bytes[..4].copy_from_slice(&(length as u32).to_be_bytes());
    writer.write_all(&bytes).map_err(io_error)
}

pub fn read_frame<T: DeserializeOwned>(reader: &mut impl Read, max: usize) -> Result<T, FrameError> {
    let mut length = [0; 4];
    read_whole(reader, &mut length, FrameError::Closed)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > max {
        return Err(FrameError::TooLong { length, max });
    }
    let mut bytes = vec![0; length];
    read_whole(reader, &mut bytes, FrameError::Cut)?;
    serde_json::from_slice(&bytes).map_err(FrameError::Content)
}

/// As [`read_frame`], and the whole frame must be there before `deadline`, however it trickles in.
pub fn read_frame_before<T: DeserializeOwned>(
    stream: &TcpStream,
    max: usize,
    deadline: Instant,
) -> Result<T, FrameError> {
    let frame = read_frame(&mut Hurried { stream, deadline }, max);
    stream.set_read_timeout(None).map_err(FrameError::Io)?;
    frame
}

struct Hurried<'a> {
    stream: &'a TcpStream,
    deadline: Instant,
}

impl Read for Hurried<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        self.stream.read(buffer)
    }
}

fn read_whole(reader: &mut impl Read, buffer: &mut [u8], at_once: FrameError) -> Result<(), FrameError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => return Err(if filled == 0 { at_once } else { FrameError::Cut }),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(io_error(error)),
        }
    }
    Ok(())
}

fn io_error(error: io::Error) -> FrameError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => FrameError::Late,
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
            FrameError::Closed
        }
        _ => FrameError::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn frames_are_read_back_one_by_one() {
        let mut wire = Vec::new();
        write_frame(&mut wire, &"first").expect("memory");
        write_frame(&mut wire, &vec![1, 2, 3]).expect("memory");
        let mut reader = wire.as_slice();
        assert_eq!(read_frame::<String>(&mut reader, 100).expect("written"), "first");
        assert_eq!(read_frame::<Vec<u32>>(&mut reader, 100).expect("written"), [1, 2, 3]);
        assert!(matches!(read_frame::<String>(&mut reader, 100), Err(FrameError::Closed)));
    }

    #[test]
    fn what_is_cut_too_long_or_no_json_is_told_apart() {
        let mut wire = Vec::new();
        write_frame(&mut wire, &"a message").expect("memory");
        for end in 1..wire.len() {
            assert!(matches!(read_frame::<String>(&mut &wire[..end], 100), Err(FrameError::Cut)), "{end}");
        }
        assert!(matches!(read_frame::<String>(&mut wire.as_slice(), 5), Err(FrameError::TooLong { max: 5, .. })));
        let huge = [0xff, 0xff, 0xff, 0xff];
        assert!(matches!(read_frame::<String>(&mut huge.as_slice(), MAX_FRAME), Err(FrameError::TooLong { .. })));
        assert!(matches!(read_frame::<u32>(&mut wire.as_slice(), 100), Err(FrameError::Content(_))));
    }

    #[test]
    fn a_frame_that_trickles_in_is_late() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let mut sender = TcpStream::connect(listener.local_addr().expect("bound")).expect("listening");
        let (receiver, _) = listener.accept().expect("connected");
        sender.write_all(&[0, 0, 0]).expect("connected");
        let deadline = Instant::now() + Duration::from_millis(50);
        let error = read_frame_before::<String>(&receiver, 100, deadline).expect_err("never whole");
        assert!(matches!(error, FrameError::Late), "{error}");
    }
}
