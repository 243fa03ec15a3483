//! Warnings in the order of their weight, and then of what they are about, each once.

use results::{Run, Severity, Warning, WarningCode};
use units::format_counted;

use crate::page::TextPage;
use crate::style::Tone;

/// Warnings shown where not all are asked for.
const SHOWN: usize = 3;
/// Lines of a screen. It has no more on account of warnings, with `below` more under them.
pub(crate) const SCREEN: usize = 36;
/// A longer page is a list that is scrolled through in any case.
const LIST: usize = 60;
/// So many are shown whatever room they take, and one of a check-up, which fits a screen.
const ALWAYS: usize = 2;
/// Measurements named of which the same is said, on a page that is so wide at least.
const ALIKE_SHOWN: usize = 3;
const WIDE: usize = 96;

/// The run's warnings, the heaviest first, each text once.
pub(crate) fn in_order<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Vec<&'a Warning> {
    let mut ordered: Vec<&Warning> = Vec::new();
    for warning in warnings {
        match ordered
            .iter_mut()
            .find(|known| known.text() == warning.text())
        {
            Some(known) if known.severity < warning.severity => *known = warning,
            Some(_) => {}
            None => ordered.push(warning),
        }
    }
    ordered.sort_by_key(|warning| (std::cmp::Reverse(warning.severity), warning.code.scope()));
    ordered
}

/// The warnings of a run: the few that weigh most, or all where all are asked for. So many lines
/// follow `below` them.
pub(crate) fn section(page: &mut TextPage<'_>, run: &Run, below: usize) {
    let ordered = in_order(run.all_warnings());
    let listed: Vec<&Warning> = ordered
        .iter()
        .copied()
        .filter(|it| page.style.all || !is_covered_elsewhere(it, &ordered))
        .collect();
    if listed.is_empty() {
        return;
    }
    page.blank();
    if page.style.all {
        page.heading("Warnings");
        listed.iter().for_each(|warning| item(page, warning));
        return;
    }
    let named = match page.style.columns() < WIDE {
        true => 0,
        false => ALIKE_SHOWN,
    };
    let gathered = gathered(&listed, run, named);
    // A list of many rows is not kept short by what it does not warn of.
    let most = match page.lines() > LIST {
        true => usize::MAX,
        false => SCREEN.saturating_sub(below),
    };
    let items = |page: &mut TextPage<'_>, shown: usize| {
        let title = match gathered.len() - shown {
            0 => "Warnings".to_owned(),
            _ => format!("Warnings ({shown} of {}, --all shows all)", gathered.len()),
        };
        page.heading(&title);
        gathered[..shown].iter().for_each(|it| item(page, it));
    };
    // What makes a number invalid is never left out.
    let invalid = gathered
        .iter()
        .filter(|it| it.severity == Severity::Invalid);
    let always = ALWAYS - usize::from(run.settings.command == "run");
    let least = invalid.count().max(always).min(gathered.len());
    let mut shown = least.max(SHOWN).min(gathered.len());
    while shown > least && !page.within(most, |page| items(page, shown)) {
        shown -= 1;
    }
    if shown == least {
        items(page, least);
    }
}

/// Whether the verdict says it, or another: that latency moved, where another says that it still
/// does.
fn is_covered_elsewhere(warning: &Warning, all: &[&Warning]) -> bool {
    let title = |it: &Warning| it.text().split(": ").next().map(str::to_owned);
    let is_more =
        |it: &&Warning| it.code == WarningCode::NotStationary && title(it) == title(warning);
    warning.code == WarningCode::Verified
        || warning.code == WarningCode::Drift && all.iter().any(is_more)
}

/// What is said of several measurements in turn, said once: of the first in full, with the names of
/// the others behind it.
fn gathered(warnings: &[&Warning], run: &Run, named: usize) -> Vec<Warning> {
    let titled = titled(run);
    let title_of = |warning: &Warning| {
        let mut titled = titled.iter();
        let found = titled.find(|(it, _)| std::ptr::eq(*it, warning));
        found.map(|(_, title)| title.clone())
    };
    let mut gathered: Vec<(&Warning, Vec<String>)> = Vec::new();
    for &warning in warnings {
        let place = gathered
            .iter_mut()
            .find(|(first, _)| first.code == warning.code && first.severity == warning.severity);
        match (title_of(warning), place) {
            (Some(title), Some((first, others))) if title_of(first).is_some() => others.push(title),
            _ => gathered.push((warning, Vec::new())),
        }
    }
    gathered
        .into_iter()
        .map(|(warning, others)| {
            let mut warning = warning.clone();
            if !others.is_empty() {
                let shown = others.iter().take(named).map(String::as_str);
                let shown = shown.collect::<Vec<_>>().join(", ");
                let more = match others.len().saturating_sub(named) {
                    0 => String::new(),
                    more if named == 0 => {
                        format!("in {}", format_counted(more as u64, "other row"))
                    }
                    more => format!(" and {more} more"),
                };
                warning.cause = format!("{warning} (Also: {shown}{more}.)");
                warning.advice.clear();
            }
            warning
        })
        .collect()
}

/// The warnings of single measurements, each with the measurement's title.
fn titled(run: &Run) -> Vec<(&Warning, String)> {
    let measured = run.measurements.iter();
    let measured = measured.flat_map(|of| of.warnings.iter().map(|it| (it, of.title.clone())));
    let rows = run.row_warnings.iter();
    let rows = rows.map(|it| (&it.warning, it.row.clone()));
    measured.chain(rows).collect()
}

pub(crate) fn item(page: &mut TextPage<'_>, warning: &Warning) {
    let (tone, mark) = match warning.severity {
        Severity::Invalid => (Tone::Bad, "invalid"),
        Severity::Warning => (Tone::Doubtful, "warning"),
        Severity::Info => (Tone::Quiet, "info   "),
    };
    page.item(tone, mark, &warning.text());
}
