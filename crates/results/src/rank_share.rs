//! Results of single hosts in rounds that all hosts start together.

use serde::{Deserialize, Serialize};

use crate::table::{Figure, Row, Trust};

/// Results of one rank. Fields that do not apply are zero or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RankShare {
    /// The command, if there are several.
    pub command: String,
    pub rank: u32,
    /// Name of its host.
    pub host: String,
    #[serde(alias = "runs")]
    pub rounds: u32,
    /// Calls or bytes.
    #[serde(alias = "calls", alias = "bytes")]
    pub amount: u64,
    /// Calls or bytes per second while working.
    #[serde(alias = "calls_per_second", alias = "rate", with = "stats::undefined")]
    pub per_second: f64,
    /// Mean time of a round, seconds.
    #[serde(alias = "real_s", with = "stats::undefined")]
    pub mean_s: f64,
    /// Rounds in which this rank finished first, and last.
    pub first_in: u32,
    pub last_in: u32,
    /// Mean share of the round during which the rank worked, 0 to 1.
    #[serde(with = "stats::undefined")]
    pub busy_share: f64,
    /// CPU time over working time; `None` if unknown.
    pub processors_used: Option<f64>,
}

impl RankShare {
    /// Its row in a table whose first factor may be the command.
    pub(crate) fn row(&self, figures: impl IntoIterator<Item = Figure>, headline: &str) -> Row {
        let command = Some(self.command.clone()).filter(|it| !it.is_empty());
        let levels = command.into_iter().chain([self.rank.to_string()]);
        let row = Row::new(levels.collect(), figures, headline, Trust::Reliable);
        row.with_word("host", &self.host)
    }
}
