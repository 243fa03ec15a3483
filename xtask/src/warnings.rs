//! Every warning that this program can print has its row in docs/warnings.md, and every row its
//! warning.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::source::{Source, root};

const TABLE: &str = "docs/warnings.md";
/// What stands right before a code.
const MARKS: [&str; 8] = [
    "Warning::note(",
    "Warning::doubt(",
    "Warning::void(",
    "(Severity::Note, ",
    "(Severity::Doubt, ",
    "(Severity::Void, ",
    "code: ",
    "found.add(",
];
/// Before the code stands a severity.
const WITH_SEVERITY: &str = "Warning::new(";

/// Name the warnings without a row, and the rows without a warning.
pub fn warnings(sources: &[Source], faults: &mut Vec<String>) -> Result<()> {
    let products = sources.iter().filter(|it| {
        let is_invented = ["report", "sample", "xtask"].contains(&it.krate.as_str());
        it.is_product() && !is_invented
    });
    let known: BTreeSet<String> = products.flat_map(codes).collect();
    let path = root().join(TABLE);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let rows = rows(&text);
    for code in known.difference(&rows) {
        faults.push(format!("{TABLE}: no row for the warning `{code}`"));
    }
    for code in rows.difference(&known) {
        faults.push(format!("{TABLE}: a row for `{code}`, which no code says"));
    }
    Ok(())
}

/// The codes that the first column of a table names.
fn rows(text: &str) -> BTreeSet<String> {
    let firsts = text.lines().filter_map(|line| line.strip_prefix("| "));
    let firsts = firsts.filter_map(|line| line.split(" |").next());
    let named = firsts.flat_map(|first| first.split(", "));
    let quoted = named.filter_map(|it| it.strip_prefix('`')?.strip_suffix('`'));
    quoted.map(str::to_owned).collect()
}

/// The codes of the warnings that a source makes.
fn codes(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.product_lines().map(|(_, line)| line).collect();
    let text = lines.join("\n");
    let is_of_inspection = source
        .path
        .starts_with(Path::new("crates/host/src/inspect"));
    let mut found = Vec::new();
    for mark in MARKS {
        if mark == "found.add(" && !is_of_inspection {
            continue;
        }
        let after = text
            .match_indices(mark)
            .map(|(at, _)| &text[at + mark.len()..]);
        found.extend(after.filter_map(|rest| code(&text, rest)));
    }
    let after = text.match_indices(WITH_SEVERITY);
    let after = after.filter_map(|(at, _)| text[at..].split_once(','));
    found.extend(after.filter_map(|(_, rest)| code(&text, rest)));
    found
}

/// The code at the beginning of `rest`: a word in quotes, or the constant that holds one.
fn code(text: &str, rest: &str) -> Option<String> {
    let rest = rest.trim_start();
    if let Some(quoted) = rest.strip_prefix('"') {
        let word = quoted.split('"').next()?;
        return is_code(word).then(|| word.to_owned());
    }
    let name = rest
        .split(|it: char| !it.is_ascii_uppercase() && it != '_')
        .next()?;
    let (_, value) = text.split_once(&format!("const {name}: &str = \""))?;
    let word = value.split('"').next()?;
    (!name.is_empty() && is_code(word)).then(|| word.to_owned())
}

/// Kebab case.
fn is_code(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|it| it.is_ascii_lowercase() || it == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let source = Source {
            path: "crates/procedure/src/doubts.rs".into(),
            krate: "procedure".into(),
            text: text.into(),
        };
        assert_eq!(codes(&source), expected);
    }

    #[test]
    fn codes_are_found_however_they_are_written() {
        check("Warning::note(\n    \"a-note\",\n    text)", &["a-note"]);
        check("Warning::new(severity, \"a-code\", text)", &["a-code"]);
        check(
            "const CODE: &str = \"named\";\nWarning::doubt(CODE, text)",
            &["named"],
        );
        check("Finding::Late => (Severity::Doubt, \"late\"),", &["late"]);
        check("Warning::note(&caution.code, text)", &[]);
        check("#[cfg(test)]\nWarning::note(\"of-a-test\", \"\")", &[]);
    }

    #[test]
    fn a_row_may_name_several() {
        let rows = rows("| code | when |\n| --- | --- |\n| `a`, `b-c` | always |\n");
        assert_eq!(rows.into_iter().collect::<Vec<_>>(), ["a", "b-c"]);
    }
}
