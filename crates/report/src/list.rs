//! The table of archived runs.

use serde::Serialize;

use crate::table::{Align, Table};

/// One archived run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListRow {
    /// Number in the archive.
    pub id: i64,
    /// When it began, as RFC 3339 text in UTC.
    pub started_at: String,
    /// The command, as in `run`.
    pub command: String,
    /// The target as it was typed.
    pub target: String,
    /// `complete` or `partial`.
    pub status: String,
    /// What it found, in a few words: [`crate::headline`].
    pub headline: String,
}

/// One line for each run, in the order given.
#[must_use]
pub fn run_list(rows: &[ListRow]) -> String {
    if rows.is_empty() {
        return "no runs are archived\n".to_owned();
    }
    let mut table = Table::new(&[
        ("run", Align::Right, 9),
        ("started", Align::Left, 9),
        ("command", Align::Left, 9),
        ("target", Align::Left, 9),
        ("status", Align::Left, 9),
        ("result", Align::Left, 9),
    ]);
    for row in rows {
        table.row(
            crate::style::Tone::Plain,
            [
                row.id.to_string(),
                moment(&row.started_at),
                row.command.clone(),
                row.target.clone(),
                row.status.clone(),
                row.headline.clone(),
            ],
        );
    }
    // As wide as it needs to be: lists are searched with other tools, and a cut name finds nothing.
    let lines = table.render(usize::MAX);
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

/// The same as JSON over several lines: an array of objects with the keys `id`, `started_at`,
/// `command`, `target`, `status`, `headline`.
///
/// # Panics
/// Never: the rows hold text and integers.
#[must_use]
pub fn run_list_json(rows: &[ListRow]) -> String {
    let mut text = serde_json::to_string_pretty(rows).expect("text and integers");
    text.push('\n');
    text
}

/// RFC 3339 to the second, without the T: `2027-01-31 12:00:00Z`.
pub(crate) fn moment(started_at: &str) -> String {
    let (day, time) = started_at.split_once('T').unwrap_or((started_at, ""));
    let zone = if time.ends_with('Z') { "Z" } else { "" };
    let seconds = time.split(['.', 'Z']).next().unwrap_or("");
    format!("{day} {seconds}{zone}").trim_end().to_owned()
}
