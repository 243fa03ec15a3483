//! Times of programs that use files: the DECUS tests, and metadata at scale.

use serde::{Deserialize, Serialize};
use stats::{Estimate, repeats_mean};
use workload::{BLOCK_BYTES, BandwidthSpec, DirectoryUse, MetadataSpec, TransferOrder};

use crate::environment::TargetDescription;
use crate::rank_share::RankShare;
use crate::table::Trust;
use crate::warning::Warning;

units::words! {
    /// In which state a test finds the system, and what it promises.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum FileState {
        /// Caches hold what earlier tests left in them; written data may sit in memory.
        AsIs = "as-is",
        /// Caches are dropped before each pass.
        Cold = "cold",
        /// Files and directories are synced as they change.
        Durable = "durable",
    }
}

units::words! {
    /// Whose file system a row is about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum FileSystemRole {
        /// The one that was named.
        Target = "target",
        /// The memory disk beside it: what processor and system take, without a disk.
        Memory = "memory",
    }
}

/// One pass of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePass {
    /// Number of the pass, from 1, over all rounds of its row.
    pub number: u32,
    /// A first pass that is not in the figures of its row, because others are.
    pub is_warm_up: bool,
    /// From the first call of the first client to the last of the last, nanoseconds.
    pub elapsed_ns: u64,
    /// Calls made, of all clients.
    pub calls: u64,
    /// Bytes moved by all clients, the null device's included.
    pub bytes: u64,
    /// CPU time of the clients in the program, nanoseconds.
    pub cpu_user_ns: Option<u64>,
    /// CPU time of the clients in the kernel, nanoseconds.
    pub cpu_system_ns: Option<u64>,
    /// Reads that the device completed meanwhile, whoever asked for them.
    pub device_reads: Option<u64>,
    /// Writes that the device completed meanwhile, whoever asked for them.
    pub device_writes: Option<u64>,
    /// Files, directories or transfers of all clients, where a stonewall made them differ from pass
    /// to pass.
    pub items: Option<u64>,
    /// What was done at the stonewall, where the pass has one.
    pub stonewall: Option<StonewallPass>,
}

/// A pass at its stonewall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StonewallPass {
    /// From the first call of the first client to when the last of them had stopped, nanoseconds.
    pub elapsed_ns: u64,
    /// Items of all clients.
    pub items: u64,
    /// Bytes moved by all clients.
    pub bytes: u64,
    /// Items of the client that had done fewest.
    pub items_least: u64,
    /// Items of the client that had done most: what each client does in the whole pass.
    pub items_most: u64,
}

/// A row at its stonewall: without wear-out, in which clients that were done wait for others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StonewallFigures {
    /// Seconds from the first call to when the last client had stopped.
    pub elapsed_seconds: Estimate,
    /// Items per second, of all clients.
    pub items_per_second: Estimate,
    /// Bytes per second, of all clients; absent where no bytes are moved.
    pub bytes_per_second: Option<Estimate>,
    /// Items of the client that had done fewest, over all passes.
    pub items_least: u64,
    /// Items of the client that had done most, over all passes.
    pub items_most: u64,
}

/// Times of one kind of call, over all passes of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileCallTimes {
    /// The kind, such as `create`.
    pub kind: String,
    pub count: u64,
    /// Mean, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub mean_ns: f64,
    /// Median, nanoseconds; absent where too few calls bear it.
    pub median_ns: Option<u64>,
    /// 99th percentile, nanoseconds; absent where too few calls bear it.
    pub p99_ns: Option<u64>,
    /// The longest, nanoseconds.
    pub max_ns: u64,
}

