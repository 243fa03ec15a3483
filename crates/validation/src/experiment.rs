//! The experiments of experiments.txt, whose first lines describe its format.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use results::{Bar, Reference, ValidationRow};

use crate::{Rows, ValidationError};
use host::interrupt::Interrupt;

/// Functions that fill tables, by their names.
pub(crate) type Fillers<T> = &'static [(&'static str, fn(&Interrupt) -> T)];

/// How a table is filled.
#[derive(Clone, Copy)]
enum Filler {
    /// By its rows.
    Rows(fn(&Interrupt) -> Rows),
    /// By a figure for each row of the text, in order.
    Figures(fn(&Interrupt) -> Figures),
}

/// Simulated figures for the rows of a table.
pub(crate) type Figures = Result<Vec<SimulatedFigure>, ValidationError>;

/// Simulated figure for a row.
#[derive(Clone, Copy)]
pub(crate) enum SimulatedFigure {
    One(f64),
    /// Of two models.
    Between(f64, f64),
    Nothing,
}

/// Figures of a single model.
pub(crate) fn ones(figures: impl IntoIterator<Item = f64>) -> Vec<SimulatedFigure> {
    figures.into_iter().map(SimulatedFigure::One).collect()
}

/// A table with its filler.
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    pub(crate) reference: Reference,
    pub(crate) devices: Vec<&'static str>,
    pub(crate) title: &'static str,
    pub(crate) method: String,
    rows: Vec<PublishedRow>,
    filler: Filler,
}

impl Experiment {
    pub(crate) fn run(&self, interrupt: &Interrupt) -> Rows {
        match self.filler {
            Filler::Rows(rows) => rows(interrupt),
            Filler::Figures(figures) => {
                let figures = figures(interrupt)?;
                assert_eq!(figures.len(), self.rows.len(), "{}", self.name);
                let rows = self.rows.iter().zip(figures);
                Ok(rows.map(|(row, figure)| row.with(figure)).collect())
            }
        }
    }
}

/// A row of the text.
struct PublishedRow {
    /// Without simulated figures.
    row: ValidationRow,
    bar: Bar,
    is_missed: bool,
}

impl PublishedRow {
    fn with(&self, figure: SimulatedFigure) -> ValidationRow {
        let row = self.row.clone();
        let row = match figure {
            SimulatedFigure::One(figure) => row.simulated(figure),
            SimulatedFigure::Between(one, other) => row.between(one, other),
            SimulatedFigure::Nothing => row,
        };
        if self.is_missed {
            let note = row.note.clone();
            return row.noted("").missed(self.bar, note);
        }
        row.judged(self.bar)
    }

    /// Parses a row; `None` if it is not one.
    fn read(fields: &[&str]) -> Option<Self> {
        let (name, unit, published, bar, note) = match *fields {
            [name, unit, published, bar] => (name, unit, published, bar, ""),
            [name, unit, published, bar, note] => (name, unit, published, bar, note),
            _ => return None,
        };
        let unit = if unit == "." { "" } else { unit };
        let row = match published.split_once('/') {
            _ if published == "-" => ValidationRow::in_words(name, unit),
            None => ValidationRow::new(name, unit, published.parse().ok()?),
            Some((over, under)) => {
                let share = over.parse::<f64>().ok()? / under.parse::<f64>().ok()?;
                ValidationRow::new(name, unit, share)
            }
        };
        let (is_missed, bar) = match bar.strip_prefix("missed ") {
            Some(bar) => (true, bar),
            None => (false, bar),
        };
        let words: Vec<&str> = bar.split(' ').collect();
        let range = |low: &str, high| {
            let low = low.parse().ok()?;
            Some(Bar::Range { low, high })
        };
        let bar = match words.as_slice() {
            ["-" | "misprint"] => Bar::None,
            ["bracket"] => Bar::Bracket,
            ["within", tolerance] => Bar::Tolerance {
                tolerance: tolerance.parse().ok()?,
            },
            ["from", low] => range(low, None)?,
            ["from", low, "to", high] => range(low, Some(high.parse().ok()?))?,
            _ => return None,
        };
        let row = match words[0] {
            "misprint" => row.misprinted(note),
            _ => row.noted(note),
        };
        Some(Self {
            row,
            bar,
            is_missed,
        })
    }
}

/// All experiments, in the order of the report.
pub(crate) fn experiments() -> &'static [Experiment] {
    static ALL: LazyLock<Vec<Experiment>> =
        LazyLock::new(|| experiments_of(include_str!("experiments.txt")));
    &ALL
}

