//! The command line: one definition for parsing, help, completions and the manual page.

mod budgets;
mod classic;
mod common;
mod compare;
mod devices;
mod diskmbps;
mod diskrand;
mod export;
mod files;
mod fio;
mod fleet;
mod generate;
mod groups;
mod inspect;
mod kind;
pub mod parse;
mod positioning;
mod profile_choice;
mod rab;
mod random;
mod repeat;
mod replay;
mod run_choice;
mod run_sets;
mod runs;
mod serve;
mod ssd;
mod study;
mod time;
mod together;
mod transactions;
mod transfer;
mod verify;
mod what_if;
mod wire;

use std::path::PathBuf;

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use drivers::DriverKind;
use units::{Bytes, Duration, Rate, TargetName};

use crate::output::Output;

pub use self::budgets::{
    BUDGET_MAX, CELL_TIME, CURVE_BUDGET, RAB_BUDGET, RANDOM_BUDGET, RUN_BUDGET, TRIAL_BUDGET,
};
pub use self::classic::{ClassicArgs, ClassicCommand, RptArgs, TransactArgs};
pub use self::common::{BY_ENDING, Common, Force, Outputs};
pub use compare::CompareArgs;
pub use devices::{DevicesArgs, DevicesCommand};
pub use diskmbps::DiskMbpsArgs;
pub use diskrand::DiskRandArgs;
pub use files::{FilesArgs, LayoutChoice, SpaceChoice, StateChoice, WorkloadChoice};
pub use fio::{EtaChoice, FioArgs, FormatChoice, IdlenessOf};
pub use fleet::{FleetArgs, FleetCommand, LaunchArgs, ManifestArgs, MpiChoice, SlurmArgs};
pub use generate::{CompletionsArgs, ManArgs};
pub use inspect::InspectArgs;
pub use kind::{KindArgs, definition, is_list, typed};
use parse::within;
use parse::{
    LevelArg, TrialPrecision, parse_budget, parse_duration, parse_interval, parse_level,
    parse_level_at, parse_pattern, parse_precision, parse_processors, parse_rate, parse_share,
    parse_size, parse_span, parse_target, parse_trial_precision,
};
pub use positioning::PositioningArgs;
pub use profile_choice::{ProfileChoice, profile_names};
pub use rab::RabArgs;
pub use random::{FilePart, RandomArgs};
pub use repeat::{AgainArgs, RepeatArgs, ResumeArgs};
pub use replay::{DEPTH_FAST, ReplayArgs, TraceFormat};
pub use run_choice::RunChoice;
pub use run_sets::{RunPart, RunSet};
pub use runs::{CompareRunsArgs, RunsArgs, RunsCommand, TableChoice};
pub use serve::ServeArgs;
pub use ssd::{PurgeChoice, SsdArgs};
pub use study::{StudyArgs, StudyCommand};
pub use time::TimeArgs;
pub use together::TogetherArgs;
pub use transactions::{LoadFactorChoice, TransactionsArgs};
pub use transfer::{CheckChoice, ModeChoice, TransferArgs};
pub use verify::{AfterChoice, VerifyArgs};
pub use what_if::WhatIfArgs;
pub use wire::WireArgs;
#[cfg(feature = "vintage")]
pub use {classic::ClassicReach, devices::ValidateArgs, diskrand::ARGUMENTS as DISKRAND_ARGUMENTS};

/// Behind all options but `--help`: options of the measurement come first.
const LAST: usize = 900;

