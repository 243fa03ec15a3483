//! `seekstone compare` of runs that were measured already: two runs figure by figure, sets of them
//! and baselines by how much runs differ from each other.

use std::collections::BTreeSet;

use archive::Archive;
use procedure::study::{BASE_RUNS_MIN, gate, resolved, set_ratios};
use report::RunSets;
use results::{
    GateLimit, GateRow, LimitVerdict, Run, Setup, SetupDifference, set_differences,
    workload_differences,
};
use units::format_counted;

use super::import::run_in_file;
use super::runs::{between, newest, run_of};
use super::setup::archive_path;
use crate::args::{CompareArgs, RunPart, RunSet};
use crate::exit::{Exit, InvalidComparison, UsageError};
use crate::output::{self, Output};

/// Options that say how targets are measured.
const OF_TARGETS: [&str; 9] = [
    "measure", "set", "repeat", "figures", "margin", "budget", "reserve", "seed", "goal",
];

/// The runs that the arguments name, if they name runs; targets otherwise.
///
/// # Errors
/// When some name runs and others targets.
pub fn sets(args: &CompareArgs) -> Result<Option<Vec<RunSet>>, UsageError> {
    let read: Vec<Result<RunSet, String>> =
        args.target.iter().map(|it| it.as_str().parse()).collect();
    let count = read.iter().filter(|it| it.is_ok()).count();
    if count == 0 && args.baseline.is_none() {
        return Ok(None);
    }
    let sets: Result<Vec<RunSet>, String> = read.into_iter().collect();
    let advice = "Compare runs with runs, or targets with targets. Write a target called 12 as \
        ./12";
    sets.map(Some)
        .map_err(|why| UsageError(format!("{why}. {advice}")))
}

/// Compare runs.
///
/// # Errors
/// When a run cannot be read, or there is nothing to compare with.
pub fn compare_runs(args: &CompareArgs, sets: &[RunSet], setup: &Setup) -> anyhow::Result<Exit> {
    refuse_measuring(args, setup)?;
    let mut archive = RunReader::new(args);
    let (base, new) = match (&args.baseline, sets) {
        (Some(name), sets) => (archive.baseline(name, args.update)?, archive.runs(sets)?),
        (None, [base @ .., new]) if !base.is_empty() => (
            archive.runs(base)?,
            archive.runs(std::slice::from_ref(new))?,
        ),
        (None, _) => {
            refuse!(
                "{} has nothing to compare with: name the base runs first, or use \
                 --baseline NAME",
                args.target[0]
            );
        }
    };
    refuse_both_sides(&base, &new)?;
    refuse_other_workloads(&base, &new)?;
    refuse_strangers(&base, &new)?;
    let both: Vec<Run> = base.iter().chain(&new).cloned().collect();
    let limits = resolved(&args.fail, &both).map_err(UsageError)?;
    let limits = gate(&limits, &base, &new);
    if new.is_empty() {
        if args.update || limits.is_empty() {
            refuse!("name the new runs, or limits with --fail alone to see what they can show");
        }
        let style = output::style(args.common.all);
        let text = report::gate_power(&base, &limits, &style);
        return output::print(text.trim_end());
    }
    let differences = set_differences(&base, &new);
    let kept_as = args.baseline.as_deref();
    if let (Some(name), true) = (kept_as, args.update) {
        refuse_unlike(name, &differences)?;
    }
    let exit = exit_of(&limits, &new);
    let ratios = set_ratios(&base, &new);
    let is_void = exit == Exit::Invalid;
    if !base.is_empty() && ratios.is_empty() && limits.is_empty() && !is_void {
        refuse!("no figure is in all of the runs: compare runs of one command with the same rows");
    }
    let joins = args.update && exit == Exit::Done;
    let sets = RunSets {
        workload: new.first().and_then(report::workload),
        base: base.len(),
        new: new.len(),
        base_min: BASE_RUNS_MIN,
        base_after: base.len() + if joins { new.len() } else { 0 },
        commits: commits(&base, &new),
        kept_as,
        differences: &differences,
    };
    write_forms(args, (&sets, &limits, exit), &ratios, &both)?;
    if let (Some(name), true) = (&args.baseline, args.update) {
        update(&mut archive, name, &new, exit)?;
    }
    Ok(exit)
}

/// The commits that a change lies between: of the last run on either side.
fn commits<'r>(base: &'r [Run], new: &'r [Run]) -> Option<[&'r str; 2]> {
    let last = |runs: &'r [Run]| runs.last()?.environment.commit.as_deref();
    Some([last(base)?, last(new)?])
}

