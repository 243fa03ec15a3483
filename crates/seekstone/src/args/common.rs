//! What every measuring command takes.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use lab::hosts::Party;
use procedure::Requirement;
use results::Run;
use units::LeftOut;

use crate::args::serve::parse_address;
use crate::output::{Content, Output};
use crate::picture::picture;

/// What every measuring command takes.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Random seed; the same seed gives the same operations [default: a new one each time].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Goal for a figure: 'p99 <= 2ms' or 'iops >= 20k/s'; of a mix 'read.p99 <= 2ms'; with several
    /// rows 'random-read.p99 <= 2ms'; 'p99 <= 2ms @ 20k/s' measures at that load, too (`run`,
    /// `trial`). Repeatable. Exit code 4 when missed, 5 when the interval is too wide to tell.
    #[arg(long = "goal", value_name = "GOAL")]
    pub goals: Vec<Requirement>,
    /// The forms to write.
    #[command(flatten)]
    pub outputs: Outputs,
    /// Archive file [default: seekstone/archive.db in the user's data directory].
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// Do not archive the run.
    #[arg(long)]
    pub no_save: bool,
    /// Show everything: each measurement in full, every point of a curve, and every warning.
    #[arg(long)]
    pub all: bool,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Show the run in a browser while it is running, at this address: a port on localhost, or
    /// IP:PORT, whose URL then holds a token [default: any free port].
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        value_parser = parse_address
    )]
    pub live: Option<SocketAddr>,
    /// Remove leftovers of killed runs without asking.
    #[arg(long, short)]
    pub yes: bool,
    /// The ranks that a launcher started with this process.
    #[arg(skip)]
    pub party: Option<Party>,
}

/// The forms in which a run is written.
#[derive(Args, Clone, Debug)]
pub struct Outputs {
    /// Write all results as JSON (docs/json-schema.md); `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<Output>,
    /// Write every figure as CSV, one line each (docs/forms.md).
    #[arg(long, value_name = "FILE")]
    pub csv: Option<Output>,
    /// Write the tables as Markdown; for a study, its note.
    #[arg(long, alias = "md", value_name = "FILE")]
    pub markdown: Option<Output>,
    /// Write one page for a browser, with figures and charts; it needs no network (docs/forms.md).
    #[arg(long, value_name = "FILE")]
    pub html: Option<Output>,
    /// Draw load curves, a comparison's ratios, or a trial's intervals (SVG).
    #[arg(long, value_name = "FILE")]
    pub svg: Option<Output>,
    /// Write every figure as a gauge for Prometheus (OpenMetrics text).
    #[arg(long, value_name = "FILE")]
    pub openmetrics: Option<Output>,
    /// Write every figure as a Parquet file, with the columns of the CSV, for data frames.
    #[arg(
        long,
        value_name = "FILE",
        value_parser = OsStringValueParser::new().try_map(parquet_file)
    )]
    pub parquet: Option<Output>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
}

/// A form of a run, and the option that asks for it.
pub type Form = (&'static str, fn(&Run) -> anyhow::Result<Content>);

impl Outputs {
    /// The outputs that were asked for, each with its option and its form.
    pub fn asked(&self) -> impl Iterator<Item = (Form, &Output)> {
        let all: [(Form, &Option<Output>); 7] = [
            (("--json", |it| Ok(results::json(it).into())), &self.json),
            (
                ("--csv", |it| Ok(report::csv_figures(it).into())),
                &self.csv,
            ),
            (
                ("--markdown", |it| Ok(report::markdown(it).into())),
                &self.markdown,
            ),
            (("--html", |it| Ok(report::html(it).into())), &self.html),
            (
                ("--svg", |it| Ok(picture(std::slice::from_ref(it))?.into())),
                &self.svg,
            ),
            (
                ("--openmetrics", |it| Ok(report::openmetrics(it).into())),
                &self.openmetrics,
            ),
            (
                ("--parquet", |it| {
                    Ok(Content::Bytes(report::parquet_figures(
                        std::slice::from_ref(it),
                    )?))
                }),
                &self.parquet,
            ),
        ];
        all.into_iter()
            .filter_map(|(form, output)| Some((form, output.as_ref()?)))
    }
}

/// A Parquet file, refused before anything is measured by a build that cannot write one.
fn parquet_file(path: OsString) -> Result<Output, LeftOut> {
    report::PARQUET_LEFT_OUT.map_or_else(|| Ok(path.into()), Err)
}

/// What may be replaced by what a command writes.
#[derive(Args, Clone, Debug, Default)]
pub struct Force {
    /// Replace any existing file [default: only an empty one, or one that Seekstone wrote and
    /// nobody has changed].
    #[arg(long)]
    pub force: bool,
}
