//! What is written: bytes that neither compress nor repeat, so that no layer below can make them fewer.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// Distance of the stamps: no larger piece of two writes is equal.
const STAMP_EVERY: usize = 4096;

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
        for piece in buffer.chunks_mut(STAMP_EVERY) {
            let stamp = self.random.next_u64().to_ne_bytes();
            let length = piece.len().min(stamp.len());
            piece[..length].copy_from_slice(&stamp[..length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::Write;

    use super::*;

    #[test]
    fn no_piece_is_written_twice() {
        let mut content = Content::new(7);
        let mut buffer = vec![0; 64 * 1024];
        content.fill(&mut buffer);
        let mut pieces = HashSet::new();
        for _ in 0..100 {
            content.stamp(&mut buffer);
            for piece in buffer.chunks(STAMP_EVERY) {
                assert!(pieces.insert(piece.to_vec()), "a piece that was there before");
            }
        }
    }

    #[test]
    fn content_does_not_compress() {
        let mut buffer = vec![0; 1 << 20];
        let mut content = Content::new(1);
        content.fill(&mut buffer);
        content.stamp(&mut buffer);
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&buffer).expect("memory");
        let compressed = encoder.finish().expect("memory").len();
        assert!(compressed >= buffer.len() * 99 / 100, "{compressed} of {}", buffer.len());
    }

    #[test]
    fn seeds_differ() {
        let fill = |seed| {
            let mut buffer = [0; 64];
            Content::new(seed).fill(&mut buffer);
            buffer
        };
        assert_eq!(fill(1), fill(1));
        assert_ne!(fill(1), fill(2));
    }
}
