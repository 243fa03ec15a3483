//! Validation of simulated machines against published figures or against theory.

use serde::{Deserialize, Serialize};

/// How far the edges of a trial may raise a rate above the possible maximum, as a share.
const EDGES: f64 = 0.001;

/// If two bracketing models differ by more than this ratio, the bracket is weak.
const WIDE: f64 = 1.5;

/// Source of the figures that simulated ones are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// A published document.
    Document,
    /// A formula.
    Law,
}

/// The criterion of a row, fixed before the row was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Bar {
    /// Simulated over published differs from 1 by at most this.
    Tolerance {
        /// Relative deviation.
        tolerance: f64,
    },
    /// The simulated figure is at most the published one, and at least a share of it.
    Bound { share: f64 },
    /// The simulated figure lies in a range.
    Range {
        /// Its lower end.
        low: f64,
        /// Its upper end; none if unbounded.
        high: Option<f64>,
    },
    /// The published figure lies between those of two models.
    Bracket,
    /// No criterion: the row is out of reach, and its note says why.
    #[default]
    None,
}

/// Whether a row meets its criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It does.
    Within,
    /// It missed its criterion when first compared. Its note says by how much or why.
    Missed,
    /// It does not.
    Outside,
    /// It has no criterion.
    #[default]
    NotJudged,
}

/// One figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationRow {
    /// Subject of the row.
    pub row: String,
    /// Unit of the figures; empty for plain numbers.
    pub unit: String,
    /// As published, or by theory; absent if the document has words only.
    pub published: Option<f64>,
    /// As simulated; absent if no model gives it. The lower value if two models bracket it.
    pub simulated: Option<f64>,
    /// The higher value if two models bracket it.
    pub simulated_high: Option<f64>,
    /// Simulated over published.
    pub ratio: Option<f64>,
    /// The criterion.
    pub bar: Bar,
    /// Whether it is met.
    pub standing: Standing,
    /// Whether the published figure is a misprint or contradicts others.
    pub is_misprint: bool,
    /// A note for the reader, or empty.
    pub note: String,
}

impl ValidationRow {
    /// A row without figures yet.
    pub fn new(row: impl Into<String>, unit: &str, published: f64) -> Self {
        Self {
            row: row.into(),
            unit: unit.into(),
            published: Some(published),
            ..Self::default()
        }
    }

    /// A row for which the document has words only.
    pub fn in_words(row: impl Into<String>, unit: &str) -> Self {
        Self {
            published: None,
            ..Self::new(row, unit, 0.0)
        }
    }

    /// Adds the simulated figure.
    #[must_use]
    pub fn simulated(mut self, simulated: f64) -> Self {
        self.simulated = Some(simulated);
        // A ratio to zero does not exist.
        let published = self.published.filter(|published| *published != 0.0);
        self.ratio = published.map(|published| simulated / published);
        self
    }

    /// Adds the figures of two models.
    #[must_use]
    pub fn between(mut self, one: f64, other: f64) -> Self {
        self.simulated = Some(one.min(other));
        self.simulated_high = Some(one.max(other));
        self
    }

    /// Judges the row by `bar`.
    #[must_use]
    pub fn judged(mut self, bar: Bar) -> Self {
        self.bar = bar;
        self.standing = match self.keeps() {
            None => Standing::NotJudged,
            Some(true) => Standing::Within,
            Some(false) => Standing::Outside,
        };
        self
    }

    /// Judges the row by a relative tolerance.
    #[must_use]
    pub fn within(self, tolerance: f64) -> Self {
        self.judged(Bar::Tolerance { tolerance })
    }

    /// Judges the row by a criterion that it missed when first compared; `note` says why.
    #[must_use]
    pub fn missed(self, bar: Bar, note: impl Into<String>) -> Self {
        let judged = self.judged(bar);
        match judged.standing {
            Standing::Outside => Self {
                standing: Standing::Missed,
                note: note.into(),
                ..judged
            },
            _ => judged,
        }
    }

    /// Adds a note.
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Marks the published figure as wrong.
    #[must_use]
    pub fn misprinted(mut self, note: impl Into<String>) -> Self {
        self.is_misprint = true;
        self.noted(note)
    }

