//! What the files of a request take of a file system, of this process, and of a budget.

use host::limits::{ProcessLimits, check_budget, grow_file_table};
use lab::bench::BenchError;
use lab::laboratory::LaboratoryError;
use results::{Warning, WarningCode};
use units::Duration;
use workload::{BLOCK_BYTES, DecusGroup, DecusTest, Spacing};

use super::run::{FileWork, FilesRequest, FilesSession, MemoryDisk, counted};

/// File systems take whole blocks of this size for the smallest file.
const ALLOCATION: u64 = 4096;
/// Open files of a client: its first directory, one below that, one that is listed, a file, and the
/// device that TEST11 reads.
const OPEN_FILES: u64 = 5;

/// What the files of a request take, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    pub bytes: u64,
    pub names: u64,
}

/// Directories of a client that stay open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldDirectories {
    pub held: u64,
    /// How many there are below its first one.
    all: u64,
}

impl HeldDirectories {
    /// As many of `all` as a client may hold, where `clients` have `left` open files together.
    fn among(all: u64, clients: u64, left: u64) -> Self {
        let held = all.min((left / clients.max(1)).saturating_sub(OPEN_FILES));
        Self { held, all }
    }

    /// What it costs that some have to be opened for each call.
    pub fn warning(&self) -> Option<Warning> {
        let text = format!(
            "{} of {} directories of each client stay open, and files in the others take three \
             more system calls",
            self.held, self.all
        );
        let advice = "allow more open files (ulimit -n), or ask for fewer directories (--fan-out, \
                      --depth)";
        (self.held < self.all).then(|| Warning::warn(WarningCode::Access, text).advise(advice))
    }
}

impl FilesRequest {
    /// How many directories stay open, so that a call reaches the one that was made, whatever has
    /// its name.
    ///
    /// # Errors
    /// When this process may not open what its clients need without them.
    pub(super) fn directories_held(&self) -> Result<HeldDirectories, BenchError> {
        let all = match &self.work {
            FileWork::Metadata(tree) => tree.of_each(self.clients).directories().unwrap_or(0),
            FileWork::Bandwidth(_) | FileWork::Decus { .. } => 0,
        };
        let subjects = match self.memory {
            MemoryDisk::Beside => 2,
            MemoryDisk::Without => 1,
        };
        let clients = u64::from(self.clients_here()) * subjects;
        check_budget(clients * OPEN_FILES, 0).map_err(LaboratoryError::from)?;
        let limits = ProcessLimits::capture();
        let left = limits.files_left().unwrap_or(u64::MAX);
        let found = HeldDirectories::among(all.into(), clients, left);
        grow_file_table(limits.files_open + clients * (found.held + OPEN_FILES));
        Ok(found)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_stay_open_as_far_as_descriptors_go() {
        let check = |all, clients, left, held| {
            let found = HeldDirectories::among(all, clients, left);
            assert_eq!(found, HeldDirectories { held, all });
            assert_eq!(found.warning().is_some(), held < all);
        };
        check(110, 1, 1000, 110);
        check(110, 8, 1000, 110);
        check(110, 10, 1000, 95);
        check(10_000, 1, 984, 979);
        check(10_000, 100, 500, 0);
        check(1_000_000, 4, u64::MAX, 1_000_000);
        check(0, 0, 0, 0);
    }
}
