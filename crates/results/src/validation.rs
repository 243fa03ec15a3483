//! What simulated machines give, beside what was published of them, or beside a law.

use serde::{Deserialize, Serialize};

/// By how much the edges of a trial may lift a rate above what is possible, a share.
const EDGES: f64 = 0.001;

/// Two models whose figures are further apart than this say little.
const WIDE: f64 = 1.5;

/// Where the figures of a table come from that the simulated ones stand beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// A document that was published.
    Document,
    /// A formula.
    Law,
}

/// What a row must keep; fixed before the row was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Bar {
    /// Simulated over published differs from 1 by no more than this.
    Tolerance {
        /// A share of 1.
        tolerance: f64,
    },
    /// The simulated figure is no more than published, and no less than a share of it.
    Bound { share: f64 },
    /// The simulated figure lies in a range.
    Range {
        /// Its lower end.
        low: f64,
        /// Its upper end; none where the figure may be as large as it likes.
        high: Option<f64>,
    },
    /// The published figure lies between those of two models.
    Bracket,
    /// Nothing: the row is out of reach, and its note says why.
    #[default]
    None,
}

/// How a row stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It keeps its bar.
    Within,
    /// It missed its bar when it was first compared, and its note says by what or why.
    Missed,
    /// It misses its bar.
    Outside,
    /// It has no bar.
    #[default]
    NotJudged,
}

/// One figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationRow {
    /// What it is about.
    pub row: String,
    /// Unit of the figures; empty for plain numbers.
    pub unit: String,
    /// As published, or as the law has it; absent where the document has words only.
    pub published: Option<f64>,
    /// As simulated; absent where no model gives it. The lower one where two models bracket it.
    pub simulated: Option<f64>,
    /// The higher one where two models bracket it.
    pub simulated_high: Option<f64>,
    /// Simulated over published.
    pub ratio: Option<f64>,
    /// What the row must keep.
    pub bar: Bar,
    /// How it stands.
    pub standing: Standing,
    /// Whether the published figure is a misprint, or contradicts others.
    pub is_misprint: bool,
    /// What a reader must know; empty when there is nothing.
    pub note: String,
}

impl ValidationRow {
    /// A row whose figures are still to come.
    #[must_use]
    pub fn new(row: impl Into<String>, unit: &str, published: f64) -> Self {
        Self {
            row: row.into(),
            unit: unit.into(),
            published: Some(published),
            ..Self::default()
        }
    }

    /// A row for which the document has words only.
    #[must_use]
    pub fn in_words(row: impl Into<String>, unit: &str) -> Self {
        Self {
            published: None,
            ..Self::new(row, unit, 0.0)
        }
    }

    /// The same with what was simulated.
    #[must_use]
    pub fn simulated(mut self, simulated: f64) -> Self {
        self.simulated = Some(simulated);
        // Of nothing there is no multiple.
        let published = self.published.filter(|published| *published != 0.0);
        self.ratio = published.map(|published| simulated / published);
        self
    }

    /// The same with what two models gave.
    #[must_use]
    pub fn between(mut self, one: f64, other: f64) -> Self {
        self.simulated = Some(one.min(other));
        self.simulated_high = Some(one.max(other));
        self
    }

    /// The same, held against `bar`.
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

    /// The same, off by no more than a share.
    #[must_use]
    pub fn within(self, tolerance: f64) -> Self {
        self.judged(Bar::Tolerance { tolerance })
    }

    /// The same, held against a bar that it missed when it was first compared: `note` says why.
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

    /// The same with what a reader must know.
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The same, where the published figure cannot be right.
    #[must_use]
    pub fn misprinted(mut self, note: impl Into<String>) -> Self {
        self.is_misprint = true;
        self.noted(note)
    }

    /// Whether the bar is kept; `None` where there is none, or nothing to hold against it. A figure
    /// that is not a number keeps no bar.
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

/// Rows that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationTable {
    /// What it is, with its place in the document.
    pub title: String,
    /// Whether it stands beside a document or a law.
    pub reference: Reference,
    /// Devices and machines that took part, by their names.
    pub devices: Vec<String>,
    /// What was done, and with which options.
    pub method: String,
    pub rows: Vec<ValidationRow>,
}

/// What `seekstone devices validate` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Version of this form.
    pub schema: u32,
    /// The device or machine it was restricted to.
    pub device: Option<String>,
    /// Tables in their order.
    pub tables: Vec<ValidationTable>,
    /// Why it ended before its end.
    pub stopped: Option<String>,
}

impl Validation {
    /// Every row.
    pub fn rows(&self) -> impl Iterator<Item = &ValidationRow> {
        self.tables.iter().flat_map(|table| &table.rows)
    }

    /// How many rows stand like that.
    #[must_use]
    pub fn count(&self, standing: Standing) -> usize {
        self.rows().filter(|row| row.standing == standing).count()
    }

    /// How many published figures lie between those of two models, and how many of these pairs are
    /// more than 1.5 times apart. Such rows can hardly fail.
    #[must_use]
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