/// The experiments of a text, which lives as long as the program.
fn experiments_of(text: &str) -> Vec<Experiment> {
    let text: &'static str = text.replace("\n      ", " ").leak();
    let rows = crate::ROWS.into_iter().flatten();
    let rows = rows.map(|(name, fill)| (*name, Filler::Rows(*fill)));
    let figures = crate::FIGURES.into_iter().flatten();
    let figures = figures.map(|(name, fill)| (*name, Filler::Figures(*fill)));
    let fillers: BTreeMap<_, _> = rows.chain(figures).collect();
    let blocks = text.trim_end().split("\n\n").skip(1);
    let (names, tables): (Vec<&str>, Vec<&str>) = blocks.partition(|block| block.starts_with('$'));
    let names = names.into_iter().flat_map(str::lines);
    let names: BTreeMap<_, _> = names.filter_map(|line| line.split_once(" = ")).collect();
    let tables = tables.into_iter();
    let all: Vec<Experiment> = tables
        .map(|block| read_table(block, &names, &fillers).unwrap_or_else(|| panic!("{block}")))
        .collect();
    assert_eq!(all.len(), fillers.len(), "each fills a table");
    all
}

fn read_table(
    block: &'static str,
    names: &BTreeMap<&str, &'static str>,
    fillers: &BTreeMap<&str, Filler>,
) -> Option<Experiment> {
    let mut lines = block.lines().map(str::trim);
    let (head, title) = (lines.next()?, lines.next()?);
    let (head, devices) = head.split_once(": ")?;
    let (reference, name) = head.split_once(' ')?;
    let (rows, method): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("- "));
    let rows = rows.into_iter().map(|row| {
        let fields = row.strip_prefix("- ")?.split(" | ");
        let fields = fields.map(|field| names.get(field).copied().unwrap_or(field));
        PublishedRow::read(&fields.collect::<Vec<_>>())
    });
    Some(Experiment {
        name,
        reference: match reference {
            "law" => Reference::Law,
            _ => Reference::Document,
        },
        devices: devices.split(' ').collect(),
        title,
        method: method.join(" "),
        rows: rows.collect::<Option<_>>()?,
        filler: *fillers.get(name)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Standing;

    #[track_caller]
    fn check(fields: &[&str], figure: SimulatedFigure, expected: (Standing, &str)) {
        let row = PublishedRow::read(fields).expect("a row").with(figure);
        assert_eq!((row.standing, row.note.as_str()), expected, "{row:?}");
    }

    #[test]
    fn a_row_is_judged_by_the_bar_of_its_line() {
        use SimulatedFigure::{Between, Nothing, One};
        use Standing::{Missed, NotJudged, Outside, Within};
        let row = |bar| ["row", "ms", "10", bar, "why"];
        check(&row("within 0.1"), One(10.9), (Within, "why"));
        check(&row("within 0.1"), One(11.1), (Outside, "why"));
        check(&row("missed within 0.1"), One(11.1), (Missed, "why"));
        check(&row("missed within 0.1"), One(10.9), (Within, ""));
        check(&row("bracket"), Between(11.0, 9.0), (Within, "why"));
        check(&row("from 1"), One(99.0), (Within, "why"));
        check(&row("from 1 to 9"), One(99.0), (Outside, "why"));
        check(&row("-"), One(10.0), (NotJudged, "why"));
        check(&row("misprint"), Nothing, (NotJudged, "why"));
        check(&["row", ".", "-", "from 1"], One(2.0), (Within, ""));
        let share = PublishedRow::read(&["row", ".", "1/4", "-"]).expect("a row");
        assert_eq!(
            (share.row.published, share.row.unit),
            (Some(0.25), String::new())
        );
    }

    #[test]
    fn other_lines_are_no_rows() {
        for fields in [
            &["row", "ms", "10"][..],
            &["row", "ms", "ten", "-"],
            &["row", "ms", "10", "about 0.1"],
            &["row", "ms", "10", "within"],
            &["row", "ms", "10", "-", "why", "more"],
        ] {
            assert!(PublishedRow::read(fields).is_none(), "{fields:?}");
        }
    }

    #[test]
    fn each_table_of_the_text_is_filled_and_says_how() {
        for table in experiments() {
            assert!(!table.method.is_empty(), "{}", table.title);
        }
    }
}
