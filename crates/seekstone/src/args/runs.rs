//! `seekstone runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use units::Duration;

use super::export::form_parser;
use super::parse::parse_interval;
use super::{Force, Outputs, RepeatArgs, ResumeArgs, RunChoice, RunSet};
use crate::forms::RunForm;
use crate::output::Output;

/// `seekstone runs`.
#[derive(Args, Debug)]
pub struct RunsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: RunsCommand,
    /// Archive file [default: seekstone/archive.db in the user's data directory].
    #[arg(long, value_name = "FILE", global = true)]
    pub archive: Option<PathBuf>,
}

/// What to do with archived runs.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// List runs, the latest first.
    List {
        /// How many.
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: u32,
        /// Write the list as JSON. `-` is standard output.
        #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
        json: Option<Output>,
        /// What may be replaced.
        #[command(flatten)]
        force: Force,
    },
    /// Print runs again.
    Show {
        /// Their numbers, ranges as in 3..7, or `latest`.
        #[arg(value_name = "ID", default_value = "latest")]
        ids: Vec<RunSet>,
        /// Every measurement in full, every point of the curve, and every warning.
        #[arg(long)]
        all: bool,
        /// What their systems cost.
        #[command(flatten)]
        facts: SystemFactsFile,
        /// The forms to write.
        #[command(flatten)]
        outputs: Outputs,
    },
    /// Repeat a run with the same settings and definitions.
    ///
    /// Defaults that have changed since make no difference, and a simulated run gives the same
    /// results. Permissions such as --overwrite must be given again.
    Repeat(Box<RepeatArgs>),
    /// Resume a killed run from its last result.
    Resume(Box<ResumeArgs>),
    /// Export runs as JSON, CSV, Markdown, HTML, SVG and other forms.
    ///
    /// Several runs are one table with their numbers, one JSON array, or one chart or page against
    /// the first.
    Export {
        /// Their numbers, ranges as in 3..7, or `latest`.
        #[arg(value_name = "ID", default_value = "latest")]
        ids: Vec<RunSet>,
        /// Another run, as if its number followed the others.
        #[arg(long, value_name = "ID", hide = true)]
        beside: Vec<RunChoice>,
        /// Output format [default: from the file name's ending, else JSON].
        #[arg(long, alias = "format", value_parser = form_parser())]
        form: Option<&'static RunForm>,
        /// Length of the windows of --form series. A multiple of the run's intervals.
        #[arg(long, value_parser = parse_interval)]
        every: Option<Duration>,
        /// What their systems cost.
        #[command(flatten)]
        facts: SystemFactsFile,
        /// Output file. `-` is standard output.
        #[arg(long, short, value_name = "FILE", default_value = "-")]
        output: Output,
        /// What may be replaced.
        #[command(flatten)]
        force: Force,
    },
    /// Import an exported run, or a log of a program of 1995-97.
    Import {
        /// The exported run, or the log file, as in rpt.rpl, LogFile.txt or Multi2.txt.
        file: PathBuf,
    },
    /// Merge passes of `diskmbps` logs and `transfer` runs by time.
    Merge {
        /// Log files and run numbers.
        #[arg(required = true, value_name = "FILE|ID")]
        sources: Vec<String>,
    },
    /// Compare runs and their setups with the first one.
    Compare(Box<CompareRunsArgs>),
    /// Delete runs.
    Delete {
        /// Their numbers, ranges as in 3..7, or `latest`.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<RunSet>,
    },
}

/// `seekstone runs compare`.
#[derive(Args, Debug)]
pub struct CompareRunsArgs {
    /// The numbers of the runs, or `latest`. The others are compared with the first.
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<RunChoice>,
    /// Every figure and every difference in the setups.
    #[arg(long)]
    pub all: bool,
    /// One table of all systems, as in the documents.
    #[arg(long, value_enum)]
    pub table: Option<TableChoice>,
    /// Number of the system in the table to which the others are relative.
    #[arg(long, requires = "table")]
    pub against: Option<u32>,
    /// A figure of `--table systems`, as in throughput (repeatable) [default: all but details].
    #[arg(long = "metric", value_name = "NAME", requires = "table")]
    pub metrics: Vec<String>,
    /// What the systems cost, and what their vendors specify.
    #[command(flatten)]
    pub facts: SystemFactsFile,
    /// Write the comparison as an HTML page, with all curves in one chart.
    #[arg(long, value_name = "FILE", conflicts_with = "table")]
    pub html: Option<Output>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
}

/// What no program finds out about systems.
#[derive(Args, Debug)]
pub struct SystemFactsFile {
    /// File with prices and vendors' specifications, for figures per unit of money and `compare
    /// --table systems` (docs/systems.md).
    #[arg(long, value_name = "FILE")]
    pub facts: Option<PathBuf>,
}

/// Tables of `runs compare`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableChoice {
    /// The tests of `files`: systems as columns, tests as rows.
    Files,
    /// Any runs: systems as rows under each figure, relative to one of them.
    Systems,
}
