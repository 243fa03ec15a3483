//! Every table published in the five documents, and what each of its figures is used for: compared
//! with a simulated one, in a test, in a definition, or not at all, with the reason.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::experiment::experiments;

/// A table, or a log with figures.
#[derive(Clone, Copy, Debug)]
pub struct PublishedTable {
    pub document: &'static str,
    pub place: &'static str,
    /// Number of its figures, without those that describe the run.
    pub figures: usize,
    /// Use of the figures.
    pub parts: &'static [TablePart],
}

/// Figures of a table with the same use.
#[derive(Clone, Copy, Debug)]
pub struct TablePart {
    /// Their number. Zero if a row is compared with the document's words.
    pub figures: usize,
    /// Which figures.
    pub which: &'static str,
    /// Their use.
    pub account: FigureAccount,
}

/// Use of published figures.
#[derive(Clone, Copy, Debug)]
pub enum FigureAccount {
    /// In rows of `seekstone devices validate`, which judges them or says why not.
    Compared {
        /// Title of the table there.
        title: &'static str,
        /// Its rows; all if none is named. A row may represent several figures of a log.
        rows: &'static [&'static str],
    },
    /// Derived from others, or used for a definition.
    Given(&'static str),
    /// Used in a test.
    Tested(&'static str),
    /// Not modelled, for this reason.
    Unreached(&'static str),
}

/// All tables, document by document.
pub fn published_tables() -> impl Iterator<Item = &'static PublishedTable> {
    static TABLES: LazyLock<Vec<PublishedTable>> =
        LazyLock::new(|| tables_of(include_str!("census.txt")));
    TABLES.iter()
}

/// The tables of a census, whose first lines describe the format. They live as long as the program.
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
