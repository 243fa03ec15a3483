//! The one screen of a check-up: what was measured, how sure it is, and what to make of it.

use procedure::APPLICATIONS;
use results::environment::TargetKind;
use results::{Run, TargetDescription};
use units::{Bytes, format_duration_ns};

use crate::curve;
use crate::curve_points;
use crate::measurements;
use crate::note;
use crate::page::TextPage;
use crate::section;
use crate::standing;
use crate::style::{Style, Tone};
use crate::target;
use crate::verdicts::goals;
use crate::warnings::{self, SCREEN};

/// The command that measures several targets.
const COMPARE: &str = "compare";
/// The headings of findings: of a note, and of any other run.
pub(crate) const CONCLUSIONS: &str = "Conclusions";
pub(crate) const FINDINGS: &str = "Findings";

/// Everything an administrator needs of a run, on one screen. Where it was saved is not shown.
pub fn check_up(run: &Run, style: &Style) -> String {
    let page = shortened(run, style, 0);
    let beyond = page.lines().saturating_sub(SCREEN);
    match beyond > 0 && !style.all && run.settings.command == "run" {
        true => shortened(run, style, beyond).finish(),
        false => page.finish(),
    }
}

/// The same, with the chart of a load curve shorter by up to `beyond` lines.
fn shortened<'a>(run: &Run, style: &'a Style, beyond: usize) -> TextPage<'a> {
    let mut page = TextPage::new(style);
    header(&mut page, run);
    let mut tables = run.tables.iter();
    let are_hidden = tables.any(|it| it.sums_up_trials && !it.show.with_trials);
    if !run.measurements.is_empty() && !are_hidden {
        page.blank();
        measurements::section(&mut page, &run.measurements);
    }
    // A screen has room for one curve.
    let curves = run.curves.iter();
    for curve in curves.filter(|_| style.all || run.curves.len() == 1) {
        page.blank();
        curve::section(&mut page, curve, [run.goals.len(), beyond]);
    }
    // A check-up has the rows of other trials.
    if let Some(curve) = run.curve().filter(|_| run.measurements.is_empty()) {
        page.blank();
        curve_points::cited(&mut page, curve);
    }
    if let Some(of_run) = &run.note {
        note::section(&mut page, run, of_run);
    }
    section::all(&mut page, run);
    goals(&mut page, run);
    findings(&mut page, run);
    let mut answer = TextPage::new(style);
    standing::answer(&mut answer, run);
    warnings::section(&mut page, run, answer.lines());
    page.append(&answer);
    page
}

/// What was measured, such as `Quick benchmark of /data`.
pub(crate) fn title(run: &Run) -> String {
    let what = match run.settings.command.as_str() {
        "run" if run.tables.iter().any(|it| it.name == APPLICATIONS) => "Application test of",
        "run" => "Quick benchmark of",
        "trial" => "Workload on",
        "curve" => "Load sweep of",
        "ssd" => "SSD test of",
        COMPARE => "Comparison of",
        other => return format!("{other} of {}", subject(run)),
    };
    let workload = run
        .tables
        .first()
        .filter(|_| run.settings.command == COMPARE);
    // Runs of older versions do not say it.
    let workload = workload.filter(|it| it.title != "Targets");
    let workload = workload.map_or_else(String::new, |it| format!(": {}", it.title));
    format!("{what} {}{workload}", subject(run))
}

/// The same of a page, with the workload of a single trial.
pub(crate) fn page_title(run: &Run) -> String {
    match (run.measurements.as_slice(), &run.note) {
        (_, Some(note)) if !note.title.is_empty() => note.title.clone(),
        ([one], _) if !one.title.is_empty() => format!("{} on {}", one.title, subject(run)),
        _ => title(run),
    }
}

/// The target, or all that are compared.
fn subject(run: &Run) -> String {
    let mut settings = run.settings.settings.iter();
    let given = settings.find(|it| it.name == "target" && run.settings.command == COMPARE);
    match given.and_then(|it| it.values.split_last()) {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        // A note names each of its places.
        _ if run.note.is_some() && !run.other_targets.is_empty() => {
            format!("{} places", run.other_targets.len() + 1)
        }
        _ => run.target.given.clone(),
    }
}

