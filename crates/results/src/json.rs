//! The JSON form of a run, described in `docs/json-schema.md`.

use serde::{Deserialize, Serialize};

use crate::summary::Summary;
use crate::{Run, SCHEMA_VERSION, Table, schema_3};

/// Why a text is not a valid run.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// Not JSON, or not a run.
    #[error("this is not the JSON form of a run: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Written by an older version.
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
    /// Written by a newer version.
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

/// The oldest version that can be read. It had seeds as numbers and other words for verdicts.
const OLDEST_READ: u64 = 2;
/// The last version with a key for each kind of measurement.
const LAST_OF_KINDS: u64 = 3;
/// Why serialisation cannot fail.
const INFALLIBLE: &str = "a run has no keys but text";

/// The one key that every version has, in the same place.
#[derive(Deserialize)]
struct SchemaHeader {
    schema: u64,
}

/// A run with its derived summary and tables.
#[derive(Serialize)]
struct Whole {
    summary: Summary,
    #[serde(flatten)]
    run: Run,
}

/// The run as pretty-printed JSON with a line break at the end, with a summary for scripts before
/// it and its tables after it. Infinite numbers become null.
///
/// # Panics
///
/// Never: every value of a run can be written as JSON.
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

/// The run as JSON in one line, without the derived summary and tables, to embed in other files.
/// [`from_json`] reads it.
///
/// # Panics
///
/// Never, as [`json`].
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
    // Derived tables are computed again on demand.
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
