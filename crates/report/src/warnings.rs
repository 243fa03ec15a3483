//! Warnings in the order of their weight, each once.

use results::{FileTest, Run, Severity, Warning};

use crate::page::Page;
use crate::style::Tone;

/// Notes shown where not all are asked for.
const NOTES_SHOWN: usize = 3;
/// Measurements named of which the same is said.
const ALIKE_SHOWN: usize = 6;

/// The run's warnings, the heaviest first, each text once.
pub(crate) fn in_order<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Vec<&'a Warning> {
    let mut ordered: Vec<&Warning> = Vec::new();
    for warning in warnings {
        match ordered.iter_mut().find(|known| known.text == warning.text) {
            Some(known) if known.severity < warning.severity => *known = warning,
            Some(_) => {}
            None => ordered.push(warning),
        }
    }
    ordered.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    ordered
}

/// The warnings of a run, with few notes unless all are asked for.
pub(crate) fn section(page: &mut Page<'_>, run: &Run) {
    let ordered = in_order(run.all_warnings());
    if ordered.is_empty() {
        return;
    }
    page.blank();
    page.heading("Warnings");
    let notes = ordered
        .iter()
        .filter(|warning| warning.severity == Severity::Note)
        .count();
    let left_out = if page.style.all {
        0
    } else {
        notes.saturating_sub(NOTES_SHOWN)
    };
    let shown = &ordered[..ordered.len() - left_out];
    if page.style.all {
        shown.iter().for_each(|warning| item(page, warning));
    } else {
        gathered(shown, run)
            .iter()
            .for_each(|warning| item(page, warning));
    }
    if left_out > 0 {
        let plural = if left_out == 1 { "note" } else { "notes" };
        let how = run.id.map_or_else(
            || "--all shows them".to_owned(),
            |id| format!("seekstone runs show {id} --all"),
        );
        page.paragraph(Tone::Quiet, &format!("{left_out} more {plural}: {how}"));
    }
}

/// What is said of several measurements in turn, said once: of the first in full, with the names of
/// the others behind it.
fn gathered(warnings: &[&Warning], run: &Run) -> Vec<Warning> {
    let of_files = run.files.iter().flat_map(|found| &found.tests);
    let of_files: Vec<String> = of_files.map(FileTest::name).collect();
    let title_of = |warning: &Warning| {
        let measured = run.measurements.iter();
        measured
            .map(|measurement| measurement.title.as_str())
            .chain(of_files.iter().map(String::as_str))
            .find(|title| {
                warning
                    .text
                    .strip_prefix(title)
                    .is_some_and(|rest| rest.starts_with(':'))
            })
    };
    let mut gathered: Vec<(Warning, Vec<String>)> = Vec::new();
    for warning in warnings {
        let place = gathered
            .iter_mut()
            .find(|(first, _)| first.code == warning.code && first.severity == warning.severity);
        match (title_of(warning), place) {
            (Some(title), Some((first, others))) if title_of(first).is_some() => {
                others.push(title.to_owned());
            }
            _ => gathered.push(((*warning).clone(), Vec::new())),
        }
    }
    gathered
        .into_iter()
        .map(|(mut warning, others)| {
            if !others.is_empty() {
                let shown = others.iter().take(ALIKE_SHOWN).map(String::as_str);
                let shown = shown.collect::<Vec<_>>().join("; ");
                let more = match others.len().saturating_sub(ALIKE_SHOWN) {
                    0 => String::new(),
                    more => format!("; and {more} more"),
                };
                warning.text = format!("{} (Likewise: {shown}{more}.)", warning.text);
            }
            warning
        })
        .collect()
}

/// One warning.
pub(crate) fn item(page: &mut Page<'_>, warning: &Warning) {
    let (tone, mark) = match warning.severity {
        Severity::Void => (Tone::Bad, "VOID "),
        Severity::Doubt => (Tone::Doubtful, "doubt"),
        Severity::Note => (Tone::Quiet, "note "),
    };
    page.item(tone, mark, &warning.text);
}
