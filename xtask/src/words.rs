//! What users read is in the words of storage engineers: phrases that nobody in the field would say
//! stand in no message, help text or document.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::source::{Source, root};

/// Phrases, each with what to write.
const BANNED: [(&str, &str); 46] = [
    ("replicate", "repeat"),
    ("replicates", "repeats"),
    ("is about", "applies to, measures"),
    ("are about", "apply to"),
    ("told", "reported, given, split"),
    ("room", "space"),
    ("so many", "this many"),
    ("beside", "compared with, next to, with"),
    ("as it is", "unchanged, as is"),
    (": say", "use"),
    ("; say", "use"),
    ("unless you say", "without"),
    ("so it is with", "name what is meant"),
    ("shall be", "is, wanted"),
    ("carries requests out", "I/O engine"),
    ("carry out", "run"),
    ("carried out", "run, done"),
    ("to be had", "available"),
    ("begin anew", "start over"),
    ("begins anew", "starts over"),
    ("gone on with", "resumed"),
    ("throw away", "discard"),
    ("whatever it looks like", "always"),
    ("lies in the past", "is in the past"),
    ("surely meets", "is sure to meet"),
    ("not done here", "not supported"),
    ("passed by", "bypassed"),
    ("not to be trusted", "do not trust"),
    ("by so much", "by that share, by 5 %"),
    ("foreign", "background I/O, of other processes"),
    ("shaky", "unstable"),
    ("sound", "reliable"),
    ("void", "invalid"),
    ("doubt", "warning"),
    ("doubts", "warnings"),
    ("in doubt", "uncertain"),
    ("to mind", "warnings"),
    ("scout", "estimate"),
    ("scouts", "estimates"),
    ("settled", "stable, reached steady state"),
    ("in play", "working set"),
    ("cite", "quote"),
    ("cited", "measured"),
    ("citing", "quoting"),
    ("surely", "name the evidence, or leave it out"),
    ("measure again", "rerun"),
];
/// Crates whose texts no user reads, or that keep the words of old documents.
const EXEMPT: [&str; 4] = ["sample", "validation", "vintage", "xtask"];
/// Files and folders whose texts are in the language of another program, or in the words of old
/// documents: their punctuation and their length are not ours.
const OTHER_LANGUAGES: [&str; 16] = [
    "crates/archive/src/",
    "crates/fio/src/output/",
    "crates/fleet/src/launch/kubernetes.rs",
    "crates/hpc/src/io500.rs",
    "crates/host/src/keeper.rs",
    "crates/host/src/tracefs.rs",
    "crates/report/src/html.rs",
    "crates/report/src/html/live.rs",
    "crates/seekstone/src/args/classic.rs",
    "crates/seekstone/src/args/diskmbps.rs",
    "crates/seekstone/src/args/help/diskmbps.txt",
    "crates/seekstone/src/args/help/diskrand.txt",
    "crates/seekstone/src/args/help/rpt.txt",
    "crates/seekstone/src/args/help/together.txt",
    "crates/seekstone/src/commands/watch/metrics_page.rs",
    "crates/web/src/server.rs",
];
/// Arguments and commands, whose comments are the help text.
const HELP: &str = "crates/seekstone/src/args";

/// Words of a sentence, at most; what is filled in counts as one.
const WORDS_MAX: usize = 20;
/// Colons of a sentence, at most.
const COLONS_MAX: usize = 1;
/// Says what a message is, and is no part of its sentence.
const LABELS: [&str; 3] = ["error: ", "note: ", "warning: "];

/// Name every place where a user would read a banned phrase, or a sentence that is too long.
pub fn words(sources: &[Source], faults: &mut Vec<String>) -> Result<()> {
    let read = sources
        .iter()
        .filter(|it| it.is_product() && !EXEMPT.contains(&it.krate.as_str()));
    for source in read {
        let lines: Vec<&str> = source.product_lines().map(|(_, line)| line).collect();
        let product = lines.join("\n");
        let is_help =
            source.path.starts_with(HELP) || source.path.starts_with(format!("{HELP}.rs"));
        for (line, text) in texts(&product, is_help) {
            judge_text(&source.path.display().to_string(), line, &text, faults);
        }
    }
    for path in text_files()? {
        let text = std::fs::read_to_string(&path)?;
        let name = path.strip_prefix(root()).unwrap_or(&path).display();
        let name = name.to_string();
        let is_said = |text: &&str| !text.starts_with('#') && !text.starts_with("  seekstone");
        for (line, text) in (1_usize..).zip(text.lines()).filter(|(_, it)| is_said(it)) {
            judge_text(&name, line, text, faults);
        }
    }
    for path in pages()? {
        let text = std::fs::read_to_string(&path)?;
        let name = path.strip_prefix(root()).unwrap_or(&path).display();
        let name = name.to_string();
        for (line, text) in (1_usize..).zip(text.lines()) {
            judge(&name, line, &unquoted(text), faults);
        }
        links(&path, &text, faults);
    }
    Ok(())
}

