//! Runs compared with the first of them, figure by figure.

use results::{
    FigureRatio, RatioRow, Role, Run, SetupDifference, Shown, Table, compare as ratios,
    ratio_table, setup_differences,
};
use units::format_counted;

use crate::page::TextPage;
use crate::plot::strip::{RatioLine, ratios_svg};
use crate::section;
use crate::style::{Style, Tone};

/// Figures that are shown without `all`: a screen has room for them.
const ROWS: usize = 20;
/// Differences of setups that are shown without `all`.
const DIFFERENCES_SHOWN: usize = 8;

/// What no comparison of single runs shows.
pub(crate) const ONE_RUN_A_SIDE: &str = "Each interval covers the variation within its run. One \
     run a side cannot show how much two runs of the same storage differ. Repeat each several \
     times before you believe a small difference.";

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComparisonError {
    /// There is nothing to compare with.
    #[error("a comparison needs two runs or more: seekstone runs compare BASE NEW")]
    OneRun,
    /// Two runs have no row in common.
    #[error(
        "{0} and {1} have no row in common. Rows compare when their tables and levels are equal, \
         as those of two runs of one command with equal options"
    )]
    NothingShared(String, String),
}

/// Each run compared with the first.
///
/// # Errors
/// When a run has no row in common with the first.
pub fn comparison(runs: &[Run], style: &Style) -> Result<String, ComparisonError> {
    let [base, others @ ..] = runs else {
        return Err(ComparisonError::OneRun);
    };
    if others.is_empty() {
        return Err(ComparisonError::OneRun);
    }
    let mut page = TextPage::new(style);
    for (place, new) in others.iter().enumerate() {
        if place > 0 {
            page.blank();
        }
        pair(&mut page, base, new)?;
    }
    page.blank();
    page.paragraph(Tone::Quiet, ONE_RUN_A_SIDE);
    Ok(page.finish())
}

/// Runs compared with the first of them as a picture: each figure's ratio with its interval.
///
/// # Errors
/// When a run has no row in common with the first.
pub fn comparison_svg(runs: &[Run]) -> Result<String, ComparisonError> {
    let [base, others @ ..] = runs else {
        return Err(ComparisonError::OneRun);
    };
    let mut lines = Vec::new();
    for new in others {
        let found = ratios(base, new);
        let shown: Vec<&FigureRatio> = found.iter().filter(|it| it.role != Role::Detail).collect();
        if shown.is_empty() {
            return Err(ComparisonError::NothingShared(name(base), name(new)));
        }
        lines.extend(shown.into_iter().map(|it| RatioLine {
            label: match others {
                [_] => format!("{} {}", it.row, it.metric),
                _ => format!("{}: {} {}", short_name(new), it.row, it.metric),
            },
            ratio: it.ratio,
            word: it.shown.word().to_owned(),
        }));
    }
    let title = match others {
        [] => return Err(ComparisonError::OneRun),
        [new] => format!("{} over {}", name(new), name(base)),
        _ => format!("runs over {}", name(base)),
    };
    let note = "Each interval covers the variation within its run, not from run to run.";
    Ok(ratios_svg(&title, note, &lines))
}

fn short_name(run: &Run) -> String {
    run.id
        .map_or_else(|| "this run".to_owned(), |id| format!("run {id}"))
}

/// How a run is called in a comparison.
pub(crate) fn name(run: &Run) -> String {
    let (command, target) = (&run.settings.command, &run.target.given);
    format!("{} ({command} {target})", short_name(run))
}

/// What was measured, where that is one trial.
pub fn workload(run: &Run) -> Option<&str> {
    match run.measurements.as_slice() {
        [one] => Some(&one.title),
        _ => None,
    }
}

