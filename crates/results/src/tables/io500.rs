//! IO500: its phases and scores.

use crate::metric::*;
use crate::show::Show;
use crate::table::{Role, Row, Table, Trust, filled};

const LEGEND: &str = "One pass of each phase, as the rules ask for: no interval is known. Rates \
                      include what clients wrote after the stonewall, until all had written as \
                      much as the furthest.";
const SHOWN: &str = "throughput files-per-second elapsed stonewall-bytes-per-second \
                     stonewall-files-per-second";
const OF_SCORES: &str = "Geometric means: of bandwidths in GiB/s, of metadata rates in thousands \
                         of operations per second, and of both.";

/// A phase that was run once.
#[derive(Clone, Debug, PartialEq)]
pub struct Io500PhaseFound {
    pub name: String,
    /// Seconds from the first call to the last.
    pub seconds: f64,
    /// Bytes or files per second.
    pub rate: f64,
    /// The rate at the stonewall, if the phase has one.
    pub at_stonewall: Option<f64>,
    /// Whether rates are in bytes.
    pub is_bandwidth: bool,
}

/// Result of `seekstone io500`.
#[derive(Clone, Debug, PartialEq)]
pub struct Io500Found {
    pub phases: Vec<Io500PhaseFound>,
    /// Scores for bandwidth, metadata and total; empty if phases are missing.
    pub scores: Vec<(String, f64)>,
    /// Why it is not a valid submission, a sentence each.
    pub reasons: Vec<String>,
}

impl Io500Found {
    /// The tables of phases and scores.
    pub fn tables(&self) -> Vec<Table> {
        let phases = self.phases.iter().map(row);
        let scores = self.scores.iter().map(|(name, score)| {
            let figures = [IO500_SCORE.bare(*score).as_role(Role::Column)];
            Row::new(vec![name.clone()], figures, "io500-score", Trust::Unstable)
        });
        let reasons = self
            .reasons
            .iter()
            .map(|it| format!("Not a submission: {it}."));
        filled([
            Table::new("io500", &["phase"], phases.collect())
                .shown(Show::default().columns(SHOWN))
                .noted([LEGEND.to_owned()]),
            Table::new("io500-scores", &["score"], scores.collect())
                .titled("Scores")
                .noted([OF_SCORES.to_owned()].into_iter().chain(reasons)),
        ])
    }
}

fn row(phase: &Io500PhaseFound) -> Row {
    let (rate, wall) = match phase.is_bandwidth {
        true => (THROUGHPUT, STONEWALL_BYTES_PER_SECOND),
        false => (FILES_PER_SECOND, STONEWALL_FILES_PER_SECOND),
    };
    let figures = [
        Some(rate.bare(phase.rate)),
        Some(ELAPSED.bare(phase.seconds)),
        phase.at_stonewall.map(|it| wall.bare(it)),
    ];
    let figures = figures
        .into_iter()
        .flatten()
        .map(|it| it.as_role(Role::Column));
    Row::new(
        vec![phase.name.clone()],
        figures,
        rate.name,
        Trust::Unstable,
    )
}
