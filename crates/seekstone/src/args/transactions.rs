//! Arguments of `seekstone transactions`.

use std::path::PathBuf;

use clap::Args;
use kinds::transactions::{STANDARD_SECTIONS, StartAt};
use units::{Bytes, Duration, Rate, TargetName};
use workload::Gap;
use workload::LoadFactor;

use super::parse::within;
use super::parse::{
    parse_budget, parse_cpu, parse_interval, parse_level, parse_precision, parse_rate, parse_share,
    parse_size, parse_span, parse_target, parse_think, parse_user_percentile,
};
use super::words::{one_of, words};
use super::{Common, RankSharing, Reach};

/// `seekstone transactions`.
#[derive(Args, Debug)]
#[command(after_help = help!("transactions"))]
pub struct TransactionsArgs {
    /// Directory, file, block device or `sim:NAME`. Files and devices are only read without
    /// --overwrite.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Users. With --find-users, where the search starts.
    #[arg(long, short, value_parser = within::<u32>(1..=100_000))]
    pub users: Option<u32>,
    /// Mean I/Os per transaction.
    #[arg(long, default_value_t = 5, value_parser = within::<u32>(1..=1_000_000))]
    pub ios: u32,
    /// I/O size.
    #[arg(long, default_value = "4KiB", value_parser = parse_size)]
    pub io: Bytes,
    /// Write percentage (files and devices need --overwrite).
    #[arg(long, default_value = "0%", value_parser = parse_share)]
    pub writes: f64,
    /// Time between transactions: TIME, TIME:constant, TIME:uniform (zero to twice TIME), or
    /// TIME:exponential (the default law).
    #[arg(long, default_value = "5s", value_parser = parse_think)]
    pub think: Gap,
    /// Mean processor work per transaction: a time, or units of the DISKRAND document, as in
    /// 0.5units.
    #[arg(
        long,
        value_name = "WORK",
        default_value = "0",
        allow_hyphen_values = true
    )]
    #[arg(value_parser = parse_cpu)]
    pub cpu: CpuWork,
    /// Time of one unit of processor work [default: 2.5ms, or the definition of a model].
    #[arg(long, value_parser = parse_level)]
    pub cpu_unit: Option<Duration>,
    /// Private memory of each user. Every transaction touches all of it.
    #[arg(long, default_value = "0")]
    pub memory: Bytes,
    /// Distribution of a factor, drawn for each transaction, that scales its I/Os and processor
    /// work.
    #[arg(long, value_parser = one_of(LOADS), default_value = "constant")]
    pub load_factor: LoadFactor,
    /// Draw different records in every run.
    #[arg(long)]
    pub new_records: bool,
    /// Transactions per user.
    #[arg(long, conflicts_with_all = ["duration", "find_users"], value_parser = within::<u64>(1..))]
    pub transactions: Option<u64>,
    /// File with several kinds of users, in TOML (docs/transactions.md).
    #[arg(
        long, value_name = "FILE",
        conflicts_with_all = [
            "ios", "io", "writes", "think", "cpu", "memory", "load_factor", "new_records",
            "transactions",
        ]
    )]
    pub profiles: Option<PathBuf>,
    /// Run a standard test of the DISKRAND document, and print its table. A file of 40 MB, through
    /// the page cache, 100 transactions per task (or --transactions).
    #[arg(
        long, value_name = "SECTION",
        value_parser = clap::builder::PossibleValuesParser::new(STANDARD_SECTIONS),
        conflicts_with_all = [
            "users", "ios", "io", "writes", "think", "cpu", "memory", "load_factor",
            "new_records", "profiles", "duration", "find_users", "precision", "synchronise",
        ]
    )]
    pub standard: Option<String>,
    /// Users to start per second [default: all of them within one second, with --standard, all at
    /// once].
    #[arg(long, conflicts_with = "synchronise", value_parser = parse_rate)]
    pub ramp: Option<Rate>,
    /// Start all users at the same instant. When everything is ready, after a delay (=30s), at a
    /// time (=14:30:00), or with its zone (=2031-05-01T14:30:00Z).
    #[arg(
        long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_missing_value = "0s"
    )]
    pub synchronise: Option<StartAt>,
    /// Length of the intervals in which rates and the machine's work are listed [default: 1s, or a
    /// tenth of a shorter trial, doubled when there are more than 300].
    #[arg(long, value_parser = parse_interval)]
    pub interval: Option<Duration>,
    /// Stop when the mean response time and the rate are this precise.
    #[arg(long, default_value = "5%", value_parser = parse_precision)]
    pub precision: f64,
    /// Run for exactly this long.
    #[arg(long, value_parser = parse_level, conflicts_with = "find_users")]
    pub duration: Option<Duration>,
    /// Always leave this much of the start of every load out. Counts towards --duration and
    /// --budget. The time until all users are active is left out in any case [default: at most 1 s
    /// or a twentieth, unless latency is stable by then].
    #[arg(long, value_parser = parse_level, conflicts_with = "standard")]
    pub warm_up: Option<Duration>,
    /// Stop after this long in any case [default: 5min, or 1h for each row with --standard].
    #[arg(long, value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// Find how many users keep --limit.
    #[arg(long, requires = "limit")]
    pub find_users: bool,
    /// Which percentile of the response time must meet the limit: 50, 90, 95, 99 or 99.9.
    #[arg(
        long, default_value = "95", requires = "find_users",
        value_parser = parse_user_percentile
    )]
    pub percentile: f64,
    /// Response time limit.
    #[arg(long, requires = "find_users", value_parser = parse_level)]
    pub limit: Option<Duration>,
    /// Most users to try.
    #[arg(
        long, default_value_t = 100_000, requires = "find_users",
        value_parser = within::<u32>(1..=100_000)
    )]
    pub users_max: u32,
    /// Maximum queue depth [default: one per user, at most 4096].
    #[arg(long, value_parser = within::<u32>(1..=drivers::DEPTH_MAX as i64))]
    pub depth: Option<u32>,
    /// Use the page cache (buffered I/O).
    #[arg(long)]
    pub buffered: bool,
    /// Test file size, or part of the target to use.
    #[arg(long, value_parser = parse_size)]
    pub size: Option<Bytes>,
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

/// Processor work, as typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CpuWork {
    /// Time of this machine's processors.
    Time(Duration),
    /// Units of the document.
    Units(f64),
}

words! {
    /// How the work of transactions varies.
    LOADS: LoadFactor =
        Constant "constant" "All transactions are alike";
        Exponential "exponential" "Negative exponential with mean 1";
}

impl CpuWork {
    /// Read a time, or a number of units.
    pub fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let units = trimmed
            .strip_suffix("units")
            .or(trimmed.strip_suffix("unit"));
        let Some(units) = units else {
            return parse_span(trimmed).map(Self::Time);
        };
        match units.trim().parse::<f64>() {
            Ok(units) if units.is_finite() && (0.0..=1e6).contains(&units) => {
                Ok(Self::Units(units))
            }
            _ => Err("use a number of units from 0 to 1000000, as in 0.5units".into()),
        }
    }

    /// Nanoseconds of processor time, where a unit is `unit`.
    pub fn nanos(self, unit: Duration) -> u64 {
        match self {
            Self::Time(time) => time.as_nanos(),
            Self::Units(units) => (units * unit.as_nanos() as f64).round() as u64,
        }
    }
}
