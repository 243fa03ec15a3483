//! Goals and limits with their verdicts and the evidence.

use results::{GoalVerdict, LimitVerdict, Run, StudyChange, change_in_words};
use stats::Estimate;
use units::{capitalised, format_count};

use crate::figure::estimated;
use crate::page::TextPage;
use crate::style::Tone;

/// What was required, and whether it is so.
pub(crate) fn goals(page: &mut TextPage<'_>, run: &Run) {
    if run.goals.is_empty() {
        return;
    }
    page.blank();
    page.heading("Goals");
    for goal in &run.goals {
        let (tone, mark) = verdict(goal.verdict);
        page.item(tone, mark, &format!("{}: {}", goal.goal, evidence(goal)));
    }
}

/// Each goal in a line: PASS, FAIL or UNDECIDED, the goal, and the evidence.
pub fn goal_lines(run: &Run) -> Vec<String> {
    let lines = run.goals.iter().map(|goal| {
        let (_, mark) = verdict(goal.verdict);
        format!("{mark} {}: {}", goal.goal, evidence(goal))
    });
    lines.collect()
}

/// How the bounds that decide on a limit hold: `each bound at 95 %`.
pub(crate) fn each_bound(ratio: &Estimate) -> String {
    let each = format_count((0.5 + ratio.confidence / 2.0) * 100.0);
    format!("each bound at {each} %")
}

/// The word for an outcome.
pub(crate) const fn verdict_word(outcome: LimitVerdict) -> &'static str {
    verdict(outcome).1
}

pub(crate) const fn verdict(verdict: LimitVerdict) -> (Tone, &'static str) {
    match verdict {
        LimitVerdict::Kept => (Tone::Strong, "PASS"),
        LimitVerdict::Exceeded => (Tone::Bad, "FAIL"),
        LimitVerdict::Undecided => (Tone::Doubtful, "UNDECIDED"),
    }
}

/// What a goal's verdict rests on.
pub(crate) fn evidence(goal: &GoalVerdict) -> String {
    let found = goal.value.map(|value| {
        if let Some(change) = &goal.change_of {
            let StudyChange { level, against, .. } = change;
            let words = change_in_words(&change.reading, value);
            return format!("{words} for {level} against {against}");
        }
        let (text, interval) = estimated(goal.unit, value);
        match value.is_bounded() {
            true => format!("{text} ({interval})"),
            false => format!("{text}, no interval"),
        }
    });
    match (found, &goal.why) {
        (Some(found), Some(why)) => format!("{found}. {}", capitalised(why)),
        (found, why) => found.or_else(|| why.clone()).unwrap_or_default(),
    }
}
