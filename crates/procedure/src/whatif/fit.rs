//! Weighted least squares in the logarithm of the response time: Levenberg and Marquardt's method
//! (D. Marquardt, SIAM J. Appl. Math. 11(2), 1963), from several starts.

use super::model::{KnownParameters, Model};

/// A point for the fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Datum {
    pub clients: u32,
    /// Logarithm of the mean response time in nanoseconds.
    pub log_response: f64,
    /// Its standard error.
    pub sigma: f64,
}

/// A model with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FittedModel {
    pub model: Model,
    pub logs: Vec<f64>,
    /// Sum of squared, weighted errors.
    pub cost: f64,
}

impl FittedModel {
    /// Mean response time, nanoseconds.
    pub fn response(&self, clients: u32, setting: &KnownParameters) -> f64 {
        let storage = self.model.storage(&self.logs);
        storage.response(clients, setting.think, setting.processors)
    }
}

/// Assumed minimum model error, which keeps a single very precise point from dominating.
pub(crate) const SIGMA_MIN: f64 = 0.005;
/// Maximum number of steps from one start.
const STEPS_MAX: usize = 40;
/// The search ends when a step reduces the cost by less than this share.
const GAIN_MIN: f64 = 1e-8;
/// Step for derivatives.
const NUDGE: f64 = 1e-5;

/// The best fit of all starts.
pub(crate) fn fit(model: Model, data: &[Datum], setting: &KnownParameters) -> Option<FittedModel> {
    let time = start_time(data);
    let starts = model.starts(time, setting).into_iter();
    starts
        .filter_map(|start| descend(model, start, data, setting))
        .min_by(|a, b| a.cost.total_cmp(&b.cost))
}

/// The best fit near another one.
pub(crate) fn refit(
    near: &FittedModel,
    data: &[Datum],
    setting: &KnownParameters,
) -> Option<FittedModel> {
    descend(near.model, near.logs.clone(), data, setting)
}

/// Data of one search.
struct Search<'a> {
    model: Model,
    data: &'a [Datum],
    setting: &'a KnownParameters,
    bounds: Vec<(f64, f64)>,
}

impl Search<'_> {
    fn residuals(&self, logs: &[f64]) -> Vec<f64> {
        let storage = self.model.storage(logs);
        let KnownParameters {
            think, processors, ..
        } = *self.setting;
        let residual = |datum: &Datum| {
            let found = storage.response(datum.clients, think, processors);
            (found.ln() - datum.log_response) / datum.sigma.max(SIGMA_MIN)
        };
        self.data.iter().map(residual).collect()
    }

    fn clamp(&self, logs: &mut [f64]) {
        for (log, (low, high)) in logs.iter_mut().zip(&self.bounds) {
            *log = log.clamp(*low, *high);
        }
    }

    /// Partial derivatives, a column per parameter.
    fn slopes(&self, logs: &[f64], at: &[f64]) -> Vec<Vec<f64>> {
        let column = |index: usize| {
            let mut nudged = logs.to_vec();
            let (_, high) = self.bounds[index];
            let nudge = if logs[index] + NUDGE > high {
                -NUDGE
            } else {
                NUDGE
            };
            nudged[index] += nudge;
            let there = self.residuals(&nudged);
            let pairs = there.iter().zip(at);
            pairs.map(|(there, here)| (there - here) / nudge).collect()
        };
        (0..logs.len()).map(column).collect()
    }
}

fn descend(
    model: Model,
    start: Vec<f64>,
    data: &[Datum],
    setting: &KnownParameters,
) -> Option<FittedModel> {
    let time = start_time(data);
    let parts = model.parts().iter();
    let search = Search {
        model,
        data,
        setting,
        bounds: parts
            .map(|&part| Model::bounds(part, time, setting))
            .collect(),
    };
    let mut logs = start;
    search.clamp(&mut logs);
    let mut at = search.residuals(&logs);
    let mut cost = squares(&at);
    let mut damping = 1e-3;
    for _ in 0..STEPS_MAX {
        let slopes = search.slopes(&logs, &at);
        let mut gain = 0.0;
        while damping < 1e8 {
            let step = damped_step(&slopes, &at, damping)?;
            let mut tried: Vec<f64> = logs.iter().zip(&step).map(|(a, b)| a + b).collect();
            search.clamp(&mut tried);
            let there = search.residuals(&tried);
            let found = squares(&there);
            if found < cost {
                gain = cost - found;
                (logs, at, cost) = (tried, there, found);
                damping *= 0.2;
                break;
            }
            damping *= 5.0;
        }
        if gain <= GAIN_MIN * cost + 1e-14 {
            break;
        }
    }
    cost.is_finite()
        .then_some(FittedModel { model, logs, cost })
}

/// Approximate time of one client.
fn start_time(data: &[Datum]) -> f64 {
    let logs = data.iter().map(|datum| datum.log_response);
    logs.fold(f64::INFINITY, f64::min).exp()
}

fn squares(residuals: &[f64]) -> f64 {
    let sum: f64 = residuals.iter().map(|residual| residual * residual).sum();
    if sum.is_nan() { f64::INFINITY } else { sum }
}

/// The solution of the damped normal equations; `None` if singular.
fn damped_step(slopes: &[Vec<f64>], at: &[f64], damping: f64) -> Option<Vec<f64>> {
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let count = slopes.len();
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|i| {
            let mut row: Vec<f64> = slopes.iter().map(|it| product(&slopes[i], it)).collect();
            row[i] += damping * row[i].max(1e-9);
            row.push(-product(&slopes[i], at));
            row
        })
        .collect();
    for i in 0..count {
        let pivot = rows[i][i];
        if !pivot.is_finite() || pivot.abs() < 1e-300 {
            return None;
        }
        for j in 0..count {
            if i != j {
                let factor = rows[j][i] / pivot;
                let row = rows[i].clone();
                for (cell, other) in rows[j].iter_mut().zip(&row) {
                    *cell -= factor * other;
                }
            }
        }
    }
    let solved = (0..count).map(|i| rows[i][count] / rows[i][i]);
    Some(solved.collect())
}
