//! Sets of runs held against each other: what changed between a baseline and new runs of the same
//! measurement.
//!
//! A run is one observation, by its value alone: how much two runs of the same storage differ shows
//! only between runs. The ratio of the geometric means has the interval of Student's t on the
//! logarithms, with one spread for both sides, so that one new run may be held against several of
//! the baseline.

use std::collections::BTreeSet;

use results::{Better, GateLimit, GateRow, LimitVerdict, NamedFigure, Reading, Run, Unit};
use stats::{CONFIDENCE, Estimate, student_t};

use super::limit::{ERROR, Limit, POWER_QUANTILE};

/// With fewer runs of the baseline nothing is claimed.
pub const BASE_RUNS_MIN: usize = 3;
/// More runs than this are not advised.
const RUNS_ADVISED_MAX: f64 = 100.0;

/// What two sets of values tell.
struct Sets {
    /// New over base.
    ratio: Estimate,
    /// Standard deviation of the logarithms of one run.
    deviation: f64,
    freedom: f64,
}

fn compared(base: &[f64], new: &[f64], confidence: f64) -> Option<Sets> {
    let usable = |values: &[f64]| values.iter().all(|it| *it > 0.0 && it.is_finite());
    if base.len() < BASE_RUNS_MIN || new.is_empty() || !usable(base) || !usable(new) {
        return None;
    }
    let (base, new) = (logs(base), logs(new));
    let (middle, other) = (mean(&base), mean(&new));
    let squares =
        |values: &[f64], mean: f64| -> f64 { values.iter().map(|it| (it - mean).powi(2)).sum() };
    let (n, m) = (base.len() as f64, new.len() as f64);
    let freedom = n + m - 2.0;
    let deviation = ((squares(&base, middle) + squares(&new, other)) / freedom).sqrt();
    let half = student_t(0.5 + confidence / 2.0, freedom) * deviation * (1.0 / n + 1.0 / m).sqrt();
    let difference = other - middle;
    Some(Sets {
        ratio: Estimate {
            value: difference.exp(),
            low: (difference - half).exp(),
            high: (difference + half).exp(),
            confidence,
            samples: n + m,
        },
        deviation,
        freedom,
    })
}

fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|it| it.ln()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The value of a figure in each run that has it and may be used.
fn values(runs: &[Vec<Reading>], name: &str) -> Vec<f64> {
    let found = runs
        .iter()
        .filter_map(|run| run.iter().find(|it| it.name == name));
    found.map(|it| it.value).collect()
}

/// Hold limits against two sets of runs: one-sided, at 95 % for all limits together (Bonferroni).
#[must_use]
pub fn gate(limits: &[Limit], base: &[Run], new: &[Run]) -> Vec<GateLimit> {
    let (base, new) = (readings(base), readings(new));
    let confidence = 1.0 - 2.0 * ERROR / limits.len().max(1) as f64;
    let judged = limits.iter().map(|limit| {
        let (base, new) = (values(&base, &limit.reading), values(&new, &limit.reading));
        let found = compared(&base, &new, confidence);
        GateLimit {
            rule: limit.text.clone(),
            figure: limit.reading.clone(),
            base_runs: base.len() as u32,
            new_runs: new.len() as u32,
            ratio: found.as_ref().map(|it| it.ratio),
            runs_needed: found.as_ref().and_then(|it| runs_needed(limit, it)),
            verdict: found.map_or(LimitVerdict::Undecided, |it| limit.verdict_of(&it.ratio)),
        }
    });
    judged.collect()
}

fn readings(runs: &[Run]) -> Vec<Vec<Reading>> {
    runs.iter().map(Run::readings).collect()
}

/// Runs a side after which a change as large as the one seen is told from the limit four times in
/// five.
fn runs_needed(limit: &Limit, found: &Sets) -> Option<u32> {
    let distance = (found.ratio.value / limit.bound()).ln().abs();
    let quantile = student_t(0.5 + found.ratio.confidence / 2.0, found.freedom);
    let wanted = 2.0 * ((quantile + POWER_QUANTILE) * found.deviation / distance).powi(2);
    let wanted = wanted.ceil().max(BASE_RUNS_MIN as f64);
    (wanted <= RUNS_ADVISED_MAX).then_some(wanted as u32)
}

