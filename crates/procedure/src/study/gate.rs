//! Compares sets of runs: changes between a baseline and new runs of the same measurement.
//!
//! A run is one observation, with its value but not its interval, because the variation between
//! runs only shows between runs. The ratio of the geometric means has the interval of Student's t
//! on the logarithms, with one variance for both sides, so that a single new run can be compared
//! with several of the baseline.

use std::collections::BTreeSet;

use results::{Better, GateLimit, GateRow, LimitVerdict, NamedFigure, Reading, Run, Unit};
use stats::{CONFIDENCE, Estimate, student_t};

use super::limit::{ERROR, Limit, POWER_QUANTILE};

/// Minimum number of baseline runs for a claim.
pub const BASE_RUNS_MIN: usize = 3;
/// Maximum number of runs that is recommended.
const RUNS_ADVISED_MAX: u32 = 1000;
/// Minimum number of runs for a trend.
const TREND_RUNS_MIN: usize = 6;
/// Confidence of a trend.
const TREND_CONFIDENCE: f64 = 0.99;

/// Variation between runs of one storage.
#[derive(Clone, Copy, Debug)]
struct Spread {
    /// Standard deviation of the logarithms.
    deviation: f64,
    freedom: f64,
}

impl Spread {
    /// Pooled over two sets, each around its own mean. The second may be empty.
    fn of(base: &[f64], new: &[f64]) -> Option<Self> {
        let usable = |values: &[f64]| values.iter().all(|it| *it > 0.0 && it.is_finite());
        if base.len() < BASE_RUNS_MIN || !usable(base) || !usable(new) {
            return None;
        }
        let squares = |values: &[f64]| -> f64 {
            let values = logs(values);
            let middle = mean(&values);
            values.iter().map(|it| (it - middle).powi(2)).sum()
        };
        let means = if new.is_empty() { 1 } else { 2 };
        let freedom = (base.len() + new.len() - means) as f64;
        Some(Self {
            deviation: ((squares(base) + squares(new)) / freedom).sqrt(),
            freedom,
        })
    }

    /// Half-width of the interval of a difference of means over that many runs.
    fn half_width(self, confidence: f64, runs: [usize; 2]) -> f64 {
        student_t(0.5 + confidence / 2.0, self.freedom) * self.error(runs)
    }

    fn error(self, [base, new]: [usize; 2]) -> f64 {
        self.deviation * (1.0 / base as f64 + 1.0 / new as f64).sqrt()
    }

    /// How far beyond the limit a change must be to be detected with 80 % power.
    fn reach(self, confidence: f64, runs: [usize; 2]) -> f64 {
        self.half_width(confidence, runs) + POWER_QUANTILE * self.error(runs)
    }
}

fn compared(base: &[f64], new: &[f64], confidence: f64) -> Option<Estimate> {
    let spread = Spread::of(base, new).filter(|_| !new.is_empty())?;
    let half = spread.half_width(confidence, [base.len(), new.len()]);
    let difference = mean(&logs(new)) - mean(&logs(base));
    Some(Estimate {
        value: difference.exp(),
        low: (difference - half).exp(),
        high: (difference + half).exp(),
        confidence,
        samples: (base.len() + new.len()) as f64,
    })
}

fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|it| it.ln()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Values of a figure in each run that has it and can be used.
fn values(runs: &[Vec<Reading>], name: &str) -> Vec<f64> {
    let found = runs
        .iter()
        .filter_map(|run| run.iter().find(|it| it.name == name));
    found.map(|it| it.value).collect()
}

/// Checks limits against two sets of runs: one-sided, at 95 % for all limits together (Bonferroni).
pub fn gate(limits: &[Limit], base: &[Run], new: &[Run]) -> Vec<GateLimit> {
    let (base, new) = (readings(base), readings(new));
    let confidence = 1.0 - 2.0 * ERROR / limits.len().max(1) as f64;
    let judged = limits.iter().map(|limit| {
        let (base, new) = (values(&base, &limit.reading), values(&new, &limit.reading));
        let ratio = compared(&base, &new, confidence);
        let spread = Spread::of(&base, &new);
        // Without new runs, what a single new run will show.
        let runs = [base.len(), new.len().max(1)];
        let sees = spread.map(|it| it.reach(confidence, runs));
        GateLimit {
            rule: limit.text.clone(),
            figure: limit.reading.clone(),
            base_runs: base.len() as u32,
            new_runs: new.len() as u32,
            ratio,
            sees: sees.map(|it| limit.bound() * (it * limit.sign()).exp()),
            runs_needed: spread.and_then(|it| runs_needed(limit, it, confidence)),
            trend: trend(&[base, new].concat(), limit),
            verdict: ratio.map_or(LimitVerdict::Undecided, |it| limit.verdict_of(&it)),
        }
    });
    judged.collect()
}

fn readings(runs: &[Run]) -> Vec<Vec<Reading>> {
    runs.iter().map(Run::readings).collect()
}