/// Refuse to hold a run against itself.
fn refuse_both_sides(base: &[Run], new: &[Run]) -> Result<(), UsageError> {
    let is_same = |one: &Run, other: &Run| {
        let when = |run: &Run| (run.id, run.environment.started_at.clone());
        one.id.is_some() && when(one) == when(other)
    };
    let mut both = new.iter();
    let both = both.find(|run| base.iter().any(|it| is_same(it, run)));
    match both.and_then(|run| run.id) {
        None => Ok(()),
        Some(id) => Err(UsageError(format!(
            "run {id} is on both sides: compare it with other runs"
        ))),
    }
}

/// Refuse runs that measured different things.
fn refuse_other_workloads(base: &[Run], new: &[Run]) -> Result<(), InvalidComparison> {
    let found = workload_differences(base, new);
    match found.is_empty() {
        true => Ok(()),
        false => Err(InvalidComparison(format!(
            "These runs used different workloads and cannot be compared: {}.",
            found.join(", ")
        ))),
    }
}

/// Refuse runs that share no figure. A void run has none at all, and is reported as void later.
fn refuse_strangers(base: &[Run], new: &[Run]) -> Result<(), UsageError> {
    let names = |runs: &[Run]| -> BTreeSet<String> {
        let readings = runs.iter().flat_map(Run::readings);
        readings.map(|it| it.name).collect()
    };
    let (base, new) = (names(base), names(new));
    match base.is_empty() || new.is_empty() || !base.is_disjoint(&new) {
        true => Ok(()),
        false => Err(UsageError(
            "the runs have no figure in common: compare runs of one command with the same rows"
                .into(),
        )),
    }
}

/// What is measured with other settings is no repeat of a baseline.
fn refuse_unlike(name: &str, differences: &[SetupDifference]) -> Result<(), UsageError> {
    let mut differences = differences.iter();
    let Some(found) = differences.find(|it| it.is_of_command()) else {
        return Ok(());
    };
    let setting = found.key.trim_start_matches("setup.");
    refuse!(
        "--update takes repeats of one measurement, and these runs differ in {setting} ({}, but {} \
         in baseline {name}). Keep them in a baseline of their own",
        found.new,
        found.base
    )
}

/// What measures nothing takes no option of a measurement.
fn refuse_measuring(args: &CompareArgs, setup: &Setup) -> Result<(), UsageError> {
    let given = OF_TARGETS.into_iter().find(|name| setup.is_given(name));
    let outputs = &args.common.outputs;
    let form = [
        ("csv", outputs.of("csv").is_some()),
        ("openmetrics", outputs.of("openmetrics").is_some()),
        ("resume", args.resume),
        ("restart", args.restart),
    ];
    let form = form.into_iter().find(|(_, is_given)| *is_given);
    match given.or(form.map(|(name, _)| name)) {
        Some(name) => Err(UsageError(format!(
            "--{name} applies to targets: archived runs are only printed, or written \
             with --json, --markdown, --html or --svg"
        ))),
        None => Ok(()),
    }
}

fn write_forms(
    args: &CompareArgs,
    (sets, limits, exit): (&RunSets<'_>, &[GateLimit], Exit),
    rows: &[GateRow],
    both: &[Run],
) -> anyhow::Result<()> {
    let outputs = &args.common.outputs;
    let markdown = outputs.of("markdown");
    if let Some(output) = markdown {
        write(output, args, &report::gate_markdown(sets, limits, rows))?;
    }
    if let Some(output) = outputs.of("json") {
        let verdict = in_a_word(exit, limits);
        write(
            output,
            args,
            &report::gate_json(sets, limits, rows, verdict),
        )?;
    }
    if let Some(output) = outputs.of("html") {
        let page = match (sets.base, sets.new, limits) {
            (1, 1, []) => report::comparison_html(both).map_err(UsageError::of)?,
            _ => report::gate_html(sets, limits, rows, both),
        };
        write(output, args, &page)?;
    }
    if let Some(output) = outputs.of("svg") {
        let picture = report::comparison_svg(both);
        write(output, args, &picture.map_err(UsageError::of)?)?;
    }
    if outputs.have_stdout() {
        return Ok(());
    }
    let style = output::style(args.common.all);
    let text = match (sets.base, sets.new) {
        (1, 1) => {
            let pair = report::comparison(both, &style);
            let pair = pair.map_err(UsageError::of)?;
            pair + &report::gate_limits(sets, limits, &style)
        }
        _ => report::gate(sets, limits, rows, &style),
    };
    output::print(text.trim_end()).map(drop)
}

fn write(output: &Output, args: &CompareArgs, text: &str) -> anyhow::Result<()> {
    output.prepare("the output", &args.common.outputs.force)?;
    output.write(&text.to_owned().into())
}

/// What limits come to, for programs.
const fn in_a_word(exit: Exit, limits: &[GateLimit]) -> &'static str {
    match exit {
        _ if limits.is_empty() => "no-limits",
        Exit::Invalid => "invalid",
        Exit::Exceeded => "fail",
        Exit::Undecided => "undecided",
        _ => "pass",
    }
}

