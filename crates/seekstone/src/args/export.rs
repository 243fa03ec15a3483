//! `seekstone runs export`: the forms.

use clap::ValueEnum;

/// Forms of `runs export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// Everything, as documented in docs/json-schema.md.
    Json,
    /// Every figure of every table, one line each; the same columns for every command.
    #[value(alias = "levels", alias = "files")]
    Csv,
    /// The tables with their intervals; for a study, its note.
    Markdown,
    /// A page for a browser, with charts and the run's JSON in it; it needs no network.
    Html,
    /// Every figure as a gauge, for Prometheus (OpenMetrics text).
    Openmetrics,
    /// Every figure, with the columns of the CSV, for data frames (Apache Parquet).
    Parquet,
    /// Every repetition behind the figures: passes, rounds, runs, replicates.
    #[value(alias = "passes", alias = "times")]
    Replicates,
    /// One line per point of a load curve, with scouts marked.
    Points,
    /// One line per interval of `transactions`, with the machine's own figures, or of `trial
    /// --interval`.
    Intervals,
    /// One line per interval of each measurement of a check-up or trial: IOPS, p50 to p99.9 and
    /// foreign I/O.
    Series,
    /// The fio job file closest to a trial, or the job files of `seekstone fio`.
    Fio,
    /// What `runs show` prints.
    Text,
    /// A picture: the load curve of a run, or the load over the intervals of a trial.
    Svg,
}
