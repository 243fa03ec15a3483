//! The repeats behind a row.

use serde::{Deserialize, Deserializer, Serialize};

use crate::reading::{Reading, Unit};

/// One repeat behind a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replicate {
    /// Number among the repeats of its row, from 1.
    pub number: u32,
    /// Whether it counts in the row's figures: a warm-up does not.
    pub counts: bool,
    /// Its readings: name, unit, value.
    #[serde(deserialize_with = "known_or_not")]
    pub readings: Vec<(String, Unit, f64)>,
    /// The samples behind readings: name, values.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "each_known_or_not"
    )]
    pub samples: Vec<(String, Vec<f64>)>,
    /// When it was measured, if rows take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<ReplicateTurn>,
}

/// When a repeat was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicateTurn {
    /// Number among the repeats of all rows, from 1.
    pub place: u32,
    /// When it began, RFC 3339, UTC.
    pub started_at: String,
    /// How long it took, nanoseconds.
    pub elapsed_ns: u64,
}

/// Readings, some of which may have no value.
fn known_or_not<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, Unit, f64)>, D::Error> {
    let found = Vec::<(String, Unit, Option<f64>)>::deserialize(from)?;
    let found = found.into_iter();
    Ok(found
        .map(|(name, unit, it)| (name, unit, it.unwrap_or(f64::NAN)))
        .collect())
}

/// Values, some of which may be unknown.
fn each_known_or_not<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(String, Vec<f64>)>, D::Error> {
    let found = Vec::<(String, Vec<Option<f64>>)>::deserialize(from)?;
    let known = |it: Vec<Option<f64>>| it.into_iter().map(|it| it.unwrap_or(f64::NAN)).collect();
    Ok(found
        .into_iter()
        .map(|(name, it)| (name, known(it)))
        .collect())
}

impl Replicate {
    /// A repeat with these readings.
    pub fn new(number: u32, counts: bool, readings: impl IntoIterator<Item = Reading>) -> Self {
        let mut this = Self {
            number,
            counts,
            readings: Vec::new(),
            samples: Vec::new(),
            turn: None,
        };
        for it in readings {
            if !it.parts.is_empty() {
                this.samples.push((it.name.clone(), it.parts));
            }
            this.readings.push((it.name, it.unit, it.value));
        }
        this
    }
}