/// Texts of commands that are files.
fn text_files() -> Result<Vec<PathBuf>> {
    let mut paths = vec![root().join("crates/seekstone/src/habits/habits.txt")];
    let help = root().join(HELP).join("help");
    for entry in std::fs::read_dir(&help).with_context(|| help.display().to_string())? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

/// README.md and the documents for users.
fn pages() -> Result<Vec<PathBuf>> {
    let mut paths = vec![root().join("README.md")];
    for folder in ["docs", "docs/reference", "docs/evidence"] {
        for entry in std::fs::read_dir(root().join(folder)).context(folder)? {
            paths.push(entry?.path());
        }
    }
    paths.retain(|path| path.extension().is_some_and(|it| it == "md"));
    paths.sort();
    Ok(paths)
}

/// Name the links of a page that lead to no file.
fn links(page: &Path, text: &str, faults: &mut Vec<String>) {
    let folder = page.parent().unwrap_or(page);
    let targets = text.split("](").skip(1);
    for target in targets.filter_map(|rest| rest.split([')', '#']).next()) {
        if !target.contains("://") && !folder.join(target).exists() {
            let page = page.strip_prefix(root()).unwrap_or(page).display();
            faults.push(format!("{page} links to {target}, which does not exist"));
        }
    }
}

/// Name the phrases in a text of a command, and its sentences that are too long.
fn judge_text(path: &str, line: usize, text: &str, faults: &mut Vec<String>) {
    judge(path, line, text, faults);
    if !OTHER_LANGUAGES.iter().any(|it| path.starts_with(it)) {
        faults.extend(sentence_faults(text).map(|it| format!("{path}:{line}: {it}")));
    }
}

/// What is wrong with the sentences of a text: each has one idea, said in few words.
fn sentence_faults(text: &str) -> impl Iterator<Item = String> {
    let words = text.split('\n').flat_map(|line| {
        let line = LABELS
            .iter()
            .fold(line, |line, it| line.strip_prefix(it).unwrap_or(line));
        line.split_inclusive(' ').chain(["\n"])
    });
    let mut is_default = false;
    // What an option is where it is not given stands behind its sentence.
    let words = words.filter(move |word| {
        is_default |= word.starts_with("[default");
        let is_kept = !is_default || *word == "\n";
        is_default &= !word.contains(']') && *word != "\n";
        is_kept
    });
    let words: Vec<&str> = words.map(str::trim_end).collect();
    let ends = |it: &&str| it.is_empty() || it.ends_with(['.', '!', '?']);
    let sentences = words.split_inclusive(ends);
    let faults = sentences.filter_map(|words| {
        let is_word = |it: &&&str| it.contains(|it: char| it.is_alphanumeric() || it == '{');
        let with = |end: char| {
            let inner = words[..words.len() - 1].iter();
            inner.filter(move |it| it.ends_with(end) && !it.starts_with('-'))
        };
        let count = words.iter().filter(is_word).count();
        let fault = match (with(';').count(), with(':').count()) {
            (1.., _) => "a semicolon".to_owned(),
            (_, colons) if colons > COLONS_MAX => format!("{colons} colons"),
            _ if count > WORDS_MAX => format!("{count} words"),
            _ => return None,
        };
        let begin = words
            .iter()
            .take(5)
            .copied()
            .collect::<Vec<&str>>()
            .join(" ");
        Some(format!(
            "{fault} in the sentence \"{begin} ...\": write two"
        ))
    });
    faults.collect::<Vec<String>>().into_iter()
}

/// Name the phrases in a text, however their first letters are written.
fn judge(path: &str, line: usize, text: &str, faults: &mut Vec<String>) {
    let text = &text.to_lowercase().replace("told apart", "distinguished");
    for (phrase, instead) in BANNED {
        if holds(text, phrase) {
            faults.push(format!(
                "{path}:{line}: \"{phrase}\" in a text for users: {instead}"
            ));
        }
    }
}

/// Whether a text holds a phrase as whole words, and not as the name of an option.
fn holds(text: &str, phrase: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '-' || it == '_';
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// A line of a document without names in back quotes.
fn unquoted(line: &str) -> String {
    let parts = line.split('`').enumerate();
    let kept = parts.map(
        |(number, part)| match number % 2 == 1 && !part.contains(' ') {
            true => "",
            false => part,
        },
    );
    kept.collect()
}

/// The texts in a source: its string literals of several words, without what is filled in, and the
/// comments that are help.
fn texts(source: &str, is_help: bool) -> Vec<(usize, String)> {
    let mut texts: Vec<(usize, String)> = Vec::new();
    let mut open: Option<(usize, String)> = None;
    let mut help_ends = 0;
    for (number, line) in (1_usize..).zip(source.lines()) {
        let trimmed = line.trim_start();
        if open.is_none() && trimmed.starts_with("//") {
            if let Some(help) = trimmed.strip_prefix("///").filter(|_| is_help) {
                match texts.last_mut().filter(|_| help_ends == number - 1) {
                    Some((_, text)) if help.is_empty() => text.push('\n'),
                    Some((_, text)) => text.push_str(help),
                    None => texts.push((number, help.to_owned())),
                }
                help_ends = number;
            }
            continue;
        }
        let mut letters = if open.is_some() { trimmed } else { line }
            .chars()
            .peekable();
        while let Some(letter) = letters.next() {
            match (&mut open, letter) {
                (None, '"') => open = Some((number, String::new())),
                (None, '\'') => pass_letter(&mut letters),
                (None, '/') if letters.peek() == Some(&'/') => break,
                (None, _) => {}
                (Some(_), '"') => texts.extend(open.take()),
                (Some((_, text)), '\\') => {
                    let next = letters.next().filter(|it| !matches!(it, 't' | '\\'));
                    text.extend(next.map(|it| if it == 'n' { '\n' } else { it }));
                }
                (Some((_, text)), '{') => {
                    text.push('{');
                    while letters
                        .next_if(|it| !matches!(it, '}' | '{' | '"'))
                        .is_some()
                    {}
                }
                (Some((_, text)), letter) => text.push(letter),
            }
        }
        if let Some((_, text)) = &mut open {
            text.push(if line.ends_with('\\') { ' ' } else { '\n' });
        }
    }
    let spaced = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    texts.retain(|(_, text)| text.trim().contains(' '));
    texts
        .iter_mut()
        .for_each(|(_, text)| *text = text.split('\n').map(spaced).collect::<Vec<_>>().join("\n"));
    texts
}

/// Pass a letter in quotes, which may be a double quote; a lifetime has no second quote.
fn pass_letter(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut ahead = letters.clone();
    let is_escaped = ahead.next() == Some('\\');
    if is_escaped {
        ahead.next();
    }
    if ahead.next() == Some('\'') {
        *letters = ahead;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(source: &str, is_help: bool) -> Vec<String> {
        let mut faults = Vec::new();
        for (line, text) in texts(source, is_help) {
            judge("a.rs", line, &text, &mut faults);
        }
        faults
    }

    #[test]
    fn banned_phrases_are_found_in_texts_alone() {
        let message = "fn a() {\n    b(\"{x}: there is \\\n       no room for it\");\n}";
        assert_eq!(
            faults_of(message, false),
            ["a.rs:2: \"room\" in a text for users: space"]
        );
        for fine in [
            "let room = told(\"beside\"); // so many",
            "b(\"{room} and {told:>5} of --beside FILE\")",
            "let quote = '\"'; let room = 5; let other = '\"';",
            "b(\"a bedroom is retold\")",
        ] {
            assert_eq!(faults_of(fine, false), [""; 0], "{fine}");
        }
        assert_eq!(faults_of("    /// It is about time.", true).len(), 1);
        assert_eq!(faults_of("    /// Room that stays free.", true).len(), 1);
        assert_eq!(faults_of("    /// It is about time.", false).len(), 0);
    }

    #[test]
    fn a_sentence_has_one_colon_and_twenty_words() {
        let check = |source: &str, is_help: bool, expected: &[&str]| {
            let texts = texts(source, is_help);
            let found: Vec<String> = texts.iter().flat_map(|it| sentence_faults(&it.1)).collect();
            let found: Vec<&str> = found
                .iter()
                .filter_map(|it| it.split(" in the").next())
                .collect();
            assert_eq!(found, expected, "{source}");
        };
        check("a(\"{x}: there is: nothing\")", false, &["2 colons"]);
        check("a(\"error: {x}: nothing. {y}: it is so\")", false, &[]);
        check("a(\"one; two\")", false, &["a semicolon"]);
        let words = "word ".repeat(19);
        check(&format!("a(\"{words}{{end}}\")"), false, &[]);
        check(
            &format!("a(\"{words}two {{words}}\")"),
            false,
            &["21 words"],
        );
        check(&format!("a(\"{words}end.\\n{words}\")"), false, &[]);
        let help = format!("/// {words}\n/// [default: {words}]. {words}\n/// end of it\n");
        check(&help, true, &["41 words"]);
        check(&help, false, &[]);
    }

    #[test]
    fn names_in_documents_are_no_words() {
        assert!(!holds(&unquoted("| `room` | object? |"), "room"));
        assert!(holds(&unquoted("no room in `a`"), "room"));
        assert!(holds(&unquoted("`seekstone has no room`"), "room"));
    }
}
