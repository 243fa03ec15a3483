//! Goals and limits with their verdicts and the evidence.

use results::{GoalVerdict, LimitVerdict, Run, Study, StudyLimit};
use units::format_interval_count;

use crate::figure::estimated;
use crate::page::Page;
use crate::style::Tone;

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
        let (tone, mark, text) = limit_in_words(limit);
        page.item(tone, mark, &text);
    }
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
pub(crate) fn limit_in_words(limit: &StudyLimit) -> (Tone, &'static str, String) {
    let StudyLimit { level, against, .. } = limit;
    let evidence = match limit.ratio {
        Some(ratio) => {
            let (value, interval) = format_interval_count(ratio.value, ratio.low, ratio.high);
            format!("{level} is {value} ({interval}) times {against}")
        }
        None => format!(
            "{level} and {against} have no two rounds with {}",
            limit.reading
        ),
    };
    let (tone, mark) = verdict(limit.verdict);
    let advice = match (limit.verdict, limit.rounds_needed) {
        (LimitVerdict::Undecided, Some(rounds)) if rounds > limit.rounds => {
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
