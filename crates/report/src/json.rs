//! The JSON form of a run, described in `docs/json-schema.md`.

use results::{Run, SCHEMA_VERSION};
use serde::Deserialize;

/// Why a text is not a run.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// Not JSON, or not the JSON of a run.
    #[error("this is not the JSON form of a run: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Written by a newer program.
    #[error(
        "the run has schema version {found}, and this program knows versions up to {known}: read \
         it with the version of Seekstone that wrote it, or a newer one"
    )]
    NewerSchema {
        /// Version of the text.
        found: u64,
        /// Newest version that this program reads.
        known: u32,
    },
}

/// The one key that every version has, in the same place.
#[derive(Deserialize)]
struct Header {
    schema: u64,
}

/// The run as JSON over several lines, ending in a line break. Infinite numbers become null.
///
/// # Panics
/// Never: a run has no value that JSON cannot hold.
#[must_use]
pub fn json(run: &Run) -> String {
    let mut text = serde_json::to_string_pretty(run).expect("a run has no keys but text");
    text.push('\n');
    text
}

/// The run that [`json`] wrote.
///
/// # Errors
/// When the text is not a run, or was written in a schema newer than this program's.
pub fn from_json(text: &str) -> Result<Run, JsonError> {
    let header: Header = serde_json::from_str(text)?;
    if header.schema > u64::from(SCHEMA_VERSION) {
        return Err(JsonError::NewerSchema {
            found: header.schema,
            known: SCHEMA_VERSION,
        });
    }
    Ok(serde_json::from_str(text)?)
}
