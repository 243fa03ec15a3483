//! What each of several hosts did in rounds that all of them began together.

use serde::{Deserialize, Serialize};

use crate::table::{Figure, Row, Trust};

/// What one rank did. Fields that say nothing of a measurement are zero or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RankShare {
    /// The command that it ran, where there are several.
    pub command: String,
    pub rank: u32,
    /// Name of its host.
    pub host: String,
    #[serde(alias = "runs")]
    pub rounds: u32,
    /// Calls, or bytes.
    #[serde(alias = "calls", alias = "bytes")]
    pub amount: u64,
    /// The same per second, while it was at work.
    #[serde(alias = "calls_per_second", alias = "rate", with = "stats::undefined")]
    pub per_second: f64,
    /// How long a round took it on average, seconds.
    #[serde(alias = "real_s", with = "stats::undefined")]
    pub mean_s: f64,
    /// Rounds in which it was done first, and last.
    pub first_in: u32,
    pub last_in: u32,
    /// Share of a round that was over when it was done, 0 to 1, on average.
    #[serde(with = "stats::undefined")]
    pub busy_share: f64,
    /// CPU time over the time that it was at work; `None` where nobody knows.
    pub processors_used: Option<f64>,
}

impl RankShare {
    /// Its row in a table whose first factor may be the command.
    pub(crate) fn row(&self, figures: impl IntoIterator<Item = Figure>, headline: &str) -> Row {
        let command = Some(self.command.clone()).filter(|it| !it.is_empty());
        let levels = command.into_iter().chain([self.rank.to_string()]);
        let row = Row::new(levels.collect(), figures, headline, Trust::Reliable, &[]);
        row.with_word("host", &self.host)
    }
}
