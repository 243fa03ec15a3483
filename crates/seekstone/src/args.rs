//! The command line: one definition for parsing, help, completions and the manual page.

/// What stands behind the options in the help of a command: a text of `args/help`.
macro_rules! help {
    ($name:literal) => {
        include_str!(concat!("help/", $name, ".txt")).trim_ascii_end()
    };
}

mod brief;
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
mod hpc;
mod inspect;
mod io500;
mod kind;
pub mod parse;
mod ping;
mod positioning;
mod profile;
mod profile_choice;
mod rab;
mod random;
mod record;
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
mod watch;
mod what_if;
mod wire;
mod words;

use std::path::PathBuf;

use ::hpc::{IorCommand, MdtestCommand};
use clap::{Args, ColorChoice, Parser, Subcommand};
use drivers::{BufferPages, DriverKind};
use lab::hosts::TargetSharing;
use procedure::OnError;
use units::{Bytes, Duration, Rate, TargetName};
use workload::{GapShape, Partition};

use crate::output::Output;

pub use self::budgets::{
    BUDGET_MAX, CELL_TIME, CURVE_BUDGET, RAB_BUDGET, RANDOM_BUDGET, RUN_BUDGET, TRIAL_BUDGET,
};
pub use self::classic::{ClassicArgs, ClassicCommand, RptArgs, TransactArgs};
pub use self::common::{BY_ENDING, Common, Force, Outputs};
pub use self::hpc::{HpcArgs, HpcOptions};
pub use self::io500::Io500Args;
pub use self::watch::WatchArgs;
pub use brief::in_full;
pub use compare::CompareArgs;
pub use devices::{DevicesArgs, DevicesCommand};
pub use diskmbps::DiskMbpsArgs;
pub use diskrand::DiskRandArgs;
pub use files::{FilesArgs, HpcFiles, LayoutChoice, WorkloadChoice};
pub use fio::{EtaChoice, FioArgs, FormatChoice, IdlenessOf};
pub use fleet::{FleetArgs, FleetCommand, LaunchArgs, ManifestArgs, SlurmArgs};
pub use generate::{CompletionsArgs, ManArgs};
pub use groups::with_help_for;
pub use inspect::InspectArgs;
pub use kind::{KindArgs, definition, is_list, typed};
use parse::within;
use parse::{
    LevelArg, TrialPrecision, parse_budget, parse_duration, parse_interval, parse_level,
    parse_level_at, parse_pattern, parse_precision, parse_processors, parse_rate, parse_share,
    parse_size, parse_span, parse_target, parse_trial_precision,
};
pub use ping::PingArgs;
pub use positioning::PositioningArgs;
pub use profile::LoadProfileArgs;
pub use profile_choice::{ProfileChoice, profile_choices};
pub use rab::RabArgs;
pub use random::{FilePart, RandomArgs};
pub use record::RecordArgs;
pub use repeat::{AgainArgs, RepeatArgs, ResumeArgs};
pub use replay::{DEPTH_FAST, ReplayArgs};
pub use run_choice::RunChoice;
pub use run_sets::{RunPart, RunSet};
pub use runs::{CompareRunsArgs, RunsArgs, RunsCommand, SystemFactsFile, TableChoice};
pub use serve::ServeArgs;
pub use ssd::{PurgeChoice, SsdArgs, WriteCacheChoice};
pub use study::{StudyArgs, StudyCommand};
pub use time::TimeArgs;
pub use together::TogetherArgs;
pub use transactions::TransactionsArgs;
pub use transfer::{CheckChoice, TransferArgs};
pub use verify::{AfterChoice, VerifyArgs};
pub use what_if::WhatIfArgs;
pub use wire::WireArgs;
use words::{DRIVERS, ERRORS, PAGES, one_of, words};
#[cfg(feature = "vintage")]
pub use {classic::ClassicReach, devices::ValidateArgs, diskrand::ARGUMENTS as DISKRAND_ARGUMENTS};

/// Behind all options but `--help`: options of the measurement come first.
const LAST: usize = 900;

