//! A run as the note of an experiment.

use serde::{Deserialize, Serialize};

/// What a note has beside results and conclusions, which are the tables and findings of its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunNote {
    /// Its title.
    pub title: String,
    /// When it was begun and resumed, RFC 3339, UTC.
    pub begun_at: Vec<String>,
    /// The test environment in the user's words, then what was done.
    pub environment: Vec<String>,
}
