//! Commands that documents show are commands that the program takes.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use crate::commands::names;
use crate::{args, commands, habits};

/// The README, and all Markdown below `docs/`.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = vec![root.join("README.md")];
    let mut directories = vec![root.join("docs")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            match path.extension() {
                _ if path.is_dir() => directories.push(path),
                Some(ending) if ending == "md" => found.push(path),
                _ => {}
            }
        }
    }
    found
}

/// Lines of code blocks, and what stands between backquotes, with the number of the line.
fn shown(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut is_code, mut continued) = (false, String::new());
    for (at, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code || line.starts_with("    ") || !continued.is_empty() {
            continued.push_str(line.trim());
            match continued.strip_suffix('\\') {
                Some(begun) => continued = begun.to_owned(),
                None => found.push((at + 1, std::mem::take(&mut continued))),
            }
        } else {
            let quoted = line.split('`').skip(1).step_by(2);
            found.extend(quoted.map(|it| (at + 1, it.to_owned())));
        }
    }
    found
}

/// The words of the command that a line begins with, as a shell splits them; `None` where it calls
/// another program, or does not say all: `...`, a `[part]`, a NAME.
fn words(line: &str) -> Option<Vec<String>> {
    let line = ["$ ", "# ", "- run: ", "run: ", "- "]
        .iter()
        .fold(line, |line, begin| line.strip_prefix(begin).unwrap_or(line));
    let mut rest = line.strip_prefix("seekstone ")?.chars().peekable();
    let mut words = vec!["seekstone".to_owned()];
    let mut word: Option<String> = None;
    while let Some(char) = rest.next() {
        match char {
            '\'' | '"' => {
                let quoted: String = rest.by_ref().take_while(|it| *it != char).collect();
                word.get_or_insert_default().push_str(&quoted);
            }
            '#' if word.is_none() => break,
            '|' | '>' | '<' | ';' | '&' => break,
            // What it does stands further right, or after a sign.
            ' ' if word.is_none() => break,
            ' ' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().extend(rest.next()),
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    let is_left_out = |word: &String| word.contains("...") || word.contains(['…', '[', '$']);
    let is_named = |word: &String| word.len() > 1 && word.chars().all(|it| it.is_ascii_uppercase());
    let is_whole = !words.iter().any(|word| is_left_out(word) || is_named(word));
    is_whole.then_some(words)
}

/// Why the program does not take them.
fn fault(words: Vec<String>) -> Option<String> {
    let definition = args::definition();
    let words = names::typed(words.into_iter().map(Into::into).collect());
    let words = habits::with_command(words, &definition);
    let words = commands::fio::with_options_apart(words, &definition);
    let words = commands::hpc::with_options_apart(words, &definition);
    let (definition, words) = args::with_help_for(definition, words);
    match definition.try_get_matches_from(words) {
        Ok(_) => None,
        // A sentence names a command, or an option without its value.
        Err(error) => match error.kind() {
            ErrorKind::InvalidValue if error.to_string().contains("none was supplied") => None,
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => None,
            _ => error.to_string().lines().next().map(str::to_owned),
        },
    }
}

#[test]
fn a_line_is_split_as_a_shell_does() {
    let split = |line: &str| words(line).map(|words| words[1..].join("|"));
    assert_eq!(split("ls"), None);
    assert_eq!(split("$ seekstone run ."), Some("run|.".into()));
    let quoted = "seekstone trial 'sim:mm1?a=1 b' --json=\"a b\"c  # why";
    assert_eq!(
        split(quoted),
        Some("trial|sim:mm1?a=1 b|--json=a bc".into())
    );
    assert_eq!(split("seekstone runs | less"), Some("runs".into()));
    assert_eq!(split("seekstone trial .  one load"), Some("trial|.".into()));
    assert_eq!(split("seekstone trial ..."), None);
    assert_eq!(split("seekstone runs show ID"), None);
}

#[test]
fn what_documents_show_is_taken() {
    let mut faults = Vec::new();
    let mut count = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a document");
        for (line, words) in shown(&text)
            .into_iter()
            .filter_map(|(at, it)| Some((at, words(&it)?)))
        {
            count += 1;
            let typed = words.join(" ");
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            faults.extend(fault(words).map(|it| format!("{name}:{line} {typed}: {it}")));
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(count > 300, "only {count} commands were found");
}