/// Measure how much load storage sustains at the latency you need.
#[derive(Debug, Parser)]
#[command(
    name = "seekstone",
    version,
    max_term_width = 100,
    subcommand_required = true
)]
#[command(arg_required_else_help = true)]
pub struct Seekstone {
    /// Colour the output. `auto` colours a terminal unless NO_COLOR is set or TERM is `dumb`.
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
    /// Run the RAID Performance Test of 1995, with its own files.
    Rpt(Box<RptArgs>),
    /// Run the disk data transfer rate test of 1997.
    Diskmbps(DiskMbpsArgs),
    /// Run the disk and transaction random access test of 1997.
    Diskrand(DiskRandArgs),
    /// Run several programs of 1997 at once, on a model.
    Together(TogetherArgs),
    /// Run one control thread of the RAID Performance Test.
    Transact(Box<TransactArgs>),
    /// Programs of 1995-97: rpt, transact, diskmbps, diskrand.
    Classic(ClassicArgs),
    /// Describe storage, and problems that can distort results.
    Inspect(InspectArgs),
    /// Verify data that `trial --verify-state` wrote.
    Verify(VerifyArgs),
    /// List simulated devices, with their sources.
    Devices(DevicesArgs),
    /// Predict other loads from archived runs.
    Whatif(WhatIfArgs),
    /// Print the time of one read after the other, as ioping does.
    Ping(PingArgs),
    /// Watch storage for days: slow times, and who caused them.
    Watch(Box<WatchArgs>),
    /// Record requests of a device or process, to replay them.
    Record(RecordArgs),
    /// Profile a recorded load, and fit a workload to it.
    Profile(LoadProfileArgs),
    /// Create a network link of known delay and rate.
    Wire(WireArgs),
    /// List, show, export, repeat and delete archived runs.
    Runs(RunsArgs),
    /// Serve archived runs as web pages.
    Serve(ServeArgs),
    /// Remove leftovers of killed runs from a directory.
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
    /// Quick benchmark of a directory, file or device.
    Run(Box<RunArgs>),
    /// Run one workload.
    Trial(Box<TrialArgs>),
    /// Measure latency against load, and IOPS at given latencies.
    Curve(Box<CurveArgs>),
    /// Sweep span, block size and queue depth of random I/O.
    Random(Box<RandomArgs>),
    /// Run the seven workloads of RPT, for RABmarks.
    Rab(Box<RabArgs>),
    /// Measure an SSD in steady state.
    Ssd(Box<SsdArgs>),
    /// Run transactions of users, with think time and CPU work.
    Transactions(Box<TransactionsArgs>),
    /// Measure sequential throughput, pass by pass.
    Transfer(Box<TransferArgs>),
    /// Test metadata, small files and file bandwidth.
    Files(Box<FilesArgs>),
    /// Run fio job files or options, with fio's output.
    Fio(Box<FioArgs>),
    /// Run IOR's options, with its table.
    Ior(Box<HpcArgs<IorCommand>>),
    /// Run mdtest's options, with its table.
    Mdtest(Box<HpcArgs<MdtestCommand>>),
    /// Run IO500's phases, for its score.
    Io500(Box<Io500Args>),
    /// Replay a recorded trace: fio's iolog, blktrace, CSV.
    Replay(Box<ReplayArgs>),
    /// Time opening files in random order, on a simulated device.
    Positioning(Box<PositioningArgs>),
    /// Time commands, and compare several.
    Time(Box<TimeArgs>),
    /// Compare targets or runs, and gate a build in CI.
    Compare(Box<CompareArgs>),
    /// Run experiments from a study file.
    Study(Box<StudyArgs>),
    /// A kind of measurement whose settings are data.
    #[command(skip)]
    Kind(Box<KindArgs>),
}

/// How to access the storage, and what may be done to it.
#[derive(Args, Clone, Debug)]
pub struct Reach {
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long)]
    pub reserve: Option<Bytes>,
    /// Write to the target. DESTROYS its data.
    #[arg(long)]
    pub overwrite: bool,
    /// Confirm by device name that a device with known content may be wiped.
    #[arg(long, value_name = "DEVICE", requires = "overwrite")]
    pub confirm: Option<String>,
    /// How requests are made.
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// How requests are made, and how long the storage is waited for.
#[derive(Args, Clone, Debug)]
pub struct EngineArgs {
    /// I/O engine.
    #[arg(long, value_parser = one_of(DRIVERS), default_value = "auto")]
    pub driver: DriverKind,
    /// Most requests per io_uring submission [default: an eighth of a worker's depth].
    #[arg(long, value_parser = within::<u16>(1..=4096))]
    pub batch: Option<u16>,
    /// Memory pages for buffers of more than 4 KiB. Fio uses small ones by default.
    #[arg(long, value_name = "PAGES", value_parser = one_of(PAGES), default_value = "huge")]
    pub buffer_pages: BufferPages,
    /// What to do when an operation fails. Failed operations never count in latency and throughput.
    /// They are listed by kind and error, with their own latencies.
    #[arg(long, value_parser = one_of(ERRORS), default_value = "stop")]
    pub errors: OnError,
    /// How long to wait at the end for operations that the storage does not answer. The run is then
    /// a partial one.
    #[arg(long, value_parser = parse_level, default_value = "60s")]
    pub hang_limit: Duration,
    /// Worker threads [default: half the CPUs, at most 4].
    #[arg(long, value_parser = within::<u16>(1..=256))]
    pub workers: Option<u16>,
    /// CPUs to pin the workers to, in turn, such as 0-3,8 [default: not pinned].
    #[arg(long, value_name = "LIST", value_parser = parse_processors)]
    pub cpus: Option<CpuList>,
}

