//! Data of `watch`: windows and events of targets.

use std::collections::BTreeSet;

use rusqlite::{Transaction, params};
use watch::{StoredWindow, WatchEvent, WatchWindow, next_merge};

use super::{Archive, failure};
use crate::error::ArchiveError;

/// Data of a watch that is saved at once: all of it or, on an error, nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchEntries {
    /// Windows, each with its target as typed.
    pub windows: Vec<(String, WatchWindow)>,
    /// Events. One with the same target, kind of probe and start replaces the earlier one.
    pub events: Vec<WatchEvent>,
}

impl WatchEntries {
    /// Whether there is nothing to save.
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty() && self.events.is_empty()
    }
}

impl Archive {
    /// Saves windows and events. If a target's windows take more than `budget` bytes, the oldest
    /// are merged into hours, later into days.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep_watched(
        &mut self,
        entries: &WatchEntries,
        budget: u64,
    ) -> Result<(), ArchiveError> {
        let path = self.path.clone();
        let failed = |source| failure("write", path.clone(), source);
        let transaction = self.writing()?;
        insert(&transaction, entries).map_err(failed)?;
        let targets: BTreeSet<&String> = entries.windows.iter().map(|it| &it.0).collect();
        for target in targets {
            thin(&transaction, target, budget).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
        self.tidy();
        Ok(())
    }

    /// The windows of a target that end after that second since 1970, in order of time. Unreadable
    /// ones are skipped.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn watched_windows(
        &self,
        target: &str,
        after_s: u64,
    ) -> Result<Vec<WatchWindow>, ArchiveError> {
        let query = "SELECT form FROM watch_windows WHERE target = ?1 AND start_s + span_s > ?2
                     ORDER BY start_s, id";
        let params = params![target, seconds(after_s)];
        let forms = self.rows(query, params, |row| row.get::<_, Vec<u8>>(0))?;
        let windows = forms.iter().flat_map(|it| WatchWindow::from_bytes(it));
        Ok(windows.collect())
    }

    /// The events of a target that began after that second since 1970, in the order of time.
    ///
    /// # Errors
    /// When the file cannot be read.
    // fuzzed: archive
    pub fn watched_events(
        &self,
        target: &str,
        after_s: u64,
    ) -> Result<Vec<WatchEvent>, ArchiveError> {
        let query = "SELECT document FROM watch_events WHERE target = ?1 AND begin_ms > ?2
                     ORDER BY begin_ms, id";
        let params = params![target, seconds(after_s.saturating_mul(1_000))];
        let texts = self.rows(query, params, |row| row.get::<_, String>(0))?;
        let events = texts.iter().flat_map(|it| serde_json::from_str(it));
        Ok(events.collect())
    }

    /// The watched targets, by name.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn watched_targets(&self) -> Result<Vec<String>, ArchiveError> {
        let query = "SELECT DISTINCT target FROM watch_windows ORDER BY target";
        self.rows(query, [], |row| row.get(0))
    }
}

/// SQLite's integers are signed.
fn seconds(it: u64) -> i64 {
    i64::try_from(it).unwrap_or(i64::MAX)
}

fn insert(transaction: &Transaction<'_>, entries: &WatchEntries) -> rusqlite::Result<()> {
    for (target, window) in &entries.windows {
        insert_window(transaction, target, window)?;
    }
    let mut delete = transaction.prepare_cached(
        "DELETE FROM watch_events WHERE target = ?1 AND begin_ms = ?2
             AND document ->> 'probe' = ?3",
    )?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO watch_events (target, begin_ms, document) VALUES (?1, ?2, ?3)",
    )?;
    for event in &entries.events {
        let begin_ms = seconds(event.slow.begin_ms);
        let document = serde_json::to_string(event)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        delete.execute(params![event.target, begin_ms, event.probe.name()])?;
        insert.execute(params![event.target, begin_ms, document])?;
    }
    Ok(())
}

fn insert_window(
    transaction: &Transaction<'_>,
    target: &str,
    window: &WatchWindow,
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO watch_windows (target, start_s, span_s, form) VALUES (?1, ?2, ?3, ?4)",
    )?;
    let (start_s, span_s) = (seconds(window.start_s), seconds(window.span_s));
    insert
        .execute(params![target, start_s, span_s, window.to_bytes()])
        .map(|_| ())
}

/// A window in the archive, by its number.
struct WindowRow {
    id: i64,
    stored: StoredWindow,
}

fn thin(transaction: &Transaction<'_>, target: &str, budget: u64) -> rusqlite::Result<()> {
    let sum: i64 = transaction
        .prepare_cached("SELECT total(length(form)) FROM watch_windows WHERE target = ?1")?
        .query_row([target], |row| row.get::<_, f64>(0))? as i64;
    if u64::try_from(sum).unwrap_or(0) <= budget {
        return Ok(());
    }
    let mut rows = window_rows(transaction, target)?;
    loop {
        let sizes: Vec<StoredWindow> = rows.iter().map(|it| it.stored).collect();
        let Some(range) = next_merge(&sizes, budget) else {
            return Ok(());
        };
        let mut merged: Option<WatchWindow> = None;
        for row in &rows[range.clone()] {
            let form: Vec<u8> = transaction
                .prepare_cached("SELECT form FROM watch_windows WHERE id = ?1")?
                .query_row([row.id], |row| row.get(0))?;
            transaction.execute("DELETE FROM watch_windows WHERE id = ?1", [row.id])?;
            // An unreadable one is lost, which is no reason to stop saving.
            match (&mut merged, WatchWindow::from_bytes(&form)) {
                (Some(merged), Ok(window)) => merged.merge(&window),
                (none, Ok(window)) => *none = Some(window),
                (_, Err(_)) => {}
            }
        }
        let merged: Vec<WindowRow> = match merged {
            None => Vec::new(),
            Some(merged) => {
                insert_window(transaction, target, &merged)?;
                vec![WindowRow {
                    id: transaction.last_insert_rowid(),
                    stored: StoredWindow {
                        start_s: merged.start_s,
                        span_s: merged.span_s,
                        bytes: merged.to_bytes().len() as u64,
                    },
                }]
            }
        };
        rows.splice(range, merged);
    }
}

fn window_rows(transaction: &Transaction<'_>, target: &str) -> rusqlite::Result<Vec<WindowRow>> {
    let query = "SELECT id, start_s, span_s, length(form) FROM watch_windows WHERE target = ?1
                 ORDER BY start_s, id";
    let mut statement = transaction.prepare_cached(query)?;
    let number = |it: i64| u64::try_from(it).unwrap_or(0);
    let rows = statement.query_map([target], |row| {
        Ok(WindowRow {
            id: row.get(0)?,
            stored: StoredWindow {
                start_s: number(row.get(1)?),
                span_s: number(row.get(2)?),
                bytes: number(row.get(3)?),
            },
        })
    })?;
    rows.collect()
}
