//! What the files of a request take of a file system, and of a budget.

use lab::bench::BenchError;
use units::Duration;
use workload::{BLOCK_BYTES, DecusGroup, DecusTest, Spacing};

use super::run::{FileWork, FilesRequest, FilesSession, counted};

/// File systems take whole blocks of this size for the smallest file.
const ALLOCATION: u64 = 4096;
/// What the files of a request take, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    pub bytes: u64,
    pub names: u64,
}

impl FilesRequest {
    /// Time for all of it, by the clock of the target; none on a model unless it was given: time
    /// costs nothing there.
    pub(super) fn budget(&self) -> Option<Duration> {
        let is_counted = !self.bench.target.is_model() || self.bench.setup.is_given("budget");
        is_counted.then_some(self.rule.budget)
    }

    /// What the clients of this host need. Groups of tests follow each other, so the largest
    /// counts.
    pub(crate) fn needs(&self) -> Needs {
        let clients = u64::from(self.clients_here());
        let (bytes, names) = match &self.work {
            FileWork::Metadata(tree) => {
                let spec = tree.of_each(self.clients);
                let directories = u64::from(spec.directories().unwrap_or(0));
                let names = u64::from(spec.files) + directories;
                let file = u64::from(spec.file_bytes).next_multiple_of(ALLOCATION);
                let bytes = u64::from(spec.files) * file + directories * ALLOCATION;
                (bytes, names)
            }
            FileWork::Bandwidth(transfers) => {
                let spec = transfers.of_each(self.clients);
                let each = u64::from(spec.transfers) * u64::from(spec.transfer_bytes);
                // With the record of who makes a file of all clients.
                let bytes = each + u64::from(spec.transfer_bytes);
                (bytes.next_multiple_of(ALLOCATION), 1)
            }
            FileWork::Decus {
                tests,
                spacings,
                scales,
            } => {
                let scale = scales.iter().copied().max().unwrap_or(1);
                let of = |test: &DecusTest| needs_of(*test, spacings, scale);
                let all = tests.iter().map(of);
                all.fold((0, 0), |(bytes, names), (b, n)| {
                    (bytes.max(b), names.max(n))
                })
            }
        };
        Needs {
            bytes: bytes * clients,
            names: names * clients,
        }
    }
}

impl FilesSession<'_> {
    /// A budget that was asked for is kept, or the run ends as soon as it is known not to be.
    pub(super) fn refuse_short_time(&mut self, spent: Duration) -> Result<(), BenchError> {
        let needed = self.procedure.time_needed(spent);
        let Some(needed) = needed.filter(|_| self.request.bench.setup.is_given("budget")) else {
            return Ok(());
        };
        self.played.clear();
        let budget = self.request.rule.budget;
        let share = budget.as_secs_f64() / needed.as_secs_f64();
        let fewer = match &self.request.work {
            FileWork::Metadata(tree) => {
                format!("--files {:.0}", (f64::from(tree.files) * share).max(1.0))
            }
            FileWork::Bandwidth(_) => "a smaller --file-size".into(),
            FileWork::Decus { .. } => "fewer --tests".into(),
        };
        let rows = self.procedure.cells().len() as u64;
        Err(BenchError::Usage(format!(
            "--budget {budget}: {} need about {needed} here. Use --budget {:.0}s or {fewer}",
            counted(rows, "row"),
            needed.as_secs_f64().ceil(),
        )))
    }
}

/// Bytes and names that a test's files take, with those of the tests that make them.
fn needs_of(test: DecusTest, spacings: &[Spacing], scale: u32) -> (u64, u64) {
    let block = u64::from(BLOCK_BYTES);
    let whole = |blocks: u64| (blocks * block).div_ceil(ALLOCATION) * ALLOCATION;
    let scale = u64::from(scale);
    match test.group() {
        DecusGroup::Seeks => (150 * scale * ALLOCATION, 150 * scale),
        DecusGroup::Medium => (whole(150 * scale), 1),
        DecusGroup::Data => {
            let largest = spacings.iter().map(|it| it.bytes(scale as u32)).max();
            // SPACE8's files and the copies are there before SPACE2's files are gone.
            let spacers = largest.map_or(0, |bytes| bytes + bytes / 4);
            let copies = 1 + u64::from(!spacings.is_empty());
            let files = 300 * scale * copies;
            (files * ALLOCATION + spacers, files + 4)
        }
        DecusGroup::Large => (whole(300 * scale), 1),
        DecusGroup::Long => (whole(800 * scale), 1),
        DecusGroup::Many => (1_000 * scale * ALLOCATION, 1_000 * scale),
        DecusGroup::Device => (whole(workload::DEVICE_BLOCKS_MAX), 1),
    }
}
