//! Bytes as they are stored in ConfigMaps: gzipped, without a time, so that the same content makes the same bytes.

use std::io::{self, Read, Write};

use flate2::{Compression, GzBuilder, read::GzDecoder};

/// More than any of ours unpacks to.
const MOST: u64 = 64 << 20;

pub(super) fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

pub(super) fn gunzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes).take(MOST).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}
