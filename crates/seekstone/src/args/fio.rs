//! Arguments of `seekstone fio`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use units::{Duration, TargetName};

use super::{Common, RankSharing, Reach};
use crate::output::Output;

/// `seekstone fio`.
#[derive(Args, Debug)]
#[command(
    after_help = "fio's own options, such as --name=a --rw=randread, define jobs as in fio.\n\n\
Examples:\n  \
seekstone fio jobs.fio\n  \
seekstone fio jobs.fio --check\n  \
seekstone fio jobs.fio --showcmd --section randread\n  \
seekstone fio --output-format=json --name=a --rw=randread --size=1g --direct=1"
)]
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
    /// Refuse jobs that write or trim.
    #[arg(long)]
    pub readonly: bool,
    /// Only the jobs of this name (repeatable).
    #[arg(long = "section", value_name = "NAME")]
    pub sections: Vec<String>,
    /// Output formats: fio's report, its terse lines (version 3), or its JSON. Several in a row.
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
    /// Print an interim report at this interval. A bare number is in seconds.
    #[arg(long, value_name = "TIME", value_parser = period)]
    pub status_interval: Option<Duration>,
    /// Show progress: on a terminal, always, or never.
    #[arg(long, value_enum, default_value_t = EtaChoice::Auto, value_name = "WHEN")]
    pub eta: EtaChoice,
    /// Print a line of progress at this interval. A bare number is in seconds.
    #[arg(long, value_name = "TIME", value_parser = period)]
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
    /// Where the jobs work that are a replicate of a study.
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
    #[must_use]
    pub const fn measures_nothing(&self) -> bool {
        self.check || self.showcmd
    }

    /// What is printed, each form once, in fio's order.
    #[must_use]
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
