//! What can be said of a row in words: what verdicts are made of.

use serde::{Deserialize, Serialize};

use crate::show::is_false;

/// A statement about a row, from the kind of measurement that found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saying {
    /// Without its full stop, and without a capital letter in front that only a sentence needs.
    pub text: String,
    /// Whether it also holds of a row that is not to be quoted, since it has none of its figures.
    #[serde(default, skip_serializing_if = "is_false")]
    pub holds_if_shaky: bool,
    /// Whether it begins with a name, which keeps its small letter.
    #[serde(default, skip_serializing_if = "is_false")]
    pub begins_with_name: bool,
}

impl Saying {
    /// One that quotes figures of its row.
    #[must_use]
    pub fn quoting(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            holds_if_shaky: false,
            begins_with_name: false,
        }
    }

    /// The same, which holds of a shaky row, too.
    #[must_use]
    pub fn if_shaky(self) -> Self {
        Self {
            holds_if_shaky: true,
            ..self
        }
    }

    /// The same, which begins with a name.
    #[must_use]
    pub fn of_name(self) -> Self {
        Self {
            begins_with_name: true,
            ..self
        }
    }
}
