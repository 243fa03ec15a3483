//! What a model that was fitted to measured runs predicts, and how well it did on data that it did
//! not see.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::warning::Warning;

/// A parameter of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelParameter {
    /// Its name in words.
    pub name: String,
    /// `ns`, or empty for a plain number.
    pub unit: String,
    pub value: Estimate,
}

/// How a model did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelScore {
    /// Its name, in kebab case.
    pub model: String,
    /// What it is, in words.
    pub title: String,
    /// Number of fitted parameters.
    pub parameters: u32,
    /// Groups of neighbouring points that were left out in turn.
    pub held_out: u32,
    /// Median error of the response time of what was left out, a share.
    #[serde(with = "stats::undefined")]
    pub median_error: f64,
    /// Largest such error, a share.
    #[serde(with = "stats::undefined")]
    pub worst_error: f64,
    /// Root of the mean square of those errors: what the choice goes by, a share.
    #[serde(with = "stats::undefined")]
    pub rms_error: f64,
    /// The same over the points that the fit did see, a share.
    #[serde(with = "stats::undefined")]
    pub fit_error: f64,
    /// Whether predictions come from it.
    pub is_chosen: bool,
}

/// How the chosen model did on further points that no fit saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnseenScore {
    /// Where they come from, in words.
    pub source: String,
    /// How many they are.
    pub points: u32,
    /// Median error of the response time, a share.
    #[serde(with = "stats::undefined")]
    pub median_error: f64,
    /// Largest error of the response time, a share.
    #[serde(with = "stats::undefined")]
    pub worst_error: f64,
    /// Median error of the load, a share.
    #[serde(with = "stats::undefined")]
    pub median_load_error: f64,
    /// How many of their intervals meet the interval of the prediction.
    pub met: u32,
}

/// What the fit saw, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRange {
    /// Fewest clients.
    pub clients_min: u32,
    /// Most clients.
    pub clients_max: u32,
    /// Least load, per second.
    #[serde(with = "stats::undefined")]
    pub load_min: f64,
    /// Highest load, per second.
    #[serde(with = "stats::undefined")]
    pub load_max: f64,
    /// Shortest mean response time, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub response_min_ns: f64,
    /// Longest mean response time, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub response_max_ns: f64,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// What was asked, in words.
    pub question: String,
    /// Mean response time, nanoseconds.
    pub response: Estimate,
    /// Load, per second.
    pub load: Estimate,
    /// Number of clients, interpolated; none where operations come however many wait.
    #[serde(with = "stats::undefined")]
    pub clients: f64,
    /// Whether it lies outside of what was measured.
    pub is_extrapolated: bool,
}

/// One number of clients on the storage that was measured, and on a simulated device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceRow {
    /// Number of clients.
    pub clients: u32,
    /// Mean response time as measured, nanoseconds.
    pub response: Estimate,
    /// Load as measured, per second.
    pub load: Estimate,
    /// Mean response time on the simulated device, nanoseconds.
    pub device_response: Estimate,
    /// Load on the simulated device, per second.
    pub device_load: Estimate,
}

/// What `seekstone whatif` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// Version of this form.
    pub schema: u32,
    /// Numbers of the runs whose points were fitted.
    pub runs: Vec<i64>,
    /// What was measured, in words.
    pub title: String,
    /// What clients are called: `clients` or `users`.
    pub clients_name: String,
    /// Points that the fit saw.
    pub points: u32,
    /// Mean think time, nanoseconds.
    pub think: Estimate,
    /// What the fit saw.
    pub range: MeasuredRange,
    /// The model in words.
    pub model: String,
    pub parameters: Vec<ModelParameter>,
    /// How every model did, the smallest first.
    pub scores: Vec<ModelScore>,
    /// How the chosen one did on further points.
    pub unseen: Vec<UnseenScore>,
    /// Why nothing is predicted, if the model is not good enough.
    pub refusal: Option<String>,
    /// Answers, in the order of the questions.
    pub predictions: Vec<Prediction>,
    /// The simulated device, where one was asked for.
    pub device: Option<String>,
    /// The same load on it.
    pub device_rows: Vec<DeviceRow>,
    /// Doubts.
    pub warnings: Vec<Warning>,
}
