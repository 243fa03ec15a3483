//! `seekstone study`.

use clap::{Args, Subcommand};
use units::{Bytes, Duration};

use super::Common;
use super::parse::{parse_budget, parse_pair, parse_precision};

/// `seekstone study`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  seekstone study list                              the studies that come with the program
  seekstone study show disk-io > mine.toml          one of them, to be changed
  seekstone study mine.toml                         run it
  seekstone study mine.toml --resume                go on where it was interrupted
  seekstone study disk-io --target /mnt --replicates 2 --set size=1MiB
  seekstone runs export 12 --form markdown          the note of an archived study
docs/study.md says how a study is written.")]
pub struct StudyArgs {
    /// What to do instead of running one.
    #[command(subcommand)]
    pub command: Option<StudyCommand>,
    /// A study file in TOML, - for standard input, or the name of one that the program brings.
    #[arg(required = true, value_name = "FILE|NAME")]
    pub study: Option<String>,
    /// Go on where the study was interrupted.
    #[arg(long, conflicts_with_all = ["restart", "seed"])]
    pub resume: bool,
    /// Throw away what an interrupted study measured, and begin anew.
    #[arg(long)]
    pub restart: bool,
    /// Measure this target in place of the study's.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// Give a setting another value, as in size=1MiB; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub set: Vec<(String, String)>,
    /// Measure only these levels of a factor, as in block=1KiB,64KiB; may be given several times.
    #[arg(long, value_name = "FACTOR=LEVEL,...", value_parser = parse_pair)]
    pub only: Vec<(String, String)>,
    /// Measure each combination this often; the study's precision is no goal then.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub replicates: Option<u32>,
    /// Go on until every figure is this precise, up to the study's max-replicates.
    #[arg(long, value_name = "PERCENT", value_parser = parse_precision)]
    pub precision: Option<f64>,
    /// Begin no round after this time.
    #[arg(
        long, value_name = "TIME", value_parser = parse_budget, allow_hyphen_values = true
    )]
    pub budget: Option<Duration>,
    /// Space that always stays free [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true)]
    pub reserve: Option<Bytes>,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

/// What can be done besides running a study.
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// List the studies that come with the program.
    List,
    /// Print the file of one, to be read or changed.
    Show {
        /// Its name.
        name: String,
    },
    /// Read a study file, and say what it would measure.
    Check {
        /// The file, - for standard input, or the name of a study that the program brings.
        study: String,
    },
    /// List the kinds of measurements with their settings and readings.
    Measurements {
        /// One kind; all when absent.
        kind: Option<String>,
    },
}
