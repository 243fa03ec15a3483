//! Warnings about results, each with advice.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::capitalised;

use crate::warning_code::WarningCode;

units::words! {
    /// Severity of a warning.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Severity {
        /// Worth knowing.
        #[serde(alias = "note")]
        Info = "info",
        /// A number can be misunderstood.
        #[serde(alias = "doubt")]
        Warning = "warning",
        /// A number must not be used.
        #[serde(alias = "void")]
        Invalid = "invalid",
    }
}

/// A warning about results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Its code.
    pub code: WarningCode,
    /// Its severity.
    pub severity: Severity,
    /// What was seen, and its effect on the number. Includes the advice in old runs, which did not
    /// keep it apart, and if it is part of the sentence.
    #[serde(rename = "text")]
    pub cause: String,
    /// What to do about it; empty if the cause includes it, or nothing needs doing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

impl Warning {
    /// A warning of that severity.
    ///
    /// # Panics
    ///
    /// In debug builds, when the list of codes does not allow the severity.
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

    /// An info warning, worth knowing.
    pub fn info(code: WarningCode, cause: impl Into<String>) -> Self {
        Self::new(Severity::Info, code, cause)
    }

    /// A warning that changes the meaning of a number.
    pub fn warn(code: WarningCode, cause: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, cause)
    }

    /// A warning that makes a number useless.
    pub fn invalid(code: WarningCode, cause: impl Into<String>) -> Self {
        Self::new(Severity::Invalid, code, cause)
    }

    /// Adds advice: a sentence of its own, or a continuation of the cause, which then starts in
    /// lower case after a semicolon.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// Prefixes the warning with `subject`.
    #[must_use]
    pub fn of(self, subject: impl fmt::Display) -> Self {
        Self {
            cause: format!("{subject}: {}", self.cause),
            ..self
        }
    }

    /// Cause and advice, as shown to users.
    pub fn text(&self) -> String {
        advised(&self.cause, &self.advice)
    }
}

/// Cause and advice in one text.
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