/// Void before exceeded before undecided, as of one run.
fn exit_of(limits: &[GateLimit], new: &[Run]) -> Exit {
    let has = |verdict| limits.iter().any(|it| it.verdict == verdict);
    match () {
        () if !limits.is_empty() && new.iter().any(Run::has_invalid_number) => Exit::Invalid,
        () if has(LimitVerdict::Exceeded) => Exit::Exceeded,
        () if has(LimitVerdict::Undecided) => Exit::Undecided,
        () => Exit::Done,
    }
}

/// New runs join the baseline where no limit is exceeded or undecided, and all may be used: what
/// got worse, or perhaps did, is no measure for what comes next.
fn update(archive: &mut RunReader, name: &str, new: &[Run], exit: Exit) -> anyhow::Result<()> {
    let why = match exit {
        Exit::Exceeded | Exit::Invalid => Some(String::new()),
        Exit::Undecided => Some(format!(
            " The undecided runs were left out.\nAdd them with --baseline {name} --update, without \
             --fail."
        )),
        _ => None,
    };
    if let Some(why) = why {
        return output::print(&format!("\nBaseline {name} is unchanged.{why}")).map(drop);
    }
    let ids: Option<Vec<i64>> = new.iter().map(|run| run.id).collect();
    let ids = ids.ok_or_else(|| {
        UsageError("--update takes runs of the archive: `seekstone runs import` the files".into())
    })?;
    let archive = archive.open()?;
    archive.add_to_baseline(name, &ids)?;
    let count = format_counted(archive.baseline(name)?.len() as u64, "run");
    output::print(&format!("\nBaseline {name}: {count}.")).map(drop)
}

fn loaded(archive: &Archive, ids: &[i64]) -> anyhow::Result<Vec<Run>> {
    ids.iter().map(|id| Ok(archive.load(*id)?)).collect()
}

/// Reads runs, and opens the archive when one is asked for that lies there.
struct RunReader<'a> {
    args: &'a CompareArgs,
    archive: Option<Archive>,
}

impl<'a> RunReader<'a> {
    const fn new(args: &'a CompareArgs) -> Self {
        Self {
            args,
            archive: None,
        }
    }

    fn open(&mut self) -> anyhow::Result<&mut Archive> {
        if self.archive.is_none() {
            let path = archive_path(self.args.common.archive.as_ref())?;
            self.archive = Some(Archive::open_existing(&path)?);
        }
        Ok(self.archive.as_mut().expect("opened above"))
    }

    /// The runs of a baseline; of one that is to be made there are none yet.
    fn baseline(&mut self, name: &str, is_made: bool) -> anyhow::Result<Vec<Run>> {
        let archive = self.open()?;
        let ids = archive.baseline(name)?;
        if ids.is_empty() && !is_made {
            refuse!(
                "there is no baseline {name:?}. Check the spelling, or make it with --update, as \
                 in `seekstone compare 1..3 --baseline {name} --update`"
            );
        }
        loaded(archive, &ids)
    }

    fn runs(&mut self, sets: &[RunSet]) -> anyhow::Result<Vec<Run>> {
        let mut found = Vec::new();
        for part in sets.iter().flat_map(|set| &set.0) {
            match part {
                RunPart::File(path) => found.push(run_in_file(path)?),
                RunPart::Archived(choice) => found.push(run_of(self.open()?, *choice)?),
                RunPart::Latest(count) => found.extend(self.latest(*count)?),
                RunPart::Range(first, last) => found.extend(self.range(*first, *last)?),
            }
        }
        Ok(found)
    }

    /// So many runs of the archive, the newest, in the order of their making.
    fn latest(&mut self, count: usize) -> anyhow::Result<Vec<Run>> {
        let archive = self.open()?;
        let ids = newest(archive, count)?;
        loaded(archive, &ids)
    }

    /// The runs of the archive between two numbers: deleted ones are left out.
    fn range(&mut self, first: i64, last: i64) -> anyhow::Result<Vec<Run>> {
        let archive = self.open()?;
        let ids = between(archive, first, last)?;
        loaded(archive, &ids)
    }
}
