//! One archived run in a list.

use report::ListRow;
use rusqlite::Row;

/// What a list says of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Number in the archive.
    pub id: i64,
    /// When it began, as RFC 3339 text in UTC.
    pub started_at: String,
    /// The command, as in `run`.
    pub command: String,
    /// The target as it was typed, or its whole path where it was typed as in `.` or `data`.
    pub target: String,
    /// Name of the host.
    pub host: String,
    /// `complete` or `partial`.
    pub status: String,
    /// Whether a warning makes one of its numbers useless.
    pub has_invalid_number: bool,
    /// How long it took, in seconds.
    pub elapsed_s: f64,
    /// What it found, in a few words.
    pub headline: String,
    /// Its verdict in a sentence; empty where an older program archived it, and it cannot be read.
    pub verdict: String,
    /// Trust in the verdict: `reliable`, `unstable` or `invalid`; empty where `verdict` is.
    pub trust: String,
    /// The outcome of its goals: `kept`, `exceeded` or `undecided`.
    pub goals: Option<String>,
}

impl RunSummary {
    /// Columns that [`RunSummary::from_row`] reads.
    pub(crate) const COLUMNS: &'static str = "id, started_at, command,
         CASE WHEN target_path LIKE '/%' AND target NOT LIKE '/%' THEN target_path ELSE target END,
         host, status, elapsed_s, headline,
         EXISTS (SELECT 1 FROM warnings WHERE run_id = runs.id AND severity = 'invalid'),
         coalesce(verdict, ''), coalesce(verdict_trust, ''), goals";

    pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            started_at: row.get(1)?,
            command: row.get(2)?,
            target: row.get(3)?,
            host: row.get(4)?,
            status: row.get(5)?,
            elapsed_s: row.get(6)?,
            headline: row.get(7)?,
            has_invalid_number: row.get(8)?,
            verdict: row.get(9)?,
            trust: row.get(10)?,
            goals: row.get(11)?,
        })
    }
}

impl From<RunSummary> for ListRow {
    fn from(summary: RunSummary) -> Self {
        Self {
            id: summary.id,
            started_at: summary.started_at,
            command: summary.command,
            target: summary.target,
            host: summary.host,
            status: summary.status,
            has_invalid_number: summary.has_invalid_number,
            headline: summary.headline,
            verdict: summary.verdict,
            trust: summary.trust,
            goals: summary.goals,
        }
    }
}
