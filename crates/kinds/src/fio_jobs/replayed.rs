//! A job that repeats what fio's log of requests lists: `read_iolog`.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;

use fio::Job;
use trace::{Format, TraceOp, TraceReader, TraceRecord};
use units::Duration;
use workload::{Durability, JobScript, JobSpec, Op, Region, TargetId};

use super::fill::filling;
use super::job_values::{content_of, depth_of, durability_of};
use super::plan::{JobStorage, Planner, Result, refused};

/// Bytes of a read or write, at most: they take memory.
const MOVED_MAX: u64 = 1 << 30;

impl Planner<'_> {
    /// The workload of a job that repeats a log of this text.
    pub(super) fn replay(&mut self, job: &Job, log: &str, row: u32) -> Result<JobSpec> {
        let records = records_of(log);
        let (records, names) = match records {
            Ok(read) => read,
            Err(error) => return refused(job, format!("read_iolog: {error}")),
        };
        if records.is_empty() {
            return refused(job, "read_iolog: the log lists no request");
        }
        let named = |name: &String| match &job.replay.redirect {
            Some(name) => PathBuf::from(name),
            None => PathBuf::from(name),
        };
        let numbers: Vec<usize> = names.iter().map(|name| self.file(&named(name))).collect();
        let is_direct = job.is_direct || self.plan.storage != JobStorage::Files;
        let durability = durability_of(job);
        let mut listed = Vec::with_capacity(records.len());
        let mut longest = 0;
        for record in &records {
            let number = numbers[record.file as usize];
            let target = TargetId(number as u32 * 2 + u32::from(!is_direct));
            let Some(op) = op_of(record, target, durability) else {
                let at = record.offset;
                return refused(job, format!("read_iolog: a request at {at} is too long"));
            };
            self.note(number, record);
            longest = longest.max(op.memory_len());
            let at = match job.replay.is_unpaced {
                true => Duration::ZERO,
                false => Duration::from_nanos(record.at),
            };
            listed.push((at, op));
        }
        for number in &numbers {
            self.check_replayed(job, *number)?;
        }
        let whole = Region {
            target: listed[0].1.target(),
            offset: 0,
            len: u64::from(longest.max(1)),
            block: u64::from(longest.max(1)),
        };
        let changes = |record: &TraceRecord| record.op != TraceOp::Read;
        Ok(JobSpec {
            row,
            depth: depth_of(job, &self.plan.storage),
            read_percent: if records.iter().any(changes) { 50 } else { 100 },
            bytes: None,
            requests: Some(listed.len() as u64 + 1),
            delay: job.limits.delay,
            flushes_at_end: job.syncs.at_end,
            script: Some(JobScript(Arc::from(listed))),
            ..filling(vec![whole], content_of(job))
        })
    }

    /// What a request asks of its file.
    fn note(&mut self, number: usize, record: &TraceRecord) {
        let file = &mut self.plan.files[number];
        match record.op {
            TraceOp::Read => file.is_read = true,
            TraceOp::Write | TraceOp::Trim => file.is_written = true,
            TraceOp::Sync => {}
        }
        if record.op.has_extent() {
            file.needs = file.needs.max(record.end());
        }
    }

    /// Whether the file holds what is asked of it.
    fn check_replayed(&self, job: &Job, number: usize) -> Result<()> {
        let file = &self.plan.files[number];
        let shown = file.path.display();
        match file.exists {
            Some(whole) if whole < file.needs => refused(
                job,
                format!(
                    "{shown} holds {whole} bytes, and the log reaches to {}. Name another with \
                     replay_redirect",
                    file.needs
                ),
            ),
            _ => self.check_made(job, number),
        }
    }
}

/// The requests of a log, and the names of their files.
fn records_of(log: &str) -> Result<(Vec<TraceRecord>, Vec<String>), trace::TraceError> {
    let input = Cursor::new(log.as_bytes().to_vec());
    let mut reader = trace::open(Format::Iolog, vec![("the log".to_owned(), input)])?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(record);
    }
    let names = reader.files().to_vec();
    Ok((records, names))
}

/// `None` where it is longer than requests can be.
fn op_of(record: &TraceRecord, target: TargetId, durability: Durability) -> Option<Op> {
    let TraceRecord { offset, length, .. } = *record;
    let len = u32::try_from(length).ok();
    let moved = len.filter(|_| length <= MOVED_MAX);
    Some(match record.op {
        TraceOp::Read => Op::Read {
            target,
            offset,
            len: moved?,
        },
        TraceOp::Write => Op::Write {
            target,
            offset,
            len: moved?,
            durability,
        },
        TraceOp::Trim => Op::Trim {
            target,
            offset,
            len: len?,
        },
        TraceOp::Sync => Op::Flush {
            target,
            data_only: false,
        },
    })
}
