//! `seekstone compare`: targets side by side, as a study whose factor is the target.

use std::path::{Path, PathBuf};

use kinds::measure::WritePermission;
use procedure::study::StudyOverrides;
use procedure::whole_name;
use results::Setup;
use units::{Duration, TargetName, exact_percent, format_counted, format_duration_ns};

use crate::args::{CompareArgs, RunSet};
use crate::commands::advice::WholeBudget;
use crate::commands::compare_checks::doubts;
use crate::commands::compare_runs;
use crate::commands::drive::Ready;
use crate::commands::measures::{command, commands, is_known, options, workload};
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::offers;
use crate::commands::study::{
    COMPARISON, ONE_HOST_RESTARTS, ONE_HOST_RESUMES, StudyFile, StudyInvocation, beginning,
    ready_study,
};
use crate::exit::Exit;
use crate::output;
use crate::recorded::name;

/// The measurement of studies that runs a command of the user's: two targets are no place for it.
const COMMAND: &str = "command";

/// Longer names of targets are cut in front.
const NAME_CHARS: usize = 40;

impl MeasuringCommand for CompareArgs {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(&self.common, &self.target, self.sharing)
            .looks_later()
            .for_hosts(!names_runs(self))
            .alone(self.resume, ONE_HOST_RESUMES)
            .alone(self.restart, ONE_HOST_RESTARTS)
            .drawn(None)
    }

    fn instead(&self, setup: &mut Setup) -> anyhow::Result<Option<Exit>> {
        let runs = compare_runs::sets(self)?;
        runs.map(|runs| compare_runs::compare_runs(self, &runs, setup))
            .transpose()
    }

    fn study(&self, setup: &mut Setup) -> anyhow::Result<StudyInvocation<'_>> {
        asked(self, setup)
    }

    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        let asked = self.study(&mut setup)?;
        let ready = ready_study(asked, setup)?;
        let is_shown = !self.common.quiet && self.common.ranks.is_none();
        if self.common.ranks.is_none() {
            let doubts = doubts(&self.target, only_reads(self), is_shown)?;
            for line in doubts.iter().filter(|_| is_shown) {
                output::complain(&format!("warning: {line}"));
            }
        }
        if let Some(plan) = plan(self).filter(|_| is_shown) {
            output::complain(&plan);
        }
        Ok(ready)
    }
}

/// Whether archived runs are compared, which measures nothing.
pub fn names_runs(args: &CompareArgs) -> bool {
    args.baseline.is_some()
        || args
            .target
            .iter()
            .any(|it| it.as_str().parse::<RunSet>().is_ok())
}

/// What is measured unless another command is named.
const TRIAL: &str = "trial";
/// Settings with which a trial does not only read from the device.
const NOT_READING: [&str; 3] = ["writes", "buffered", "workload"];
/// The shortest budget of any repeat.
const SHORTEST: Duration = Duration::from_secs(1);

/// Whether all that is measured are reads from the device.
fn only_reads(args: &CompareArgs) -> bool {
    let mut set = args.set.iter();
    args.measure == TRIAL && !set.any(|(key, _)| NOT_READING.contains(&key.as_str()))
}

/// How long it may take, where a time ends each replicate and some of them take real time.
fn plan(args: &CompareArgs) -> Option<String> {
    let real: Vec<&TargetName> = args.target.iter().filter(|it| !it.is_model()).collect();
    if real.is_empty() || real.iter().any(|it| !Path::new(it).exists()) {
        return None;
    }
    let each = own_share(args).and_then(|(_, each)| each.parse().ok());
    let (real, longest) = (real.len(), each.or_else(|| longest(args))?);
    let count = u64::from(args.rounds) * args.target.len() as u64;
    let whole = longest.as_secs_f64() * f64::from(args.rounds) * real as f64;
    let whole = args.budget.map_or(whole, |budget| {
        // The last round begins before the budget is over.
        whole.min(budget.as_secs_f64() + longest.as_secs_f64() * real as f64)
    });
    let time = |seconds: f64| format_duration_ns(seconds * 1e9);
    // A duration is that of the measurement alone.
    let is_timed = args.set.iter().any(|(key, _)| key == "duration");
    let has_files = is_timed && args.target.iter().any(|it| Path::new(it).is_dir());
    let files = if has_files {
        ", and the time for test files"
    } else {
        ""
    };
    let ended_by = if is_timed { "duration" } else { "budget" };
    Some(format!(
        "{} of {}, each up to {}: up to {} in all{files}. Shorten it with --repeat or --set \
         {ended_by}=20s",
        format_counted(count, "repeat"),
        args.measure,
        time(longest.as_secs_f64()),
        time(whole)
    ))
}

