//! The files of a trace: found, recognised, and read from their beginning as often as needed.

use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::session::Result;
use drivers::{ReadFileError, open_regular_file};
use lab::bench::BenchError;
use trace::{
    Chosen, Format, Recognised, RecordingReader, TraceError, TraceReader, open, recognise,
};

/// Bytes by which a format is recognised.
const HEAD_BYTES: u64 = 4096;
/// Bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 20;
/// Ends the name of a file of blktrace, before the number of the processor.
const BLKTRACE_END: &str = ".blktrace.";

/// A trace on disk.
#[derive(Clone, Debug)]
pub struct TraceFile {
    /// Its files, of which only blktrace has several.
    pub paths: Vec<PathBuf>,
    /// Its format.
    pub recognised: Recognised,
    /// The devices that are read; all where none is named.
    pub devices: Vec<String>,
}

impl TraceFile {
    /// Look at a file and, of blktrace, at those of the other processors beside it.
    ///
    /// # Errors
    /// When it cannot be read, or is of no format that is known.
    pub fn find(path: &Path, format: Option<Format>, devices: Vec<String>) -> Result<Self> {
        let head = head(path)?;
        if head.is_empty() {
            let text = format!("{} is empty: it holds no trace", path.display());
            return Err(BenchError::Usage(text));
        }
        let seen = recognise(&head);
        let recognised = match (format, seen) {
            (Some(format), Some(seen)) if seen.format == format => seen,
            (Some(format), _) => Recognised {
                format,
                name: format.name(),
            },
            (None, Some(seen)) => seen,
            (None, None) => {
                return Err(BenchError::Usage(format!(
                    "{}: the beginning is that of no trace that is known. Name its format with \
                     --format (docs/replay.md lists them)",
                    path.display()
                )));
            }
        };
        let paths = match recognised.format {
            Format::Blktrace => of_all_processors(path)?,
            _ => vec![path.to_owned()],
        };
        Ok(Self {
            paths,
            recognised,
            devices,
        })
    }

    /// Read it from its beginning.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn read(&self) -> Result<Box<dyn TraceReader>> {
        let inputs = self.paths.iter().map(|path| {
            let file = open_regular_file(path).map_err(|error| unreadable(path, &error))?;
            let input = BufReader::with_capacity(BUFFER_BYTES, file);
            Ok((path.display().to_string(), input))
        });
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let reader = open(self.recognised.format, inputs).map_err(|error| mistake(&error))?;
        Ok(match self.devices.is_empty() {
            true => reader,
            false => Box::new(Chosen::new(reader, self.devices.clone())),
        })
    }

    /// Names of the processes of a recording, by their numbers; empty ones where it has none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn process_names(&self) -> Result<Vec<String>> {
        let (Format::Recording, Some(path)) = (self.recognised.format, self.paths.first()) else {
            return Ok(Vec::new());
        };
        let file = open_regular_file(path).map_err(|error| unreadable(path, &error))?;
        let input = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut reader = RecordingReader::new(&path.display().to_string(), input);
        while reader.next_io().map_err(|error| mistake(&error))?.is_some() {}
        Ok(reader.processes().to_vec())
    }

    /// What it is called.
    pub fn name(&self) -> String {
        let first = self.paths.first().map(|it| it.display().to_string());
        first.unwrap_or_default()
    }
}

/// A mistake in a trace is one of whoever made it.
pub(super) fn mistake(error: &TraceError) -> BenchError {
    BenchError::Usage(error.to_string())
}

fn unreadable(path: &Path, error: &dyn std::error::Error) -> BenchError {
    BenchError::Usage(format!("cannot read {}: {error}", path.display()))
}

/// The beginning of a file.
fn head(path: &Path) -> Result<Vec<u8>> {
    let read = || -> Result<Vec<u8>, ReadFileError> {
        let mut head = Vec::new();
        open_regular_file(path)?
            .take(HEAD_BYTES)
            .read_to_end(&mut head)?;
        Ok(head)
    };
    read().map_err(|error| match error {
        ReadFileError::NotRegular => BenchError::Usage(format!(
            "cannot read {}. A trace is read more than once, so a pipe, a terminal or a device \
             cannot be one. Name a regular file",
            path.display()
        )),
        error => unreadable(path, &error),
    })
}

/// `NAME.blktrace.0` with all of `NAME.blktrace.N` beside it, in the order of their numbers.
fn of_all_processors(path: &Path) -> Result<Vec<PathBuf>> {
    let alone = Ok(vec![path.to_owned()]);
    let name = path.file_name().and_then(|it| it.to_str());
    let Some((stem, number)) = name.and_then(|it| it.rsplit_once(BLKTRACE_END)) else {
        return alone;
    };
    if number.parse::<u32>().is_err() {
        return alone;
    }
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let listed = directory
        .read_dir()
        .map_err(|error| unreadable(directory, &error))?;
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for entry in listed {
        let entry = entry.map_err(|error| unreadable(directory, &error))?;
        let name = entry.file_name();
        let parts = name.to_str().and_then(|it| it.rsplit_once(BLKTRACE_END));
        let number = parts.filter(|(it, _)| *it == stem);
        if let Some(Ok(number)) = number.map(|(_, number)| number.parse()) {
            found.push((number, entry.path()));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
