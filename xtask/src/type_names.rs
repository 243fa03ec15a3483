//! A type has a name of its own in the whole workspace, so that a search for it finds it.

use std::collections::BTreeMap;

use crate::source::Source;

/// Names that several types still share, by how many do. Rename one, and shorten this list: it
/// may not promise more than there are.
const SHARED: &[(usize, &[&str])] = &[(2, &["Command", "Tone"])];

/// Names that types share, unless the list has as many of them.
pub fn type_names(sources: &[Source], faults: &mut Vec<String>) {
    let products = sources.iter().filter(|it| it.is_product());
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in products {
        // What stands in for an ability in a build without it has the ability's names.
        if source
            .path
            .components()
            .any(|part| part.as_os_str() == "without")
        {
            continue;
        }
        for (line, text) in source.product_lines() {
            if let Some(name) = type_name(text) {
                let place = format!("{}:{line}", source.path.display());
                places.entry(name).or_default().push(place);
            }
        }
    }
    compare(&places, SHARED, faults);
}

fn compare(
    places: &BTreeMap<&str, Vec<String>>,
    shared: &[(usize, &[&str])],
    faults: &mut Vec<String>,
) {
    let known = shared.iter();
    let known = known.flat_map(|(count, names)| names.iter().map(|name| (*name, *count)));
    let known: BTreeMap<&str, usize> = known.collect();
    for (name, places) in places {
        let most = known.get(name).copied().unwrap_or(1);
        if places.len() > most {
            faults.push(format!(
                "{} types are named {name}: give a new one the field's noun in full ({})",
                places.len(),
                places.join(", ")
            ));
        }
    }
    for (name, count) in known {
        let found = places.get(name).map_or(0, Vec::len);
        if found < count || count < 2 {
            faults.push(format!(
                "xtask/src/type_names.rs: {count} types named {name} are listed, and {found} are \
                 there: shorten the list"
            ));
        }
    }
}

/// The name of the type that a line defines, outside of functions and of traits and their parts.
fn type_name(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let is_public = rest.starts_with("pub ") || rest.starts_with("pub(");
    if rest.len() < line.len() && !is_public {
        return None;
    }
    let rest = match is_public {
        true => rest.split_once(' ')?.1,
        false => rest,
    };
    let mut words = rest.split_whitespace();
    let is_type = matches!(words.next()?, "struct" | "enum" | "trait");
    // What a macro declares is named where it is used.
    let name = words.next().filter(|it| is_type && !it.starts_with('$'))?;
    name.split(|it: char| !it.is_alphanumeric()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_wherever_they_are_defined() {
        let check = |line, expected| assert_eq!(type_name(line), expected, "{line}");
        check("struct Job<'a> {", Some("Job"));
        check("pub enum Verdict {", Some("Verdict"));
        check("    pub(super) trait Driver: Send {", Some("Driver"));
        check("    struct OfOneFunction;", None);
        check("        pub enum $name {", None);
        check("    /// struct Commented {", None);
        check("pub const trait_of: u8 = 1;", None);
    }

    #[test]
    fn a_shared_name_and_an_entry_too_many_are_named() {
        let twice = vec!["a.rs:1".to_owned(), "b.rs:2".to_owned()];
        let places = BTreeMap::from([("Job", twice), ("Op", vec!["a.rs:3".to_owned()])]);
        let check = |shared: &[(usize, &[&str])], expected: &[&str]| {
            let mut faults = Vec::new();
            compare(&places, shared, &mut faults);
            assert_eq!(faults.len(), expected.len(), "{faults:?}");
            for (fault, part) in faults.iter().zip(expected) {
                assert!(fault.contains(part), "{fault}");
            }
        };
        check(&[(2, &["Job"])], &[]);
        check(&[], &["2 types are named Job"]);
        check(
            &[(2, &["Job", "Op"])],
            &["2 types named Op are listed, and 1"],
        );
        check(&[(3, &["Job"])], &["3 types named Job are listed, and 2"]);
    }
}
