//! Arguments of `seekstone transfer`.

use clap::{Args, ValueEnum};
use results::TransferMode;
use units::{Bytes, Duration, TargetName};

use super::parse::within;
use super::parse::{parse_budget, parse_precision, parse_size, parse_target};
use super::words::{one_of, words};
use super::{Common, EngineArgs, RankSharing};

/// `seekstone transfer`.
#[derive(Args, Debug)]
#[command(after_help = help!("transfer"))]
pub struct TransferArgs {
    /// Directory, file or device (read only), or `sim:NAME`.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Block size of an operation (repeatable), for a series of passes each.
    #[arg(
        long = "block", default_value = "64KiB", value_parser = parse_size,
        value_delimiter = ','
    )]
    pub blocks: Vec<Bytes>,
    /// Test file size, or part of the target to read [default: 1 GiB or half the free space].
    #[arg(long, value_parser = parse_size)]
    pub size: Option<Bytes>,
    /// Exactly this many read passes.
    #[arg(
        long = "repeat", alias = "passes",
        conflicts_with = "precision",
        value_parser = within::<u32>(1..=10_000)
    )]
    pub passes: Option<u32>,
    /// Repeat read passes until the rate is this precise, by the variation between passes.
    #[arg(long, default_value = "2%", value_parser = parse_precision)]
    pub precision: f64,
    /// Total time, in equal parts for each series of passes. The default is for each series of read
    /// passes.
    #[arg(long, default_value = "60s", value_parser = parse_budget)]
    pub budget: Duration,
    /// How to read the data [default: direct].
    #[arg(long, value_parser = one_of(MODES))]
    pub mode: Option<TransferMode>,
    /// Concurrent streams, each with its own file [default: 1, or one per MPI rank].
    #[arg(long, value_parser = within::<u32>(1..=64))]
    pub streams: Option<u32>,
    /// Let all streams read the same file.
    #[arg(long)]
    pub same_file: bool,
    /// Another target, as an additional stream.
    #[arg(long, value_name = "TARGET", value_parser = parse_target)]
    pub beside: Option<TargetName>,
    /// Measure each stream alone, too, and compare.
    #[arg(long)]
    pub compare_alone: bool,
    /// What to check in each block read from a file that Seekstone wrote.
    #[arg(long, value_enum, default_value_t = CheckChoice::Last)]
    pub check: CheckChoice,
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long)]
    pub reserve: Option<Bytes>,
    /// How requests are made.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// What ranks may share.
    #[command(flatten)]
    pub sharing: RankSharing,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

impl TransferArgs {
    /// Streams of all ranks: one a rank, unless asked for.
    pub fn streams(&self) -> u32 {
        self.streams.unwrap_or_else(|| self.common.rank_count())
    }
}

words! {
    /// How passes read their data.
    MODES: TransferMode =
        Direct "direct" "Direct I/O, bypassing the page cache";
        Buffered "buffered" "Through the page cache, as earlier passes left it";
        Cold "cold" "Through the page cache, which is dropped before each pass";
        SmallFile "small-file"
            "Through the page cache, over growing parts: shows which sizes are read from memory";
}

/// What to check in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckChoice {
    /// Nothing.
    None,
    /// The stamp of its last 4 KiB.
    Last,
    /// Every byte.
    Block,
}
