//! What is written: bytes that neither compress nor repeat, made before the clock runs and changed a little for each write.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// Compression and deduplication look at pieces of at least this size.
const PIECE: usize = 4096;

/// Fills a buffer with random bytes, the same for the same seed.
pub fn fill(buffer: &mut [u8], seed: u64) {
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(buffer);
}

/// Makes each 4 KiB piece of a filled buffer unlike any piece that carries another tag.
#[inline]
pub fn stamp(buffer: &mut [u8], tag: u64) {
    for (index, piece) in buffer.chunks_mut(PIECE).enumerate() {
        let mark = tag.wrapping_add(index as u64).to_le_bytes();
        let length = piece.len().min(mark.len());
        piece[..length].copy_from_slice(&mark[..length]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::Write;

    use super::*;

    #[test]
    fn content_does_not_compress_and_no_piece_comes_twice() {
        let mut buffer = vec![0; 256 * 1024];
        fill(&mut buffer, 1);
        let mut written = Vec::new();
        for block in 0..16_u64 {
            stamp(&mut buffer, block << 32);
            written.extend_from_slice(&buffer);
        }
        assert_eq!(written.chunks(PIECE).collect::<HashSet<_>>().len(), written.len() / PIECE);
        // Within deflate's window of 32 KiB nothing repeats.
        let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&written).expect("in memory");
        assert!(packed.finish().expect("in memory").len() >= written.len());
    }

    #[test]
    fn a_buffer_shorter_than_the_mark_is_stamped_as_far_as_it_goes() {
        let mut buffer = [0; 3];
        stamp(&mut buffer, 0x0403_0201);
        assert_eq!(buffer, [1, 2, 3]);
    }
}
