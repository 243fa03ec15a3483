//! Readers of text and bytes from outside: each is marked `// fuzzed: TARGET`, and has that target.
//!
//! A file that lets foreign text in is known by the calls that do so, its doors. It says which
//! target drives them, or, with `// not fuzzed: why`, why none needs to.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};

use crate::source::{Source, root};

const MARK: &str = "// fuzzed: ";
const EXEMPT: &str = "// not fuzzed: ";

/// Calls by which foreign text or bytes become values.
const DOORS: &[&str] = &[
    "DeTable::parse(",
    "httparse::",
    "postcard::from_bytes",
    "read_regular_file(",
    "rmp_serde::",
    "serde_json::from_",
    "toml::from_str",
    "toml_reader::parse",
];

/// Every reader has a target, a row in the list and an input; every target has a reader.
pub fn readers(sources: &[Source], faults: &mut Vec<String>) -> Result<()> {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).context(name.to_owned());
    let targets = targets_in(&read("fuzz/src/targets/mod.rs")?);
    let list = read("fuzz/README.md")?;
    let mut driven = BTreeSet::new();
    for source in sources
        .iter()
        .filter(|it| it.is_product() && it.krate != "xtask")
    {
        let name = source.path.display();
        let marks = marks_in(&source.text);
        for mark in marks.difference(&targets) {
            faults.push(format!("{name}: there is no fuzz target `{mark}`"));
        }
        let is_exempt = source.text.contains(EXEMPT);
        if let (Some(door), true, false) = (door_in(source), marks.is_empty(), is_exempt) {
            faults.push(format!(
                "{name}: `{door}` lets foreign text in: say which target does so, `{MARK}TARGET`"
            ));
        }
        driven.extend(marks);
    }
    for target in &targets {
        if !driven.contains(target) {
            faults.push(format!("no reader says `{MARK}{target}`"));
        }
        if !list.contains(&format!("`{target}`")) {
            faults.push(format!("fuzz/README.md does not list `{target}`"));
        }
        let corpus = root().join("fuzz/corpus").join(target);
        if std::fs::read_dir(corpus).map_or(0, Iterator::count) == 0 {
            faults.push(format!("fuzz/corpus/{target} has no input"));
        }
    }
    Ok(())
}

fn targets_in(modules: &str) -> BTreeSet<String> {
    let lines = modules.lines();
    let names = lines.filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}

fn marks_in(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(str::trim_start);
    let marks = lines.filter_map(|line| line.strip_prefix(MARK));
    let names = marks.flat_map(|names| names.split(", "));
    names.map(|name| name.trim().to_owned()).collect()
}

fn door_in(source: &Source) -> Option<&'static str> {
    let mut lines = source.product_lines();
    lines.find_map(|(_, line)| {
        let code = line.trim_start();
        let is_code = !code.starts_with("//") && !code.starts_with("use ");
        let mut doors = DOORS.iter().filter(|_| is_code);
        doors.find(|door| code.contains(**door)).copied()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_known_by_its_doors_and_says_its_targets() {
        let source = |text: &str| Source {
            path: "crates/a/src/b.rs".into(),
            krate: "a".into(),
            text: text.into(),
        };
        let code = "use toml_reader::parse;\nfn f() {\n    toml::from_str(text)\n}\n";
        assert_eq!(door_in(&source(code)), Some("toml::from_str"));
        assert_eq!(door_in(&source("// toml::from_str\n")), None);
        let marks = marks_in("/// A.\n    // fuzzed: one, two\nfn f() {}\n// not fuzzed: ours\n");
        assert_eq!(marks.into_iter().collect::<Vec<_>>(), ["one", "two"]);
        let targets = targets_in("//! All.\nmod a;\nmod b;\n\npub type X = u8;\n");
        assert_eq!(targets.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
