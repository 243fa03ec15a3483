//! Arguments of `seekstone files`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use drivers::ReadCompare;
use procedure::{FileItem, OnError};
use results::FileState;
use units::{Bytes, Duration, TargetName, UnitError};
use workload::{DecusTest, Spacing, TransferOrder};

use super::parse::within;
use super::parse::{
    parse_budget, parse_level, parse_precision, parse_processors, parse_size, parse_target,
};
use super::words::{ERRORS, one_of, words};
use super::{Common, CpuList};

/// `seekstone files`.
#[derive(Args, Debug)]
#[command(after_help = help!("files"))]
pub struct FilesArgs {
    /// Directory, `sim:NAME`, or what test 11 reads.
    #[arg(value_name = "DIR", default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Tests to run [default: all].
    #[arg(
        long, value_name = "LIST", value_parser = parse_test, value_delimiter = ',',
        conflicts_with = "workload"
    )]
    pub tests: Vec<DecusTest>,
    /// Repeat tests 4 to 5A with two files of 2000 blocks (2) or 8000 blocks (8) in between.
    #[arg(
        long,
        value_name = "LIST",
        value_parser = one_of(SPACES),
        value_delimiter = ',',
        conflicts_with = "workload"
    )]
    pub space: Vec<Spacing>,
    /// Multiply the counts of tests 1 to 10. A scale above 1 is compared with 1, or with the
    /// smallest of several.
    #[arg(
        long, default_value = "1", value_delimiter = ',',
        conflicts_with = "workload", value_parser = within::<u32>(1..=1_000)
    )]
    pub scale: Vec<u32>,
    /// Cache states to test [default: all three, where they apply].
    #[arg(long, value_name = "LIST", value_parser = one_of(STATES), value_delimiter = ',')]
    pub state: Vec<FileState>,
    /// In the cold state, drop all of the machine's cached pages, names and inodes (needs root).
    #[arg(long)]
    pub drop_caches: bool,
    /// Clients with files of their own [default: 1, or one per MPI rank].
    #[arg(long, value_parser = within::<u32>(1..=256))]
    pub clients: Option<u32>,
    /// What test 11 reads [default: a new file of 32000 blocks].
    #[arg(long, value_name = "FILE|DEVICE", conflicts_with = "workload")]
    pub device: Option<PathBuf>,
    /// Test many small files, or large ones.
    #[arg(long, value_enum)]
    pub workload: Option<WorkloadChoice>,
    /// Files of `--workload metadata`, over all clients [default: 10000].
    #[arg(long, requires = "workload", value_parser = within::<u32>(1..=10_000_000))]
    pub files: Option<u32>,
    /// Layout: `easy` and `hard` are the patterns of mdtest and IOR in the IO500 benchmark
    /// [default: tree, or easy with `--workload bandwidth`].
    #[arg(long, value_enum, requires = "workload")]
    pub layout: Option<LayoutChoice>,
    /// Levels of directories [default: 2, or 0 with `--layout easy` or `hard`].
    #[arg(long, requires = "workload", value_parser = within::<u32>(0..=16))]
    pub depth: Option<u32>,
    /// Directories in each directory above the last level [default: 10].
    #[arg(long, requires = "workload", value_parser = within::<u32>(1..=10_000))]
    pub fan_out: Option<u32>,
    /// Bytes per call of test 11 [default: 16 KiB] or of `--workload bandwidth` [default: 2 MiB,
    /// 47008 with `--layout hard`].
    #[arg(long, value_parser = parse_size)]
    pub transfer_size: Option<Bytes>,
    /// File size [default: 512 bytes, empty with `--layout easy`, 3901 bytes with `hard`]. The most
    /// each client writes with `--workload bandwidth` [default: 64 MiB].
    #[arg(long, requires = "workload", value_parser = parse_reserve)]
    pub file_size: Option<Bytes>,
    /// Stat, open and read what another client created (the same client on the next host, or the
    /// next client).
    #[arg(long, requires = "workload")]
    pub reorder: bool,
    /// Stop creating or writing files after this time. Then let every client catch up with the
    /// furthest one: at most `--files`, or `--file-size`.
    #[arg(long, requires = "workload", value_parser = parse_stonewall)]
    pub stonewall: Option<Duration>,
    /// Lustre: stripes of each file, set with `lfs`. -1 for all [default: the directory's].
    #[arg(
        long, value_name = "N", requires = "workload", allow_negative_numbers = true,
        value_parser = within::<i32>(-1..=2_000)
    )]
    pub stripe_count: Option<i32>,
    /// Lustre: bytes of a stripe, set with `lfs` [default: the directory's].
    #[arg(long, requires = "workload", value_parser = parse_size)]
    pub stripe_size: Option<Bytes>,
    /// Read back from the disk what each pass wrote, and name what is lost, stale, misplaced, torn
    /// or flipped.
    #[arg(long, requires = "workload")]
    pub verify: bool,
    /// How much of each call that reads to compare with what was written.
    #[arg(
        long, requires = "workload", conflicts_with = "verify", value_parser = one_of(COMPARES),
        default_value = "all"
    )]
    pub compare: ReadCompare,
    /// The memory disk for comparison: a directory on a tmpfs, or `none` [default: the first one
    /// found].
    #[arg(long, value_name = "DIR|none")]
    pub memory: Option<PathBuf>,
    /// Exactly this many passes of each test, after one that does not count.
    #[arg(
        long = "repeat", alias = "passes",
        conflicts_with = "precision",
        value_parser = within::<u32>(1..=10_000)
    )]
    pub passes: Option<u32>,
    /// Repeat a test until its time is this precise.
    #[arg(long, default_value = "5%", value_parser = parse_precision)]
    pub precision: f64,
    /// Time limit. A run that needs more for two passes of each test ends as soon as that shows.
    /// The default is exceeded instead, and does not limit a model.
    #[arg(long, default_value = "60s", value_parser = parse_budget)]
    pub budget: Duration,
    /// What to do when a call fails: a pass makes all of its calls, or there is none.
    #[arg(long, value_parser = one_of(ERRORS), default_value = "stop")]
    pub errors: OnError,
    /// Worker threads: each client calls the file system from one of its own [default: as many as
    /// --clients].
    #[arg(long, value_parser = within::<u32>(1..=256))]
    pub workers: Option<u32>,
    /// CPUs to pin the clients to, in turn, such as 0-3,8 [default: not pinned].
    #[arg(long, value_name = "LIST", value_parser = parse_processors)]
    pub cpus: Option<CpuList>,
    /// Free space to leave. `0` lets the tests use all of it [default: the larger of
    /// 5 % and 1 GiB, at most a quarter].
    #[arg(long, value_parser = parse_reserve)]
    pub reserve: Option<Bytes>,
    /// What `ior` and `mdtest` ask for, and these options cannot say.
    #[arg(skip)]
    pub hpc: Option<HpcFiles>,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

