//! What is written: bytes that neither compress nor repeat, so that no layer below can make them fewer. Made before the clock runs and
//! changed a little for each write.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// Compression and deduplication look at pieces of at least this size: no larger piece of two writes is equal.
const PIECE: usize = 4096;

/// Fills a buffer with random bytes, the same for the same seed.
pub fn fill(buffer: &mut [u8], seed: u64) {
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(buffer);
}

/// Content of one engine's writes.
pub struct Content {
    random: Xoshiro256PlusPlus,
}

impl Content {
    pub fn new(seed: u64) -> Content {
        Content { random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// Fills a buffer, before it is used.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        self.random.fill_bytes(buffer);
    }

    /// Makes a buffer that was filled differ from all that was written before, at little cost.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8]) {
        for piece in buffer.chunks_mut(PIECE) {
            let mark = self.random.next_u64().to_le_bytes();
            let length = piece.len().min(mark.len());
            piece[..length].copy_from_slice(&mark[..length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::Write;

    use super::*;

    /// Sixteen buffers as they are written, one after the other.
    fn written(mut change: impl FnMut(&mut [u8])) -> Vec<u8> {
        let mut buffer = vec![0; 256 * 1024];
        fill(&mut buffer, 1);
        let mut written = Vec::new();
        for _ in 0..16 {
            change(&mut buffer);
            written.extend_from_slice(&buffer);
        }
        written
    }

    #[test]
    fn content_does_not_compress_and_no_piece_comes_twice() {
        let mut content = Content::new(7);
        let written = written(|buffer| content.stamp(buffer));
        assert_eq!(written.chunks(PIECE).collect::<HashSet<_>>().len(), written.len() / PIECE);
        // Within deflate's window of 32 KiB nothing repeats.
        let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&written).expect("in memory");
        assert!(packed.finish().expect("in memory").len() >= written.len());
    }

    #[test]
    fn a_buffer_shorter_than_the_mark_is_stamped_as_far_as_it_goes() {
        let mut buffer = [0; 3];
        Content::new(1).stamp(&mut buffer);
        assert_ne!(buffer, [0; 3]);
    }

    #[test]
    fn seeds_differ() {
        let filled = |seed| {
            let mut buffer = [0; 64];
            Content::new(seed).fill(&mut buffer);
            let mut plain = [0; 64];
            fill(&mut plain, seed);
            assert_eq!(plain, buffer);
            buffer
        };
        assert_ne!(filled(1), filled(2));
    }
}
