//! Results of `seekstone files`: the DECUS tests, metadata and bandwidth at scale.

use serde::{Deserialize, Serialize};
use stats::{Estimate, repeats_mean};
use workload::{BLOCK_BYTES, BandwidthSpec, DirectoryUse, MetadataSpec, TransferOrder};

use crate::environment::TargetDescription;
use crate::rank_share::RankShare;
use crate::table::Trust;
use crate::warning::Warning;

units::words! {
    /// State of the caches when a test starts, and durability of its writes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum FileState {
        /// Caches keep what earlier tests left; written data may stay in memory.
        AsIs = "as-is",
        /// Caches are dropped before each pass.
        Cold = "cold",
        /// Files and directories are synced as they change.
        Durable = "durable",
    }
}

units::words! {
    /// The file system that a row measured.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum FileSystemRole {
        /// The file system of the target.
        Target = "target",
        /// A memory disk as a reference: the CPU and kernel cost without a disk.
        Memory = "memory",
    }
}

/// One pass of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePass {
    /// Number of the pass, from 1, over all rounds of its row.
    pub number: u32,
    /// Whether this is a first pass that does not count, because later passes do.
    pub is_warm_up: bool,
    /// From the first call of the first client to the end of the last call of the last client,
    /// nanoseconds.
    pub elapsed_ns: u64,
    /// System calls of all clients.
    pub calls: u64,
    /// Bytes moved by all clients, including to and from the null device.
    pub bytes: u64,
    /// User CPU time of the clients, nanoseconds.
    pub cpu_user_ns: Option<u64>,
    /// System CPU time of the clients, nanoseconds.
    pub cpu_system_ns: Option<u64>,
    /// Reads completed by the device during the pass, from all processes.
    pub device_reads: Option<u64>,
    /// Writes completed by the device during the pass, from all processes.
    pub device_writes: Option<u64>,
    /// Files, directories or transfers of all clients, if a stonewall made them differ between
    /// passes.
    pub items: Option<u64>,
    /// Progress at the stonewall, if the pass has one.
    pub stonewall: Option<StonewallPass>,
}

/// Progress of a pass at its stonewall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StonewallPass {
    /// From the first call of the first client until the last client stopped, nanoseconds.
    pub elapsed_ns: u64,
    /// Items of all clients.
    pub items: u64,
    /// Bytes moved by all clients.
    pub bytes: u64,
    /// Items of the slowest client.
    pub items_least: u64,
    /// Items of the fastest client: each client does this many in the whole pass.
    pub items_most: u64,
}

/// Figures of a row at its stonewall, without the wear-out in which fast clients wait for slow
/// ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StonewallFigures {
    /// Seconds from the first call until the last client stopped.
    pub elapsed_seconds: Estimate,
    /// Items per second, of all clients.
    pub items_per_second: Estimate,
    /// Bytes per second, of all clients; absent where no bytes are moved.
    pub bytes_per_second: Option<Estimate>,
    /// Items of the slowest client, over all passes.
    pub items_least: u64,
    /// Items of the fastest client, over all passes.
    pub items_most: u64,
}

/// Times of one system call, over all passes of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileCallTimes {
    /// The call, such as `create`.
    pub kind: String,
    pub count: u64,
    /// Mean, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub mean_ns: f64,
    /// Median, nanoseconds; absent if there are too few calls.
    pub median_ns: Option<u64>,
    /// 99th percentile, nanoseconds; absent if there are too few calls.
    pub p99_ns: Option<u64>,
    /// The longest, nanoseconds.
    pub max_ns: u64,
}

/// One test in one state on one file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileTest {
    /// The file system measured.
    pub system: FileSystemRole,
    /// The test: a number such as `4A`, or a name such as `create`.
    pub test: String,
    /// Spacing between the files: empty, `SPACE2` or `SPACE8`.
    pub spacing: String,
    /// What the test does, in words.
    pub title: String,
    pub state: FileState,
    /// Multiplier of the paper's counts.
    pub scale: u32,
    /// Files, directories or transfers per client; with a stonewall, the mean over passes.
    pub items: u32,
    /// Elapsed time from the first call to the last, seconds.
    pub elapsed_seconds: Estimate,
    /// Files, directories or transfers per second, of all clients.
    pub items_per_second: Estimate,
    /// Calls per second, of all clients.
    pub calls_per_second: Estimate,
    /// Bytes per second, of all clients; absent where no bytes are moved. The figure of merit of
    /// TEST11.
    pub bytes_per_second: Option<Estimate>,
    /// Figures at the stonewall, if the row has one.
    pub stonewall: Option<StonewallFigures>,
    /// Times by kind of call.
    pub calls: Vec<FileCallTimes>,
    /// Whether the interval is as narrow as requested, or a fixed number of passes was requested.
    pub is_precise: bool,
    /// The passes in the order of measuring.
    pub passes: Vec<FilePass>,
    /// Warnings about this row.
    pub warnings: Vec<Warning>,
}

