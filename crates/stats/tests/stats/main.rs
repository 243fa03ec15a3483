//! Intervals, detectors and stopping rules against known processes.

mod comparison;
mod coverage;
mod coverage_nightly;
mod detectors;
mod odd_stores;
mod short_trials;

#[path = "../support/mod.rs"]
mod support;
