//! Reading back what a pass wrote, and what is said of it.

use procedure::FileCell;
use results::{Warning, WarningCode};
use units::Bytes;
use verify::FileFindings;

use super::hosts;
use super::pass::title_of;
use super::run::FilesSession;
use lab::bench::BenchError;
use lab::test_file::stopped;

/// Findings that a report tells in full.
const LISTED_MAX: usize = 3;

impl FilesSession<'_> {
    /// What verification found in a pass of all hosts, and in what it wrote.
    pub(super) fn read_back(&mut self, cell: &FileCell) -> Result<FileFindings, BenchError> {
        if !self.request.verify {
            return Ok(FileFindings::default());
        }
        let request = self.request;
        match &request.bench.ranks {
            Some(ranks) => hosts::read_back(ranks, || self.read_back_here(cell)),
            None => self.read_back_here(cell),
        }
    }

    fn read_back_here(&mut self, cell: &FileCell) -> Result<FileFindings, BenchError> {
        let interrupt = self.interrupt;
        let subject = self.subject(cell.role);
        let path = subject.description.path.clone();
        let mut found = FileFindings::default();
        for hand in &mut subject.hands {
            hand.read_back(&mut || interrupt.is_raised().is_none())
                .map_err(|error| {
                    let why = std::io::Error::from_raw_os_error(error.0);
                    let title = title_of(cell.item);
                    BenchError::Refused(format!("{title} in {path}, reading back: {why}"))
                })?;
            found.merge(&hand.take_findings());
        }
        match stopped(interrupt) {
            Some(stop) => Err(stop),
            None => Ok(found),
        }
    }

    /// # Errors
    /// When anything was not as it was written.
    pub(super) fn wrong_data(&self) -> Result<(), BenchError> {
        match self.found.counts() {
            counts if counts.total() > 0 => Err(BenchError::WrongData(counts.clone())),
            _ => Ok(()),
        }
    }

    /// What verification found; that it found nothing is a result, too.
    pub(super) fn verified(&self) -> Option<Warning> {
        if !self.request.verify {
            return None;
        }
        let found = &self.found;
        if found.counts().total() == 0 {
            let read = Bytes(found.bytes());
            let text = format!("Verified {read}: every sector that was read is what was written.");
            return Some(Warning::info(WarningCode::Verified, text));
        }
        let listed: Vec<String> = found.sentences().take(LISTED_MAX).collect();
        let text = format!(
            "Verification found {}: {}. The file system returned different data from what was \
             written.",
            found.counts(),
            listed.join("; ")
        );
        Some(Warning::invalid(WarningCode::WrongData, text))
    }
}
