//! The whole result of a run, as it is kept beside the object: every test with all its points, and the reports that they were digested from.
//! Packed (JSON, gzip) and cut into chunks that each fit a ConfigMap; reading back verifies a digest over all of them.

use std::io::{Read, Write};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::api::TestStatus;
use crate::contract::{Report, fit};

/// Bytes of all chunks of one run.
pub const MAX_ARTIFACT: usize = crate::plan::MOST_KEPT;
/// Bytes of one chunk. A ConfigMap holds 1 MiB; the rest is left to its metadata.
pub const MAX_CHUNK: usize = 900 << 10;
/// The most that an artifact may unpack to.
const MAX_UNPACKED: u64 = 64 << 20;
const VERSION: u32 = 1;

/// A test as it is kept.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StoredTest {
    /// With all its points: gates can be judged again on this alone.
    pub status: TestStatus,
    /// Absent where the test never ran, or where it does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Artifact {
    pub version: u32,
    pub tests: Vec<StoredTest>,
    /// What the reports lack because it did not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Artifact {
    pub fn new(tests: Vec<StoredTest>) -> Artifact {
        Artifact { version: VERSION, tests, left_out: Vec::new() }
    }
}

/// An artifact ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedArtifact {
    /// In order; together the gzipped JSON.
    pub chunks: Vec<Vec<u8>>,
    /// sha256 over all chunks, in hexadecimal.
    pub digest: String,
}

/// Why an artifact can't be stored or read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ArtifactError {
    #[error("the figures alone take {size} bytes packed, {limit} are the most")]
    TooLarge { size: usize, limit: usize },
    #[error("the artifact's sha256 is {found}, not {wanted}: a part is missing or altered")]
    Digest { found: String, wanted: String },
    #[error("the artifact can't be unpacked: {0}")]
    Unpack(String),
    #[error("the artifact has version {0}, not {VERSION}")]
    Version(u32),
}

type Step = fn(&mut Report);

/// What is left out, one step after the other, until the rest fits. The figures themselves always stay.
const STEPS: [(Step, &str); 4] = [
    (fit::thin_series, "series have at most 60 samples"),
    (drop_series, "series are left out"),
    (fit::coarsen_histograms, "histograms have two digits"),
    (drop_histograms, "histograms are left out"),
];

/// Packs an artifact into at most `limit` bytes, [`MAX_ARTIFACT`] for a whole run.
pub fn pack(artifact: &Artifact, limit: usize) -> Result<PackedArtifact, ArtifactError> {
    let mut packed = gzip(artifact);
    let mut smaller = artifact.clone();
    for (step, says) in STEPS {
        if packed.len() <= limit {
            return Ok(chunks(&packed));
        }
        smaller.tests.iter_mut().filter_map(|test| test.report.as_mut()).for_each(step);
        smaller.left_out.push(says.to_owned());
        packed = gzip(&smaller);
    }
    if packed.len() > limit {
        smaller.tests.iter_mut().for_each(|test| test.report = None);
        smaller.left_out = vec!["reports are left out: only the figures are kept".to_owned()];
        packed = gzip(&smaller);
    }
    if packed.len() > limit {
        return Err(ArtifactError::TooLarge { size: packed.len(), limit });
    }
    Ok(chunks(&packed))
}

fn drop_series(report: &mut Report) {
    for round in report.points.iter_mut().flat_map(|point| &mut point.rounds) {
        round.series.clear();
    }
}

fn drop_histograms(report: &mut Report) {
    for round in report.points.iter_mut().flat_map(|point| &mut point.rounds) {
        for direction in [&mut round.read, &mut round.write].into_iter().flatten() {
            direction.histogram = None;
        }
    }
}

/// No time stands in the header: the same artifact packs to the same bytes.
fn gzip(artifact: &Artifact) -> Vec<u8> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    serde_json::to_writer(&mut encoder, artifact).expect("an artifact has text keys and finite numbers");
    encoder.flush().and_then(|()| encoder.finish()).expect("a vector takes every byte")
}

fn chunks(packed: &[u8]) -> PackedArtifact {
    PackedArtifact { chunks: packed.chunks(MAX_CHUNK).map(<[u8]>::to_vec).collect(), digest: digest(packed) }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads chunks back, in order, if they are what was packed.
pub fn unpack<C: AsRef<[u8]>>(chunks: &[C], wanted: &str) -> Result<Artifact, ArtifactError> {
    let packed: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.as_ref().iter().copied()).collect();
    let found = digest(&packed);
    if found != wanted {
        return Err(ArtifactError::Digest { found, wanted: wanted.to_owned() });
    }
    let unpack = |error: String| ArtifactError::Unpack(error);
    let mut json = Vec::new();
    GzDecoder::new(packed.as_slice())
        .take(MAX_UNPACKED + 1)
        .read_to_end(&mut json)
        .map_err(|error| unpack(error.to_string()))?;
    if json.len() as u64 > MAX_UNPACKED {
        return Err(unpack(format!("it holds more than {MAX_UNPACKED} bytes")));
    }
    let version: Version = serde_json::from_slice(&json).map_err(|error| unpack(error.to_string()))?;
    if version.version != VERSION {
        return Err(ArtifactError::Version(version.version));
    }
    serde_json::from_slice(&json).map_err(|error| unpack(error.to_string()))
}

