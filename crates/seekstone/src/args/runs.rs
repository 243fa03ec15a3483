//! `seekstone runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use units::Duration;

use super::parse::parse_interval;
use super::{ExportForm, Force, RepeatArgs, ResumeArgs, RunChoice};
use crate::output::Output;

/// `seekstone runs`.
#[derive(Args, Debug)]
pub struct RunsArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub command: RunsCommand,
    /// Archive of runs [default: seekstone/archive.db in the user's data directory].
    #[arg(long, value_name = "FILE", global = true)]
    pub archive: Option<PathBuf>,
}

/// What can be done with archived runs.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// List runs, the latest first.
    List {
        /// How many.
        #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
        limit: u32,
        /// Write the list as JSON; `-` is standard output.
        #[arg(long, value_name = "FILE")]
        json: Option<Output>,
        /// What may be replaced.
        #[command(flatten)]
        force: Force,
    },
    /// Print a run again.
    Show {
        /// Its number, or `latest`.
        #[arg(default_value_t = RunChoice::Latest)]
        id: RunChoice,
        /// Every measurement in full, every point of the curve, every warning.
        #[arg(long)]
        all: bool,
    },
    /// Measure a run again, with every setting and definition that it had.
    ///
    /// A default that changed since changes nothing, and a simulated run gives the same figures.
    /// What was allowed for the run, as with --overwrite, must be allowed anew.
    Repeat(Box<RepeatArgs>),
    /// Go on with a run whose program was killed, from the last result that it had.
    Resume(Box<ResumeArgs>),
    /// Write a run as JSON, CSV, Markdown, a page, OpenMetrics text or a picture.
    Export {
        /// Its number, or `latest`.
        id: RunChoice,
        /// Another run whose curve is drawn into the same picture (with --form svg).
        #[arg(long, value_name = "ID")]
        beside: Option<i64>,
        /// Form of the output [default: that of the output's ending, else JSON].
        #[arg(long, value_enum)]
        form: Option<ExportForm>,
        /// Join intervals until each is this long (with --form series).
        #[arg(long, value_name = "TIME", value_parser = parse_interval)]
        every: Option<Duration>,
        /// Where to; `-` is standard output.
        #[arg(long, short, value_name = "FILE", default_value = "-")]
        output: Output,
        /// What may be replaced.
        #[command(flatten)]
        force: Force,
    },
    /// Archive a run that was exported as JSON or as a page, or what a log file of `rpt` or
    /// `diskrand` holds.
    Import {
        /// The exported run or page, or the log file, as in rpt.rpl, LogFile.txt or Multi2.txt.
        file: PathBuf,
    },
    /// Merge the passes of several logs of `diskmbps`, and of archived runs of `transfer`, by time.
    Merge {
        /// Log files, and numbers of archived runs.
        #[arg(required = true, value_name = "FILE|ID")]
        sources: Vec<String>,
    },
    /// Compare runs with the first of them, figure by figure, and name what differs in their
    /// setups.
    Compare(Box<CompareRunsArgs>),
    /// Delete runs.
    Delete {
        /// Their numbers.
        #[arg(required = true)]
        ids: Vec<i64>,
    },
}

/// `seekstone runs compare`.
#[derive(Args, Debug)]
pub struct CompareRunsArgs {
    /// The numbers of the runs, or `latest`; the others are compared with the first.
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<RunChoice>,
    /// Every figure and every difference of the setups.
    #[arg(long)]
    pub all: bool,
    /// One table of systems, as in the documents.
    #[arg(long, value_enum)]
    pub table: Option<TableChoice>,
    /// The number of the system, as it stands in the table, that the others are divided by.
    #[arg(long, value_name = "N", requires = "table")]
    pub against: Option<u32>,
    /// A figure of `--table systems`, as in throughput; may be given several times [default: all
    /// but details].
    #[arg(long = "metric", value_name = "NAME", requires = "table")]
    pub metrics: Vec<String>,
    /// Prices, makers' specifications and other facts of the systems (docs/systems.md).
    #[arg(long, value_name = "FILE", requires = "table")]
    pub facts: Option<PathBuf>,
    /// Write the comparison as one page for a browser, with all curves in one chart.
    #[arg(long, value_name = "FILE", conflicts_with = "table")]
    pub html: Option<Output>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
}

/// Tables of `runs compare`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableChoice {
    /// The tests of `files`: systems as columns, tests as rows.
    Files,
    /// Any runs: systems as rows below each figure, with their performance relative to one.
    Systems,
}