/// One test in one state on one file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileTest {
    /// Whose file system.
    pub system: FileSystemRole,
    /// The test: its number such as `4A`, or its word such as `create`.
    pub test: String,
    /// What lay in the midst of the files: empty, `SPACE2` or `SPACE8`.
    pub spacing: String,
    /// What it does, in words.
    pub title: String,
    pub state: FileState,
    /// What the counts of the paper were multiplied by.
    pub scale: u32,
    /// Files, directories or transfers that each client works on; with a stonewall, in the mean of
    /// passes.
    pub items: u32,
    /// Seconds from the first call to the last.
    pub elapsed_seconds: Estimate,
    /// Files, directories or transfers per second, of all clients.
    pub items_per_second: Estimate,
    /// Calls per second, of all clients.
    pub calls_per_second: Estimate,
    /// Bytes per second, of all clients; absent where no bytes are moved. Of TEST11: its figure of
    /// merit.
    pub bytes_per_second: Option<Estimate>,
    /// The part before the stonewall, where the row has one.
    pub stonewall: Option<StonewallFigures>,
    /// Times by kind of call.
    pub calls: Vec<FileCallTimes>,
    /// Whether the interval is as narrow as was asked for, or a number of passes was asked for.
    pub is_precise: bool,
    /// The passes in the order of measuring.
    pub passes: Vec<FilePass>,
    /// Doubts about this row.
    pub warnings: Vec<Warning>,
}

impl FileTest {
    /// Whether it is a test of the paper.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        is_numbered(&self.test)
    }

    /// The test without state and place: `TEST4A`, or the word of a phase.
    #[must_use]
    pub fn word(&self) -> String {
        word(&self.test)
    }

    /// The row in words, such as `TEST4 after SPACE2 cold at scale 10 on the memory disk`.
    #[must_use]
    pub fn name(&self) -> String {
        let scale = self.scale;
        row_name(self.system, (&self.test, &self.spacing), self.state, scale)
    }

    /// How far its figures may be used: not where its passes differ so much that the interval of
    /// their time includes zero.
    #[must_use]
    pub fn trust(&self) -> Trust {
        let time = self.elapsed_seconds;
        let trust = Trust::unless_invalid(&self.warnings);
        match time.is_bounded() && time.low <= 0.0 && time.value > 0.0 {
            true => trust.max(Trust::Unstable),
            false => trust,
        }
    }

    /// The mean of something that is counted in each pass, over the passes that are in the figures.
    #[must_use]
    pub fn pass_mean(&self, of: fn(&FilePass) -> Option<u64>, unit: f64) -> Option<Estimate> {
        let counted = self.passes.iter().filter(|pass| !pass.is_warm_up);
        let values: Vec<f64> = counted
            .map(|pass| of(pass).map(|value| value as f64 * unit))
            .collect::<Option<_>>()?;
        let alone = values.first().map(|&value| Estimate {
            low: 0.0,
            high: f64::INFINITY,
            ..Estimate::exact(value, 1.0)
        });
        repeats_mean(&values).or(alone)
    }
}

impl FileComparison {
    /// The row that is compared, in words.
    #[must_use]
    pub fn name(&self) -> String {
        let scale = self.scale;
        row_name(self.system, (&self.test, &self.spacing), self.state, scale)
    }
}

fn row_name(
    system: FileSystemRole,
    (test, spacing): (&str, &str),
    state: FileState,
    scale: u32,
) -> String {
    let spacing = match spacing {
        "" => String::new(),
        spacing => format!(" after {spacing}"),
    };
    let scale = match scale {
        1 => String::new(),
        scale => format!(" at scale {scale}"),
    };
    let place = match system {
        FileSystemRole::Target => "",
        FileSystemRole::Memory => " on the memory disk",
    };
    format!("{}{spacing} {}{scale}{place}", word(test), state.name())
}

fn is_numbered(test: &str) -> bool {
    test.starts_with(|c: char| c.is_ascii_digit())
}

fn word(test: &str) -> String {
    match is_numbered(test) {
        true => format!("TEST{test}"),
        false => test.to_owned(),
    }
}

/// How a figure of one row compares to that of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileComparison {
    /// Whose file system.
    pub system: FileSystemRole,
    pub test: String,
    /// What lay in the midst of the files.
    pub spacing: String,
    pub state: FileState,
    /// What the counts of the paper were multiplied by.
    pub scale: u32,
    pub ratio: Estimate,
}

