//! `seekstone study`.

use clap::{Args, Subcommand};
use units::{Bytes, Duration, TargetName};

use super::parse::within;
use super::parse::{parse_budget, parse_pair, parse_precision, parse_target};
use super::{Common, RankSharing};

/// `seekstone study`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = help!("study"))]
pub struct StudyArgs {
    /// What to do instead of running one.
    #[command(subcommand)]
    pub command: Option<StudyCommand>,
    /// Study file in TOML, name of a built-in study, or - for standard input.
    #[arg(required = true, value_name = "FILE|NAME")]
    pub study: Option<String>,
    /// Resume the study where it was interrupted.
    #[arg(long, conflicts_with_all = ["restart", "seed"])]
    pub resume: bool,
    /// Discard what an interrupted study measured, and start over.
    #[arg(long)]
    pub restart: bool,
    /// Measure this target instead of the study's own.
    #[arg(long, value_name = "TARGET", value_parser = parse_target)]
    pub target: Option<TargetName>,
    /// Change a setting, as in size=1MiB (repeatable).
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub set: Vec<(String, String)>,
    /// Measure only these levels of a factor, as in block=1KiB,64KiB (repeatable).
    #[arg(long, value_name = "FACTOR=LEVEL,...", value_parser = parse_pair)]
    pub only: Vec<(String, String)>,
    /// Exactly this many repeats of each combination. The study's precision goal is then
    /// ignored.
    #[arg(long = "repeat", alias = "replicates", value_parser = within::<u32>(1..=10_000))]
    pub replicates: Option<u32>,
    /// Continue until every result is this precise, up to the study's max-repeats.
    #[arg(long, value_parser = parse_precision)]
    pub precision: Option<f64>,
    /// Start no new round after this time.
    #[arg(long, value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long)]
    pub reserve: Option<Bytes>,
    /// Whether the ranks of a fleet share a target.
    #[command(flatten)]
    pub sharing: RankSharing,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

/// What to do instead of running a study.
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// List the built-in studies.
    List,
    /// Print a study file, to read or edit.
    Show {
        /// Its name.
        name: String,
    },
    /// Check a study file, and describe what it would measure.
    Check {
        /// The file, - for standard input, or the name of a built-in study.
        study: String,
    },
    /// List the kinds of measurements, with their settings and readings.
    Measurements {
        /// One kind [default: all].
        kind: Option<String>,
    },
}
