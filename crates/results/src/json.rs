//! The JSON form of a run, described in `docs/json-schema.md`.

use serde::{Deserialize, Serialize};

use crate::summary::Summary;
use crate::{Run, SCHEMA_VERSION, Table, schema_3};

/// Why a text is not a run.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// Not JSON, or not the JSON of a run.
    #[error("this is not the JSON form of a run: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Written by an older program.
    #[error(
        "the run has schema version {found}, and this program reads 2 to {known}. Read it \
         with the version of Seekstone that wrote it, or rerun"
    )]
    OlderSchema {
        /// Version of the text.
        found: u64,
        /// The version that this program reads.
        known: u32,
    },
    /// Written by a newer program.
    #[error(
        "the run has schema version {found}, and this program reads 2 to {known}. Read it \
         with the version of Seekstone that wrote it, or a newer one"
    )]
    NewerSchema {
        /// Version of the text.
        found: u64,
        /// The version that this program reads.
        known: u32,
    },
}

/// The oldest version that is read: it had seeds as numbers, and verdicts in other words.
const OLDEST_READ: u64 = 2;
/// The last version that had a key for each kind of measurement.
const LAST_OF_KINDS: u64 = 3;
/// Why writing cannot fail.
const INFALLIBLE: &str = "a run has no keys but text";

/// The one key that every version has, in the same place.
#[derive(Deserialize)]
struct SchemaHeader {
    schema: u64,
}

/// A run, and what follows from it for readers who know no kind.
#[derive(Serialize)]
struct Whole {
    summary: Summary,
    #[serde(flatten)]
    run: Run,
}

/// The run as JSON over several lines, ending in a line break, with a summary for scripts in front
/// and its tables behind: every figure of every kind in one form. Infinite numbers become null.
///
/// # Panics
/// Never: a run has no value that JSON cannot hold.
#[must_use]
pub fn json(run: &Run) -> String {
    let whole = Whole {
        summary: run.summary(),
        run: Run {
            tables: run.tables(),
            ..run.clone()
        },
    };
    let mut text = serde_json::to_string_pretty(&whole).expect(INFALLIBLE);
    text.push('\n');
    text
}

/// The run as JSON in one line, without summary and tables, which follow from the rest: for what
/// holds a run within something else. [`from_json`] reads it.
///
/// # Panics
/// Never, as [`json`].
#[must_use]
pub fn json_without_tables(run: &Run) -> String {
    serde_json::to_string(run).expect(INFALLIBLE)
}

/// The run that [`json`] wrote.
///
/// # Errors
/// When the text is not a run, or was written in a schema that this program does not read.
// fuzzed: run_json
pub fn from_json(text: &str) -> Result<Run, JsonError> {
    let header: SchemaHeader = serde_json::from_str(text)?;
    let (found, known) = (header.schema, SCHEMA_VERSION);
    if found < OLDEST_READ {
        return Err(JsonError::OlderSchema { found, known });
    }
    if found > u64::from(known) {
        return Err(JsonError::NewerSchema { found, known });
    }
    let mut run: Run = serde_json::from_str(text)?;
    run.schema = known;
    // What follows from the rest is made anew when it is asked for.
    let given = std::mem::take(&mut run.tables);
    let upgraded = match found {
        ..=LAST_OF_KINDS => schema_3::upgrade(&mut run, text)?,
        _ => Vec::new(),
    };
    let follows = run.tables();
    let known = follows.iter().chain(&upgraded);
    let is_own = |table: &Table| known.clone().all(|it| it.name != table.name);
    let own: Vec<Table> = given.into_iter().filter(is_own).collect();
    run.tables = own.into_iter().chain(upgraded).collect();
    Ok(run)
}
