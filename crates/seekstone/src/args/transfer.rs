//! Arguments of `seekstone transfer`.

use clap::{Args, ValueEnum};
use units::{Bytes, Duration};

use super::parse::{parse_budget, parse_precision, parse_size};
use super::{Common, DriverChoice, RankSharing};

/// `seekstone transfer`.
#[derive(Args, Debug)]
#[command(
    after_help = "A directory gets a file that is written and read, and removed at the end. An \
existing file or device is only read, and never altered.\n\n\
The interval of a rate comes from the variation between its passes; that of a single pass from \
the variation within it. Pass lines show both.\n\n\
Examples:\n  \
seekstone transfer                                until 2 % precise, past the page cache\n  \
seekstone transfer /data --size 4GiB --passes 6 --mode cold\n  \
seekstone transfer /data --block 4KiB --block 64KiB --block 1MiB\n  \
seekstone transfer big.iso --mode buffered\n  \
seekstone transfer /data --streams 3 --compare-alone\n  \
seekstone transfer /data --beside /media/cdrom/film.avi --compare-alone\n  \
seekstone transfer 'sim:md1?time=1ms&size=64MiB'"
)]
pub struct TransferArgs {
    /// A directory, an existing file or block device (read only), or `sim:NAME`.
    #[arg(default_value = ".")]
    pub target: String,
    /// Bytes of one operation; may be given several times, for a series of passes each.
    #[arg(
        long = "block", value_name = "BYTES", default_value = "64KiB", value_parser = parse_size,
        allow_hyphen_values = true, value_delimiter = ','
    )]
    pub blocks: Vec<Bytes>,
    /// Size of the file that is written [default: 1 GiB or half the free space], or the part of an
    /// existing target that is read.
    #[arg(long, value_name = "BYTES", value_parser = parse_size, allow_hyphen_values = true)]
    pub size: Option<Bytes>,
    /// Exactly this many read passes.
    #[arg(
        long, value_name = "N", allow_negative_numbers = true, conflicts_with = "precision",
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    pub passes: Option<u32>,
    /// Read passes until the rate is this precise, from the variation between passes.
    #[arg(
        long, value_name = "PERCENT", default_value = "2%", value_parser = parse_precision,
        allow_hyphen_values = true
    )]
    pub precision: f64,
    /// Time for each series of read passes that is to become precise.
    #[arg(
        long, value_name = "TIME", default_value = "60s", value_parser = parse_budget,
        allow_hyphen_values = true
    )]
    pub budget: Duration,
    /// How data are reached [default: direct].
    #[arg(long, value_enum)]
    pub mode: Option<ModeChoice>,
    /// Streams at once, each with a file of its own.
    #[arg(
        long, value_name = "N", default_value_t = 1, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=64)
    )]
    pub streams: u32,
    /// All streams read the same file.
    #[arg(long)]
    pub same_file: bool,
    /// Another target, as a stream of its own with the first.
    #[arg(long, value_name = "TARGET")]
    pub beside: Option<String>,
    /// Measure each stream alone, too, and compare.
    #[arg(long)]
    pub compare_alone: bool,
    /// What is checked of each block that is read from a file of our own.
    #[arg(long, value_enum, default_value_t = CheckChoice::Last)]
    pub check: CheckChoice,
    /// Space that always stays free [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true)]
    pub reserve: Option<Bytes>,
    /// I/O engine.
    #[arg(long, value_enum, default_value_t = DriverChoice::Auto)]
    pub driver: DriverChoice,
    /// What ranks may share.
    #[command(flatten)]
    pub sharing: RankSharing,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

/// How passes reach their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeChoice {
    /// Past the page cache.
    Direct,
    /// Through the page cache, which keeps what earlier passes left in it.
    Buffered,
    /// Through the page cache, which is dropped before each pass.
    Cold,
    /// Through the page cache, over growing parts: shows when reads begin to come from memory.
    SmallFile,
}

/// What is checked of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckChoice {
    /// Nothing.
    None,
    /// The stamp of its last 4 KiB.
    Last,
    /// Every byte.
    Block,
}
