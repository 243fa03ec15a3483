//! Why there is no answer, and what can still be said.

use std::cmp::Reverse;

use results::{
    Measurement, Row, Run, Severity, Trust, Warning, WarningCode, in_a_sentence, percentile_name,
};
use stats::{Estimate, Verdict};
use units::format_duration_ns;

/// Warnings whose causes can only slow a trial down, so that upper bounds of its times hold.
const SLOWING: [WarningCode; 3] = [
    WarningCode::BackgroundIo,
    WarningCode::LateGenerator,
    WarningCode::Standstill,
];
/// Maximum number of words in a name.
const NAME_WORDS_MAX: usize = 4;
/// The percentile used as a bound of the latency.
const BOUND: f64 = 0.99;

/// Warnings that lower the trust in these rows, the most important first.
pub(super) fn blamed<'a>(run: &'a Run, rows: &[&Row]) -> Vec<&'a Warning> {
    let marked = rows.iter().filter(|row| !row.trust.is_usable());
    let codes: Vec<&WarningCode> = marked.flat_map(|row| &row.warnings).collect();
    let is_of_rows = |scope: &str, it: &Warning| {
        // Rows that sum up others have no warnings of their own.
        let is_of_all = scope == "run" && it.severity == Severity::Invalid;
        codes.is_empty() || codes.contains(&&it.code) || is_of_all
    };
    let lowering = run.scoped_warnings();
    let lowering = lowering.filter(|(scope, it)| it.lowers_trust() && is_of_rows(scope, it));
    let mut found: Vec<&Warning> = lowering.map(|(_, it)| it).collect();
    found.sort_by_key(|it| (Reverse(it.severity), it.code.scope()));
    found
}

/// Why these rows have nothing quotable, as the end of a sentence.
pub(super) fn in_words(run: &Run, rows: &[&Row], warning: Option<&Warning>) -> String {
    if let Some(change) = run.change() {
        let (what, _) = change.split_once(": ").unwrap_or((change, ""));
        return in_a_sentence(what);
    }
    if let Some(warning) = warning {
        return cause(run, warning);
    }
    let mut trials = run.measurements.iter();
    let of_rows = |it: &&Measurement| rows.iter().any(|row| row.levels == [it.name.as_str()]);
    match trials.find(of_rows).map(|it| it.verdict) {
        Some(Verdict::NotStationary) => "latency never reached steady state".to_owned(),
        Some(verdict) if !Trust::of(&verdict, &[]).is_usable() => {
            "too few independent operations were measured".to_owned()
        }
        _ => format!("{} (repeat it, or run longer)", of_intervals(run, rows)),
    }
}

/// What the intervals of marked rows, which the tables print, allow to say.
fn of_intervals(run: &Run, rows: &[&Row]) -> String {
    let bounded = |row: &&Row| {
        let value = row.headline()?.value;
        value.is_bounded().then_some(value)
    };
    let bounded: Vec<Estimate> = rows.iter().filter_map(bounded).collect();
    let what = match run.curve() {
        Some(_) => "peak IOPS",
        None => "the result",
    };
    match (rows.len(), bounded.as_slice()) {
        (1, [one]) => format!(
            "{what} is only known to within ±{:.0} %",
            (100.0 * one.relative_half_width()).max(1.0)
        ),
        (1, _) => "the result has no usable interval".to_owned(),
        (_, []) => "no row has a usable interval".to_owned(),
        _ => "no row could be measured precisely enough".to_owned(),
    }
}

/// What happened according to a warning, without its consequences, as the end of a sentence.
fn cause(run: &Run, warning: &Warning) -> String {
    let text = warning.cause.trim_end_matches('.');
    if let Some((count, text)) = of_repeats(text) {
        let text = &text[..end_of_cause(text)];
        return format!("in {count} repeats, {}", in_a_sentence(text));
    }
    let title = titles(run).find_map(|title| {
        let rest = text.strip_prefix(title)?.strip_prefix(": ")?;
        Some((title, rest))
    });
    let (title, text) = title.unwrap_or(("", text));
    let text = &text[..end_of_cause(text)];
    match title.is_empty() || run.measurements.len() == 1 {
        true => in_a_sentence(text),
        false => format!("in {title}, {}", in_a_sentence(text)),
    }
}

/// In how many repeats of a study something happened, such as `3 of 4`, and what, without the title
/// of the trial.
fn of_repeats(text: &str) -> Option<(&str, &str)> {
    let (count, text) = text.split_once(" repeats: ")?;
    let is_number = |it: &str| it.replace(',', "").parse::<u64>().is_ok();
    let is_count = count.split(" of ").all(is_number);
    let text = text.split_once(": ").map_or(text, |(_, text)| text);
    is_count.then_some((count, text))
}

/// Names with which warnings may start.
fn titles(run: &Run) -> impl Iterator<Item = &str> {
    let trials = run.measurements.iter();
    let rows = run.row_warnings.iter().map(|it| it.row.as_str());
    let titles = trials.map(|it| it.title.as_str());
    titles.chain(rows)
}

/// Where the cause in a text ends, before its consequences or advice.
fn end_of_cause(text: &str) -> usize {
    let ends = ["; ", ". ", ": ", ", so "].into_iter();
    let ends = ends.flat_map(|end| text.match_indices(end));
    // A few words before a colon name the subject. The dots between the ends of an interval do not
    // end a sentence.
    let is_end = |(at, end): &(usize, &str)| match *end {
        ": " => {
            let clause = text[..*at].rsplit(": ").next().unwrap_or_default();
            clause.split_whitespace().count() > NAME_WORDS_MAX
        }
        ". " => !text[..*at].ends_with('.'),
        _ => true,
    };
    let ends = ends.filter(is_end).map(|(at, _)| at);
    ends.min().unwrap_or(text.len())
}

/// An upper bound from a single trial, if its warnings can only have slowed it down.
pub(super) fn bound(run: &Run) -> Option<String> {
    let [row] = run.measurements.as_slice() else {
        return None;
    };
    let mut lowering = row.warnings.iter().filter(|it| it.lowers_trust());
    let is_slowed = lowering.clone().next().is_some();
    if !is_slowed || !lowering.all(|it| SLOWING.contains(&it.code)) {
        return None;
    }
    let mut percentiles = row.response.percentiles.iter();
    let firm = percentiles.find(|it| it.p == BOUND && !it.is_indicative);
    let high = firm?
        .estimate
        .filter(|it| it.high.is_finite() && it.high > it.value)?
        .high;
    let (name, high) = (percentile_name(BOUND), format_duration_ns(high));
    Some(format!("{name} latency is at most {high}."))
}
