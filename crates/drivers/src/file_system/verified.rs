//! Files whose blocks carry headers: a block that is not what was written is reported with its
//! class and path, and the run goes on.

use std::fs::File;

use rustix::fs::OFlags;
use rustix::io::Errno as SystemError;
use verify::{FileFindings, number_of_file};
use workload::{Errno, FileName};

use super::FileSystemDriver;
use crate::file_content::{FileContent, Headers};
use crate::raw_device::forget;

/// What a client that verifies knows.
#[derive(Debug)]
pub(super) struct Verifying {
    /// How often its files were made anew.
    generation: u64,
    /// The path of the open file.
    opened: String,
    /// Whether something was written since all was read back.
    has_written: bool,
    found: FileFindings,
}

impl Verifying {
    pub(super) fn new() -> Self {
        Self {
            generation: 1,
            opened: String::new(),
            has_written: false,
            found: FileFindings::default(),
        }
    }

    /// All files are gone: what is found of them from now on is stale.
    pub(super) fn begin_anew(&mut self) {
        self.generation += 1;
        self.has_written = false;
    }

    /// A write is about to be made: its size is that of all of the file's.
    pub(super) fn write(&mut self, content: &mut FileContent, bytes: usize) {
        self.has_written = true;
        if let Some(headers) = &mut content.headers {
            headers.write_bytes = headers.write_bytes.max(bytes as u32);
        }
    }

    /// Hold what one call read against the headers that it should have.
    pub(super) fn judge(&mut self, headers: Headers, offset: u64, blocks: &[u8]) {
        let found = headers.check(offset, blocks);
        self.found.note(&found, &self.opened, blocks.len() as u64);
    }
}

impl FileSystemDriver {
    /// The headers of a file that was created below `root` with that name.
    pub(super) fn headers(&self, root: &str, origin: FileName) -> Option<Headers> {
        let verifying = self.verifying.as_ref()?;
        let path = format!("{root}/{}/{origin}", origin.directory.0);
        Some(Headers {
            file: number_of_file(&path),
            sequence: verifying.generation,
            write_bytes: 0,
        })
    }

    /// Findings until the next file is opened are about this one.
    pub(super) fn record_opened(&mut self, path: &str) {
        let whole = self.work.path().join(path);
        if let Some(verifying) = &mut self.verifying {
            verifying.opened = whole.display().to_string();
        }
    }

    /// What was found since this was asked last; nothing where blocks carry no headers.
    pub fn take_findings(&mut self) -> FileFindings {
        let verifying = self.verifying.as_mut();
        verifying.map_or_else(FileFindings::default, |it| std::mem::take(&mut it.found))
    }

    /// Write this client's files out, drop them from memory and read all of them back, if anything
    /// was written since this was done last. What all clients share the first of them reads.
    /// `goes_on` is asked before each read.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read_back(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<(), Errno> {
        self.read_all_back(goes_on)
            .map_err(|error| Errno(error.raw_os_error()))
    }

    fn read_all_back(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<(), SystemError> {
        match &mut self.verifying {
            Some(verifying) if verifying.has_written => verifying.has_written = false,
            _ => return Ok(()),
        }
        rustix::fs::syncfs(self.tree.root())?;
        let mut files: Vec<(FileName, FileContent)> = self
            .files
            .iter()
            .map(|(name, it)| (*name, it.content))
            .collect();
        files.sort_unstable_by_key(|(name, _)| *name);
        if let Some(joint) = self.joint.as_ref().filter(|_| self.client == 0) {
            files.retain(|(name, _)| *name != joint.name);
            files.push((joint.name, joint.content));
        }
        for (name, content) in files {
            let file = self.open_file(name, OFlags::RDONLY)?;
            let bytes = rustix::fs::fstat(&file)?.st_size as u64;
            let bytes = bytes.max(content.bytes);
            forget(&file, bytes)?;
            self.record_opened(&format!("{}/{}", self.name, self.path(name)?));
            if !self.read_file_back(&file, content, bytes, goes_on)? {
                break;
            }
        }
        Ok(())
    }

    /// Whether it was read to its end.
    fn read_file_back(
        &mut self,
        file: &File,
        content: FileContent,
        bytes: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, SystemError> {
        let (Some(headers), Some(verifying)) = (content.headers, &mut self.verifying) else {
            return Ok(true);
        };
        let step = u64::from(headers.write_bytes.max(1));
        for at in (0..bytes).step_by(step as usize) {
            if !goes_on() {
                return Ok(false);
            }
            let buffer = self.memory.part(step.min(bytes - at) as usize);
            read_or_zeroes(file, at, buffer)?;
            verifying.judge(headers, at, buffer);
        }
        Ok(true)
    }
}

/// What a file that is too short does not hold was lost: it is read as zeroes.
fn read_or_zeroes(file: &File, offset: u64, buffer: &mut [u8]) -> Result<(), SystemError> {
    let mut done = 0;
    while done < buffer.len() {
        let place = offset + done as u64;
        let rest = &mut buffer[done..];
        match rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut *rest, place))? {
            0 => rest.fill(0),
            moved => {
                done += moved;
                continue;
            }
        }
        break;
    }
    Ok(())
}
