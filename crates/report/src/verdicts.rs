//! Goals and limits with their verdicts and the evidence.

use results::{GoalVerdict, LimitVerdict, Run, Study, StudyLimit};
use stats::Estimate;
use units::{format_count, format_interval_count};

use crate::figure::estimated;
use crate::page::Page;
use crate::style::Tone;

/// Why a limit has other bounds than the table.
pub(crate) const LIMITS_NOTE: &str = "A limit is judged by one-sided bounds that hold for all \
                                      limits together with 95 %; the two-sided intervals of the \
                                      table also allow for its other figures.";

/// What was required, and whether it is so.
pub(crate) fn goals(page: &mut Page<'_>, run: &Run) {
    if run.goals.is_empty() {
        return;
    }
    page.blank();
    page.heading("Goals");
    for goal in &run.goals {
        let (tone, mark, text) = goal_in_words(goal);
        page.item(tone, mark, &text);
    }
}

/// Each goal in a line: PASS, FAIL or UNDECIDED, the goal, and the evidence.
pub fn goal_lines(run: &Run) -> Vec<String> {
    let lines = run.goals.iter().map(|goal| {
        let (_, mark, text) = goal_in_words(goal);
        format!("{mark} {text}")
    });
    lines.collect()
}

/// How far figures were allowed to change, and whether they kept to it.
pub(crate) fn limits(page: &mut Page<'_>, study: &Study) {
    if study.limits.is_empty() {
        return;
    }
    page.blank();
    page.heading("Limits");
    for limit in &study.limits {
        let (tone, mark, text) = limit_in_words(study, limit);
        page.item(tone, mark, &text);
    }
    page.paragraph(Tone::Quiet, LIMITS_NOTE);
}

/// A ratio that a limit is held against, with the bounds that decide: `1.20 times`, then `one-sided
/// 95 % bounds 1.17 .. 1.23`.
pub(crate) fn held(ratio: &Estimate) -> (String, String) {
    let (value, bounds) = format_interval_count(ratio.value, ratio.low, ratio.high);
    let each = format_count((0.5 + ratio.confidence / 2.0) * 100.0);
    (value, format!("one-sided {each} % bounds {bounds}"))
}

pub(crate) const fn verdict(verdict: LimitVerdict) -> (Tone, &'static str) {
    match verdict {
        LimitVerdict::Kept => (Tone::Strong, "PASS"),
        LimitVerdict::Exceeded => (Tone::Bad, "FAIL"),
        LimitVerdict::Undecided => (Tone::Doubtful, "UNDECIDED"),
    }
}

/// Whether a goal is met, with the evidence.
pub(crate) fn goal_in_words(goal: &GoalVerdict) -> (Tone, &'static str, String) {
    let (tone, mark) = verdict(goal.verdict);
    let evidence = goal.value.map(|value| {
        let (text, interval) = estimated(goal.unit, value);
        let interval = match value.is_bounded() {
            true => interval,
            false => "no interval".into(),
        };
        format!("{} is {text} ({interval})", goal.figure)
    });
    let parts: Vec<String> = evidence.into_iter().chain(goal.why.clone()).collect();
    (tone, mark, format!("{}: {}", goal.goal, parts.join("; ")))
}

/// Whether a limit was kept, with the evidence.
pub(crate) fn limit_in_words(study: &Study, limit: &StudyLimit) -> (Tone, &'static str, String) {
    let StudyLimit { level, against, .. } = limit;
    let evidence = match limit.ratio {
        Some(ratio) => {
            let (value, bounds) = held(&ratio);
            format!("{level} is {value} times {against} ({bounds})")
        }
        None => format!(
            "{level} and {against} have no two rounds with {}",
            limit.reading
        ),
    };
    let (tone, mark) = verdict(limit.verdict);
    let done = study.replicates.iter().map(|it| it.round).max();
    let missing = done.unwrap_or(0).saturating_sub(limit.rounds);
    let evidence = match missing {
        0 => evidence,
        _ => format!("{evidence} in the {} rounds that have it", limit.rounds),
    };
    // As many will lack it again.
    let needed = limit.rounds_needed.map(|it| it + missing);
    let advice = match (limit.verdict, needed) {
        (LimitVerdict::Undecided, Some(rounds)) if rounds > limit.rounds + missing => {
            format!("; about {rounds} rounds would tell (--rounds {rounds})")
        }
        (LimitVerdict::Undecided, Some(_)) => "; a few more rounds may tell".into(),
        (LimitVerdict::Undecided, None) if limit.ratio.is_some() => {
            "; it is too close to the limit to tell".into()
        }
        _ => String::new(),
    };
    (tone, mark, format!("{}: {evidence}{advice}", limit.rule))
}
