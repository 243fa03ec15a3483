//! Chooses a model by how well it predicts unseen points.

use random::{Purpose, Stream};
use results::{MeasuredRange, ModelParameter, ModelScore, UnseenScore};
use stats::{Estimate, student_t};

use super::evidence::{Evidence, LoadPoint};
use super::fit::{Datum, FittedModel, SIGMA_MIN, fit, refit};
use super::model::{FittedParameter, KnownParameters, Model};

/// Minimum number of groups of points for testing a model.
pub const GROUPS_MIN: usize = 4;
/// Root mean square error on held-out points above which nothing is predicted.
pub const RMS_MAX: f64 = 0.15;
/// Points within this factor of the first's clients are held out together.
const GROUP_RATIO: f64 = 1.26;
/// A smaller model may be worse than the best by this factor, plus this much.
const SLACK: (f64, f64) = (1.25, 0.003);
/// Minimum assumed error of a model, whatever its score.
const ERROR_MIN: f64 = 0.002;
/// Errors of held-out points are weighted down for noise; below this, equally.
const NOISE: f64 = 0.02;
/// Number of bootstrap draws.
const DRAWS: u64 = 200;

/// A fitted model with its accuracy.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The fitted data.
    pub evidence: Evidence,
    /// Range of the fitted data.
    pub range: MeasuredRange,
    /// Accuracy of all models, the smallest first.
    pub scores: Vec<ModelScore>,
    /// Accuracy of the chosen model on further points.
    pub unseen: Vec<UnseenScore>,
    /// Other models that predict about as well, in words.
    pub rivals: Vec<String>,
    /// The chosen model's parameters.
    pub parameters: Vec<ModelParameter>,
    pub(super) chosen: FittedModel,
    pub(super) setting: KnownParameters,
    /// Fits to points drawn within their intervals, with the think time of each.
    pub(super) draws: Vec<(FittedModel, KnownParameters)>,
    /// Half-width, on a logarithmic scale, added for the error on held-out points.
    pub(super) error: f64,
    rms: f64,
}

/// A candidate model.
struct Tried {
    fitted: FittedModel,
    /// Effective number of errors behind the score.
    freedom: f64,
    score: ModelScore,
}

impl Analysis {
    /// Fits all models and chooses one; `None` if there are too few points to test any.
    pub fn new(evidence: Evidence, seed: u64) -> Option<Self> {
        let data: Vec<Datum> = evidence.points.iter().map(datum).collect();
        let unseen = evidence.unseen.iter().flat_map(|(_, points)| points);
        let unseen: Vec<Datum> = unseen.map(datum).collect();
        let setting = KnownParameters {
            think: evidence.think.value,
            processors: evidence.processors,
            clients_max: evidence.points.iter().map(|it| it.clients).max()?,
        };
        let mut tried: Vec<Tried> = Model::ALL
            .into_iter()
            .filter(|model| model.is_possible(&setting))
            .filter_map(|model| try_model(model, &data, &unseen, &setting))
            .collect();
        let best = tried.iter().map(|it| it.score.rms_error);
        let enough = best.fold(f64::INFINITY, f64::min) * SLACK.0 + SLACK.1;
        let chosen = (0..tried.len())
            .filter(|&index| tried[index].score.rms_error <= enough)
            .min_by_key(|&index| (tried[index].score.parameters, index))?;
        let is_rival = |it: &&ModelScore| it.rms_error <= enough && !it.is_chosen;
        tried[chosen].score.is_chosen = true;
        let Tried {
            fitted,
            freedom,
            score,
        } = &tried[chosen];
        // No mean is subtracted from the errors, so degrees of freedom equal their number.
        let t = student_t(0.975, *freedom);
        let mut analysis = Self {
            range: range(&evidence.points),
            draws: draws(fitted, &data, &setting, &evidence.think, seed),
            chosen: fitted.clone(),
            error: t * score.rms_error.ln_1p().max(ERROR_MIN),
            rms: score.rms_error,
            scores: Vec::new(),
            unseen: Vec::new(),
            rivals: Vec::new(),
            parameters: Vec::new(),
            setting,
            evidence,
        };
        analysis.scores = tried.into_iter().map(|it| it.score).collect();
        let rivals = analysis.scores.iter().filter(is_rival);
        analysis.rivals = rivals.map(|it| it.title.clone()).collect();
        analysis.parameters = analysis.describe();
        analysis.unseen = analysis.score_unseen();
        Some(analysis)
    }