/// How much load does this storage carry at the response time you need, and how sure are we?
#[derive(Debug, Parser)]
#[command(
    name = "seekstone",
    version,
    max_term_width = 100,
    subcommand_required = true
)]
#[command(arg_required_else_help = true)]
#[command(
    after_help = "Start with `seekstone run`: it checks the storage under the current \
directory in under two minutes and leaves nothing behind."
)]
pub struct Seekstone {
    /// Colour: `auto` colours a terminal unless NO_COLOR is set or TERM is `dumb`.
    #[arg(
        long, value_enum, global = true, default_value_t, value_name = "WHEN",
        display_order = LAST
    )]
    pub color: ColorChoice,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Those that measure, and archive a run.
    #[command(flatten)]
    Measure(MeasureCommand),
    /// Time opening files in random order, on a simulated device.
    Positioning(PositioningArgs),
    /// The RAID Performance Test of 1995, with its own files.
    Rpt(Box<RptArgs>),
    /// The disk data transfer rate test of 1997.
    Diskmbps(DiskMbpsArgs),
    /// The disk and transaction random access test of 1997.
    Diskrand(DiskRandArgs),
    /// Run several programs of 1997 at once, on one model.
    Together(TogetherArgs),
    /// One control thread of the RAID Performance Test.
    Transact(Box<TransactArgs>),
    /// Make links to call these four programs by name.
    Classic(ClassicArgs),
    /// Describe a target, and what on it would mislead you.
    Inspect(InspectArgs),
    /// Read back what a `--verify-state` run wrote.
    Verify(VerifyArgs),
    /// List the simulated devices, with their sources.
    Devices(DevicesArgs),
    /// Fit a model to archived runs, and predict other loads.
    Whatif(WhatIfArgs),
    /// Make a network link of known delay and rate.
    Wire(WireArgs),
    /// List, show, compare, export and delete archived runs.
    Runs(RunsArgs),
    /// Serve the archive as web pages: list, open, compare.
    Serve(ServeArgs),
    /// List and remove what killed runs left in a directory.
    Clean(CleanArgs),
    /// Prepare runs on many hosts under MPI.
    Fleet(FleetArgs),
    /// Print shell completions.
    Completions(CompletionsArgs),
    /// Print the manual page of the program or of a command.
    Man(ManArgs),
}

/// The commands that measure, and archive a run.
#[derive(Debug, Subcommand)]
pub enum MeasureCommand {
    /// Check up a directory, file or device: the main figures.
    Run(Box<RunArgs>),
    /// Measure one load with fixed settings.
    Trial(Box<TrialArgs>),
    /// Measure latency against load, and the load at given latencies.
    Curve(Box<CurveArgs>),
    /// Measure random I/O against span, block size and depth.
    Random(Box<RandomArgs>),
    /// Measure the seven RPT workloads of 1995 and their RABmarks.
    Rab(Box<RabArgs>),
    /// Bring an SSD to steady state, and measure it there.
    Ssd(Box<SsdArgs>),
    /// Measure transactions: rate, latency, users carried.
    Transactions(Box<TransactionsArgs>),
    /// Measure the transfer rate of a file, pass by pass.
    Transfer(Box<TransferArgs>),
    /// Measure file operations: DECUS tests, metadata, bandwidth.
    Files(Box<FilesArgs>),
    /// Run fio's job files, and print what fio prints.
    Fio(Box<FioArgs>),
    /// Replay a recorded trace: fio's iolog, blktrace, CSV.
    Replay(Box<ReplayArgs>),
    /// Time commands, and compare several in interleaved rounds.
    Time(Box<TimeArgs>),
    /// Compare targets or archived runs; fail a build on a limit.
    Compare(Box<CompareArgs>),
    /// Measure the effect of factors, from a study file.
    Study(Box<StudyArgs>),
    /// A kind of measurement whose settings are data.
    #[command(skip)]
    Kind(Box<KindArgs>),
}

