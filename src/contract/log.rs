//! The report as lines of a container's log: packed (JSON, gzip), base64, in numbered, checksummed lines between a header and an end mark.
//! Reading verifies all of it. A log that was cut, rotated or altered is an error that says where, never a smaller report. Pure.

use std::io::{Read, Write};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, Crc, GzBuilder, read::GzDecoder};
use sha2::{Digest, Sha256};

use super::{Report, VERSION, fit};

/// Version of the lines, apart from that of the report in them.
pub const LOG_VERSION: u32 = 1;
/// Largest packed report.
pub const MAX_COMPRESSED: usize = 4 << 20;
/// Largest report before packing: what a reader is willing to hold.
const MAX_UNPACKED: u64 = 64 << 20;
/// Bytes in a line, newline included: container runtimes split longer ones.
pub const MAX_LINE: usize = 16 * 1024;

/// Starts every line that belongs to the report. Other lines in the log are somebody else's and don't matter.
const MARK: &str = "cephbench-report";
/// Packed bytes in a line: 15,000 characters of base64.
const CHUNK: usize = 11_250;

/// Why a log holds no whole report, or a report can't be packed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LogError {
    #[error("the log holds no report")]
    NoReport,
    #[error("the report's header is missing: the log was cut or rotated")]
    NoHeader,
    #[error("line {line} of {total} missing: the log was cut or rotated")]
    Missing { line: usize, total: usize },
    #[error("the end mark after line {total} is missing: the log was cut")]
    NoEnd { total: usize },
    #[error("line {line} of {total} stands after a later one")]
    OutOfOrder { line: usize, total: usize },
    #[error("{what} stands twice with different contents")]
    Conflict { what: String },
    #[error("the report's line after {after} is altered or cut: its checksum does not fit")]
    Altered { after: String },
    #[error("the report's line after {after} makes no sense: {text:?}")]
    Unknown { after: String, text: String },
    #[error("the lines hold {found} bytes where the header tells {told}")]
    Length { found: usize, told: usize },
    #[error("the lines hold a report with sha256 {found} where the header tells {told}")]
    Digest { found: String, told: String },
    #[error("the log is written in version {0}, this program reads version {LOG_VERSION}")]
    LogVersion(String),
    #[error("the report has version {0}, this program reads version {VERSION}")]
    ReportVersion(u32),
    #[error("the report can't be unpacked: {0}")]
    Unpack(String),
    #[error("the packed report has {0} bytes, more than {MAX_COMPRESSED}: measure fewer points or rounds in one test")]
    TooLarge(usize),
}

/// A report as it is stored and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// JSON, gzipped.
    pub gzip: Vec<u8>,
    /// sha256 of `gzip`, in hexadecimal.
    pub digest: String,
}

impl Packed {
    pub fn from_gzip(gzip: Vec<u8>) -> Self {
        let digest = hex(&Sha256::digest(&gzip));
        Packed { gzip, digest }
    }
}

/// Packs a report. One that is too large first loses histogram digits, then samples of its series, and says so in its notes.
pub fn pack(report: &Report) -> Result<Packed, LogError> {
    pack_within(report, MAX_COMPRESSED)
}

fn pack_within(report: &Report, limit: usize) -> Result<Packed, LogError> {
    let first = gzip(report);
    if first.len() <= limit {
        return Ok(Packed::from_gzip(first));
    }
    let mut smaller = report.clone();
    let mut last = first.len();
    for step in [fit::coarsen_histograms, fit::thin_series, fit::thin_series_more] {
        step(&mut smaller);
        let packed = gzip(&smaller);
        last = packed.len();
        if last <= limit {
            return Ok(Packed::from_gzip(packed));
        }
    }
    Err(LogError::TooLarge(last))
}

fn gzip(report: &Report) -> Vec<u8> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::new(6));
    serde_json::to_writer(&mut encoder, report).expect("a report has no maps with other keys than strings");
    encoder.flush().and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

