//! One archived run in a list.

use report::ListRow;
use rusqlite::Row;

/// Columns that [`summary`] reads. The target is its full path if it was typed as a relative one
/// such as `.`.
pub(crate) const COLUMNS: &str = "id, started_at, command,
     CASE WHEN target_path LIKE '/%' AND target NOT LIKE '/%' THEN target_path ELSE target END,
     host, status, headline,
     EXISTS (SELECT 1 FROM warnings WHERE run_id = runs.id AND severity = 'invalid'),
     coalesce(verdict, ''), coalesce(verdict_trust, ''), goals";

/// Summary of a run for a list.
pub(crate) fn summary(row: &Row<'_>) -> rusqlite::Result<ListRow> {
    Ok(ListRow {
        id: row.get(0)?,
        started_at: row.get(1)?,
        command: row.get(2)?,
        target: row.get(3)?,
        host: row.get(4)?,
        status: row.get(5)?,
        headline: row.get(6)?,
        has_invalid_number: row.get(7)?,
        verdict: row.get(8)?,
        trust: row.get(9)?,
        goals: row.get(10)?,
    })
}