/// How to access the storage, and what may be done to it.
#[derive(Args, Clone, Debug)]
pub struct Reach {
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long, value_name = "BYTES")]
    pub reserve: Option<Bytes>,
    /// Allow writing to the named file or device. All data on it may be lost.
    #[arg(long)]
    pub overwrite: bool,
    /// Repeat the device's name, to destroy a file system or other known content on it.
    #[arg(long, value_name = "DEVICE", requires = "overwrite")]
    pub confirm: Option<String>,
    /// I/O engine.
    #[arg(long, value_enum, default_value_t = DriverChoice::Auto)]
    pub driver: DriverChoice,
    /// Most requests per io_uring submission [default: an eighth of a worker's depth].
    #[arg(long, value_name = "N", value_parser = within::<u16>(1..=4096))]
    pub batch: Option<u16>,
    /// Memory pages for buffers of more than 4 KiB; fio uses small ones by default.
    #[arg(long, value_name = "PAGES", value_enum, default_value_t = PagesChoice::Huge)]
    pub buffer_pages: PagesChoice,
    /// What to do when an operation fails. Failed operations never count in latency and throughput;
    /// they are listed by kind and error, with their own latencies.
    #[arg(long, value_enum, default_value_t = ErrorsChoice::Stop)]
    pub errors: ErrorsChoice,
    /// How long the storage is waited for.
    #[command(flatten)]
    pub hang: HangLimit,
    /// Worker threads [default: half the CPUs, at most 4].
    #[arg(long, value_name = "N", value_parser = within::<u16>(1..=256))]
    pub workers: Option<u16>,
    /// CPUs to pin the workers to, in turn, such as 0-3,8 [default: not pinned].
    #[arg(long, value_name = "LIST", value_parser = parse_processors)]
    pub cpus: Option<CpuList>,
}

/// How long the storage is waited for.
#[derive(Args, Clone, Copy, Debug)]
pub struct HangLimit {
    /// How long to wait at the end for operations that the storage does not answer; the run is then
    /// a partial one.
    #[arg(long, value_name = "TIME", value_parser = parse_level, default_value = "60s")]
    pub hang_limit: Duration,
}

/// What the ranks of a fleet may share.
#[derive(Args, Clone, Copy, Debug)]
pub struct RankSharing {
    /// Let several ranks of a fleet use the same file or device; otherwise each needs its own.
    #[arg(long)]
    pub shared: bool,
}

/// CPUs by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(pub Vec<usize>);

/// I/O engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DriverChoice {
    /// io_uring if allowed, else threads.
    Auto,
    /// io_uring, or fail.
    Uring,
    /// Blocking calls.
    Threads,
}

impl From<DriverChoice> for DriverKind {
    fn from(choice: DriverChoice) -> Self {
        match choice {
            DriverChoice::Auto => Self::Auto,
            DriverChoice::Uring => Self::Uring,
            DriverChoice::Threads => Self::Threads,
        }
    }
}

/// Pages of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PagesChoice {
    /// Huge pages, where the system has them.
    Huge,
    /// Small pages alone.
    Small,
}

/// What to do when an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ErrorsChoice {
    /// End the run; what was measured before is kept.
    Stop,
    /// Count it and continue; a transaction with a failed operation is not completed. Writing a
    /// test file still stops at an error.
    Count,
}

/// `seekstone run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// A directory, a file (read-only unless --overwrite), a block device, or `sim:NAME`.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Total time; if not given, models of slow storage take longer.
    #[arg(
        long, value_name = "TIME", default_value = RUN_BUDGET.default, value_parser = parse_budget
    )]
    pub budget: Duration,
    /// Size of the test file [default: from free space, memory and budget].
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub size: Option<Bytes>,
    /// Find the load at this mean latency, or at a percentile, as in 1ms@p99; repeatable [default:
    /// three of 10, 20, 50, 100 us ... that suit the storage].
    #[arg(long = "level", value_name = "TIME[@pN]", value_parser = parse_level_at)]
    pub levels: Vec<LevelArg>,
    /// Check the results against what an application needs from its storage (docs/profiles.md);
    /// repeatable. Exit codes as for --goal.
    #[arg(long = "profile", value_name = "NAME", value_parser = profile_names())]
    pub profiles: Vec<ProfileChoice>,
    /// Most concurrent reads in the load curve.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = within::<u32>(1..=4096))]
    pub clients_max: u32,
    /// How to access the storage.
    #[command(flatten)]
    pub reach: Reach,
    /// Whether the ranks of a fleet share the target.
    #[command(flatten)]
    pub sharing: RankSharing,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

