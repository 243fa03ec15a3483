//! Predictions with their intervals, inside the measured range and beyond it.

use results::Prediction;
use stats::Estimate;
use units::{format_count, format_duration_ns};

use super::fit::FittedModel;
use super::model::{FittedParameter, KnownParameters};
use super::network::{ResponseLaw, StorageModel};
use super::score::{Analysis, quantiles};

/// Maximum extrapolation factor beyond the measured range.
const BEYOND_MAX: f64 = 10.0;
/// Tolerance for rounding at the ends of the range.
const ROUNDING: f64 = 1.001;
/// Interval widths added with each doubling beyond the range ...
const WIDER: f64 = 2.0;
/// ... and added to the logarithm.
const WIDER_BY: f64 = 0.05;
/// A changed system counts as extrapolated by at least this factor.
const CHANGE_MIN: f64 = 2.0;
/// An upper end this far above the value is unbounded: near saturation, response times are
/// arbitrary.
const OPEN_MAX: f64 = 10.0;
/// Clients are searched up to this multiple of the largest measured number.
const SEARCH: u32 = 20;

/// The question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WhatIfQuestion {
    /// Response time and load at this number of clients.
    Clients(u32),
    /// Response time at this load, operations per second.
    Load(f64),
    /// Load at a mean response time, nanoseconds.
    Level(f64),
}

/// Changes of the system relative to the measured one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SystemChange {
    /// Another number of servers.
    pub servers: Option<f64>,
    /// Factor to the mean service time.
    pub service_factor: Option<f64>,
}

/// A question with its conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inquiry {
    /// The question.
    pub question: WhatIfQuestion,
    /// Changes of the system.
    pub change: SystemChange,
    /// Whether to answer beyond the measured range.
    pub may_extrapolate: bool,
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// Beyond the measured range.
    #[error("{asked} is outside the measured range, {range}: {advice}")]
    Outside {
        asked: String,
        /// The measured range.
        range: String,
        /// What to do.
        advice: String,
    },
    /// The model has no such state.
    #[error("{asked}: by the model {why}")]
    Impossible {
        asked: String,
        /// The reason.
        why: String,
    },
}

/// Response time and load at one point of a model's curve.
#[derive(Clone, Copy, Debug)]
struct ModelPoint {
    clients: f64,
    response: f64,
    load: f64,
}

/// Result of a search on the curve.
#[derive(Clone, Copy, Debug)]
enum SearchEnd {
    At(ModelPoint),
    /// Above the value even at one client.
    Above,
    /// Below the value at any number of clients.
    Never,
}

/// A model with its changes.
struct ChangedModel<'a> {
    fitted: &'a FittedModel,
    setting: &'a KnownParameters,
    change: SystemChange,
}

