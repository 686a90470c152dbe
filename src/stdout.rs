//! Standard output, as the programs write results to it. Nothing else is printed from here.

use std::io::{self, ErrorKind, Write};

/// Prints a result. A reader that has seen enough, such as `head`, is no error: the verdict counts, not who read it.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