/// Unpacks what [`pack`] made.
pub fn unpack(gzip: &[u8]) -> Result<Report, LogError> {
    let mut json = Vec::new();
    let read = GzDecoder::new(gzip).take(MAX_UNPACKED + 1).read_to_end(&mut json);
    read.map_err(|error| LogError::Unpack(error.to_string()))?;
    if json.len() as u64 > MAX_UNPACKED {
        return Err(LogError::Unpack(format!("it grows beyond {MAX_UNPACKED} bytes")));
    }
    #[derive(serde::Deserialize)]
    struct Versioned {
        version: u32,
    }
    let Versioned { version } = serde_json::from_slice(&json).map_err(|error| LogError::Unpack(error.to_string()))?;
    if version != VERSION {
        return Err(LogError::ReportVersion(version));
    }
    serde_json::from_slice(&json).map_err(|error| LogError::Unpack(error.to_string()))
}

/// The lines of a packed report, without newlines.
pub fn report_lines(packed: &Packed) -> impl Iterator<Item = String> {
    let total = packed.gzip.len().div_ceil(CHUNK);
    let header =
        format!("header version={LOG_VERSION} lines={total} bytes={} sha256={}", packed.gzip.len(), packed.digest);
    let body = packed
        .gzip
        .chunks(CHUNK)
        .enumerate()
        .map(move |(index, chunk)| format!("line {}/{total} {}", index + 1, STANDARD.encode(chunk)));
    let end = format!("end lines={total}");
    std::iter::once(header).chain(body).chain(std::iter::once(end)).map(|text| sealed(&text))
}

fn sealed(text: &str) -> String {
    let line = format!("{MARK} {text}");
    let crc = crc(&line);
    format!("{line} crc={crc:08x}")
}

fn crc(text: &str) -> u32 {
    let mut crc = Crc::new();
    crc.update(text.as_bytes());
    crc.sum()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A report read out of a log, verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    pub report: Report,
    pub packed: Packed,
}

/// Reads the report out of a log. Repeated lines are fine when they are the same.
pub fn decode_log(log: &[u8]) -> Result<Decoded, LogError> {
    let mut reader = Reader::default();
    for line in log.split(|byte| *byte == b'\n') {
        if line.starts_with(MARK.as_bytes()) {
            reader.take(line)?;
        }
    }
    let (header, gzip) = reader.finish()?;
    if gzip.len() != header.bytes {
        return Err(LogError::Length { found: gzip.len(), told: header.bytes });
    }
    let packed = Packed::from_gzip(gzip);
    if packed.digest != header.sha256 {
        return Err(LogError::Digest { found: packed.digest, told: header.sha256 });
    }
    let report = unpack(&packed.gzip)?;
    Ok(Decoded { report, packed })
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    total: usize,
    bytes: usize,
    sha256: String,
}

/// What was seen of the report's lines so far.
#[derive(Default)]
struct Reader<'a> {
    header: Option<Header>,
    /// By number, from 1.
    lines: Vec<Option<&'a str>>,
    highest: usize,
    out_of_order: Option<usize>,
    ended: bool,
    seen_any: bool,
}

impl<'a> Reader<'a> {
    fn take(&mut self, line: &'a [u8]) -> Result<(), LogError> {
        let altered = || LogError::Altered { after: self.position() };
        let line = str::from_utf8(line).map_err(|_| altered())?;
        let (checked, told) = line.rsplit_once(" crc=").ok_or_else(altered)?;
        if told != format!("{:08x}", crc(checked)) {
            return Err(altered());
        }
        self.seen_any = true;
        let unknown = || LogError::Unknown { after: self.position(), text: checked.chars().take(80).collect() };
        let text = checked.strip_prefix(MARK).and_then(|text| text.strip_prefix(' ')).ok_or_else(unknown)?;
        let (kind, rest) = text.split_once(' ').ok_or_else(unknown)?;
        match kind {
            "header" => {
                let header = parse_header(rest)?.ok_or_else(unknown)?;
                self.take_header(header)
            }
            "line" => {
                let (number, payload) = rest.split_once(' ').ok_or_else(unknown)?;
                let (number, total) = number.split_once('/').ok_or_else(unknown)?;
                let number: usize = number.parse().map_err(|_| unknown())?;
                let total: usize = total.parse().map_err(|_| unknown())?;
                self.take_line(number, total, payload)
            }
            "end" => {
                let total: usize = rest.strip_prefix("lines=").and_then(|n| n.parse().ok()).ok_or_else(unknown)?;
                if self.header()?.total != total {
                    return Err(LogError::Conflict { what: "the number of lines".into() });
                }
                self.ended = true;
                Ok(())
            }
            _ => Err(unknown()),
        }
    }