/// What the clients of `trial` and `curve` do.
#[derive(Args, Clone, Debug)]
pub struct WorkloadArgs {
    /// Block size of an operation.
    #[arg(long, value_name = "BYTES", default_value = "4KiB", value_parser = parse_size)]
    pub block: Bytes,
    /// Access pattern: sequential, uniform, zipf:THETA, hyperbolic:ALPHA, exponential:MEAN.
    #[arg(long, value_name = "PATTERN", default_value = "uniform", value_parser = parse_pattern)]
    pub pattern: workload::Pattern,
    /// How clients share the target.
    #[arg(long, value_enum, default_value_t = PartitionChoice::Contending)]
    pub partition: PartitionChoice,
    /// Share of writes; needs --overwrite, or a directory.
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = parse_share)]
    pub writes: f64,
    /// Follow every write with an fsync, and count both as one operation.
    #[arg(long)]
    pub durable: bool,
    /// Mean time between a completion and the client's next operation.
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = parse_span)]
    pub think: Duration,
    /// Distribution of think times, or of the gaps of --rate.
    #[arg(long, value_enum, default_value_t = ShapeChoice::Exponential)]
    pub shape: ShapeChoice,
    /// Use the page cache (buffered I/O).
    #[arg(long)]
    pub buffered: bool,
    /// Poll for completions instead of waiting for interrupts: lower latency, at the price of a
    /// busy CPU. Needs io_uring and a device with poll queues.
    #[arg(long, conflicts_with_all = ["buffered", "durable"])]
    pub poll: bool,
    /// Whether the ranks of a fleet share the target.
    #[command(flatten)]
    pub sharing: RankSharing,
    /// Number of test files in a directory, which add up to --size; clients are assigned to files
    /// in turn, as to workers. With as many as --workers, each worker gets its own file.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = within::<u16>(1..=256))]
    pub files: u16,
    /// Size of the test file in a directory, or the part of an existing target to use.
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub size: Option<Bytes>,
}

/// `seekstone trial`.
#[derive(Args, Debug)]
pub struct TrialArgs {
    /// A directory, a file (read-only unless --overwrite), a block device, `sim:NAME`, or `null:`
    /// (completes at once: measures Seekstone's own cost).
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Further targets, measured at the same time: each carries this load and has a row.
    #[arg(value_name = "TARGET", value_parser = parse_target)]
    pub others: Vec<TargetName>,
    /// Run the workloads in this file (docs/several-targets.md), each with a row of its own.
    #[arg(
        long = "workload", value_name = "FILE",
        conflicts_with_all = [
            "clients", "depth", "rate", "block", "pattern", "writes", "durable", "think", "shape",
            "buffered",
        ]
    )]
    pub workload_file: Option<PathBuf>,
    /// Virtual clients.
    #[arg(
        long, short, value_name = "N", default_value_t = 1,
        value_parser = within::<u32>(1..=1_000_000)
    )]
    pub clients: u32,
    /// Maximum queue depth, up to 16384 [default: one per client, beyond 1024 clients only as
    /// many as fit into 256 MiB; with --rate, as many as arrive in 100 ms, at least 256].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=drivers::DEPTH_MAX as i64))]
    pub depth: Option<u32>,
    /// Offer this many operations per second over all clients, however long they take; latency
    /// counts from when each was due.
    #[arg(long, value_name = "RATE", conflicts_with = "think", value_parser = parse_rate)]
    pub rate: Option<Rate>,
    /// Stop when mean and rate are this precise, or a percentile, as in 10%@p99.9.
    #[arg(
        long, value_name = "PERCENT[@pN]", default_value = "3%",
        value_parser = parse_trial_precision
    )]
    pub precision: TrialPrecision,
    /// Run for this long, precise or not; a closed loop at least until its first operation
    /// completes.
    #[arg(
        long, value_name = "TIME", value_parser = parse_duration,
        conflicts_with_all = ["precision", "budget"]
    )]
    pub duration: Option<Duration>,
    /// Always leave this much of the start out; counts towards --duration and --budget [default: at
    /// most 1 s or a twentieth, unless latency is stable by then].
    #[arg(long, value_name = "TIME", value_parser = parse_level)]
    pub warm_up: Option<Duration>,
    /// Stop after this long in any case; if not given, models of slow storage take longer.
    #[arg(
        long, value_name = "TIME", default_value = TRIAL_BUDGET.default, value_parser = parse_budget
    )]
    pub budget: Duration,
    /// Split the trial into intervals of this length, and list the load of each.
    #[arg(long, value_name = "TIME", value_parser = parse_interval)]
    pub interval: Option<Duration>,
    /// Put a header into each sector written, check each read against what was written, and read
    /// everything back at the end.
    #[arg(long)]
    pub verify: bool,
    /// Record every write in this new file, for `seekstone verify` after a kill or power loss. It
    /// must not be on the target.
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub verify_state: Option<PathBuf>,
    /// Log each operation in fio's iolog format, version 3 (docs/replay.md).
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub iolog: Option<Output>,
    /// What the clients do.
    #[command(flatten)]
    pub workload: WorkloadArgs,
    /// How to access the storage.
    #[command(flatten)]
    pub reach: Reach,
    /// Print the closest fio job file, and measure nothing.
    #[arg(long)]
    pub as_fio: bool,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

