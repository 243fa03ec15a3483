//! Types, functions and modules are named in the words of the field: a search for what a storage
//! engineer would call a thing finds it.

use crate::source::Source;

/// Words that no name has as a part, each with what to write instead.
const BANNED: &[(&str, &str)] = &[
    ("asker", "requester"),
    ("company", "the other hosts, the coordinator"),
    ("desk", "screen, queue"),
    ("farewell", "shutdown"),
    ("fellows", "peers"),
    ("forgets", "is_stateless"),
    ("ground", "what targets have in common"),
    ("harvest", "results"),
    ("hear", "receive, take"),
    ("heard", "received"),
    ("nap", "pause"),
    ("party", "ranks"),
    ("said", "the text, the output, the reason"),
    ("seat", "slot"),
    ("seats", "slots"),
    ("stake", "claim"),
    ("stakes", "claims"),
    ("tell", "report, send, show"),
    ("teller", "reporter"),
    ("tells", "reports, shows"),
    ("told", "reported, replayed, listed"),
];
/// What a name follows.
const KEYWORDS: [&str; 6] = ["enum", "fn", "mod", "struct", "trait", "type"];

/// Every name of the product's types, functions and modules with a banned word in it.
pub fn house_words(sources: &[Source], faults: &mut Vec<String>) {
    let is_checked = |it: &&Source| {
        let is_of_tests = |stem: &std::ffi::OsStr| stem.to_string_lossy().ends_with("tests");
        it.path.starts_with("crates")
            && it.is_product()
            && !it.path.file_stem().is_some_and(is_of_tests)
    };
    for source in sources.iter().filter(is_checked) {
        for (line, text) in source.product_lines() {
            for (name, word, instead) in banned_names(text) {
                faults.push(format!(
                    "{}:{line}: `{name}` has the word \"{word}\": {instead}",
                    source.path.display()
                ));
            }
        }
    }
}

/// The names that a line defines with a banned word in them, that word, and what to write instead.
fn banned_names(line: &str) -> Vec<(&str, &'static str, &'static str)> {
    if line.trim_start().starts_with("//") {
        return Vec::new();
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let defined = words
        .windows(2)
        .filter(|pair| KEYWORDS.contains(&pair[0]))
        .filter_map(|pair| {
            pair[1]
                .split(|it: char| !it.is_alphanumeric() && it != '_')
                .next()
        });
    defined
        .flat_map(|name| {
            let parts = parts(name);
            let banned = BANNED.iter();
            banned
                .filter(move |(word, _)| parts.iter().any(|part| part == word))
                .map(move |&(word, instead)| (name, word, instead))
        })
        .collect()
}

/// The words of a name in snake or camel case, in lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() {
            parts.push(String::new());
        }
        if letter != '_' {
            parts
                .last_mut()
                .expect("one at least")
                .extend(letter.to_lowercase());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_our_own_are_found_in_names_alone() {
        let check = |line, expected: &[&str]| {
            let found: Vec<&str> = banned_names(line).iter().map(|it| it.1).collect();
            assert_eq!(found, expected, "{line}");
        };
        check("pub(super) struct HostsTold(Vec<u8>);", &["told"]);
        check("    fn tell_what_hangs(party: &Party) {", &["tell"]);
        check("pub type Said<T> = Result<T, String>;", &["said"]);
        check("mod seats;", &["seats"]);
        check("    /// fn tell() {", &[]);
        check("let told = party.share();", &[]);
        check("fn start_in_background() {", &[]);
        check("struct Retold;", &[]);
    }
}
