//! What a measurement advises, in the words of the study that repeats it: `--set budget=15s` in
//! place of `--budget 15s`.

use clap::Arg;
use kinds::measure::kind_named;
use units::Duration;

use crate::commands::measures::{command, options};
use crate::recorded::{is_called, is_flag};

/// What a study refuses.
const PERMISSION: &str = "--overwrite";
const NEVER_OVERWRITTEN: &str = " A study never overwrites anything: name a directory.";

/// The option that both a comparison and its repeats have.
const BUDGET: &str = "budget";
/// Words of a time, such as `1 min 30 s`.
const TIME_WORDS_MAX: usize = 4;

/// The budget of a whole comparison.
#[derive(Clone, Copy, Debug)]
pub struct WholeBudget {
    pub budget: Duration,
    /// Number of repeats that follow each other in it.
    pub repeats: u64,
    /// Whether it is divided among them. Otherwise they have a time of their own.
    pub is_divided: bool,
}

impl WholeBudget {
    /// `--budget` with the time of a repeat, as the option or options of the comparison.
    fn in_words(self, each: Duration, is_advice: bool) -> String {
        let whole = (each * self.repeats).to_exact_string();
        let own = format!("--set {BUDGET}={}", each.to_exact_string());
        match (is_advice, self.is_divided) {
            (true, true) => format!("--{BUDGET} {whole}"),
            (true, false) => format!("{own} --{BUDGET} {whole}"),
            (false, true) => format!(
                "--{BUDGET} {} ({each} for each of {} repeats)",
                self.budget.to_exact_string(),
                self.repeats
            ),
            (false, false) => own,
        }
    }
}

/// The time that these words begin with, the number of its words, and the punctuation after it.
fn time_of<'a>(words: &[&'a str]) -> Option<(Duration, usize, &'a str)> {
    let most = words.len().min(TIME_WORDS_MAX);
    (1..=most).rev().find_map(|count| {
        let text = words[..count].join(" ");
        let time = text.trim_end_matches([':', ',', '.']);
        let last = words[count - 1];
        let end = &last[last.len() - (text.len() - time.len())..];
        Some((time.parse().ok()?, count, end))
    })
}

/// A text about a measurement of that kind, which may be part of a whole with a budget.
pub fn with_settings(kind: &str, text: &str, whole: Option<WholeBudget>) -> String {
    let all: Vec<&str> = text.split(' ').collect();
    let mut words = all.iter().copied().peekable();
    let mut said: Vec<String> = Vec::new();
    while let Some(word) = words.next() {
        if let Some(whole) = whole.filter(|_| word.strip_prefix("--") == Some(BUDGET)) {
            let after = &all[all.len() - words.len()..];
            if let Some((each, count, end)) = time_of(after) {
                let is_advice = said.last().is_some_and(|it| it == "Use");
                said.push(whole.in_words(each, is_advice) + end);
                words.nth(count - 1);
                continue;
            }
        }
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
            assert_eq!(with_settings(kind, said, None), expected);
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

    /// Bug: `--set budget=7s` was advised where the budget of the whole was too short for repeats
    /// of that length, so that the next command was refused as well.
    #[test]
    fn a_budget_of_the_whole_is_enough_for_all_repeats() {
        let said = "a: --budget 2.50 s: 3 rows need about 7 s. Use --budget 7s or --files 3";
        let check = |is_divided, expected: &str| {
            let whole = WholeBudget {
                budget: Duration::from_secs(40),
                repeats: 16,
                is_divided,
            };
            assert_eq!(with_settings("files", said, Some(whole)), expected);
        };
        check(
            true,
            "a: --budget 40s (2.50 s for each of 16 repeats): 3 rows need about 7 s. Use \
             --budget 112s or --set files=3",
        );
        check(
            false,
            "a: --set budget=2500ms: 3 rows need about 7 s. Use --set budget=7s --budget 112s or \
             --set files=3",
        );
    }
}