fn pair(page: &mut TextPage<'_>, base: &Run, new: &Run) -> Result<(), ComparisonError> {
    let found = ratios(base, new);
    let of_interest = |it: &&FigureRatio| page.style.all || it.role != Role::Detail;
    let shown: Vec<&FigureRatio> = found.iter().filter(of_interest).collect();
    if shown.is_empty() {
        return Err(ComparisonError::NothingShared(name(base), name(new)));
    }
    let workload = workload(new).map_or_else(String::new, |it| format!(": {it}"));
    page.heading(&format!(
        "{} compared with {}{workload}",
        name(new),
        name(base)
    ));
    page.paragraph(Tone::Plain, &in_words(&shown));
    page.blank();
    let most = match page.style.all {
        true => usize::MAX,
        false => ROWS,
    };
    let left = shown.len().saturating_sub(most);
    section::one(page, &ratios_of(&shown[..shown.len() - left]));
    if left > 0 {
        let left = format_counted(left as u64, "more figure");
        page.paragraph(Tone::Quiet, &format!("{left}: --all shows them"));
    }
    setup(page, base, new);
    Ok(())
}

/// How many figures are better, worse, or show no difference.
pub(crate) fn in_words(shown: &[&FigureRatio]) -> String {
    let count = |of: Shown| shown.iter().filter(|it| it.shown == of).count() as u64;
    let untrusted = shown
        .iter()
        .filter(|it| matches!(it.shown, Shown::Untrusted(_)));
    let untrusted = untrusted.count();
    let all = format_counted(shown.len() as u64, "figure");
    if count(Shown::Nothing) == shown.len() as u64 {
        return format!("No difference is shown in {all}.");
    }
    let parts = [
        (count(Shown::Better), ["is better", "are better"]),
        (count(Shown::Worse), ["is worse", "are worse"]),
        (count(Shown::Differs), ["differs", "differ"]),
        (
            count(Shown::Nothing),
            ["shows no difference", "show no difference"],
        ),
        (
            count(Shown::NoInterval),
            ["has no interval", "have no interval"],
        ),
        (untrusted as u64, ["cannot be trusted", "cannot be trusted"]),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, [one, many])| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    format!("Of {all}, {}.", parts.join(", "))
}

/// Ratios as a table.
pub(crate) fn ratios_of(found: &[&FigureRatio]) -> Table {
    // A column of equal metrics would not be shown.
    let is_one = found.iter().all(|it| it.metric == found[0].metric);
    let rows = found.iter().map(|it| RatioRow {
        levels: match is_one {
            true => vec![format!("{} {}", it.row, it.metric)],
            false => vec![it.row.clone(), it.metric.clone()],
        },
        unit: it.unit,
        better: it.better,
        values: [it.base, it.new, it.ratio],
        shown: it.shown.word(),
    });
    let factors: &[&str] = if is_one {
        &["figure"]
    } else {
        &["row", "metric"]
    };
    ratio_table(factors, rows)
}

/// What is not the same in the setups.
fn setup(page: &mut TextPage<'_>, base: &Run, new: &Run) {
    let found = setup_differences(base, new);
    if found.is_empty() {
        page.blank();
        page.paragraph(Tone::Plain, "Machine, target and settings are the same.");
        return;
    }
    differences(page, &found);
}

/// What is not the same, the rest counted.
pub(crate) fn differences(page: &mut TextPage<'_>, differences: &[SetupDifference]) {
    page.blank();
    page.heading("What differs in the setup");
    let most = match page.style.all {
        true => differences.len(),
        false => DIFFERENCES_SHOWN,
    };
    let shown = || differences.iter().take(most);
    let width = shown().map(|it| it.key.chars().count()).max().unwrap_or(0);
    for it in shown() {
        let key = format!("{:width$}", it.key);
        page.item(Tone::Quiet, &key, &changed(&it.base, &it.new));
    }
    let left = differences.len().saturating_sub(most) as u64;
    if left > 0 {
        let left = format_counted(left, "more difference");
        page.paragraph(Tone::Quiet, &format!("{left} with --all"));
    }
}

/// What a value became; of texts of several lines, that they differ.
pub(crate) fn changed(base: &str, new: &str) -> String {
    let shown = |value: &str| match value {
        "" => "not set".to_owned(),
        value => value.to_owned(),
    };
    if base.contains('\n') || new.contains('\n') {
        return "another text".to_owned();
    }
    format!("{}, was {}", shown(new), shown(base))
}