/// Every figure that all runs of both sets have; the intervals hold for all of them together
/// (Bonferroni).
#[must_use]
pub fn set_ratios(base: &[Run], new: &[Run]) -> Vec<GateRow> {
    let (base, new) = (readings(base), readings(new));
    let first = new.first().map_or(&[][..], Vec::as_slice);
    let shared = first.iter().filter_map(|reading| {
        let (of_base, of_new) = (values(&base, &reading.name), values(&new, &reading.name));
        let is_whole = of_base.len() == base.len() && of_new.len() == new.len();
        (is_whole && !of_base.is_empty()).then_some((reading, of_base, of_new))
    });
    let shared: Vec<(&Reading, Vec<f64>, Vec<f64>)> = shared.collect();
    let confidence = 1.0 - (1.0 - CONFIDENCE) / shared.len().max(1) as f64;
    let rows = shared.iter().filter_map(|(reading, of_base, of_new)| {
        let (before, after) = (geometric(of_base)?, geometric(of_new)?);
        Some(row(
            (&reading.name, reading.unit, reading.better),
            (before, after),
            compared(of_base, of_new, confidence).map(|it| it.ratio),
        ))
    });
    rows.collect()
}

/// Limits with the names that the runs have for their figures: a row in front of a figure that only
/// one row has may be there or not.
///
/// # Errors
/// Names the first that no run has, and what there is.
pub fn resolved(limits: &[Limit], runs: &[Run]) -> Result<Vec<Limit>, String> {
    let figures: Vec<NamedFigure> = runs.iter().flat_map(Run::named_figures).collect();
    let one = |limit: &Limit| {
        let found = figures.iter().find(|it| it.name == limit.reading);
        let found = found.or_else(|| figures.iter().find(|it| it.is_called(&limit.reading)));
        let Some(found) = found else {
            let names: BTreeSet<&str> = figures.iter().map(|it| it.name.as_str()).collect();
            let names: Vec<&str> = names.into_iter().collect();
            return Err(format!(
                "--fail {:?}: the runs have no {}. They have {}",
                limit.text,
                limit.reading,
                names.join(", ")
            ));
        };
        let mut limit = limit.clone();
        limit.reading.clone_from(&found.name);
        Ok(limit)
    };
    // Of void runs alone nothing is known.
    match figures.is_empty() {
        true => Ok(limits.to_vec()),
        false => limits.iter().map(one).collect(),
    }
}

fn row(
    (figure, unit, better): (&str, Unit, Better),
    (base, new): (f64, f64),
    ratio: Option<Estimate>,
) -> GateRow {
    GateRow {
        figure: figure.to_owned(),
        unit,
        better,
        base,
        new,
        ratio,
    }
}

fn geometric(values: &[f64]) -> Option<f64> {
    let mean = mean(&logs(values)).exp();
    (mean.is_finite() && mean > 0.0).then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logarithms 0, .1, -.1 and .2: the pooled deviation is .1 with two degrees of freedom, and
    /// Student's t is 2.919986 at .95.
    #[test]
    fn one_new_run_is_held_against_the_spread_of_the_baseline() {
        let base = [1.0, 0.1_f64.exp(), (-0.1_f64).exp()];
        let found = compared(&base, &[0.2_f64.exp()], 0.9).expect("four runs");
        assert!((found.deviation - 0.1).abs() < 1e-12);
        assert!((found.ratio.value.ln() - 0.2).abs() < 1e-12);
        let half = 2.919_985_58 * 0.1 * (4.0_f64 / 3.0).sqrt();
        assert!(
            (found.ratio.low.ln() - (0.2 - half)).abs() < 1e-6,
            "{:?}",
            found.ratio
        );
        assert!(compared(&base[..2], &[1.0, 1.0], 0.9).is_none());
        assert!(compared(&base, &[], 0.9).is_none());
        assert!(compared(&base, &[0.0], 0.9).is_none());
    }
}