/// What the ranks of a fleet may share.
#[derive(Args, Clone, Copy, Debug)]
pub struct RankSharing {
    /// Let several ranks of a fleet use the same file or device. Otherwise each needs its own.
    #[arg(long)]
    pub shared: bool,
}

impl From<RankSharing> for TargetSharing {
    fn from(RankSharing { shared }: RankSharing) -> Self {
        if shared { Self::Shared } else { Self::Separate }
    }
}

/// CPUs by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(pub Vec<usize>);

/// `seekstone run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// Directory, file, block device or `sim:NAME`. Files and devices are only read without
    /// --overwrite.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Time limit. By default, models of slow storage take longer.
    #[arg(long, default_value = RUN_BUDGET.default, value_parser = parse_budget)]
    pub budget: Duration,
    /// Test file size [default: from free space, memory and budget].
    #[arg(long, value_parser = parse_size)]
    pub size: Option<Bytes>,
    /// Find the IOPS at a latency, as in 1ms or 2ms@p99 (repeatable) [default: three of 10, 20, 50,
    /// 100 us ... that suit the storage].
    #[arg(long = "level", value_parser = parse_level_at)]
    pub levels: Vec<LevelArg>,
    /// Measure what an application needs instead, as in postgres.
    ///
    /// Repeatable. A wrong name lists them, and docs/profiles.md says what each measures. Exit
    /// codes are those of --goal.
    #[arg(
        long = "profile", value_name = "NAME", value_parser = profile_choices(),
        hide_possible_values = true,
        conflicts_with_all = ["levels", "clients_max"]
    )]
    pub profiles: Vec<ProfileChoice>,
    /// Most concurrent reads in the load curve.
    #[arg(long, default_value_t = 256, value_parser = within::<u32>(1..=4096))]
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
    /// Block size.
    #[arg(long, default_value = "4KiB", value_parser = parse_size)]
    pub block: Bytes,
    /// As in sequential, random, zipf:1.1.
    ///
    /// `random` and `uniform` are the same. Zipf:THETA reads few blocks often. Hyperbolic:ALPHA and
    /// exponential:MEAN step on from block to block.
    #[arg(long, value_name = "PATTERN", default_value = "uniform", value_parser = parse_pattern)]
    pub pattern: workload::Pattern,
    /// How clients share the target.
    #[arg(long, value_parser = one_of(PARTITIONS), default_value = "contending")]
    pub partition: Partition,
    /// Write percentage (files and devices need --overwrite).
    #[arg(long, default_value = "0%", value_parser = parse_share)]
    pub writes: f64,
    /// Follow every write with an fsync, and count both as one operation.
    #[arg(long)]
    pub durable: bool,
    /// Mean time between a completion and the client's next operation.
    #[arg(long, default_value = "0", value_parser = parse_span)]
    pub think: Duration,
    /// Distribution of think times, or of the gaps of --rate.
    #[arg(long, value_parser = one_of(SHAPES), default_value = "exponential")]
    pub shape: GapShape,
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
    /// Number of test files in a directory, which add up to --size. Clients are assigned to files
    /// in turn, as to workers. With as many as --workers, each worker gets its own file.
    #[arg(long, default_value_t = 1, value_parser = within::<u16>(1..=256))]
    pub files: u16,
    /// Test file size, or part of the target to use.
    #[arg(long, value_parser = parse_size)]
    pub size: Option<Bytes>,
}