impl ChangedModel<'_> {
    fn storage(&self) -> StorageModel {
        let mut storage = self.fitted.model.storage(&self.fitted.logs);
        storage.servers = self.change.servers.unwrap_or(storage.servers);
        storage.service *= self.change.service_factor.unwrap_or(1.0);
        storage
    }

    fn place(&self, clients: u32) -> ModelPoint {
        let storage = self.storage();
        let KnownParameters {
            think, processors, ..
        } = *self.setting;
        let response = storage.response(clients, think, processors) / 1e9;
        ModelPoint {
            clients: f64::from(clients),
            response: response * 1e9,
            load: f64::from(clients) / (think / 1e9 + response),
        }
    }

    /// Response time, nanoseconds, with open arrivals at this load.
    fn open_response(&self, load: f64) -> f64 {
        self.storage().open_response(load / 1e9)
    }

    /// Where `of` reaches `wanted`, interpolating linearly between integer numbers of clients.
    fn search(&self, wanted: f64, of: impl Fn(&ModelPoint) -> f64) -> SearchEnd {
        let first = self.place(1);
        if of(&first) >= wanted * ROUNDING {
            return SearchEnd::Above;
        }
        let (mut low, mut high) = (1, self.setting.clients_max.saturating_mul(SEARCH).max(2));
        if of(&self.place(high)) * ROUNDING.powf(0.001) < wanted {
            return SearchEnd::Never;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if of(&self.place(middle)) < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (below, above) = (self.place(low), self.place(high));
        let way = of(&above) - of(&below);
        let part = if way > 0.0 {
            ((wanted - of(&below)) / way).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let between = |a: f64, b: f64| a + part * (b - a);
        SearchEnd::At(ModelPoint {
            clients: between(below.clients, above.clients),
            response: between(below.response, above.response),
            load: between(below.load, above.load),
        })
    }

    fn answer(&self, question: WhatIfQuestion) -> SearchEnd {
        match question {
            WhatIfQuestion::Clients(clients) => SearchEnd::At(self.place(clients)),
            WhatIfQuestion::Load(load) => self.search(load, |place| place.load),
            WhatIfQuestion::Level(level) => self.search(level, |place| place.response),
        }
    }

    /// Relative change of the response time over that of the load, at this number of clients.
    fn slope(&self, clients: f64) -> f64 {
        let low = self.place((clients.floor() as u32).max(2) - 1);
        let high = self.place(clients.ceil() as u32 + 1);
        let load = (high.load / low.load).ln().max(1e-12);
        (high.response / low.response).ln().max(0.0) / load
    }
}

impl Analysis {
    /// Answers a question.
    ///
    /// # Errors
    /// If the load is outside the measured range and extrapolation was not requested, or the model
    /// cannot reach it.
    pub fn predict(&self, inquiry: &Inquiry) -> Result<Prediction, QuestionError> {
        let beyond = self.beyond(inquiry)?;
        let Inquiry {
            question, change, ..
        } = *inquiry;
        let system = self.system(&self.chosen, &self.setting, change);
        let place = match system.answer(question) {
            SearchEnd::At(place) => place,
            SearchEnd::Above => return Err(self.impossible(question, &system.place(1), true)),
            SearchEnd::Never => {
                let most = self.setting.clients_max.saturating_mul(SEARCH);
                return Err(self.impossible(question, &system.place(most), false));
            }
        };
        let (response, load) = self.intervals(&system, question, &place, beyond);
        let mut asked = self.words(question);
        if let WhatIfQuestion::Load(_) = question {
            let name = self.evidence.clients_name;
            asked.push_str(&format!(", with {} {name}", format_count(place.clients)));
        }
        Ok(Prediction {
            question: asked,
            response,
            load,
            clients: place.clients,
            is_extrapolated: beyond > 1.0,
        })
    }

    /// The response time with open Poisson arrivals at a load. Such a load was not measured, so the
    /// answer counts as an extrapolation by at least a doubling. `None` for models of transactions,
    /// whose users wait, or if the storage cannot sustain the load.
    ///
    /// # Errors
    /// Those of [`Analysis::predict`].
    pub fn predict_open(
        &self,
        load: f64,
        change: SystemChange,
        may_extrapolate: bool,
    ) -> Result<Option<Prediction>, QuestionError> {
        let inquiry = Inquiry {
            question: WhatIfQuestion::Load(load),
            change,
            may_extrapolate,
        };
        let beyond = self.beyond(&inquiry)?.max(CHANGE_MIN);
        let closed = self.predict(&inquiry)?.response;
        if self.setting.processors.is_some() {
            return Ok(None);
        }
        let system = self.system(&self.chosen, &self.setting, change);
        let value = system.open_response(load);
        if !value.is_finite() {
            return Ok(None);
        }
        let drawn = self.draws.iter().map(|(fitted, setting)| {
            let system = self.system(fitted, setting, change);
            system.open_response(load)
        });
        let (low, high) = quantiles(drawn.collect());
        // As for a closed load: an error of the response time propagates along the curve.
        let slope = (system.open_response(load * ROUNDING) / value).ln() / ROUNDING.ln();
        let error = self.error * (1.0 + slope);
        let points = self.evidence.points.len() as f64;
        let mut response = widened(Estimate::exact(value, points), low, high, error, beyond);
        // A closed loop is never slower than open arrivals.
        response.low = response.low.max(closed.low).min(value);
        if response.high > OPEN_MAX * value {
            response.high = f64::INFINITY;
        }
        Ok(Some(Prediction {
            question: format!("a load of {}/s, open", format_count(load)),
            response,
            load: Estimate::exact(load, points),
            clients: f64::NAN,
            is_extrapolated: true,
        }))
    }

    /// Response time and load at any number of clients.
    pub(super) fn predict_clients(&self, clients: u32) -> (Estimate, Estimate) {
        let system = self.system(&self.chosen, &self.setting, SystemChange::default());
        let place = system.place(clients);
        self.intervals(&system, WhatIfQuestion::Clients(clients), &place, 1.0)
    }

    const fn system<'a>(
        &self,
        fitted: &'a FittedModel,
        setting: &'a KnownParameters,
        change: SystemChange,
    ) -> ChangedModel<'a> {
        ChangedModel {
            fitted,
            setting,
            change,
        }
    }

    /// The uncertainty of the parameters and the error on held-out points, each in its direction.
    fn intervals(
        &self,
        system: &ChangedModel<'_>,
        question: WhatIfQuestion,
        place: &ModelPoint,
        beyond: f64,
    ) -> (Estimate, Estimate) {
        let drawn: Vec<SearchEnd> = self
            .draws
            .iter()
            .map(|(fitted, setting)| {
                let system = self.system(fitted, setting, system.change);
                system.answer(question)
            })
            .collect();
        let values = |of: fn(&ModelPoint) -> f64| -> Vec<f64> {
            let value = |found: &SearchEnd| match found {
                SearchEnd::At(place) => of(place),
                SearchEnd::Above => 0.0,
                SearchEnd::Never => f64::INFINITY,
            };
            drawn.iter().map(value).collect()
        };
        let think = system.setting.think;
        let waiting = place.response / (think + place.response);
        let slope = system.slope(place.clients);
        // An error of the response time at a number of clients moves the point along the line of
        // those clients. The error at a load, or at a time, follows from the slope there.
        let (response_error, load_error) = match question {
            WhatIfQuestion::Clients(_) => (self.error, self.error * waiting),
            WhatIfQuestion::Load(_) => (self.error * (1.0 + slope * waiting), 0.0),
            WhatIfQuestion::Level(_) => (0.0, self.error * (waiting + 1.0 / slope.max(1e-9))),
        };
        let interval = |value: f64, of: fn(&ModelPoint) -> f64, error: f64, is_asked: bool| {
            if is_asked {
                return Estimate::exact(value, self.evidence.points.len() as f64);
            }
            let (low, high) = quantiles(values(of));
            let estimate = Estimate::exact(value, self.evidence.points.len() as f64);
            widened(estimate, low, high, error, beyond)
        };
        let is_load = matches!(question, WhatIfQuestion::Load(_));
        let is_level = matches!(question, WhatIfQuestion::Level(_));
        (
            interval(place.response, |it| it.response, response_error, is_level),
            interval(place.load, |it| it.load, load_error, is_load),
        )
    }

    /// Factor by which a question lies outside the measured range; 1 inside.
    fn beyond(&self, inquiry: &Inquiry) -> Result<f64, QuestionError> {
        let range = &self.range;
        let name = self.evidence.clients_name;
        let ((low, high), asked, text) = match inquiry.question {
            WhatIfQuestion::Clients(clients) => (
                (f64::from(range.clients_min), f64::from(range.clients_max)),
                f64::from(clients),
                format!("{} to {} {name}", range.clients_min, range.clients_max),
            ),
            WhatIfQuestion::Load(load) => {
                let (low, high) = (range.load_min, range.load_max);
                let text = format!("{} to {}/s", format_count(low), format_count(high));
                ((low, high), load, text)
            }
            WhatIfQuestion::Level(level) => {
                let (low, high) = (range.response_min_ns, range.response_max_ns);
                let [a, b] = [low, high].map(format_duration_ns);
                ((low, high), level, format!("{a} to {b}"))
            }
        };
        let mut factor = (low / asked).max(asked / high);
        if factor <= ROUNDING {
            factor = 1.0;
        }
        let outside = |advice: &str| QuestionError::Outside {
            asked: self.words(inquiry.question),
            range: text.clone(),
            advice: advice.into(),
        };
        if factor > BEYOND_MAX {
            return Err(outside(
                "that is more than ten times beyond it, where no model can be trusted. Measure \
                 there",
            ));
        }
        let changed = self.changed(inquiry.change);
        if factor > 1.0 && !inquiry.may_extrapolate {
            return Err(outside(
                "measure there, or use --extrapolate for a guess with a wider interval",
            ));
        }
        Ok(factor.max(changed))
    }

    /// Factor by which a change leads away from the measured system.
    fn changed(&self, change: SystemChange) -> f64 {
        let servers = self.chosen.model.storage(&self.chosen.logs).servers;
        let away = |factor: f64| factor.max(1.0 / factor).max(CHANGE_MIN);
        let by_servers = change.servers.map(|asked| away(asked / servers));
        let by_service = change.service_factor.map(away);
        by_servers.into_iter().chain(by_service).fold(1.0, f64::max)
    }

    fn words(&self, question: WhatIfQuestion) -> String {
        let name = self.evidence.clients_name;
        match question {
            WhatIfQuestion::Clients(1) => format!("1 {}", name.trim_end_matches('s')),
            WhatIfQuestion::Clients(clients) => format!("{clients} {name}"),
            WhatIfQuestion::Load(load) => format!("a load of {}/s, closed", format_count(load)),
            WhatIfQuestion::Level(level) => {
                format!("a response time of {}", format_duration_ns(level))
            }
        }
    }

    fn impossible(
        &self,
        question: WhatIfQuestion,
        end: &ModelPoint,
        is_above: bool,
    ) -> QuestionError {
        let (load, time) = (format_count(end.load), format_duration_ns(end.response));
        let name = self.evidence.clients_name;
        let one = name.trim_end_matches('s');
        let why = match (question, is_above) {
            (WhatIfQuestion::Level(_), true) => format!("even one {one} waits {time}"),
            (_, true) => format!("even one {one} makes {load}/s"),
            (WhatIfQuestion::Level(_), false) => {
                format!("the response time stays at {time}, however many {name} there are")
            }
            (_, false) => format!("the storage sustains {load}/s at most"),
        };
        QuestionError::Impossible {
            asked: self.words(question),
            why,
        }
    }

    /// Whether the number of servers of the chosen model can be changed.
    pub fn has_servers(&self) -> bool {
        let storage = self.chosen.model.storage(&self.chosen.logs);
        let parts = self.chosen.model.parts();
        matches!(storage.law, ResponseLaw::Exponential) && parts.contains(&FittedParameter::Service)
    }

    /// Whether the chosen model has a service time that a cache could change.
    pub fn has_service(&self) -> bool {
        self.chosen
            .model
            .parts()
            .contains(&FittedParameter::Service)
    }
}

/// The interval around a value: bootstrap ends and model error, combined as independent on a
/// logarithmic scale, and widened for extrapolation.
fn widened(estimate: Estimate, low: f64, high: f64, error: f64, beyond: f64) -> Estimate {
    let value = estimate.value;
    let doublings = beyond.log2();
    let reach = |end: f64| {
        let drawn = (end / value).ln();
        drawn.hypot(error) * (1.0 + WIDER * doublings) + WIDER_BY * doublings
    };
    let (below, above) = (low.min(value), high.max(value));
    Estimate {
        low: value * (-reach(below)).exp(),
        high: value * reach(above).exp(),
        ..estimate
    }
}