/// Runs per side needed to tell no change from the limit with 80 % power.
fn runs_needed(limit: &Limit, spread: Spread, confidence: f64) -> Option<u32> {
    let distance = limit.bound().ln().abs();
    let tells = |runs: u32| {
        let freedom = f64::from(2 * runs - 2);
        let spread = Spread { freedom, ..spread };
        spread.reach(confidence, [runs as usize; 2]) <= distance
    };
    (BASE_RUNS_MIN as u32..=RUNS_ADVISED_MAX).find(|runs| tells(*runs))
}

/// Change from the first run to the last by a least-squares line through the logarithms, if it is
/// for the worse.
fn trend(values: &[f64], limit: &Limit) -> Option<Estimate> {
    let usable = values.iter().all(|it| *it > 0.0 && it.is_finite());
    if values.len() < TREND_RUNS_MIN || !usable {
        return None;
    }
    let values = logs(values);
    let (middle, last) = (mean(&values), (values.len() - 1) as f64);
    let place = |at: usize| at as f64 - last / 2.0;
    let places: f64 = (0..values.len()).map(|at| place(at).powi(2)).sum();
    let indexed = || values.iter().enumerate();
    let slope = indexed().map(|(at, it)| place(at) * it).sum::<f64>() / places;
    let left = indexed().map(|(at, it)| (it - middle - slope * place(at)).powi(2));
    let freedom = values.len() as f64 - 2.0;
    let error = (left.sum::<f64>() / freedom / places).sqrt();
    let half = student_t(0.5 + TREND_CONFIDENCE / 2.0, freedom) * error;
    let change = |slope: f64| (slope * last).exp();
    // Towards the limit even at the nearer end.
    ((slope * limit.sign()) > half).then(|| Estimate {
        value: change(slope),
        low: change(slope - half),
        high: change(slope + half),
        confidence: TREND_CONFIDENCE,
        samples: values.len() as f64,
    })
}

/// Every figure that all runs of both sets have. Intervals hold for all of them together
/// (Bonferroni).
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
            compared(of_base, of_new, confidence),
        ))
    });
    rows.collect()
}

/// Resolves limits to the names of the runs' figures. The row may be omitted if only one row has
/// the figure.
///
/// # Errors
/// Names the first that no run has, and the available ones.
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
    // Nothing is known from invalid runs alone.
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
        let new = [0.2_f64.exp()];
        let spread = Spread::of(&base, &new).expect("four runs");
        assert!((spread.deviation - 0.1).abs() < 1e-12);
        let ratio = compared(&base, &new, 0.9).expect("four runs");
        assert!((ratio.value.ln() - 0.2).abs() < 1e-12);
        let half = 2.919_985_58 * 0.1 * (4.0_f64 / 3.0).sqrt();
        assert!((ratio.low.ln() - (0.2 - half)).abs() < 1e-6, "{ratio:?}");
        assert!(compared(&base[..2], &[1.0, 1.0], 0.9).is_none());
        assert!(compared(&base, &[], 0.9).is_none());
        assert!(compared(&base, &[0.0], 0.9).is_none());
    }

    fn limit(text: &str) -> Limit {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    /// With a deviation of .1 and many runs, (1.645 + .842) .1 sqrt(2 / n) is ln 1.1 at 13.6 runs a
    /// side; Student's t asks for one more.
    #[test]
    fn the_power_of_a_limit_follows_from_the_spread() {
        let spread = Spread {
            deviation: 0.1,
            freedom: 1e6,
        };
        let needed = runs_needed(&limit("p99 > +10%"), spread, 0.9);
        assert_eq!(needed, Some(15), "{spread:?}");
        assert_eq!(runs_needed(&limit("p99 > 0%"), spread, 0.9), None);
        let reach = spread.reach(0.9, [20, 1]);
        assert!(
            (reach - 2.487 * 0.1 * 1.05_f64.sqrt()).abs() < 1e-3,
            "{reach}"
        );
    }

    /// 2 % worse from run to run, with 1 % noise.
    #[test]
    fn a_slow_decline_is_seen_and_noise_is_none() {
        let noise = [0.01, -0.01, 0.0, 0.01, -0.01, 0.0, 0.01, -0.01];
        let runs = |slope: f64| -> Vec<f64> {
            let runs = noise.iter().enumerate();
            runs.map(|(at, it)| (slope * at as f64 + it).exp())
                .collect()
        };
        let rise = trend(&runs(0.02), &limit("p99 > +10%")).expect("a rise");
        assert!(rise.contains(0.14_f64.exp()) && rise.low > 1.05, "{rise:?}");
        assert!(trend(&runs(-0.02), &limit("iops < -10%")).is_some());
        // An improvement is no decline.
        assert_eq!(trend(&runs(-0.02), &limit("p99 > +10%")), None);
        assert_eq!(trend(&runs(0.0), &limit("p99 > +10%")), None);
        assert_eq!(trend(&runs(0.02)[..5], &limit("p99 > +10%")), None);
    }
}
