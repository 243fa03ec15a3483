//! A command line with options of fio, sysbench or elbencho, as one line of ours to copy.

use clap::{Arg, Command};
use host::process::quoted;
use units::{Bytes, Duration, parse_rate};

use super::tables::{Habit, habit};
use crate::args::parse::parse_pattern;

/// Options of other tools that have no value.
const FLAGS: [&str; 2] = ["--time_based", "--group_reporting"];
/// Commands whose place `trial` takes if they lack an option.
const NEAR_TRIAL: [&str; 6] = ["run", "trial", "curve", "random", "rab", "ssd"];
/// A line of ours.
#[derive(Default)]
pub struct OwnLine {
    /// Options of others that it has in our words, in their order.
    pub translated: Vec<String>,
    /// Options of others that it does not have.
    pub left_out: Vec<String>,
    targets: Vec<String>,
    /// Options that were ours already, as typed.
    own: Vec<String>,
    /// Options and values; a switch has an empty one.
    options: Vec<(&'static str, String)>,
}

impl OwnLine {
    /// What was typed for a command, in our words; `None` if that has an option of nobody.
    pub fn of(
        typed: &[String],
        command: &Command,
        is_theirs: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        let mut line = Self::default();
        let mut words = typed.iter().skip(1).peekable();
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word.as_str(), None),
            };
            if !word.starts_with('-') {
                line.targets.push(word.clone());
            } else if let Some(own) = command.get_arguments().find(|arg| is_called(arg, name)) {
                line.own.push(word.clone());
                let takes_next = value.is_none() && own.get_action().takes_values();
                line.own.extend(words.next_if(|_| takes_next).cloned());
            } else if meaning(name).is_some() || is_theirs(name) {
                let takes_next = value.is_none() && !FLAGS.contains(&name);
                let next = words.next_if(|next| takes_next && !next.starts_with('-'));
                line.take(name, value.or(next.map(String::as_str)).unwrap_or_default());
            } else {
                return None;
            }
        }
        Some(line)
    }

    fn take(&mut self, name: &str, value: &str) {
        let is_translated = meaning(name).is_some_and(|it| self.translate(it, value).is_some());
        let place = match is_translated {
            true => &mut self.translated,
            false => &mut self.left_out,
        };
        place.push(name.to_owned());
    }

    /// Add what an option means, if it has a counterpart.
    fn translate(
        &mut self,
        Habit {
            of: option,
            ours: how,
            ..
        }: Habit,
        value: &str,
    ) -> Option<()> {
        match (how, how.split_once(' ')) {
            ("clients", _) => {
                let factor: u64 = value.parse().ok()?;
                let before = self.value_of(option).and_then(|it| it.parse().ok());
                let product = factor.saturating_mul(before.unwrap_or(1));
                self.set(option, product.to_string());
            }
            ("access", _) => {
                let access = habit(how, value)?;
                self.set(option, access.of.to_owned());
                if access.ours != "reads" && self.value_of("--writes").is_none() {
                    self.set("--writes", access.ours.to_owned());
                }
            }
            ("target", _) => self.targets.push(value.to_owned()),
            (_, Some(("if", only))) if value != only => {}
            (_, Some(("unless", not))) if value == not => {}
            (_, Some(("if" | "unless", _))) => self.set(option, String::new()),
            _ => self.set(option, in_our_form(how, value)?),
        }
        Some(())
    }

    fn value_of(&self, option: &str) -> Option<&String> {
        let mut options = self.options.iter();
        options.find_map(|(name, value)| (*name == option).then_some(value))
    }

    fn set(&mut self, option: &'static str, value: String) {
        match self.options.iter_mut().find(|(name, _)| *name == option) {
            Some((_, old)) => *old = value,
            None => self.options.push((option, value)),
        }
    }

    /// The line, for the command that was typed or, where that has no such options, for `trial`.
    pub fn text(mut self, command: &Command, definition: &Command) -> Option<String> {
        let name = command.get_name();
        let has = |command: &Command, option: &str| {
            command.get_arguments().any(|arg| is_called(arg, option))
        };
        if !has(command, "--duration") && has(command, "--budget") {
            let times = self
                .options
                .iter_mut()
                .filter(|(name, _)| *name == "--duration");
            times.for_each(|(name, _)| *name = "--budget");
        }
        let has_all = |command: &Command| {
            let own = self.own.iter().filter(|word| word.starts_with('-'));
            let own = own.filter_map(|word| word.split('=').next());
            own.chain(self.options.iter().map(|(name, _)| *name))
                .all(|it| has(command, it))
        };
        let name = if has_all(command) {
            name
        } else {
            if !NEAR_TRIAL.contains(&name) {
                return None;
            }
            let times = self
                .options
                .iter_mut()
                .filter(|(name, _)| *name == "--budget");
            times.for_each(|(name, _)| *name = "--duration");
            "trial"
        };
        definition.find_subcommand(name)?;
        let mut words = vec!["seekstone".to_owned(), name.to_owned()];
        words.append(&mut self.targets);
        words.append(&mut self.own);
        // What is ours already counts.
        let is_new = |option: &str| !words.iter().any(|it| it.split('=').next() == Some(option));
        self.options.retain(|(option, _)| is_new(option));
        for (option, value) in self.options {
            words.push(option.to_owned());
            words.extend(Some(value).filter(|it| !it.is_empty()));
        }
        let plain = |it: char| it.is_ascii_alphanumeric() || "%@:=,./_+-".contains(it);
        let typed = words.into_iter().map(|word| match word.chars().all(plain) {
            true => word,
            false => quoted(&[word]),
        });
        Some(typed.collect::<Vec<_>>().join(" "))
    }
}