/// `seekstone trial`.
#[derive(Args, Clone, Debug)]
pub struct TrialArgs {
    /// Directory, file, block device or `sim:NAME`. `null:` completes at once and measures
    /// Seekstone's own cost. Files and devices are only read without --overwrite.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Further targets, measured at the same time: each gets this load and has a row.
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
    /// Concurrent clients, each with one I/O outstanding [default: 1, or one per MPI rank].
    #[arg(long, short, value_parser = within::<u32>(1..=1_000_000))]
    pub clients: Option<u32>,
    /// Maximum queue depth, up to 16384 [default: one per client, beyond 1024 clients only as
    /// many as fit into 256 MiB, with --rate, as many as arrive in 100 ms, at least 256].
    #[arg(long, value_parser = within::<u32>(1..=drivers::DEPTH_MAX as i64))]
    pub depth: Option<u32>,
    /// Issue I/Os at a rate, as in 2000/s. Latency counts from when each was due, however long
    /// earlier ones take.
    #[arg(long, conflicts_with = "think", value_parser = parse_rate)]
    pub rate: Option<Rate>,
    /// Stop when mean and rate are this precise, or a percentile, as in 10%@p99.9.
    #[arg(
        long, value_name = "PERCENT[@pN]", default_value = "3%",
        value_parser = parse_trial_precision
    )]
    pub precision: TrialPrecision,
    /// Run for this long. A closed loop at least until its first operation completes.
    #[arg(long, value_parser = parse_duration, conflicts_with_all = ["precision", "budget"])]
    pub duration: Option<Duration>,
    /// Always leave this much of the start out. Counts towards --duration and --budget [default: at
    /// most 1 s or a twentieth, unless latency is stable by then].
    #[arg(long, value_parser = parse_level)]
    pub warm_up: Option<Duration>,
    /// Time limit. By default, models of slow storage take longer.
    #[arg(long, default_value = TRIAL_BUDGET.default, value_parser = parse_budget)]
    pub budget: Duration,
    /// Repeat the trial, archive each, and show one result over all (docs/gate.md).
    #[arg(
        long, default_value_t = 1, value_parser = within::<u32>(1..=100),
        conflicts_with = "interval"
    )]
    pub repeat: u32,
    /// Show IOPS, p50, p99 and maximum of each interval of this length.
    #[arg(long, value_parser = parse_interval)]
    pub interval: Option<Duration>,
    /// Put a header into each sector written, check each read against it, and read everything back
    /// at the end.
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

impl TrialArgs {
    /// Clients of all ranks: one a rank, unless asked for.
    pub fn clients(&self) -> u32 {
        self.clients.unwrap_or_else(|| self.common.rank_count())
    }
}

/// `seekstone curve`.
#[derive(Args, Debug)]
pub struct CurveArgs {
    /// Directory, file, block device or `sim:NAME`. Files and devices are only read without
    /// --overwrite.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Further targets, loaded at the same time. Clients are assigned to them in turn, and arrivals
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
    /// Find the IOPS at a latency, as in 1ms or 2ms@p99 (repeatable) [default: three of 10, 20, 50,
    /// 100 us ... that suit the storage].
    #[arg(long = "level", value_parser = parse_level_at)]
    pub levels: Vec<LevelArg>,
    /// Use random arrivals (open loop). Without it, clients wait for each operation before issuing
    /// the next (closed loop).
    #[arg(long, conflicts_with_all = ["clients_max", "think", "shape"])]
    pub open: bool,
    /// Most clients.
    #[arg(long, default_value_t = 256, value_parser = within::<u32>(1..=100_000))]
    pub clients_max: u32,
    /// Precision of the load at a level.
    #[arg(long, default_value = "3%", value_parser = parse_precision)]
    pub precision: f64,
    /// Time limit. The last points may exceed it. By default, models of slow storage take longer,
    /// and with --open those of fast storage less.
    #[arg(long, default_value = CURVE_BUDGET.default, value_parser = parse_budget)]
    pub budget: Duration,
    /// Always leave this much of the start of every point out. Counts towards --budget [default: at
    /// most 1 s or a twentieth, unless latency is stable by then].
    #[arg(long, value_parser = parse_level)]
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

words! {
    /// How clients share a target.
    PARTITIONS: Partition =
        Contending "contending" "Every client uses all of it";
        Contiguous "contiguous" "Each client has a contiguous range";
        Interleaved "interleaved" "Blocks are dealt out in turn";
}

words! {
    /// Distributions of gaps.
    SHAPES: GapShape =
        Constant "constant" "All equal";
        Uniform "uniform" "Evenly from zero to twice the mean";
        Exponential "exponential" "Poisson, as from many independent users";
}

/// `seekstone clean`.
#[derive(Args, Debug)]
pub struct CleanArgs {
    /// The measured directory, or a bucket such as s3:https://HOST/BUCKET.
    #[arg(default_value = ".")]
    pub directory: PathBuf,
    /// Check the server of a bucket against the authorities in FILE (PEM).
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Remove without asking.
    #[arg(long, short)]
    pub yes: bool,
}
