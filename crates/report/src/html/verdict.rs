//! The top of a page: what was found in a sentence, how far it can be trusted, where and when.

use std::collections::BTreeSet;

use results::{LimitVerdict, Run, Severity, Status, Table, Trust};
use units::{format_counted, format_duration_ns};

use super::key_figures;
use super::tables::folded;
use crate::check_up::{CONCLUSIONS, FINDINGS, distinct, machine, page_title, places};
use crate::list::moment;
use crate::markup::{escaped, in_print};
use crate::names::capitalised;
use crate::standing::share;
use crate::target::in_brief;
use crate::verdicts::{evidence, verdict_word};

/// What stays on the line of the number before it.
const UNITS: [&str; 9] = ["ns", "µs", "ms", "%", "IOPS", "kB/s", "MB/s", "GB/s", "KiB"];
/// A longer sentence is set smaller.
const LONG: usize = 140;

/// What was found, how far it can be trusted, where and when.
pub(super) fn header(run: &Run, tables: &[Table]) -> String {
    let sentence = run.verdict.as_ref().map_or("", |it| &it.sentence);
    let number = run.id.map_or_else(String::new, |id| format!("Run {id} · "));
    let mut text = format!(
        "<header>\n<p class=\"eyebrow\">{number}{} · {}</p>\n<h1>{}</h1>\n\
         <p class=\"lead{}\">{}</p>\n",
        escaped(&moment(&run.environment.started_at)),
        escaped(&in_print(&format_duration_ns(run.elapsed_ns as f64))),
        escaped(&capitalised(&page_title(run))),
        if sentence.chars().count() > LONG {
            " long"
        } else {
            ""
        },
        in_parts(&in_print(sentence))
    );
    if let Status::Partial { reason } = &run.status {
        let reason = reason.trim_end_matches('.');
        text.push_str(&format!(
            "<p class=\"partial\"><b>Partial.</b> {}. What had been measured by then is shown.\
             </p>\n",
            escaped(reason)
        ));
    }
    if let Some(change) = run.change() {
        text.push_str(&format!(
            "<p class=\"partial\"><b>Changed.</b> {}</p>\n",
            escaped(&in_print(change))
        ));
    }
    text.push_str(&format!(
        "<p class=\"standing\">{}</p>\n{}{}",
        standing(run, tables),
        goals(run),
        key_figures::all(run, tables)
    ));
    // A note names each of its places.
    let shown = if run.note.is_some() { 1 } else { usize::MAX };
    let each = places(run).map(|it| escaped(&format!("{}: {}", it.given, in_brief(it))));
    let mut places = distinct(each.take(shown));
    if !run.is_of_models() {
        let machine = format!("{}, {}", run.environment.host_name, machine(run));
        places.push(escaped(&machine));
    }
    let places = places.join("<br>");
    text + &format!("<p class=\"place\">{places}</p>\n</header>\n")
}

/// Each goal with its outcome, the limit and what was found.
fn goals(run: &Run) -> String {
    if run.goals.is_empty() {
        return String::new();
    }
    let items = run.goals.iter().map(|goal| {
        let (class, word) = (goal_class(goal.verdict), verdict_word(goal.verdict));
        format!(
            "<li><span class=\"t {class}\">{word}</span><div><b>{}</b> {}</div></li>\n",
            escaped(&goal.goal),
            escaped(&in_print(&evidence(goal)))
        )
    });
    let items: String = items.collect();
    format!("<ul class=\"warnings goals\">\n{items}</ul>\n")
}

/// What the run found beyond its verdict; of a note its conclusions, unfolded.
pub(super) fn findings(run: &Run) -> String {
    let shown = run.verdict.as_ref().map(|it| it.sentence.as_str());
    let others = run.findings.iter().map(String::as_str);
    let others = others.filter(|it| ![shown, run.change()].contains(&Some(it)));
    let items = others.map(|it| format!("<li>{}</li>", escaped(&in_print(it))));
    let items: String = items.collect();
    let list = format!("<ul class=\"findings\">{items}</ul>\n");
    match run.note {
        _ if items.is_empty() => String::new(),
        Some(_) => format!("<h3>{CONCLUSIONS}</h3>\n{list}"),
        None => folded(FINDINGS, &list),
    }
}

/// The color of an outcome.
const fn goal_class(outcome: LimitVerdict) -> &'static str {
    match outcome {
        LimitVerdict::Kept => Trust::Reliable.name(),
        LimitVerdict::Undecided => Trust::Unstable.name(),
        LimitVerdict::Exceeded => Trust::Invalid.name(),
    }
}

/// How far the verdict can be trusted, whether goals were met, how many results are not reliable,
/// and how many warnings there are.
fn standing(run: &Run, tables: &[Table]) -> String {
    let rows = share(tables).map(|it| format!("<span class=\"t\">{it}</span>"));
    let verdict = run.verdict.iter();
    let verdict = verdict.flat_map(|it| {
        let word = it.trust.name();
        let trust = format!("<span class=\"t {word}\"><b>{word}</b></span>");
        let goals = it.goals.map(|it| {
            let (class, word) = (goal_class(it), verdict_word(it));
            format!("<span class=\"t {class}\"><b>goals {word}</b></span>")
        });
        std::iter::once(trust).chain(goals)
    });
    let heavy = run.all_warnings().filter(|it| it.severity > Severity::Info);
    let heavy: BTreeSet<(Severity, &str)> =
        heavy.map(|it| (it.severity, it.code.as_str())).collect();
    let warnings = heavy.last().map(|(worst, _)| {
        let (class, counted) = (worst.name(), format_counted(heavy.len() as u64, "warning"));
        format!("<a class=\"t {class}\" href=\"#warnings\">{counted}</a>")
    });
    let parts: Vec<String> = verdict.chain(rows).chain(warnings).collect();
    parts.join(" ")
}

/// Parts of a sentence that stay together where a line must be broken; so does a number with its
/// unit.
fn in_parts(sentence: &str) -> String {
    let mut joined = String::new();
    for word in sentence.split(' ') {
        let ends_with_number = joined.ends_with(|it: char| it.is_ascii_digit());
        let is_unit = UNITS.contains(&word.trim_end_matches([',', '.', ')']));
        let is_range = word == "–" || joined.ends_with('–');
        if !joined.is_empty() {
            let is_one = is_range || is_unit && ends_with_number;
            joined.push(if is_one { '\u{a0}' } else { ' ' });
        }
        joined.push_str(word);
    }
    let parts = joined.split(", ").map(escaped);
    let parts: Vec<String> = parts.map(|part| format!("<span>{part}")).collect();
    let joined = parts.join(",</span> ") + "</span>";
    // Some browsers break a line after a dash even before such a space.
    joined.replace("–\u{a0}", "–&#8288;\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_sentence_stay_together() {
        let parts = in_parts("a-b 1 µs, <up> to 2,000/s");
        assert_eq!(
            parts,
            "<span>a-b 1\u{a0}µs,</span> <span>&lt;up&gt; to 2,000/s</span>"
        );
    }
}
