//! Procedures in virtual time, where the truth is known.

mod curve_edges;
mod file_tests;
mod goals;
mod levels;
mod load_curve;
mod named;
mod own_limits;
mod percentiles;
mod rab;
mod random_access;
mod repeats;
mod ssd;
mod stationary;
mod study;
mod study_files;
mod study_ratio;
mod study_stopped;
mod study_trust;
mod transfer;
mod trials;
mod warm_up;
mod whatif;

#[path = "../support/studies.rs"]
mod studies;

#[path = "../support/mod.rs"]
mod support;
