//! Warnings about many cells at once.

use results::{RandomAccess, RandomCell, Warning, WarningCode};

use super::shape::CellPlan;

/// Maximum number of cells named. The tables mark the others.
const NAMED: usize = 2;

/// Warnings that are judged over the rounds of a cell, each once for all cells.
pub fn random_doubts(found: &RandomAccess) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let all = found.cells.len();
    let which = |of: fn(&RandomCell) -> bool| -> Vec<&RandomCell> {
        found.cells.iter().filter(|cell| of(cell)).collect()
    };
    let unstable = which(|cell| !cell.is_citable && !cell.is_all_failed());
    if !unstable.is_empty() {
        let text = format!(
            "Do not quote {}, which had too few independent operations or no steady state. Raise \
             --budget, or measure fewer cells.",
            named(&unstable)
        );
        warnings.push(Warning::warn(WarningCode::TooFewSamples, text));
    }
    let differing = which(|cell| !cell.rounds_agree);
    if !differing.is_empty() {
        let text = format!(
            "The storage changed between rounds of {}. The intervals account for it.",
            named(&differing)
        );
        warnings.push(Warning::warn(WarningCode::RoundsDiffer, text));
    }
    let wide = which(|cell| cell.is_citable && cell.rounds_agree && !cell.is_precise);
    if !wide.is_empty() {
        let text = format!(
            "{} of {all} cells {} not precise to {:.1} %: {} wider. Raise --budget, or measure \
             fewer cells.",
            wide.len(),
            if wide.len() == 1 { "is" } else { "are" },
            found.precision * 100.0,
            if wide.len() == 1 {
                "its interval is"
            } else {
                "their intervals are"
            },
        );
        warnings.push(Warning::warn(WarningCode::NotConverged, text));
    }
    warnings
}

fn named(cells: &[&RandomCell]) -> String {
    let titles = cells.iter().take(NAMED).map(|cell| {
        let plan = CellPlan {
            kind: cell.kind,
            span: cell.span_bytes,
            block: cell.block_bytes,
            depth: cell.depth,
        };
        plan.title()
    });
    let titles = titles.collect::<Vec<_>>().join("; ");
    match cells.len().saturating_sub(NAMED) {
        0 => titles,
        more => format!("{titles}, and {more} more"),
    }
}