impl FileTest {
    /// Whether this is a numbered test of the paper.
    pub fn is_numbered(&self) -> bool {
        is_numbered(&self.test)
    }

    /// Name of the test without state and place: `TEST4A`, or the name of a phase.
    pub fn word(&self) -> String {
        word(&self.test)
    }

    /// Name of the row, such as `TEST4 after SPACE2 cold at scale 10 on the memory disk`.
    pub fn name(&self) -> String {
        let scale = self.scale;
        row_name(self.system, (&self.test, &self.spacing), self.state, scale)
    }

    /// How far its figures can be used: not if the passes vary so much that the interval of their
    /// time includes zero.
    pub fn trust(&self) -> Trust {
        let time = self.elapsed_seconds;
        let trust = Trust::unless_invalid(&self.warnings);
        match time.is_bounded() && time.low <= 0.0 && time.value > 0.0 {
            true => trust.max(Trust::Unstable),
            false => trust,
        }
    }

    /// Mean of a per-pass count over the passes that count.
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
    /// Name of the compared row.
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

/// A figure of one row compared with that of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileComparison {
    /// The file system measured.
    pub system: FileSystemRole,
    pub test: String,
    /// Spacing between the files.
    pub spacing: String,
    pub state: FileState,
    /// Multiplier of the paper's counts.
    pub scale: u32,
    pub ratio: Estimate,
}

impl FileTests {
    /// Time of a test relative to the memory disk, if both were measured.
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

/// Directory tree of the metadata workload.
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
    /// Whether clients have their own directories or share one.
    #[serde(default)]
    pub directories: DirectoryUse,
    /// Whether files are stat'ed and read by a client other than the one that created them, on the
    /// next host if there are several.
    #[serde(default)]
    pub is_reordered: bool,
}

impl MetadataTree {
    /// The tree of each of `clients` clients.
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
    /// Bytes written per client, at most.
    pub client_bytes: u64,
    /// Bytes per read or write call.
    pub transfer_bytes: u32,
    /// Whether clients have their own files or share one.
    pub directories: DirectoryUse,
    /// Whether the data of one client is read by another, on the next host if there are several.
    pub is_reordered: bool,
    /// Consecutive transfers of one client in a shared file, before those of the next client.
    #[serde(default = "one_call")]
    pub in_a_row: u32,
    #[serde(default)]
    pub order: TransferOrder,
}

impl FileTransfers {
    /// The transfers of each of `clients` clients.
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

/// Default file size, bytes.
pub const ONE_BLOCK: u32 = BLOCK_BYTES;

const fn one_call() -> u32 {
    1
}

const fn one_block() -> u32 {
    ONE_BLOCK
}

/// Result of `seekstone files`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileTests {
    /// `decus`, `metadata` or `bandwidth`.
    pub workload: String,
    /// Concurrent clients, each with its own files.
    pub clients: u32,
    /// Requested relative half-width; absent if a number of passes was requested.
    pub precision: Option<f64>,
    /// Requested number of passes; absent if a precision was requested.
    pub passes: Option<u32>,
    /// What is dropped from the caches in the cold state: `own-files` or `machine`.
    pub cache_drop: String,
    /// What TEST11 reads: a path, or `own file`.
    pub device: String,
    /// Settings of the metadata workload.
    pub tree: Option<MetadataTree>,
    /// Settings of the bandwidth workload.
    pub transfers: Option<FileTransfers>,
    /// Whether only the first block of each read is verified.
    #[serde(default)]
    pub is_sampled: bool,
    /// Time from the first call after which clients stop at the stonewall, nanoseconds.
    pub stonewall_ns: Option<u64>,
    /// Results by rank, if there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RankShare>,
    /// The memory disk measured for reference.
    pub memory: Option<TargetDescription>,
    /// The rows: target before memory disk, then by scale, state and test.
    pub tests: Vec<FileTest>,
    /// Times on the target relative to the memory disk.
    pub over_memory: Vec<FileComparison>,
    /// Time per file (or per block of a test on one file) relative to the smallest scale.
    pub growth: Vec<FileComparison>,
}