    /// The last line that was read, for messages.
    fn position(&self) -> String {
        match (&self.header, self.highest) {
            (None, _) => "the log's start".into(),
            (Some(_), 0) => "the header".into(),
            (Some(header), line) => format!("line {line} of {}", header.total),
        }
    }

    fn header(&self) -> Result<&Header, LogError> {
        self.header.as_ref().ok_or(LogError::NoHeader)
    }

    fn take_header(&mut self, header: Header) -> Result<(), LogError> {
        match &self.header {
            Some(earlier) if *earlier != header => Err(LogError::Conflict { what: "the header".into() }),
            Some(_) => Ok(()),
            None => {
                self.lines = vec![None; header.total];
                self.header = Some(header);
                Ok(())
            }
        }
    }

    fn take_line(&mut self, number: usize, told: usize, payload: &'a str) -> Result<(), LogError> {
        let total = self.header()?.total;
        if told != total || number == 0 || number > total {
            return Err(LogError::Conflict { what: format!("line {number} of {told}") });
        }
        let slot = &mut self.lines[number - 1];
        match slot {
            Some(earlier) if *earlier != payload => {
                return Err(LogError::Conflict { what: format!("line {number} of {total}") });
            }
            Some(_) => {}
            None => {
                *slot = Some(payload);
                if number < self.highest {
                    self.out_of_order.get_or_insert(number);
                }
                self.highest = self.highest.max(number);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(Header, Vec<u8>), LogError> {
        let Some(header) = self.header else {
            return Err(if self.seen_any { LogError::NoHeader } else { LogError::NoReport });
        };
        let total = header.total;
        let mut gzip = Vec::with_capacity(header.bytes.min(MAX_COMPRESSED));
        for (index, line) in self.lines.iter().enumerate() {
            let payload = line.ok_or(LogError::Missing { line: index + 1, total })?;
            STANDARD
                .decode_vec(payload, &mut gzip)
                .map_err(|_| LogError::Altered { after: format!("line {index} of {total}") })?;
        }
        if let Some(line) = self.out_of_order {
            return Err(LogError::OutOfOrder { line, total });
        }
        if !self.ended {
            return Err(LogError::NoEnd { total });
        }
        Ok((header, gzip))
    }
}

/// `None` when it makes no sense.
fn parse_header(text: &str) -> Result<Option<Header>, LogError> {
    let mut fields = text.split(' ');
    let mut field = |name: &str| fields.next()?.strip_prefix(name)?.strip_prefix('=');
    let Some(version) = field("version") else { return Ok(None) };
    if version != LOG_VERSION.to_string() {
        return Err(LogError::LogVersion(version.into()));
    }
    let (Some(total), Some(bytes), Some(sha256)) = (field("lines"), field("bytes"), field("sha256")) else {
        return Ok(None);
    };
    let (Ok(total), Ok(bytes)) = (total.parse::<usize>(), bytes.parse::<usize>()) else { return Ok(None) };
    // A header is believed before its lines are there: it must not make the reader hold more than a report may have.
    let plausible = bytes > 0 && bytes <= MAX_COMPRESSED && total == bytes.div_ceil(CHUNK);
    Ok(plausible.then(|| Header { total, bytes, sha256: sha256.into() }))
}

#[cfg(test)]
mod tests;