fn meaning(name: &str) -> Option<Habit> {
    habit("meaning", name)
}

/// Whether an argument is called so, dashes included.
fn is_called(arg: &Arg, name: &str) -> bool {
    match name.strip_prefix("--") {
        Some(long) => crate::recorded::is_called(arg, long) && arg.get_long().is_some(),
        None => arg
            .get_short()
            .is_some_and(|short| name == format!("-{short}")),
    }
}

/// A value of theirs as ours, where there is such a value.
fn in_our_form(how: &str, text: &str) -> Option<String> {
    let percent = || text.parse::<u8>().ok().filter(|it| *it <= 100);
    let is_ours = match how {
        "percent" => return percent().map(|it| format!("{it}%")),
        "other percent" => return percent().map(|it| format!("{}%", 100 - it)),
        "rate" => return parse_rate(text).ok().map(|_| format!("{text}/s")),
        "driver" => return habit(how, text).map(|it| it.ours.to_owned()),
        "s" | "us" => match text.parse::<u64>() {
            Ok(count) => return Some(format!("{count}{how}")),
            Err(_) => text.parse::<Duration>().is_ok(),
        },
        "size" => text.parse::<Bytes>().is_ok(),
        "whole" => text.parse::<u64>().is_ok(),
        "pattern" => parse_pattern(text).is_ok(),
        _ => unreachable!("habits.txt: {how}"),
    };
    is_ours.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::definition;

    #[test]
    fn a_line_of_other_tools_is_one_of_ours() {
        let check = |typed: &str, expected: Option<&str>| {
            let typed: Vec<String> = typed.split(' ').map(str::to_owned).collect();
            let definition = definition();
            let command = definition.find_subcommand(&typed[0]).expect("a command");
            let is_theirs =
                |name: &str| ["--name", "--group_reporting", "--bssplit"].contains(&name);
            let line = OwnLine::of(&typed, command, is_theirs);
            let text = line.and_then(|line| line.text(command, &definition));
            assert_eq!(text.as_deref(), expected, "{typed:?}");
        };
        check(
            "trial /data --rw=randread --bs=4k --iodepth=32 --numjobs=4 --runtime=60",
            Some("seekstone trial /data --pattern random --block 4k --clients 128 --duration 60s"),
        );
        check(
            "trial --name=a --filename=/dev/x --rw randrw --rwmixread 70 --group_reporting",
            Some("seekstone trial /dev/x --pattern random --writes 30%"),
        );
        check(
            "trial . --rwmixwrite=20 --rw=randrw --direct=0 --fsync=1 --json -",
            Some("seekstone trial . --json - --writes 20% --pattern random --buffered --durable"),
        );
        check("run --runtime 60", Some("seekstone run --budget 60s"));
        check("run . --time=30", Some("seekstone run . --budget 30s"));
        check(
            "run . --bs=8k --runtime=60",
            Some("seekstone trial . --block 8k --duration 60s"),
        );
        check(
            "curve . --file-test-mode=rndwr --threads=16",
            Some("seekstone trial . --pattern random --writes 100% --clients 16"),
        );
        check(
            "trial . -b 4k -t 16 --iodepth 2 --timelimit 10",
            Some("seekstone trial . --block 4k --clients 32 --duration 10s"),
        );
        check(
            "trial . --rate_iops=2k --thinktime=500",
            Some("seekstone trial . --rate 2k/s --think 500us"),
        );
        check(
            "transfer . --bs=1m",
            Some("seekstone transfer . --block 1m"),
        );
        check("inspect . --bs=1m", None);
        check("trial . --bs=4k --frob", None);
    }
}