/// Read first: another version may have other fields.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Op;
    use crate::contract::{Point, RoundReport};
    use crate::results::digest;
    use crate::results::fixtures::{direction, point, report_of, steady_round, test_of};

    /// A test of so many points, each of some seconds whose operations differ, so that they do not pack to nothing.
    fn stored(points: usize, seconds: u64) -> StoredTest {
        let swept: Vec<Point> =
            (1..=points as u32).map(|depth| Point { queue_depth: depth, ..point(Op::Write, seconds) }).collect();
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % 50
        };
        let mut rounds = |point: &Point| {
            let per_second: Vec<u64> = (0..seconds).map(|_| 20 + random()).collect();
            let ops: u64 = per_second.iter().sum();
            let latencies: Vec<u64> = (0..ops).map(|_| 100_000 + random() * random() * 313).collect();
            let round = RoundReport { write: Some(direction(&latencies)), ..steady_round(&per_second) };
            (point.clone(), vec![round])
        };
        let report = report_of(1, swept.iter().map(&mut rounds).collect());
        StoredTest { status: digest(&report, &test_of(&swept)), report: Some(report) }
    }

    #[test]
    fn what_was_packed_is_read_back_whole() {
        let artifact = Artifact::new(vec![stored(3, 20), StoredTest { report: None, ..stored(1, 10) }]);
        let packed = pack(&artifact, MAX_ARTIFACT).expect("fits");
        assert_eq!(packed.chunks.len(), 1);
        assert_eq!(unpack(&packed.chunks, &packed.digest), Ok(artifact.clone()));
        assert_eq!(pack(&artifact, MAX_ARTIFACT), Ok(packed), "the same artifact packs to the same bytes");
    }

    #[test]
    fn chunks_that_were_altered_lost_or_swapped_are_refused() {
        let packed = pack(&Artifact::new(vec![stored(3, 20)]), MAX_ARTIFACT).expect("fits");
        let whole = &packed.chunks[0];
        let (a, b) = whole.split_at(whole.len() / 2);
        assert!(unpack(&[a, b], &packed.digest).is_ok());
        assert!(matches!(unpack(&[b, a], &packed.digest), Err(ArtifactError::Digest { .. })));
        assert!(matches!(unpack(&[a], &packed.digest), Err(ArtifactError::Digest { .. })));
        let mut altered = whole.clone();
        altered[20] ^= 1;
        assert!(matches!(unpack(&[altered], &packed.digest), Err(ArtifactError::Digest { .. })));
        let newer = gzip(&Artifact { version: 2, ..Artifact::new(Vec::new()) });
        assert_eq!(unpack(&[&newer], &super::digest(&newer)), Err(ArtifactError::Version(2)));
    }

    #[test]
    fn what_does_not_fit_is_left_out_step_by_step_and_named() {
        let artifact = Artifact::new(vec![stored(40, 100)]);
        let whole = gzip(&artifact).len();
        let mut left_out = Vec::new();
        for limit in (1_000..whole).step_by(whole / 20).rev() {
            match pack(&artifact, limit) {
                Ok(packed) => {
                    let size: usize = packed.chunks.iter().map(Vec::len).sum();
                    assert!(size <= limit, "{size} of {limit}");
                    let read = unpack(&packed.chunks, &packed.digest).expect("reads back");
                    assert_eq!(read.tests[0].status, artifact.tests[0].status, "the figures stay");
                    left_out.push(read.left_out.len());
                }
                Err(error) => {
                    assert!(matches!(error, ArtifactError::TooLarge { limit: told, .. } if told == limit), "{error}");
                }
            }
        }
        for steps in 1..=4 {
            assert!(left_out.contains(&steps), "{left_out:?}");
        }
    }

    #[test]
    fn a_large_artifact_takes_several_config_maps() {
        let bytes: Vec<u8> = (0..MAX_CHUNK + 5).map(|index| index as u8).collect();
        let packed = chunks(&bytes);
        assert_eq!(packed.chunks.iter().map(Vec::len).collect::<Vec<_>>(), [MAX_CHUNK, 5]);
        assert_eq!(packed.digest, super::digest(&bytes));
    }
}
