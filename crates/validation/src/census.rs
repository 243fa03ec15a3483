//! Every table that the five documents have published, and where each figure of it is accounted
//! for: next to a simulated one, in a test, in a definition, or nowhere, with the reason.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::experiment::experiments;

/// A table, or a log with figures.
#[derive(Clone, Copy, Debug)]
pub struct PublishedTable {
    pub document: &'static str,
    pub place: &'static str,
    /// Its figures, without those that say what was run.
    pub figures: usize,
    /// What becomes of them.
    pub parts: &'static [TablePart],
}

/// Figures of a table that have the same lot.
#[derive(Clone, Copy, Debug)]
pub struct TablePart {
    /// How many there are. None where a row stands next to the document's words.
    pub figures: usize,
    /// Which ones.
    pub which: &'static str,
    /// What becomes of them.
    pub account: FigureAccount,
}

/// What becomes of published figures.
#[derive(Clone, Copy, Debug)]
pub enum FigureAccount {
    /// They stand in rows of `seekstone devices validate`, which judges them or says why not.
    Compared {
        /// Title of the table there.
        title: &'static str,
        /// Its rows; all of them where none is named. A row may stand for several figures of a log.
        rows: &'static [&'static str],
    },
    /// They follow from others, or a definition was made of them.
    Given(&'static str),
    /// A test has them.
    Tested(&'static str),
    /// No model gives them, for this reason.
    Unreached(&'static str),
}

/// Every table, document by document.
pub fn published_tables() -> impl Iterator<Item = &'static PublishedTable> {
    static TABLES: LazyLock<Vec<PublishedTable>> =
        LazyLock::new(|| tables_of(include_str!("census.txt")));
    TABLES.iter()
}

/// The tables of a census, whose first lines say how it is written. They live as long as the
/// program.
fn tables_of(text: &str) -> Vec<PublishedTable> {
    let text: &'static str = text.replace("\n    ", " ").leak();
    let titles = experiments().iter();
    let titles = titles.map(|it| (format!("${}", it.name), it.title));
    let mut names: BTreeMap<String, &str> = titles.collect();
    let mut tables: Vec<(PublishedTable, Vec<TablePart>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some((name, meaning)) = line.split_once(" = ").filter(|_| line.starts_with('$')) {
            names.insert(name.into(), meaning);
            continue;
        }
        let fields = line.split(" | ");
        let fields = fields.map(|field| names.get(field).copied().unwrap_or(field));
        match (fields.collect::<Vec<_>>().as_slice(), tables.last_mut()) {
            ([""], _) => {}
            ([what, fields @ ..], Some((_, parts))) if line.starts_with(' ') => {
                parts.push(part_of(what, fields));
            }
            ([document, place, figures], _) => {
                let figures = figures.parse().expect("a number of figures");
                let table = PublishedTable {
                    document,
                    place,
                    figures,
                    parts: &[],
                };
                tables.push((table, Vec::new()));
            }
            _ => panic!("the census has no such line: {line}"),
        }
    }
    let tables = tables.into_iter();
    tables
        .map(|(table, parts)| PublishedTable {
            parts: parts.leak(),
            ..table
        })
        .collect()
}

fn part_of(what: &str, fields: &[&'static str]) -> TablePart {
    let (figures, lot) = what.trim().split_once(' ').expect("a number and a lot");
    let (which, account) = match (lot, fields) {
        ("compared", [title, rows @ ..]) => {
            let rows = rows.to_vec().leak();
            ("", FigureAccount::Compared { title, rows })
        }
        ("given", [which, why]) => (*which, FigureAccount::Given(why)),
        ("tested", [which, test]) => (*which, FigureAccount::Tested(test)),
        ("unreached", [which, why]) => (*which, FigureAccount::Unreached(why)),
        _ => panic!("the census knows no such lot: {what} {fields:?}"),
    };
    TablePart {
        figures: figures.parse().expect("a number of figures"),
        which,
        account,
    }
}
