//! Arguments of `seekstone fio`.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fio::output::TerseVersion;

use units::{Duration, TargetName};

use super::{Common, RankSharing, Reach};
use crate::output::Output;

/// `seekstone fio`.
#[derive(Args, Debug)]
#[command(after_help = help!("fio"))]
pub struct FioArgs {
    /// fio job files. The jobs of a file start after those of the previous one.
    #[arg(value_name = "JOBFILE")]
    pub files: Vec<PathBuf>,
    /// Explain each option and job, without I/O.
    #[arg(long, visible_alias = "parse-only")]
    pub check: bool,
    /// Print the jobs as fio's command line.
    #[arg(long)]
    pub showcmd: bool,
    /// Print the version of fio whose output this is, then ours.
    #[arg(long)]
    pub version: bool,
    /// Refuse jobs that write or trim.
    #[arg(long)]
    pub readonly: bool,
    /// Leave files that jobs make under fio's names, and write to those that an earlier run left.
    #[arg(long)]
    pub keep_files: bool,
    /// End with code 3 if a number must not be used, as other commands do.
    #[arg(long)]
    pub strict: bool,
    /// Only the jobs of this name (repeatable).
    #[arg(long = "section", value_name = "NAME")]
    pub sections: Vec<String>,
    /// Output formats: fio's report, its terse lines, or its JSON. Several in a row.
    #[arg(
        long,
        value_enum,
        default_value = "normal",
        value_name = "FORM",
        value_delimiter = ','
    )]
    pub output_format: Vec<FormatChoice>,
    /// The same as --output-format normal,terse.
    #[arg(long, conflicts_with_all = ["output_format", "minimal"])]
    pub append_terse: bool,
    /// Which fields terse lines have: version 2, 3, 4 or 5 of fio.
    #[arg(long, default_value = "3", value_name = "N", value_parser = terse_version)]
    pub terse_version: TerseVersion,
    /// The same as --output-format terse.
    #[arg(long, conflicts_with = "output_format")]
    pub minimal: bool,
    /// Write the output to this file.
    #[arg(long, value_name = "FILE")]
    pub output: Option<Output>,
    /// Record what verified jobs wrote in this new file, for `seekstone verify` after a kill or
    /// power loss.
    #[arg(long, value_name = "FILE")]
    pub verify_state: Option<PathBuf>,
    /// Write agg-read_bw.log, agg-write_bw.log and agg-trim_bw.log: the bandwidth of all jobs
    /// together, twice a second.
    #[arg(long)]
    pub bandwidth_log: bool,
    /// Print an interim report at this interval. A bare number is in seconds.
    #[arg(long, value_parser = period)]
    pub status_interval: Option<Duration>,
    /// Show progress: on a terminal, always, or never.
    #[arg(long, value_enum, default_value_t = EtaChoice::Auto, value_name = "WHEN")]
    pub eta: EtaChoice,
    /// Print a line of progress at this interval. A bare number is in seconds.
    #[arg(long, value_parser = period)]
    pub eta_newline: Option<Duration>,
    /// Report how idle the CPUs were, from /proc/stat: all together, or each.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub idle_prof: Option<IdlenessOf>,
    /// How to access the storage.
    #[command(flatten)]
    pub reach: Reach,
    /// What ranks may share.
    #[command(flatten)]
    pub sharing: RankSharing,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
    /// fio's own options.
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<String>,
    /// Where the jobs work that are a repeat of a study.
    #[arg(skip)]
    pub place: Option<TargetName>,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum FormatChoice {
    /// For people.
    Normal,
    /// A line of fields for each job.
    Terse,
    /// One JSON document.
    Json,
    /// The same with histograms.
    #[value(name = "json+")]
    JsonPlus,
}

/// Whose idleness is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IdlenessOf {
    /// All CPUs together.
    System,
    /// Each of them, too.
    Percpu,
}

/// When progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EtaChoice {
    /// A bar on a terminal, a line for each phase elsewhere.
    Auto,
    /// Also without a terminal, one line a second.
    Always,
    /// None.
    Never,
}

fn terse_version(text: &str) -> Result<TerseVersion, String> {
    TerseVersion::of(text).ok_or_else(|| "fio has versions 2, 3, 4 and 5".into())
}

/// A time as fio reads it: in seconds without a unit.
fn period(text: &str) -> Result<Duration, String> {
    let period = fio::period(text)?;
    match period > Duration::ZERO {
        true => Ok(period),
        false => Err("it must be above zero".into()),
    }
}

impl FioArgs {
    /// Whether jobs are only looked at.
    pub const fn measures_nothing(&self) -> bool {
        self.check || self.showcmd || self.version
    }

    /// Show no progress where nobody sees it: scripts and services take what fio writes to standard
    /// error for errors.
    pub fn be_quiet_unless_seen(&mut self) {
        let is_unseen = !std::io::stderr().is_terminal();
        self.common.quiet |= is_unseen;
        self.common.has_no_notes = is_unseen;
    }

    /// What is printed, each form once, in fio's order.
    pub fn formats(&self) -> Vec<FormatChoice> {
        let mut formats = match (self.minimal, self.append_terse) {
            (true, _) => vec![FormatChoice::Terse],
            (_, true) => vec![FormatChoice::Normal, FormatChoice::Terse],
            _ => self.output_format.clone(),
        };
        formats.sort_unstable();
        formats.dedup();
        // The longer form of JSON has all of the shorter.
        if formats.contains(&FormatChoice::JsonPlus) {
            formats.retain(|it| *it != FormatChoice::Json);
        }
        formats
    }
}
