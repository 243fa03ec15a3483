//! A run as the note of an experiment.

use serde::{Deserialize, Serialize};

/// Parts of a note besides results and conclusions, which are the run's tables and findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunNote {
    /// Its title.
    pub title: String,
    /// When it was started and resumed, RFC 3339, UTC.
    pub begun_at: Vec<String>,
    /// The test environment in the user's words, then the procedure.
    pub environment: Vec<String>,
}