    /// Why nothing can be predicted from it, if so.
    pub fn refusal(&self) -> Option<String> {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        if self.rms > RMS_MAX {
            return Some(format!(
                "the best model is off by {} (root mean square) at the points that were left out. \
                 More than {} is too much to predict from. This storage does not behave like \
                 a queue with servers and a delay, or it changed during the measurement",
                percent(self.rms),
                percent(RMS_MAX)
            ));
        }
        let mut checks = self.unseen.iter();
        let failed = checks.find(|score| score.median_error > RMS_MAX)?;
        Some(format!(
            "the model is off by {} (median) at the points of {}. More than {} is too much to \
             predict from. The runs were not of the same system, or it changed between them",
            percent(failed.median_error),
            failed.source,
            percent(RMS_MAX)
        ))
    }

    /// The chosen model in words.
    pub const fn model_in_words(&self) -> &'static str {
        self.chosen.model.title()
    }

    fn describe(&self) -> Vec<ModelParameter> {
        let parts = self.chosen.model.parts().iter().enumerate();
        let parameter = |(index, part): (usize, &FittedParameter)| {
            let drawn = self.draws.iter().map(|(draw, _)| draw.logs[index].exp());
            let (low, high) = quantiles(drawn.collect());
            let value = self.chosen.logs[index].exp();
            let mut value = Estimate {
                low: low.min(value),
                high: high.max(value),
                ..Estimate::exact(value, self.evidence.points.len() as f64)
            };
            if *part == FittedParameter::Variation {
                // A squared coefficient is fitted, but users know the coefficient itself.
                (value.value, value.low) = (value.value.sqrt(), value.low.sqrt());
                value.high = value.high.sqrt();
            }
            let (name, unit) = match part {
                FittedParameter::Service if self.setting.processors.is_some() => {
                    ("storage time of a transaction", "ns")
                }
                FittedParameter::Service => ("service time", "ns"),
                FittedParameter::Servers => ("servers", ""),
                FittedParameter::Delay => ("delay", "ns"),
                FittedParameter::Variation => ("coefficient of variation", ""),
            };
            ModelParameter {
                name: name.into(),
                unit: unit.into(),
                value,
            }
        };
        parts.map(parameter).chain(self.known()).collect()
    }

    /// Parameters that were measured rather than fitted.
    fn known(&self) -> impl Iterator<Item = ModelParameter> {
        let samples = self.evidence.points.len() as f64;
        let known = |name: &str, unit: &str, value| ModelParameter {
            name: name.into(),
            unit: unit.into(),
            value: Estimate::exact(value, samples),
        };
        let rows = self.setting.processors.map(|it| {
            [
                known("CPU of a transaction, as measured", "ns", it.demand),
                known("processors, as they are", "", it.count),
            ]
        });
        rows.into_iter().flatten()
    }

    fn score_unseen(&self) -> Vec<UnseenScore> {
        let score = |(source, points): &(String, Vec<LoadPoint>)| {
            let mut errors = Vec::new();
            let mut load_errors = Vec::new();
            let mut met = 0;
            for point in points {
                let (response, load) = self.predict_clients(point.clients);
                let error = response.value.ln() - point.response.value.ln();
                errors.push(share(error));
                load_errors.push(share(load.value.ln() - point.load.value.ln()));
                met += u32::from(response.overlaps(&point.response));
            }
            UnseenScore {
                source: source.clone(),
                points: points.len() as u32,
                worst_error: errors.iter().copied().fold(0.0, f64::max),
                median_error: median(errors),
                median_load_error: median(load_errors),
                met,
            }
        };
        self.evidence.unseen.iter().map(score).collect()
    }
}

/// A point for the fit.
fn datum(point: &LoadPoint) -> Datum {
    let Estimate {
        value, low, high, ..
    } = point.response;
    Datum {
        clients: point.clients,
        log_response: value.ln(),
        sigma: 0.5 * (high - low) / 1.96 / value,
    }
}

fn range(points: &[LoadPoint]) -> MeasuredRange {
    let ends = |of: &dyn Fn(&LoadPoint) -> f64| {
        let values = points.iter().map(of);
        let high = values.clone().fold(0.0, f64::max);
        (values.fold(f64::INFINITY, f64::min), high)
    };
    let (clients_min, clients_max) = ends(&|point| f64::from(point.clients));
    let (load_min, load_max) = ends(&|point| point.load.value);
    let (response_min_ns, response_max_ns) = ends(&|point| point.response.value);
    MeasuredRange {
        clients_min: clients_min as u32,
        clients_max: clients_max as u32,
        load_min,
        load_max,
        response_min_ns,
        response_max_ns,
    }
}

/// Groups of neighbouring points, which are in order of clients.
pub(super) fn groups(clients: impl Iterator<Item = u32>) -> Vec<std::ops::Range<usize>> {
    let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
    let mut first = 0.0;
    for (index, clients) in clients.enumerate() {
        let clients = f64::from(clients);
        match groups.last_mut() {
            Some(group) if clients <= first * GROUP_RATIO => group.end = index + 1,
            _ => {
                first = clients;
                groups.push(index..index + 1);
            }
        }
    }
    groups
}

