//! What every measuring command takes.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use lab::hosts::Party;
use procedure::Requirement;
use results::Run;

use crate::args::serve::parse_address;
use crate::output::{Content, Output};

/// What every measuring command takes.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Seed of everything random; the same seed asks for the same operations. Chosen when absent.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Require this of a figure, as in 'p99 <= 2ms' or 'iops >= 20k/s', of a mix 'read.p99 <= 2ms',
    /// with several rows 'random-read.p99 <= 2ms'; 'p99 <= 2ms @ 20k/s' measures it at that load,
    /// too (`run`, `trial`). May be given several times. Exit code 4 when missed, 5 when the
    /// interval does not tell.
    #[arg(long = "goal", value_name = "GOAL")]
    pub goals: Vec<Requirement>,
    /// The forms to write.
    #[command(flatten)]
    pub outputs: Outputs,
    /// Archive of runs [default: seekstone/archive.db in the user's data directory].
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// Do not keep the run in the archive.
    #[arg(long)]
    pub no_save: bool,
    /// Show everything: each measurement in full, every point of a curve, every warning.
    #[arg(long)]
    pub all: bool,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Show the run in a browser while it goes on, at this address: a port of this machine, or
    /// IP:PORT, whose URL then holds a token. Without one, any free port.
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        value_parser = parse_address
    )]
    pub live: Option<SocketAddr>,
    /// Remove without asking what killed runs left behind.
    #[arg(long, short)]
    pub yes: bool,
    /// The ranks that a launcher started together with this process.
    #[arg(skip)]
    pub party: Option<Party>,
}

/// The forms in which a run is written.
#[derive(Args, Clone, Debug)]
pub struct Outputs {
    /// Write everything that was found as JSON (docs/json-schema.md); `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<Output>,
    /// Write every figure as CSV, one line each (docs/forms.md).
    #[arg(long, value_name = "FILE")]
    pub csv: Option<Output>,
    /// Write the tables in Markdown; of a study its note.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<Output>,
    /// Write one page for a browser, with figures and charts; it needs no network (docs/forms.md).
    #[arg(long, value_name = "FILE")]
    pub html: Option<Output>,
    /// Write every figure as a gauge for Prometheus (OpenMetrics text).
    #[arg(long, value_name = "FILE")]
    pub openmetrics: Option<Output>,
    /// Write every figure as a Parquet file, with the columns of the CSV, for data frames.
    #[arg(long, value_name = "FILE")]
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
        let all: [(Form, &Option<Output>); 6] = [
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
                ("--openmetrics", |it| Ok(report::openmetrics(it).into())),
                &self.openmetrics,
            ),
            (
                ("--parquet", |it| {
                    Ok(Content::Bytes(report::parquet_figures(it)?))
                }),
                &self.parquet,
            ),
        ];
        all.into_iter()
            .filter_map(|(form, output)| Some((form, output.as_ref()?)))
    }
}

/// What may be replaced by what a command writes.
#[derive(Args, Clone, Debug, Default)]
pub struct Force {
    /// Replace a file that is there, whoever wrote it [default: only an empty one, or one that
    /// Seekstone wrote and nobody changed].
    #[arg(long)]
    pub force: bool,
}
