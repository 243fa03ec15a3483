//! A run as Markdown: what it was, its tables, goals, findings and warnings.

use results::{Figure, Metric, Row, Run, Status, Table};

use crate::check_up::{CONCLUSIONS, FINDINGS, machine};
use crate::figure::{INDICATIVE, estimated, mark};
use crate::note;
use crate::standing::share;
use crate::target;
use crate::verdicts::{self, evidence};

/// Environment, tables with intervals, goals, findings and warnings.
pub fn markdown(run: &Run) -> String {
    let processor = run.environment.cpu_model.as_ref();
    let processor = processor.map_or_else(String::new, |model| format!("{model}, "));
    let host = &run.environment.host_name;
    let target = format!("{}: {}", run.target.given, target::mounted(&run.target));
    // Whose machine computes a model changes nothing.
    let machine = match run.is_of_models() {
        true => host.clone(),
        false => format!("{host}, {processor}{}", machine(run)),
    };
    let (mut text, about) = match &run.note {
        Some(it) => (
            format!("# {}\n\n## Test environment\n\n", plain(&it.title)),
            note::environment(run, it),
        ),
        None => {
            let command = plain(&run.settings.command);
            let title = format!("# {command}: {}\n\n", plain(&run.target.given));
            let others = run.other_targets.iter();
            let others = others.map(|it| format!("{}: {}", it.given, target::mounted(it)));
            let started_at = run.environment.started_at.clone();
            (title, others.chain([started_at]).collect())
        }
    };
    for line in [target, machine].iter().chain(&about) {
        text.push_str(&format!("- {}\n", plain(line)));
    }
    if let Status::Partial { reason } = &run.status {
        text.push_str(&format!("- Partial: {}\n", plain(reason)));
    }
    text.push_str(&verdict(run));
    for found in run.tables() {
        let title = match found.title.as_str() {
            "" => &found.name,
            title => title,
        };
        text.push_str(&format!("\n## {}\n\n{}", plain(title), table(&found)));
        for note in &found.notes {
            text.push_str(&format!("\n{}\n", plain(note)));
        }
    }
    text.push_str("\nIntervals are at 95 % confidence.\n");
    let findings: Vec<String> = run.findings.iter().map(|it| plain(it)).collect();
    let warnings = run.scoped_warnings();
    let warnings: Vec<String> = warnings
        .map(|(scope, warning)| format!("{}: {}", plain(&scope), plain(&warning.text())))
        .collect();
    text.push_str(&goals(run));
    let found = match run.note {
        Some(_) => CONCLUSIONS,
        None => FINDINGS,
    };
    for (title, lines) in [(found, findings), ("Warnings", warnings)] {
        if !lines.is_empty() {
            text.push_str(&format!("\n## {title}\n\n"));
            text.extend(lines.iter().map(|line| format!("- {line}\n")));
        }
    }
    text
}

/// The verdict as a paragraph, with a blank line before it.
pub(crate) fn verdict(run: &Run) -> String {
    let sentences = run.verdict.iter().map(|it| {
        let codes = it.codes();
        let because = match codes.is_empty() {
            true => String::new(),
            false => format!(" ({})", plain(&codes)),
        };
        let goals = it
            .goals
            .map_or_else(String::new, |goals| format!(" Goals: {}.", goals.name()));
        let sentence = plain(&it.sentence);
        let share = share(&run.tables()).map_or_else(String::new, |it| format!(", {it}"));
        format!(
            "\n**{sentence}** Trust: {}{because}{share}.{goals}\n",
            it.trust.name()
        )
    });
    sentences.collect()
}

/// What was required, as a table; nothing where nothing was.
pub(crate) fn goals(run: &Run) -> String {
    if run.goals.is_empty() {
        return String::new();
    }
    let mut text = "\n## Goals\n\n| verdict | goal | evidence |\n| --- | --- | --- |\n".to_owned();
    for goal in &run.goals {
        let (_, verdict) = verdicts::verdict(goal.verdict);
        let cells = [verdict, &goal.goal, &evidence(goal)].map(plain);
        text.push_str(&(line(&cells) + "\n"));
    }
    text
}

/// Levels, then headline and columns, each with its interval.
fn table(table: &Table) -> String {
    let metrics = table.main_metrics();
    let mut header: Vec<String> = table.factors.iter().map(|it| plain(it)).collect();
    let mut sides: Vec<&str> = header.iter().map(|_| "---").collect();
    for metric in &metrics {
        header.push(plain(&metric.name));
        sides.push("---:");
    }
    for what in table.words() {
        header.push(plain(what));
        sides.push("---");
    }
    let mut lines = vec![line(&header), line(&sides)];
    for row in &table.rows {
        let mut fields: Vec<String> = row.levels.iter().map(|level| plain(level)).collect();
        fields.extend(metrics.iter().map(|metric| cell(row, metric)));
        fields.extend(table.words().into_iter().map(|it| plain(row.word(it))));
        lines.push(line(&fields));
    }
    lines.join("\n") + "\n"
}

fn cell(row: &Row, metric: &Metric) -> String {
    let Some(figure) = row.figure(&metric.name) else {
        return String::new();
    };
    let sign = mark(row.trust);
    plain(&format!("{sign}{}", with_interval(figure)))
}

/// The value and its interval, such as `412 us (409 .. 415 us)`; of a value known exactly, and of
/// one of whose error nothing is known, the value alone.
pub(crate) fn with_interval(figure: &Figure) -> String {
    let (value, interval) = estimated(figure.metric.unit, figure.value);
    let mark = if figure.is_indicative { INDICATIVE } else { "" };
    if value.starts_with("n/a") && !interval.is_empty() {
        return interval;
    }
    match figure.value.low == figure.value.high || interval.is_empty() {
        true => format!("{value}{mark}"),
        false => format!("{value}{mark} ({interval})"),
    }
}

pub(crate) fn line(fields: &[impl AsRef<str>]) -> String {
    let fields: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
    format!("| {} |", fields.join(" | "))
}

/// Text in which nothing is markup: one line, no signs that Markdown would take.
pub(crate) fn plain(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '<' | '#' | '[' => {
                safe.push('\\');
                safe.push(c);
            }
            c if units::is_obeyed(c) => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
