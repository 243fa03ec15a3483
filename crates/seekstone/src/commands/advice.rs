//! What a measurement advises, in the words of the study that repeats it: `--set budget=15s` in
//! place of `--budget 15s`.

use clap::Arg;
use kinds::measure::kind_named;

use crate::commands::measures::{command, options};
use crate::recorded::{is_called, is_flag};

/// What a study refuses.
const PERMISSION: &str = "--overwrite";
const NEVER_OVERWRITTEN: &str = " A study never overwrites anything: name a directory.";

/// A text about a measurement of that kind.
pub fn with_settings(kind: &str, text: &str) -> String {
    let mut words = text.split(' ').peekable();
    let mut said: Vec<String> = Vec::new();
    while let Some(word) = words.next() {
        let found = word.find("--").map(|at| word.split_at(at));
        let setting = found.and_then(|(before, option)| {
            let name = option.trim_start_matches('-');
            let end = name.find(|it: char| !it.is_ascii_alphanumeric() && it != '-');
            let (name, after) = name.split_at(end.unwrap_or(name.len()));
            Some((before, name, placeholder(kind, name)?, after))
        });
        let Some((before, name, value, after)) = setting else {
            said.push(word.to_owned());
            continue;
        };
        let value = match words.next_if(|next| after.is_empty() && value.is_given(next)) {
            Some(given) => given.to_owned(),
            None if after.starts_with('=') => after[1..].to_owned(),
            None => format!("{}{after}", value.name),
        };
        said.push(format!("{before}--set {name}={value}"));
    }
    let said = said.join(" ");
    match said.contains(PERMISSION) {
        true => format!("{}.{NEVER_OVERWRITTEN}", said.trim_end_matches('.')),
        false => said,
    }
}

/// What stands for the value of a setting.
struct Placeholder {
    name: String,
    values: Vec<String>,
}

impl Placeholder {
    fn of(arg: &Arg) -> Self {
        let values = arg.get_possible_values();
        let name = match arg.get_value_names() {
            _ if is_flag(arg) => "true".to_owned(),
            names => names
                .and_then(<[_]>::first)
                .map_or("...", |it| it)
                .to_owned(),
        };
        let values = values.iter().map(|it| it.get_name().to_owned());
        Self {
            name,
            values: values.filter(|_| !is_flag(arg)).collect(),
        }
    }

    /// Whether the word behind the option is its value.
    fn is_given(&self, word: &str) -> bool {
        let plain = word.trim_end_matches(|it: char| it.is_ascii_punctuation());
        let is_number = word.starts_with(|it: char| it.is_ascii_digit() || it == '<');
        self.name != "true" && (is_number || self.values.iter().any(|it| it == plain))
    }
}

/// That of a setting; `None` if the kind has none of that name.
fn placeholder(kind: &str, name: &str) -> Option<Placeholder> {
    if let Some(definition) = command(kind) {
        let mut options = options(definition);
        return options.find(|it| is_called(it, name)).map(Placeholder::of);
    }
    let mut settings = kind_named(kind)?.settings.iter();
    settings.find(|it| it.name == name).map(|_| Placeholder {
        name: "...".to_owned(),
        values: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: a comparison advised `--budget`, which there is the budget of all rounds.
    #[test]
    fn options_are_settings_of_the_study() {
        let check = |kind: &str, said: &str, expected: &str| {
            assert_eq!(with_settings(kind, said), expected);
        };
        check(
            "trial",
            "Allow more time with --budget to narrow it.",
            "Allow more time with --set budget=TIME to narrow it.",
        );
        check(
            "trial",
            "To measure as fio does, use --buffer-pages small.",
            "To measure as fio does, use --set buffer-pages=small.",
        );
        check(
            "run",
            "--budget 2s: 9 s are needed. Use --budget 15s, or a smaller --size",
            "--set budget=2s: 9 s are needed. Use --set budget=15s, or a smaller --set size=BYTES",
        );
        check(
            "time",
            "Use more --warm-ups, or --cold.",
            "Use more --set warm-ups=N, or --set cold=true.",
        );
        check(
            "backup",
            "use a --size of at least 4 MiB",
            "use a --set size=... of at least 4 MiB",
        );
        // What is an option of the study itself, or of another program.
        let own = "Measure more rounds (--repeat). Attach it with `losetup --direct-io=on`.";
        check("trial", own, own);
        check(
            "rab",
            "x exists. Add --overwrite if its data may be lost",
            "x exists. Add --overwrite if its data may be lost. A study never overwrites \
             anything: name a directory.",
        );
    }
}
