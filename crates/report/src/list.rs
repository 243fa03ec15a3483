//! The table of archived runs.

use results::LimitVerdict;
use serde::Serialize;

use crate::page::wrap;
use crate::style::Tone;
use crate::table::{Align, TextTable};

/// Columns before a result that has lines of its own.
const RESULT_INDENT: usize = 5;

/// One archived run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListRow {
    /// Number in the archive.
    pub id: i64,
    /// When it began, as RFC 3339 text in UTC.
    pub started_at: String,
    /// The command, as in `run`.
    pub command: String,
    /// The target as it was typed, or its whole path where it was typed as in `.`.
    pub target: String,
    /// Name of the host.
    pub host: String,
    /// `complete` or `partial`.
    pub status: String,
    /// Whether a warning makes one of its numbers useless.
    pub has_invalid_number: bool,
    /// What it found, in a few words: [`crate::headline`].
    pub headline: String,
    /// Its verdict in a sentence.
    pub verdict: String,
    /// How far that can be trusted: `reliable`, `unstable` or `invalid`.
    pub trust: String,
    /// The outcome of its goals: `kept`, `exceeded` or `undecided`; absent where it had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goals: Option<String>,
}

impl ListRow {
    /// What keeps the run from being quoted, and goals that it missed: nothing, `partial`,
    /// `invalid` or `unstable`, `goal missed`.
    pub(crate) fn mark(&self) -> String {
        let status = Some(self.status.as_str()).filter(|it| *it != "complete");
        let trust = match self.has_invalid_number {
            true => Some("invalid"),
            false => Some(self.trust.as_str()).filter(|it| !["", "reliable"].contains(it)),
        };
        let is_missed = self.goals.as_deref() == Some(LimitVerdict::Exceeded.name());
        let missed = is_missed.then_some("goal missed");
        let marks: Vec<&str> = status.into_iter().chain(trust).chain(missed).collect();
        marks.join(", ")
    }
}

/// One line for each run, in the order given. Where one is longer than `width`, the results of all
/// have lines of their own.
pub fn run_list(rows: &[ListRow], width: usize) -> String {
    if rows.is_empty() {
        return "no runs are archived\n".to_owned();
    }
    let lines = table(rows, |row| row.headline.clone());
    if lines.iter().all(|line| line.chars().count() <= width) {
        return lines.join("\n") + "\n";
    }
    let lines = table(rows, |_| String::new());
    let mut text = format!("{}\n", lines[0]);
    for (row, line) in rows.iter().zip(&lines[1..]) {
        text.push_str(&format!("{line}\n"));
        for part in wrap(&row.headline, width.saturating_sub(RESULT_INDENT)) {
            text.push_str(&format!("{:RESULT_INDENT$}{part}\n", ""));
        }
    }
    text
}

/// The heading and one line for each run.
fn table(rows: &[ListRow], result: impl Fn(&ListRow) -> String) -> Vec<String> {
    let mut table = TextTable::new(&[
        ("run", Align::Right, 9),
        ("started", Align::Left, 9),
        ("command", Align::Left, 9),
        ("target", Align::Left, 9),
        ("state", Align::Left, 9),
        ("result", Align::Left, 9),
    ]);
    for row in rows {
        table.row(
            Tone::Plain,
            [
                row.id.to_string(),
                minute(&row.started_at),
                row.command.clone(),
                row.target.clone(),
                row.mark(),
                result(row),
            ],
        );
    }
    // A cut name finds nothing in a search.
    let lines = table.render(usize::MAX);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// The same as JSON over several lines: an array of objects with the keys `id`, `started_at`,
/// `command`, `target`, `host`, `status`, `has_invalid_number`, `headline`, `verdict`, `trust`,
/// and `goals`.
///
/// # Panics
/// Never: the rows hold text, integers and booleans.
pub fn run_list_json(rows: &[ListRow]) -> String {
    let mut text = serde_json::to_string_pretty(rows).expect("text, integers and booleans");
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

/// RFC 3339 to the minute, without the T: `2027-01-31 12:00Z`. Other forms stay as they are.
fn minute(started_at: &str) -> String {
    let moment = moment(started_at);
    match moment.strip_suffix('Z').and_then(|it| it.rsplit_once(':')) {
        Some((minute, _)) => format!("{minute}Z"),
        None => moment,
    }
}
