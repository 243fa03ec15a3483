//! Trace formats: their names, detection and readers.

use std::io::BufRead;

use crate::blktrace::{BlktraceReader, is_blktrace};
use crate::csv::{ALIBABA, CsvColumns, CsvReader, MSR, SPC, TENCENT, VSCSI};
use crate::error::{TraceError, TracePosition};
use crate::iolog::{HEADER_2, HEADER_3, IologReader};
use crate::record::TraceReader;
use crate::recording::{HEADER, RecordingReader};

units::words! {
    /// A trace format.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format {
        /// fio's I/O log, version 2 or 3.
        Iolog = "fio iolog",
        /// Binary files of blktrace.
        Blktrace = "blktrace",
        /// MSR Cambridge.
        Msr = "CSV (msr)",
        /// Alibaba's block traces.
        Alibaba = "CSV (alibaba)",
        /// Tencent's block storage.
        Tencent = "CSV (tencent)",
        /// Storage Performance Council.
        Spc = "CSV (spc)",
        /// VMware's vscsiStats, as text.
        Vscsi = "CSV (vscsi)",
        /// Our own recordings.
        Recording = "seekstone trace",
    }
}

/// A detected format with its name in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognised {
    pub format: Format,
    /// Its name, with its version.
    pub name: &'static str,
}

impl Format {
    const fn columns(self) -> Option<&'static CsvColumns> {
        match self {
            Self::Iolog | Self::Blktrace | Self::Recording => None,
            Self::Msr => Some(&MSR),
            Self::Alibaba => Some(&ALIBABA),
            Self::Tencent => Some(&TENCENT),
            Self::Spc => Some(&SPC),
            Self::Vscsi => Some(&VSCSI),
        }
    }
}

/// Detects the format of a file by its first bytes.
pub fn recognise(bytes: &[u8]) -> Option<Recognised> {
    let named = |format: Format, name| Some(Recognised { format, name });
    if is_blktrace(bytes) {
        return named(Format::Blktrace, Format::Blktrace.name());
    }
    if bytes.starts_with(HEADER.as_bytes()) {
        return named(Format::Recording, Format::Recording.name());
    }
    let end = bytes.iter().position(|&it| it == b'\n');
    let first = std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]).ok()?;
    match first.trim_end() {
        HEADER_2 => return named(Format::Iolog, "fio iolog v2"),
        HEADER_3 => return named(Format::Iolog, "fio iolog v3"),
        _ => {}
    }
    let has_columns = |it: &Format| it.columns().is_some_and(|columns| columns.fits(first));
    let format = Format::ALL.into_iter().find(has_columns)?;
    named(format, format.name())
}

/// Opens a trace of one file, or of several for blktrace, one per processor, each with its name.
///
/// # Errors
/// If there are several files of a single-file format.
// fuzzed: iolog, blktrace, trace_csv, recording
pub fn open<R: BufRead + Send + 'static>(
    format: Format,
    mut inputs: Vec<(String, R)>,
) -> Result<Box<dyn TraceReader>, TraceError> {
    if format == Format::Blktrace {
        return Ok(Box::new(BlktraceReader::new(inputs)));
    }
    let (Some((name, input)), true) = (inputs.pop(), inputs.is_empty()) else {
        let names: Vec<String> = inputs.into_iter().map(|(name, _)| name).collect();
        let text = "only blktrace has several files. Name one";
        return Err(TraceError::new(
            &names.join(", "),
            TracePosition::Whole,
            text,
        ));
    };
    Ok(match format.columns() {
        Some(columns) => Box::new(CsvReader::new(&name, input, columns)),
        None if format == Format::Recording => Box::new(RecordingReader::new(&name, input)),
        None => Box::new(IologReader::new(&name, input)),
    })
}
