//! The top of a page: what was found in a sentence, how far it can be trusted, where and when.

use results::{Row, Run, Severity, Status, Table, Trust};
use units::{format_counted, format_duration_ns};

use super::markup::{Printed, escaped, in_print};
use crate::check_up::{machine, title};
use crate::figure::{INDICATIVE, headline, mark};
use crate::list::moment;
use crate::names::{capitalised, words};
use crate::standing::counts;
use crate::target::in_brief;

/// What was found, how far it can be trusted, where and when.
pub(super) fn header(run: &Run, tables: &[Table]) -> String {
    let number = run.id.map_or_else(String::new, |id| format!("Run {id} · "));
    let mut text = format!(
        "<header>\n<p class=\"eyebrow\">{number}{} · {}</p>\n<h1>{}</h1>\n\
         <p class=\"lead\">{}</p>\n",
        escaped(&moment(&run.environment.started_at)),
        escaped(&in_print(&format_duration_ns(run.elapsed_ns as f64))),
        escaped(&capitalised(&title(run))),
        in_parts(&capitalised(&in_print(&lead(run, tables))))
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
    let findings = &run.findings[usize::from(run.change().is_some())..];
    if !findings.is_empty() {
        let items: Vec<String> = findings
            .iter()
            .map(|it| format!("<li>{}</li>", escaped(&in_print(it))))
            .collect();
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

/// How many rows can be trusted how far, and how many things there are to mind.
fn standing(run: &Run, tables: &[Table]) -> String {
    let counts = counts(run, tables).into_iter();
    let counts = counts.filter_map(|(trust, count)| {
        let word = trust.name();
        let counted = format_counted(count as u64, "row");
        (count > 0).then(|| format!("<span class=\"t {word}\">{counted} {word}</span>"))
    });
    let mut parts: Vec<String> = counts.collect();
    for (severity, noun) in [(Severity::Void, "void"), (Severity::Doubt, "doubt")] {
        let of = run.all_warnings().filter(|it| it.severity == severity);
        let mut codes: Vec<&str> = of.map(|it| it.code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        if !codes.is_empty() {
            let counted = format_counted(codes.len() as u64, "thing");
            parts.push(format!(
                "<a class=\"t {noun}\" href=\"#mind\">{counted} to mind: {noun}</a>"
            ));
        }
    }
    parts.join(" ")
}

/// What was found in a sentence: of one row its figures, of a load curve what it carries at its
/// levels, else what lists say of the run.
fn lead(run: &Run, tables: &[Table]) -> String {
    if let [table] = tables
        && let [row] = table.rows.as_slice()
    {
        return of_row(row);
    }
    if let (Some(_), Some(found)) = (&run.files, run.findings.first()) {
        return found.clone();
    }
    let levels = tables.iter().find(|table| table.name == "levels");
    match levels {
        Some(levels) if run.measurements.is_empty() => {
            let saturation = run.curve.as_ref().and_then(|it| it.saturation);
            let is_most = saturation.is_some_and(|it| it.is_saturated);
            of_levels(levels, tables, is_most)
        }
        _ => {
            let rows = run.measurements.iter();
            let told = with_words(&headline(run));
            rows.fold(told, |told, row| told.replace(&row.name, &words(&row.name)))
        }
    }
}

/// Parts of a sentence that stay together where a line must be broken.
fn in_parts(sentence: &str) -> String {
    let parts = sentence.split(", ").map(escaped);
    let parts: Vec<String> = parts.map(|part| format!("<span>{part}")).collect();
    parts.join(",</span> ") + "</span>"
}

/// The value of a figure; rates of operations as IOPS.
fn value(row: &Row, metric: &str) -> Option<String> {
    let figure = row.figure(metric)?;
    let finite = figure.value.value.is_finite();
    let printed = finite.then(|| Printed::of(figure).value)?;
    let printed = printed.trim_end_matches(INDICATIVE);
    Some(match metric {
        "iops" => format!("{} IOPS", printed.trim_end_matches("/s")),
        _ => printed.to_owned(),
    })
}

fn of_row(row: &Row) -> String {
    let untrusted = match row.trust {
        Trust::Sound => String::new(),
        trust => format!(" ({})", trust.name()),
    };
    let headline = || {
        let head = row.headline()?;
        Some(format!(
            "{} {}",
            Printed::of(head).value,
            words(&head.metric.name)
        ))
    };
    let found = match (
        value(row, "iops"),
        value(row, "latency"),
        value(row, "latency-p99"),
    ) {
        (Some(iops), Some(mean), Some(p99)) => {
            Some(format!("{iops} at {mean} mean latency, p99 {p99}"))
        }
        (Some(iops), Some(mean), None) => Some(format!("{iops} at {mean} mean latency")),
        _ => headline(),
    };
    found.unwrap_or_else(|| "nothing measured".to_owned()) + &untrusted
}

/// The load at the last levels that were reached, and the highest.
fn of_levels(levels: &Table, tables: &[Table], is_most: bool) -> String {
    let reached = levels.rows.iter().filter_map(|row| {
        let level = row.levels.first()?;
        Some(format!("{} at {}", value(row, "iops")?, apart(level)))
    });
    let reached: Vec<String> = reached.collect();
    let mut parts = reached[reached.len().saturating_sub(2)..].to_vec();
    let saturation = tables.iter().find(|table| table.name == "saturation");
    let highest = saturation.and_then(|table| value(table.rows.first()?, "iops"));
    let most = if is_most {
        "at most"
    } else {
        "highest measured"
    };
    parts.extend(highest.map(|iops| format!("{most} {iops}")));
    match parts.is_empty() {
        true => "no level was reached".to_owned(),
        false => parts.join(", "),
    }
}

/// A level with a blank before its unit: `200us@p99` as `200 us@p99`.
fn apart(level: &str) -> String {
    let unit = level.find(|it: char| !it.is_ascii_digit() && it != '.');
    let (number, rest) = level.split_at(unit.unwrap_or(level.len()));
    format!("{number} {rest}").trim_end().to_owned()
}

/// A headline whose signs of trust are words behind the numbers that they stand before.
fn with_words(headline: &str) -> String {
    let parts = headline.split(", ").map(|part| {
        for trust in [Trust::Shaky, Trust::Void] {
            let sign = format!(" {}", mark(trust));
            if let Some((name, value)) = part.split_once(&sign)
                && value.starts_with(|c: char| c.is_ascii_digit())
            {
                return format!("{name} {value} ({})", trust.name());
            }
        }
        part.to_owned()
    });
    parts.collect::<Vec<String>>().join(", ")
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

    #[test]
    fn signs_of_trust_are_words() {
        let check = |headline: &str, expected: &str| assert_eq!(with_words(headline), expected);
        check(
            "random-read 142 us, up to 7,090/s",
            "random-read 142 us, up to 7,090/s",
        );
        check("a !1.2 ms, b x3.4 ms", "a 1.2 ms (shaky), b 3.4 ms (void)");
    }
}
