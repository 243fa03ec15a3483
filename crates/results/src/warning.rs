//! Doubts about a result, each with advice.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much a warning weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// A number means something else than a reader might think.
    Doubt,
    /// A number must not be used.
    Void,
}

/// Something that a reader of the results must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Stable name, in kebab case.
    pub code: String,
    /// How much it weighs.
    pub severity: Severity,
    /// What was seen, and what to do about it.
    pub text: String,
}

impl Warning {
    /// A warning of that weight.
    #[must_use]
    pub fn new(severity: Severity, code: &str, text: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            severity,
            text: text.into(),
        }
    }

    /// Something worth knowing.
    #[must_use]
    pub fn note(code: &str, text: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, text)
    }

    /// Something that changes what a number means.
    #[must_use]
    pub fn doubt(code: &str, text: impl Into<String>) -> Self {
        Self::new(Severity::Doubt, code, text)
    }

    /// Something that makes a number useless.
    #[must_use]
    pub fn void(code: &str, text: impl Into<String>) -> Self {
        Self::new(Severity::Void, code, text)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
