//! A worker's reports while it measures.

use std::sync::mpsc::{SyncSender, TrySendError};

use engine::DriverError;
use procedure::Ending;
use stats::Slot;
use units::Duration;

use super::WorkerReport;

/// Sends a worker's slots without ever blocking.
pub(super) struct Reporter {
    worker: usize,
    sender: SyncSender<WorkerReport>,
    kept: Vec<Slot>,
}

impl Reporter {
    pub(super) const fn new(worker: usize, sender: SyncSender<WorkerReport>) -> Self {
        Self {
            worker,
            sender,
            kept: Vec::new(),
        }
    }

    pub(super) fn report_broken(self, error: DriverError) {
        let worker = self.worker;
        let _ = self.sender.send(WorkerReport::Broken { worker, error });
    }

    pub(super) fn report(&mut self, mut slots: Vec<Slot>, elapsed: Duration) {
        if !self.kept.is_empty() {
            let mut all = std::mem::take(&mut self.kept);
            all.append(&mut slots);
            slots = all;
        }
        let report = WorkerReport::Slots {
            worker: self.worker,
            slots,
            elapsed,
        };
        if let Err(TrySendError::Full(WorkerReport::Slots { slots, .. })) =
            self.sender.try_send(report)
        {
            self.kept = slots;
        }
    }

    pub(super) fn report_end(&mut self, ending: Ending, elapsed: Duration) {
        let slots = std::mem::take(&mut self.kept);
        let worker = self.worker;
        let _ = self.sender.send(WorkerReport::Slots {
            worker,
            slots,
            elapsed,
        });
        let _ = self.sender.send(WorkerReport::Ended {
            worker,
            ending,
            elapsed,
        });
    }
}