/// The time of a repeat where the whole has a budget and nobody set another: that of all rounds is
/// divided, so that none is missing at the end. What a command needs at least is its own to say.
fn own_share(args: &CompareArgs) -> Option<(String, String)> {
    let is_set = |wanted: &str| args.set.iter().any(|(key, _)| key == wanted);
    if is_set("budget") || is_set("duration") {
        return None;
    }
    let repeats = repeats_in_turn(args);
    let each = args.budget? / repeats.max(1);
    let is_shorter = repeats > 0 && each < longest(args)?;
    is_shorter.then(|| ("budget".to_owned(), each.max(SHORTEST).to_exact_string()))
}

/// Number of repeats that take real time.
fn repeats_in_turn(args: &CompareArgs) -> u64 {
    let real = args.target.iter().filter(|it| !it.is_model()).count() as u64;
    u64::from(args.rounds) * real
}

/// The time that ends a replicate: of `--set`, or the command's budget.
fn longest(args: &CompareArgs) -> Option<Duration> {
    let set = |wanted: &str| {
        let mut set = args.set.iter().rev();
        set.find(|(key, _)| key == wanted).map(|it| it.1.clone())
    };
    let budget = || {
        let definition = command(&args.measure)?;
        let budget = options(definition).find(|it| name(it) == "budget")?;
        let default = budget.get_default_values().first()?;
        Some(default.to_string_lossy().into_owned())
    };
    let text = set("duration").or_else(|| set("budget")).or_else(budget)?;
    text.parse().ok()
}

/// The study that a comparison of targets is.
fn asked<'a>(args: &'a CompareArgs, setup: &mut Setup) -> anyhow::Result<StudyInvocation<'a>> {
    if args.target.len() < 2 {
        refuse!(
            "{} has nothing to compare with: name two or more targets",
            args.target[0]
        );
    }
    if args.measure == COMMAND || !is_known(&args.measure) {
        refuse!(
            "--measure {}: use {}, or one of `seekstone study measurements` except {COMMAND}",
            args.measure,
            commands().join(", ")
        );
    }
    offers::check_compared(args)?;
    Ok(StudyInvocation {
        file: StudyFile::made(COMPARISON, || definition(args), setup),
        overrides: StudyOverrides {
            set: [own_share(args).into_iter().collect(), args.set.clone()].concat(),
            replicates: Some(args.rounds),
            budget: args.budget,
            ..StudyOverrides::default()
        },
        whole: args.budget.map(|budget| WholeBudget {
            budget,
            repeats: repeats_in_turn(args),
            is_divided: own_share(args).is_some(),
        }),
        limits: &args.fail,
        used: args.target.iter().map(PathBuf::from).collect(),
        common: &args.common,
        beginning: beginning(args.resume, args.restart),
        reserve: args.reserve,
        permission: WritePermission::default(),
        again: "repeat the command with --resume to continue".into(),
    })
}

/// The study that the comparison is.
fn definition(args: &CompareArgs) -> String {
    let text = |text: &str| toml::Value::from(text).to_string();
    let names = names(&args.target);
    let figures: Vec<String> = args
        .figures
        .iter()
        .map(|it| text(&whole_name(it)))
        .collect();
    let mut lines = vec![
        format!("title = {}", text(&workload(&args.measure, &args.set))),
        format!("target = {}", text(args.target[0].as_str())),
        format!("margin = {}", text(&exact_percent(args.margin))),
        format!("readings = [{}]", figures.join(", ")),
        "[measurement]".to_owned(),
        format!("kind = {}", text(&args.measure)),
        "[[factor]]".to_owned(),
        "name = \"target\"".to_owned(),
    ];
    for (name, target) in names.iter().zip(&args.target) {
        lines.push("[[factor.level]]".to_owned());
        lines.push(format!("name = {}", text(name)));
        lines.push(format!("target = {}", text(target.as_str())));
    }
    lines.join("\n") + "\n"
}

/// The targets, of long ones the end, those that would have one name told apart by their place.
fn names(targets: &[TargetName]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, target) in targets.iter().enumerate() {
        let name = shortened(target.as_str());
        let is_known = names.contains(&name);
        names.push(match is_known {
            true => format!("{name} [{}]", at + 1),
            false => name,
        });
    }
    names
}

fn shortened(target: &str) -> String {
    let length = target.chars().count();
    if length <= NAME_CHARS {
        return target.to_owned();
    }
    let end: String = target.chars().skip(length - NAME_CHARS + 3).collect();
    format!("...{end}")
}