impl FilesArgs {
    /// Clients of all ranks: one a rank, unless asked for.
    pub fn clients(&self) -> u32 {
        self.clients.unwrap_or_else(|| self.common.rank_count())
    }

    /// Whether a client reads what another one made. A single task of IOR's or mdtest's reads its
    /// own.
    pub fn reorders(&self) -> bool {
        self.reorder && (self.hpc.is_none() || self.clients() > 1)
    }
}

/// What `ior` and `mdtest` ask for that `files` has no option for.
#[derive(Clone, Debug)]
pub struct HpcFiles {
    /// Phases that are run.
    pub phases: Vec<FileItem>,
    /// Files of each client, of the metadata workload.
    pub files_each: u32,
    /// Transfers of a client in a row in a file of all.
    pub in_a_row: u32,
    pub order: TransferOrder,
    /// Whether files are synced, where they are not in memory.
    pub syncs: bool,
}

words! {
    /// States of `files`.
    STATES: FileState =
        AsIs "as-is" "Caches are left alone";
        Cold "cold" "Caches are dropped before each pass";
        Durable "durable" "Files and directories are synced after each change";
}

words! {
    /// What is compared.
    COMPARES: ReadCompare =
        All "all" "Every byte";
        FirstBlock "first" "The first 512 bytes";
}

words! {
    /// Large files in between.
    SPACES: Spacing =
        Space2 "2" "Two of 2000 blocks";
        Space8 "8" "Two of 8000 blocks";
}

/// Layout of the files of `--workload metadata`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutChoice {
    /// One tree per client.
    Tree,
    /// Empty files in one directory per client, or one large file per client.
    Easy,
    /// Files of 3901 bytes in one directory shared by all clients, or one large shared file.
    Hard,
}

/// Workloads other than the DECUS tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WorkloadChoice {
    /// Create, stat, open, read, rename, list and remove many small files in a tree.
    Metadata,
    /// Write and read large files in transfers: one per client, or one shared by all.
    Bandwidth,
}

fn parse_test(text: &str) -> Result<DecusTest, String> {
    DecusTest::parse(text.trim()).ok_or_else(|| {
        let numbers: Vec<&str> = DecusTest::ALL.iter().map(|test| test.number()).collect();
        format!("is none of {}", numbers.join(", "))
    })
}

/// A time in which something can be done.
fn parse_stonewall(text: &str) -> Result<Duration, String> {
    match parse_level(text)? {
        time if time < Duration::from_millis(10) => Err("must be at least 10 ms".into()),
        time if time > Duration::from_secs(86_400) => Err("is longer than a day".into()),
        time => Ok(time),
    }
}

/// Zero is a size, too.
fn parse_reserve(text: &str) -> Result<Bytes, String> {
    text.trim()
        .parse()
        .map_err(|error: UnitError| error.to_string())
}