pub(crate) fn header(page: &mut TextPage<'_>, run: &Run) {
    let number = run.id.map_or_else(String::new, |id| format!("run {id}: "));
    let title = format!("{number}{}", title(run));
    let length = format_duration_ns(run.elapsed_ns as f64);
    // A log that was imported tells neither machine nor seed.
    let how = match run.environment.is_known() {
        true => format!("{length}, seed {}", run.settings.seed),
        false => length,
    };
    let room = page
        .style
        .columns()
        .saturating_sub(title.chars().count() + 2);
    if how.chars().count() <= room {
        page.line(Tone::Strong, &format!("{title}  {how:>room$}"));
    } else {
        page.heading(&title);
        page.line(Tone::Strong, &how);
    }
    let mut lines = stands_on(run);
    if run.target.kind != TargetKind::Simulated && run.environment.is_known() {
        let is_short = !page.style.all && !lines.is_empty() && !places(run).any(is_model);
        match is_short {
            true => {
                let targets = distinct(places(run).map(target::in_short));
                lines = vec![[targets, machine_in_short(run)].concat().join(", ")];
            }
            false => lines.push(machine(run)),
        }
    }
    for line in lines {
        page.paragraph(Tone::Plain, &line);
    }
}

/// What the target stands on; of models beside storage, each of them.
fn stands_on(run: &Run) -> Vec<String> {
    if run.note.is_some() && !run.other_targets.is_empty() {
        return Vec::new();
    }
    if places(run).all(is_model) {
        return vec![target::in_brief(&run.target)];
    }
    if !places(run).any(is_model) {
        return distinct(places(run).map(target::in_brief));
    }
    let each = places(run).map(|it| format!("{}: {}", it.given, target::in_brief(it)));
    each.collect()
}

/// The target, and those measured beside it: of `files` that is main memory, for comparison.
pub(crate) fn places(run: &Run) -> impl Iterator<Item = &TargetDescription> {
    let others = run.other_targets.iter();
    let others = others.filter(|_| run.settings.command != "files");
    std::iter::once(&run.target).chain(others)
}

fn is_model(target: &TargetDescription) -> bool {
    target.kind == TargetKind::Simulated
}

/// Each text once, in their order.
pub(crate) fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// What the run found beyond its verdict: of a note its conclusions.
fn findings(page: &mut TextPage<'_>, run: &Run) {
    let shown = run.verdict.as_ref().map(|it| it.sentence.as_str());
    let shown = [shown, run.change()];
    let (title, shown) = match run.note {
        Some(_) => (CONCLUSIONS, &[][..]),
        None => (FINDINGS, &shown[..]),
    };
    let findings = run.findings.iter().map(String::as_str);
    let shown: Vec<&str> = findings.filter(|it| !shown.contains(&Some(it))).collect();
    if (page.style.all || run.note.is_some()) && !shown.is_empty() {
        page.blank();
        page.heading(title);
        for finding in shown {
            page.item(Tone::Plain, "-", finding);
        }
    }
}

/// The machine, and what of the settings changes the meaning of the numbers.
pub(crate) fn machine(run: &Run) -> String {
    let environment = &run.environment;
    let mut parts = machine_in_short(run);
    let facts = [
        Some(environment.kernel.clone()),
        environment.virtualised.clone(),
    ];
    let facts = facts.into_iter().flatten().filter(|it| !it.is_empty());
    parts.extend(facts);
    parts.join(", ")
}

/// The same in a few words.
fn machine_in_short(run: &Run) -> Vec<String> {
    let environment = &run.environment;
    let memory = environment.memory_total_bytes;
    let limit = environment
        .memory_limit_bytes
        .filter(|&limit| Some(limit) < memory);
    let cpus = environment.cpus_allowed;
    let parts = [
        memory.map(|bytes| format!("{} RAM", Bytes(bytes))),
        limit.map(|bytes| format!("limited to {}", Bytes(bytes))),
        Some(format!("{cpus} CPU{}", if cpus == 1 { "" } else { "s" })),
        run.settings
            .value("size")
            .filter(|_| run.target.kind != TargetKind::Bucket)
            .and_then(|size| size.parse::<Bytes>().ok())
            .map(|size| format!("test file {size}")),
    ];
    parts.into_iter().flatten().collect()
}
