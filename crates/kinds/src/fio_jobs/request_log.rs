//! fio's I/O log of one copy of a job (`write_iolog`): what it asked of which file, and when.

use trace::{InOrder, IologWriter};
use units::Instant;
use workload::{Completion, JobSpec, Op, TargetId};

use crate::iolog::entry_of;

/// A log under way, whose lines are taken as they come about.
pub(super) struct RequestLog {
    writer: IologWriter<Vec<u8>>,
    order: InOrder,
    /// The files, by their numbers in the log.
    targets: Vec<TargetId>,
}

impl RequestLog {
    /// The log of a workload; `names` has those of all files. `None` where the format cannot hold
    /// a name, which is refused beforehand.
    pub(super) fn new(job: &JobSpec, names: &[String]) -> Option<Self> {
        let targets: Vec<TargetId> = job.files.iter().map(|region| region.target).collect();
        let name = |target: &TargetId| names.get(target.0 as usize / 2).cloned();
        let names: Option<Vec<String>> = targets.iter().map(name).collect();
        Some(Self {
            writer: IologWriter::begin(Vec::new(), &names?).ok()?,
            order: InOrder::default(),
            targets,
        })
    }

    /// Take an operation that was done.
    pub(super) fn add(&mut self, start: Instant, done: &Completion) {
        let (Op::Read { target, .. }
        | Op::Write { target, .. }
        | Op::Trim { target, .. }
        | Op::Flush { target, .. }) = done.request.op
        else {
            return;
        };
        let file = self.targets.iter().position(|it| *it == target);
        let (Some(file), Some(entry)) = (file, entry_of(&done.request.op)) else {
            return;
        };
        let at_ns = done.issued.since(start).as_nanos();
        if let Some(first) = self.order.add(at_ns, file as u32, entry) {
            // What is written lies in memory.
            let _ = self.writer.write(&first);
        }
    }

    /// Lines that came about since the last call.
    pub(super) fn take_lines(&mut self) -> String {
        let lines = std::mem::take(self.writer.output_mut());
        String::from_utf8_lossy(&lines).into_owned()
    }

    /// The lines that are left.
    pub(super) fn finish(mut self) -> String {
        while let Some(next) = self.order.first() {
            let _ = self.writer.write(&next);
        }
        let lines = self.writer.finish().unwrap_or_default();
        String::from_utf8_lossy(&lines).into_owned()
    }
}