/// `seekstone curve`.
#[derive(Args, Debug)]
pub struct CurveArgs {
    /// A directory, a file (read-only unless --overwrite), a block device, or `sim:NAME`.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Further targets, loaded at the same time; clients are assigned to them in turn, and arrivals
    /// of --open in equal parts.
    #[arg(value_name = "TARGET", value_parser = parse_target)]
    pub others: Vec<TargetName>,
    /// Load the targets with the workloads of this file (docs/several-targets.md). Every load keeps
    /// the proportions of their clients, or with --open of their rates.
    #[arg(
        long = "workload", value_name = "FILE",
        conflicts_with_all = [
            "block", "pattern", "writes", "durable", "think", "shape", "buffered",
        ]
    )]
    pub workload_file: Option<PathBuf>,
    /// Find the load at this mean latency, or at a percentile, as in 1ms@p99; repeatable [default:
    /// three of 10, 20, 50, 100 us ... that suit the storage].
    #[arg(long = "level", value_name = "TIME[@pN]", value_parser = parse_level_at)]
    pub levels: Vec<LevelArg>,
    /// Find the load of random arrivals (open loop), instead of clients that wait for each
    /// operation before issuing the next (closed loop).
    #[arg(long, conflicts_with_all = ["clients_max", "think", "shape"])]
    pub open: bool,
    /// Most clients.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = within::<u32>(1..=100_000))]
    pub clients_max: u32,
    /// Precision of the load at a level.
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = parse_precision)]
    pub precision: f64,
    /// Time for everything but the last points; if not given, models of slow storage take longer,
    /// and with --open those of fast storage less.
    #[arg(
        long, value_name = "TIME", default_value = CURVE_BUDGET.default, value_parser = parse_budget
    )]
    pub budget: Duration,
    /// Always leave this much of the start of every point out; counts towards --budget [default: at
    /// most 1 s or a twentieth, unless latency is stable by then].
    #[arg(long, value_name = "TIME", value_parser = parse_level)]
    pub warm_up: Option<Duration>,
    /// What the clients do.
    #[command(flatten)]
    pub workload: WorkloadArgs,
    /// How to access the storage.
    #[command(flatten)]
    pub reach: Reach,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

/// How clients share a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartitionChoice {
    /// Every client uses all of it.
    Contending,
    /// Each client has a contiguous range.
    Contiguous,
    /// Blocks are dealt out in turn.
    Interleaved,
}

/// Distribution of gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShapeChoice {
    /// All equal.
    Constant,
    /// Evenly from zero to twice the mean.
    Uniform,
    /// Poisson, as from many independent users.
    Exponential,
}

/// `seekstone clean`.
#[derive(Args, Debug)]
pub struct CleanArgs {
    /// The measured directory.
    #[arg(default_value = ".")]
    pub directory: PathBuf,
    /// Remove without asking.
    #[arg(long, short)]
    pub yes: bool,
}