    /// Whether the criterion is met; `None` if there is none, or no figure to judge. NaN meets
    /// none.
    fn keeps(&self) -> Option<bool> {
        let simulated = self.simulated?;
        match self.bar {
            Bar::None => None,
            Bar::Tolerance { tolerance } => {
                let ratio = self.ratio?;
                Some((ratio - 1.0).abs() <= tolerance)
            }
            Bar::Bound { share } => {
                let published = self.published?;
                let highest = published * (1.0 + EDGES);
                Some(simulated <= highest && simulated >= published * share)
            }
            Bar::Range { low, high } => {
                Some(simulated >= low && high.is_none_or(|high| simulated <= high))
            }
            Bar::Bracket => {
                let (published, high) = (self.published?, self.simulated_high?);
                Some(simulated <= published && published <= high)
            }
        }
    }
}

/// Related rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationTable {
    /// Its title, with the place in the document.
    pub title: String,
    /// Whether it is compared with a document or with theory.
    pub reference: Reference,
    /// Names of the devices and machines used.
    pub devices: Vec<String>,
    /// The method, with its options.
    pub method: String,
    pub rows: Vec<ValidationRow>,
}

/// Result of `seekstone devices validate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Schema version.
    pub schema: u32,
    /// Device or machine that it was restricted to.
    pub device: Option<String>,
    /// The tables, in order.
    pub tables: Vec<ValidationTable>,
    /// Why it stopped early.
    pub stopped: Option<String>,
}

impl Validation {
    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &ValidationRow> {
        self.tables.iter().flat_map(|table| &table.rows)
    }

    /// Number of rows with that standing.
    pub fn count(&self, standing: Standing) -> usize {
        self.rows().filter(|row| row.standing == standing).count()
    }

    /// How many published figures are bracketed by two models, and how many of these brackets are
    /// wider than 1.5 times. Such rows can hardly fail.
    pub fn brackets(&self) -> (usize, usize) {
        let within = self.rows().filter(|row| row.standing == Standing::Within);
        let ratios = within.filter_map(|row| Some(row.simulated_high? / row.simulated?));
        ratios.fold((0, 0), |(all, wide), ratio| {
            (all + 1, wide + usize::from(ratio > WIDE))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(row: ValidationRow, bar: Bar, expected: Standing) {
        let row = row.judged(bar);
        assert_eq!(row.standing, expected, "{row:?}");
    }

    #[test]
    fn rows_are_judged_by_their_bars() {
        use Standing::{Missed, NotJudged, Outside, Within};
        let row = |simulated| ValidationRow::new("row", "ms", 10.0).simulated(simulated);
        let tolerance = Bar::Tolerance { tolerance: 0.12 };
        check(row(11.2), tolerance, Within);
        check(row(8.8), tolerance, Within);
        check(row(11.3), tolerance, Outside);
        check(row(f64::NAN), tolerance, Outside);
        check(row(20.0), Bar::None, NotJudged);
        check(row(10.0), Bar::Bound { share: 0.9 }, Within);
        check(row(10.1), Bar::Bound { share: 0.9 }, Outside);
        check(row(8.9), Bar::Bound { share: 0.9 }, Outside);
        let range = |high| Bar::Range { low: 1.0, high };
        check(row(1.5), range(Some(1.6)), Within);
        check(row(1.7), range(Some(1.6)), Outside);
        check(row(1.7), range(None), Within);
        let bracket = |one, other| ValidationRow::new("row", "ms", 10.0).between(one, other);
        check(bracket(12.0, 9.0), Bar::Bracket, Within);
        check(bracket(12.0, 10.5), Bar::Bracket, Outside);
        check(ValidationRow::new("row", "ms", 10.0), tolerance, NotJudged);
        let known = |simulated| row(simulated).missed(tolerance, "why");
        assert_eq!(
            (known(12.0).standing, known(12.0).note),
            (Missed, "why".into())
        );
        assert_eq!(
            (known(11.0).standing, known(11.0).note),
            (Within, String::new())
        );
        let words = ValidationRow::in_words("row", "").simulated(12.0);
        assert_eq!(words.ratio, None);
        check(words, range(None), Within);
    }
}
