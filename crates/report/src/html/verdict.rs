//! The top of a page: what was found in a sentence, how far it can be trusted, where and when.

use results::{LimitVerdict, Run, Severity, Status, Table, Trust};
use units::{format_counted, format_duration_ns};

use crate::check_up::{machine, title};
use crate::list::moment;
use crate::markup::{escaped, in_print};
use crate::names::capitalised;
use crate::standing::counts;
use crate::target::in_brief;

/// What was found, how far it can be trusted, where and when.
pub(super) fn header(run: &Run, tables: &[Table]) -> String {
    let sentence = run.verdict.as_ref().map_or("", |it| &it.sentence);
    let number = run.id.map_or_else(String::new, |id| format!("Run {id} · "));
    let mut text = format!(
        "<header>\n<p class=\"eyebrow\">{number}{} · {}</p>\n<h1>{}</h1>\n\
         <p class=\"lead\">{}</p>\n",
        escaped(&moment(&run.environment.started_at)),
        escaped(&in_print(&format_duration_ns(run.elapsed_ns as f64))),
        escaped(&capitalised(&title(run))),
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
        "<p class=\"standing\">{}</p>\n",
        standing(run, tables)
    ));
    let others = run.findings.iter().filter(|it| {
        let is_change = Some(it.as_str()) == run.change();
        it.as_str() != sentence && !is_change
    });
    let items = others.map(|it| format!("<li>{}</li>", escaped(&in_print(it))));
    let items: Vec<String> = items.collect();
    if !items.is_empty() {
        text.push_str(&format!("<ul class=\"findings\">{}</ul>\n", items.concat()));
    }
    let target = format!("{}: {}", run.target.given, in_brief(&run.target));
    let machine = format!("{}, {}", run.environment.host_name, machine(run));
    text.push_str(&format!(
        "<p class=\"place\">{}<br>{}</p>\n</header>\n",
        escaped(&target),
        escaped(&machine)
    ));
    text
}

/// The color of an outcome.
const fn goal_class(outcome: LimitVerdict) -> &'static str {
    match outcome {
        LimitVerdict::Kept => Trust::Reliable.name(),
        LimitVerdict::Undecided => Trust::Unstable.name(),
        LimitVerdict::Exceeded => Trust::Invalid.name(),
    }
}

/// How far the verdict can be trusted, whether goals were met, how many rows can be trusted how
/// far, and how many warnings there are.
fn standing(run: &Run, tables: &[Table]) -> String {
    let counts = counts(run, tables).into_iter();
    let counts = counts.filter_map(|(trust, count)| {
        let word = trust.name();
        let counted = format_counted(count as u64, "row");
        (count > 0).then(|| format!("<span class=\"t {word}\">{counted} {word}</span>"))
    });
    let verdict = run.verdict.iter();
    let verdict = verdict.flat_map(|it| {
        let word = it.trust.name();
        let trust = format!("<span class=\"t {word}\"><b>{word}</b></span>");
        let goals = it.goals.map(|it| {
            let class = goal_class(it);
            format!("<span class=\"t {class}\">goals {}</span>", it.name())
        });
        std::iter::once(trust).chain(goals)
    });
    let mut parts: Vec<String> = verdict.chain(counts).collect();
    for severity in [Severity::Invalid, Severity::Warning] {
        let of = run.all_warnings().filter(|it| it.severity == severity);
        let mut codes: Vec<&str> = of.map(|it| it.code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        if !codes.is_empty() {
            let class = severity.name();
            let noun = match severity {
                Severity::Invalid => "invalid result",
                _ => "warning",
            };
            let counted = format_counted(codes.len() as u64, noun);
            parts.push(format!(
                "<a class=\"t {class}\" href=\"#warnings\">{counted}</a>"
            ));
        }
    }
    parts.join(" ")
}

/// Parts of a sentence that stay together where a line must be broken.
fn in_parts(sentence: &str) -> String {
    let parts = sentence.split(", ").map(escaped);
    let parts: Vec<String> = parts.map(|part| format!("<span>{part}")).collect();
    parts.join(",</span> ") + "</span>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_sentence_stay_together() {
        let parts = in_parts("a-b 1 µs, <up> to 2,000/s");
        assert_eq!(
            parts,
            "<span>a-b 1 µs,</span> <span>&lt;up&gt; to 2,000/s</span>"
        );
    }
}
