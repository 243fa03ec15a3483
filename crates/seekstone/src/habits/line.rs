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
pub struct OwnLine<'a> {
    /// Options of others that it has in our words, in their order.
    pub translated: Vec<String>,
    /// Options of others that it does not have.
    pub left_out: Vec<String>,
    /// Options of the command that is measured, as typed.
    pub measured: Vec<String>,
    targets: Vec<String>,
    /// Options that were ours already, as typed.
    own: Vec<String>,
    /// Options and values; a switch has an empty one.
    options: Vec<(&'a str, String)>,
}

impl<'a> OwnLine<'a> {
    /// What was typed for a command, which may measure another one, in our words; `None` if that
    /// has an option of nobody.
    pub fn of(
        typed: &'a [String],
        (command, measured): (&Command, Option<&Command>),
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
            } else if let Some(own) = option_of(command, name) {
                line.own.push(word.clone());
                let takes_next = value.is_none() && own.get_action().takes_values();
                line.own.extend(words.next_if(|_| takes_next).cloned());
            } else if let Some(option) = measured.and_then(|it| option_of(it, name)) {
                let takes_next = value.is_none() && option.get_action().takes_values();
                let next = words.next_if(|_| takes_next);
                line.measured.push(name.to_owned());
                let value = value.or(next.map(String::as_str)).unwrap_or_default();
                line.set(name, value.to_owned());
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

    fn set(&mut self, option: &'a str, value: String) {
        match self.options.iter_mut().find(|(name, _)| *name == option) {
            Some((_, old)) => *old = value,
            None => self.options.push((option, value)),
        }
    }

    /// The line, for the command that was typed or, where that has no such options, for `trial`.
    /// Those of a command that it measures stand behind `--set`.
    pub fn text(
        mut self,
        (command, measured): (&Command, Option<&Command>),
        definition: &Command,
    ) -> Option<String> {
        let name = command.get_name();
        let has = |command: &Command, option: &str| option_of(command, option).is_some();
        let is_set = |option: &str| {
            !has(command, option) && measured.is_some_and(|measured| has(measured, option))
        };
        if !has(command, "--duration") && !is_set("--duration") && has(command, "--budget") {
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
                .all(|it| has(command, it) || is_set(it))
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
            let value = Some(value).filter(|it| !it.is_empty());
            if is_set(option) {
                let value = value.unwrap_or_else(|| "true".to_owned());
                words.push("--set".to_owned());
                words.push(format!("{}={value}", option.trim_start_matches('-')));
            } else {
                words.push(option.to_owned());
                words.extend(value);
            }
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

/// The option of a command that is called so, dashes included.
fn option_of<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| is_called(arg, name))
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
            let trial = definition.find_subcommand("trial");
            let both = (command, trial.filter(|_| typed[0] == "compare"));
            let line = OwnLine::of(&typed, both, is_theirs);
            let text = line.and_then(|line| line.text(both, &definition));
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
        check(
            "compare a b --bs=4k --rw=randwrite --iodepth=8 --runtime=5 --fsync=1",
            Some(
                "seekstone compare a b --set block=4k --set pattern=random --set writes=100% \
                 --set clients=8 --set duration=5s --set durable=true",
            ),
        );
        check(
            "compare a b --clients 8 --durable --budget 60s",
            Some("seekstone compare a b --budget 60s --set clients=8 --set durable=true"),
        );
        check("inspect . --bs=1m", None);
        check("trial . --bs=4k --frob", None);
    }
}
