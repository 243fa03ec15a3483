//! docs/warnings.md is the list of warnings that the program has: each code with its weight and its
//! meaning, and no other.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use results::WarningCode;

use crate::source::root;

const TABLE: &str = "docs/warnings.md";

/// A row of the page for one code: what it weighs, and what it means.
type Row = (String, String);

/// Name the codes without a row, the rows without a code, and those that say something else.
pub fn warnings(faults: &mut Vec<String>) -> Result<()> {
    let path = root().join(TABLE);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    compare(&rows(&text), faults);
    Ok(())
}

fn compare(rows: &BTreeMap<String, Row>, faults: &mut Vec<String>) {
    for code in WarningCode::ALL {
        let weights: Vec<&str> = code.severities().iter().map(|it| it.name()).collect();
        let weights = weights.join(", ");
        let meaning = code.meaning().unwrap_or_default();
        match rows.get(code.as_str()) {
            None => faults.push(format!("{TABLE}: no row for the warning `{code}`")),
            Some((weight, _)) if *weight != weights => faults.push(format!(
                "{TABLE}: `{code}` may weigh {weights}, and the page has {weight}"
            )),
            Some((_, documented)) if !documented.starts_with(meaning) => faults.push(format!(
                "{TABLE}: `{code}` means {meaning:?}, and the page has {documented:?}"
            )),
            Some(_) => {}
        }
    }
    for code in rows.keys() {
        if WarningCode::ALL.iter().all(|it| it.as_str() != code) {
            faults.push(format!("{TABLE}: a row for `{code}`, which no warning has"));
        }
    }
}

/// The rows of the page's tables, by the codes in their first column.
fn rows(text: &str) -> BTreeMap<String, Row> {
    let mut rows = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("| ")) {
        let mut cells = line.trim_end_matches([' ', '|']).split(" | ");
        let (Some(first), Some(weight), Some(meaning)) = (cells.next(), cells.next(), cells.next())
        else {
            continue;
        };
        let named = first.split(", ");
        let quoted = named.filter_map(|it| it.strip_prefix('`')?.strip_suffix('`'));
        for code in quoted {
            rows.insert(code.to_owned(), (weight.to_owned(), meaning.to_owned()));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: &str, to: &str, expected: &str) {
        let page = std::fs::read_to_string(root().join(TABLE)).expect("the page");
        assert!(page.contains(from), "{from}");
        let mut faults = Vec::new();
        compare(&rows(&page.replacen(from, to, 1)), &mut faults);
        let found = faults.iter().any(|fault| fault.contains(expected));
        assert!(found, "{expected}: {faults:#?}");
    }

    #[test]
    fn a_page_that_differs_from_the_list_is_named() {
        check("| `stall` |", "| stall |", "no row for the warning `stall`");
        check("| `stall` |", "| `stal` |", "a row for `stal`");
        check(
            "| `stall` | warning |",
            "| `stall` | info |",
            "`stall` may weigh warning",
        );
        check(
            "nothing completed for a long time",
            "it stood still",
            "`stall` means",
        );
    }

    #[test]
    fn a_row_may_name_several_and_have_more_columns() {
        let rows =
            rows("| code | weight | when |\n| --- | --- | --- |\n| `a`, `b-c` | note | x | 0 |\n");
        let expected = ("note".to_owned(), "x".to_owned());
        assert_eq!(rows.get("b-c"), Some(&expected));
        assert_eq!(rows.len(), 2);
    }
}