/// An error on held-out points, with its weight.
struct HeldOut {
    error: f64,
    weight: f64,
}

impl HeldOut {
    /// The weighted mean error over neighbouring points.
    fn of(fitted: &FittedModel, out: &[Datum], setting: &KnownParameters) -> Self {
        let weight = |datum: &Datum| datum.sigma.hypot(SIGMA_MIN).powi(-2);
        let weights: f64 = out.iter().map(weight).sum();
        let errors = out.iter().map(|it| weight(it) * error(fitted, it, setting));
        Self {
            error: errors.sum::<f64>() / weights,
            weight: 1.0 / (1.0 / weights + NOISE * NOISE),
        }
    }
}

/// Fits a model, and holds out every group but the first and the last in turn. If there are too few
/// groups, further runs are used instead.
fn try_model(
    model: Model,
    data: &[Datum],
    unseen: &[Datum],
    setting: &KnownParameters,
) -> Option<Tried> {
    let groups = groups(data.iter().map(|datum| datum.clients));
    let parameters = model.parts().len();
    if groups.len() < parameters {
        return None;
    }
    let fitted = fit(model, data, setting)?;
    let mut held_out = Vec::new();
    if groups.len() >= GROUPS_MIN {
        if groups.len() <= parameters {
            return None;
        }
        for group in &groups[1..groups.len() - 1] {
            let kept = [&data[..group.start], &data[group.end..]].concat();
            let without = refit(&fitted, &kept, setting)?;
            held_out.push(HeldOut::of(&without, &data[group.clone()], setting));
        }
    } else {
        let unseen = unseen.iter();
        held_out.extend(unseen.map(|it| HeldOut::of(&fitted, &[*it], setting)));
    }
    let weights: f64 = held_out.iter().map(|it| it.weight).sum();
    let squares: f64 = held_out.iter().map(|it| it.weight * it.weight).sum();
    let mean = held_out.iter().map(|it| it.weight * it.error * it.error);
    let rms = (mean.sum::<f64>() / weights).sqrt();
    let shares: Vec<f64> = held_out.iter().map(|it| share(it.error)).collect();
    let seen: Vec<f64> = data.iter().map(|it| error(&fitted, it, setting)).collect();
    let score = ModelScore {
        model: model.name().into(),
        title: model.title().into(),
        parameters: parameters as u32,
        held_out: held_out.len() as u32,
        worst_error: shares.iter().copied().fold(0.0, f64::max),
        median_error: median(shares),
        rms_error: share(rms),
        fit_error: share(root_mean_square(&seen)),
        is_chosen: false,
    };
    score.rms_error.is_finite().then_some(Tried {
        fitted,
        freedom: weights * weights / squares,
        score,
    })
}

/// Error of a model at a point, in the logarithm.
fn error(fitted: &FittedModel, datum: &Datum, setting: &KnownParameters) -> f64 {
    fitted.response(datum.clients, setting).ln() - datum.log_response
}

/// The parametric bootstrap (B. Efron, R. Tibshirani, "An Introduction to the Bootstrap", 1993,
/// section 6.5): draws every point within its interval, and fits the model again.
fn draws(
    fitted: &FittedModel,
    data: &[Datum],
    setting: &KnownParameters,
    think: &Estimate,
    seed: u64,
) -> Vec<(FittedModel, KnownParameters)> {
    let draw = |number: u64| {
        let mut stream = Stream::new(seed, number, Purpose::Resample);
        // Enough degrees of freedom to be a normal distribution.
        let mut normal = || student_t(stream.open_unit(), 1e9);
        let think_sigma = 0.5 * (think.high - think.low) / 1.96;
        let setting = KnownParameters {
            think: (think.value + think_sigma * normal()).max(0.0),
            ..*setting
        };
        let drawn: Vec<Datum> = data
            .iter()
            .map(|datum| Datum {
                log_response: datum.log_response + datum.sigma * normal(),
                ..*datum
            })
            .collect();
        Some((refit(fitted, &drawn, &setting)?, setting))
    };
    (0..DRAWS).filter_map(draw).collect()
}

/// An error in the logarithm as a relative error.
fn share(error: f64) -> f64 {
    error.abs().exp_m1()
}

fn root_mean_square(errors: &[f64]) -> f64 {
    let sum: f64 = errors.iter().map(|error| error * error).sum();
    (sum / errors.len() as f64).sqrt()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count => 0.5 * (values[(count - 1) / 2] + values[count / 2]),
    }
}

/// The ends of the middle 95 %; NaN without values.
pub(super) fn quantiles(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else {
        return (f64::NAN, f64::NAN);
    };
    let at = |p: f64| values[(p * last as f64).round() as usize];
    (at(0.025), at(0.975))
}
