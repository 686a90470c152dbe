//! Histograms as they travel: HdrHistogram's V2 format, deflated, base64. Decoding trusts nothing: sizes are checked before memory is
//! taken for them. What the numbers mean is not known here.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// Significant digits: percentiles are then within 0.1 % of what was recorded.
const MAX_DIGITS: u32 = 3;
/// The longest text taken. Three digits over every latency up to hours need at most about 40 KB.
const MAX_TEXT: usize = 512 << 10;
/// The most that a text may inflate to.
const MAX_INFLATED: u64 = 2 << 20;
/// The most operations in one histogram: years of any bench. Sums of such histograms stay within 64 bits.
const MAX_COUNT: u64 = 1 << 48;
const COMPRESSED_COOKIE: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();
/// Both headers of the format: cookie and length, and then, inflated, cookie, length, offset, digits, lowest, highest, ratio.
const OUTER_HEADER: usize = 8;
const INNER_HEADER: usize = 40;

/// Why a text is not a histogram.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HistogramError {
    #[error("a histogram of {0} characters, {MAX_TEXT} are the most")]
    TooLong(usize),
    #[error("a histogram that is not base64: {0}")]
    NotBase64(String),
    #[error("a histogram that is not HdrHistogram V2 with deflate: {0}")]
    Malformed(String),
    #[error("a histogram of {0} significant digits, {MAX_DIGITS} are the most")]
    TooPrecise(u32),
    #[error("a histogram of {0} operations, {MAX_COUNT} are the most")]
    TooMany(u64),
}

/// Reads a histogram.
pub fn decode(text: &str) -> Result<Histogram<u64>, HistogramError> {
    if text.len() > MAX_TEXT {
        return Err(HistogramError::TooLong(text.len()));
    }
    let compressed = STANDARD.decode(text).map_err(|error| HistogramError::NotBase64(error.to_string()))?;
    let plain = inflate(&compressed)?;
    let histogram: Histogram<u64> = Deserializer::new()
        .deserialize(&mut plain.as_slice())
        .map_err(|error| HistogramError::Malformed(error.to_string()))?;
    if histogram.len() > MAX_COUNT {
        return Err(HistogramError::TooMany(histogram.len()));
    }
    Ok(histogram)
}

/// Writes a histogram.
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a vector takes every byte, and counts below 2^63 can be written");
    STANDARD.encode(bytes)
}

/// The V2 form inside the deflated one, its header checked: the decoder behind this one reserves what the header asks for.
fn inflate(compressed: &[u8]) -> Result<Vec<u8>, HistogramError> {
    let malformed = |cause: &str| HistogramError::Malformed(cause.to_owned());
    if compressed.len() < OUTER_HEADER || compressed[..4] != COMPRESSED_COOKIE {
        return Err(malformed("it does not begin with the format's mark"));
    }
    let mut plain = Vec::new();
    ZlibDecoder::new(&compressed[OUTER_HEADER..])
        .take(MAX_INFLATED + 1)
        .read_to_end(&mut plain)
        .map_err(|error| HistogramError::Malformed(error.to_string()))?;
    if plain.len() as u64 > MAX_INFLATED {
        return Err(malformed("it inflates to more than any histogram of three digits"));
    }
    if plain.len() < INNER_HEADER {
        return Err(malformed("it is cut inside its header"));
    }
    if word(&plain, 4) as usize != plain.len() - INNER_HEADER {
        return Err(malformed("its length is not what its header says"));
    }
    let digits = word(&plain, 12);
    if digits > MAX_DIGITS {
        return Err(HistogramError::TooPrecise(digits));
    }
    Ok(plain)
}

/// The big-endian word at `at`; the caller knows that it is there.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("sound bounds");
        for value in values {
            histogram.record(*value).expect("within bounds");
        }
        histogram
    }

    #[test]
    fn a_histogram_comes_back_as_it_went() {
        let histogram = recorded(&[21_000, 1_742_000, 94_400_000_000]);
        assert_eq!(decode(&encode(&histogram)).as_ref(), Ok(&histogram));
        let empty = recorded(&[]);
        assert_eq!(decode(&encode(&empty)).map(|histogram| histogram.len()), Ok(0));
    }

    #[test]
    fn texts_that_are_no_histogram_are_errors_that_say_so() {
        assert!(matches!(decode("!"), Err(HistogramError::NotBase64(_))));
        assert!(matches!(decode(""), Err(HistogramError::Malformed(_))));
        assert!(matches!(decode(&STANDARD.encode([0; 64])), Err(HistogramError::Malformed(_))));
        let whole = STANDARD.decode(encode(&recorded(&[5, 5_000_000]))).expect("base64 of our own");
        for length in 0..whole.len() {
            assert!(decode(&STANDARD.encode(&whole[..length])).is_err(), "cut at {length} of {}", whole.len());
        }
        assert_eq!(decode(&"A".repeat(MAX_TEXT + 4)), Err(HistogramError::TooLong(MAX_TEXT + 4)));
    }

    #[test]
    fn counts_that_no_bench_reaches_are_refused() {
        let mut histogram = recorded(&[]);
        histogram.record_n(5, u64::MAX >> 1).expect("within bounds");
        histogram.record_n(5_000_000, u64::MAX >> 1).expect("within bounds");
        assert_eq!(decode(&encode(&histogram)), Err(HistogramError::TooMany(u64::MAX - 1)));
    }

    #[test]
    fn a_header_that_asks_for_much_memory_is_refused_before_any_is_taken() {
        let precise = Histogram::<u64>::new_with_bounds(1, u64::MAX, 5).expect("sound bounds");
        assert_eq!(decode(&encode(&precise)), Err(HistogramError::TooPrecise(5)));
        let deflated = |plain: &[u8]| {
            use std::io::Write;
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(plain).expect("a vector takes every byte");
            let body = encoder.finish().expect("a vector takes every byte");
            let mut bytes = COMPRESSED_COOKIE.to_vec();
            bytes.extend((body.len() as u32).to_be_bytes());
            bytes.extend(body);
            STANDARD.encode(bytes)
        };
        assert!(matches!(decode(&deflated(&[0xff; INNER_HEADER])), Err(HistogramError::Malformed(_))));
        assert!(matches!(decode(&deflated(&vec![0; MAX_INFLATED as usize + 1])), Err(HistogramError::Malformed(_))));
    }
}