impl FileTests {
    /// The time of a test over that on the memory disk, where both were measured.
    #[must_use]
    pub fn over_memory(&self, test: &FileTest) -> Option<Estimate> {
        let is_it = |row: &&FileComparison| {
            (row.system, &row.test, &row.spacing, row.state, row.scale)
                == (
                    test.system,
                    &test.test,
                    &test.spacing,
                    test.state,
                    test.scale,
                )
        };
        self.over_memory.iter().find(is_it).map(|row| row.ratio)
    }
}

/// The tree of the metadata workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataTree {
    /// Files of all clients.
    pub files: u32,
    /// Levels of directories.
    pub depth: u32,
    /// Directories in each directory above the last level.
    pub fan_out: u32,
    #[serde(default = "one_block")]
    pub file_bytes: u32,
    /// Whether each client has directories of its own, or all of them one.
    #[serde(default)]
    pub directories: DirectoryUse,
    /// Whether files are looked at and read by another client than the one that made them, of the
    /// next host where there are several.
    #[serde(default)]
    pub is_reordered: bool,
}

impl MetadataTree {
    /// What each of so many clients does.
    #[must_use]
    pub fn of_each(&self, clients: u32) -> MetadataSpec {
        MetadataSpec {
            files: self.files.div_ceil(clients.max(1)),
            depth: self.depth,
            fan_out: self.fan_out,
            file_bytes: self.file_bytes,
            directories: self.directories,
            is_renamed: true,
        }
    }
}

/// The large files of the bandwidth workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTransfers {
    /// Bytes that each client writes, at most.
    pub client_bytes: u64,
    /// Bytes of each call that writes or reads.
    pub transfer_bytes: u32,
    /// Whether each client has a file of its own, or all of them one.
    pub directories: DirectoryUse,
    /// Whether what one client wrote is read by another, of the next host where there are several.
    pub is_reordered: bool,
    /// Calls of a client in a row in a file of all, before those of the next client.
    #[serde(default = "one_call")]
    pub in_a_row: u32,
    #[serde(default)]
    pub order: TransferOrder,
}

impl FileTransfers {
    /// What each of so many clients does.
    #[must_use]
    pub fn of_each(&self, clients: u32) -> BandwidthSpec {
        let transfers = self.client_bytes / u64::from(self.transfer_bytes.max(1));
        BandwidthSpec {
            transfers: u32::try_from(transfers).unwrap_or(u32::MAX),
            transfer_bytes: self.transfer_bytes,
            clients,
            directories: self.directories,
            in_a_row: self.in_a_row,
            order: self.order,
        }
    }
}

/// Bytes of a file, where nothing else was asked for.
pub const ONE_BLOCK: u32 = BLOCK_BYTES;

const fn one_call() -> u32 {
    1
}

const fn one_block() -> u32 {
    ONE_BLOCK
}

/// What `seekstone files` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileTests {
    /// `decus`, `metadata` or `bandwidth`.
    pub workload: String,
    /// Clients at once, each with files of its own.
    pub clients: u32,
    /// Relative half-width asked for; absent when a number of passes was.
    pub precision: Option<f64>,
    /// Number of passes asked for; absent when a precision was.
    pub passes: Option<u32>,
    /// What is dropped in the cold state: `own-files` or `machine`.
    pub cache_drop: String,
    /// What TEST11 reads: a path, or `own file`.
    pub device: String,
    /// Of the metadata workload.
    pub tree: Option<MetadataTree>,
    /// Of the bandwidth workload.
    pub transfers: Option<FileTransfers>,
    /// Whether only the first block that a call reads is compared with what was written.
    #[serde(default)]
    pub is_sampled: bool,
    /// When clients stop and see how far the others are, after the first call, nanoseconds.
    pub stonewall_ns: Option<u64>,
    /// What each rank did, where there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RankShare>,
    /// The memory disk beside the target.
    pub memory: Option<TargetDescription>,
    /// The rows: target before memory disk, then by scale, state and test.
    pub tests: Vec<FileTest>,
    /// Time on the target over time on the memory disk.
    pub over_memory: Vec<FileComparison>,
    /// Time for each file, or for each block of a test on one file, over that at the smallest
    /// scale.
    pub growth: Vec<FileComparison>,
}
