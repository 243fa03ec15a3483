//! Predictions of a model fitted to measured runs, and its accuracy on unseen data.

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

/// Accuracy of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelScore {
    /// Its name, in kebab case.
    pub model: String,
    /// Description.
    pub title: String,
    /// Number of fitted parameters.
    pub parameters: u32,
    /// Number of groups of neighbouring points that were held out in turn.
    pub held_out: u32,
    /// Median relative error of the response time on held-out points.
    #[serde(with = "stats::undefined")]
    pub median_error: f64,
    /// Largest relative error on held-out points.
    #[serde(with = "stats::undefined")]
    pub worst_error: f64,
    /// Root mean square of these errors, by which the model is chosen.
    #[serde(with = "stats::undefined")]
    pub rms_error: f64,
    /// The same over the fitted points.
    #[serde(with = "stats::undefined")]
    pub fit_error: f64,
    /// Whether predictions use this model.
    pub is_chosen: bool,
}

/// Accuracy of the chosen model on further points that were not fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnseenScore {
    /// Source of the points, in words.
    pub source: String,
    /// Number of points.
    pub points: u32,
    /// Median relative error of the response time.
    #[serde(with = "stats::undefined")]
    pub median_error: f64,
    /// Largest relative error of the response time.
    #[serde(with = "stats::undefined")]
    pub worst_error: f64,
    /// Median relative error of the load.
    #[serde(with = "stats::undefined")]
    pub median_load_error: f64,
    /// Number of points whose interval overlaps the prediction's.
    pub met: u32,
}

/// Range of the fitted data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRange {
    /// Smallest number of clients.
    pub clients_min: u32,
    /// Largest number of clients.
    pub clients_max: u32,
    /// Lowest load, per second.
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

/// A prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The question, in words.
    pub question: String,
    /// Mean response time, nanoseconds.
    pub response: Estimate,
    /// Load, per second.
    pub load: Estimate,
    /// Number of clients, interpolated; none for open loops.
    #[serde(with = "stats::undefined")]
    pub clients: f64,
    /// Whether it lies outside the measured range.
    pub is_extrapolated: bool,
}

/// One number of clients, on the measured storage and on a simulated device.
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

/// Result of `seekstone whatif`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// Schema version.
    pub schema: u32,
    /// Numbers of the fitted runs.
    pub runs: Vec<i64>,
    /// What was measured, in words.
    pub title: String,
    /// Name of the clients: `clients` or `users`.
    pub clients_name: String,
    /// Number of fitted points.
    pub points: u32,
    /// Mean think time, nanoseconds.
    pub think: Estimate,
    /// Range of the fitted data.
    pub range: MeasuredRange,
    /// The model in words.
    pub model: String,
    pub parameters: Vec<ModelParameter>,
    /// Accuracy of all models, the smallest first.
    pub scores: Vec<ModelScore>,
    /// Accuracy of the chosen model on further points.
    pub unseen: Vec<UnseenScore>,
    /// Why nothing is predicted, if no model is good enough.
    pub refusal: Option<String>,
    /// Predictions, in the order of the questions.
    pub predictions: Vec<Prediction>,
    /// The simulated device, if requested.
    pub device: Option<String>,
    /// The same loads on it.
    pub device_rows: Vec<DeviceRow>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}
