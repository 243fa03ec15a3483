//! Doubts about a result, each with advice.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::capitalised;

use crate::warning_code::WarningCode;

units::words! {
    /// How much a warning weighs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Severity {
        /// Worth knowing.
        #[serde(alias = "note")]
        Info = "info",
        /// A number means something else than a reader might think.
        #[serde(alias = "doubt")]
        Warning = "warning",
        /// A number must not be used.
        #[serde(alias = "void")]
        Invalid = "invalid",
    }
}

/// Something that a reader of the results must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What kind it is.
    pub code: WarningCode,
    /// How much it weighs.
    pub severity: Severity,
    /// What was seen, and what it does to the number. Of runs before advice was kept apart, and
    /// where it is woven into the sentence, with what to do about it.
    #[serde(rename = "text")]
    pub cause: String,
    /// What to do about it; empty where the cause has it, or nothing needs to be done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

impl Warning {
    /// A warning of that weight.
    ///
    /// # Panics
    ///
    /// In debug builds, when the list of codes does not allow the weight.
    #[must_use]
    pub fn new(severity: Severity, code: WarningCode, cause: impl Into<String>) -> Self {
        debug_assert!(
            code.severities().contains(&severity),
            "{code} is listed with another weight than {severity:?}"
        );
        Self {
            code,
            severity,
            cause: cause.into(),
            advice: String::new(),
        }
    }

    /// Something worth knowing.
    #[must_use]
    pub fn info(code: WarningCode, cause: impl Into<String>) -> Self {
        Self::new(Severity::Info, code, cause)
    }

    /// Something that changes what a number means.
    #[must_use]
    pub fn warn(code: WarningCode, cause: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, cause)
    }

    /// Something that makes a number useless.
    #[must_use]
    pub fn invalid(code: WarningCode, cause: impl Into<String>) -> Self {
        Self::new(Severity::Invalid, code, cause)
    }

    /// The same with what to do about it: a sentence of its own, or the end of the cause's, which
    /// then begins with a small letter and follows a semicolon.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// The same, said of `subject`.
    #[must_use]
    pub fn of(self, subject: impl fmt::Display) -> Self {
        Self {
            cause: format!("{subject}: {}", self.cause),
            ..self
        }
    }

    /// What was seen and what to do about it, as a reader sees them.
    #[must_use]
    pub fn text(&self) -> String {
        advised(&self.cause, &self.advice)
    }
}

/// What was seen and what to do about it, in one text.
pub(crate) fn advised(cause: &str, advice: &str) -> String {
    match advice.chars().next() {
        None => cause.to_owned(),
        Some(first) if first.is_lowercase() => format!("{cause}. {}", capitalised(advice)),
        Some(_) => format!("{cause} {advice}"),
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}
