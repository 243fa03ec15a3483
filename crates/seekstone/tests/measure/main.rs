//! Each command that measures: what it finds, refuses and leaves.

mod abilities;
mod budgets;
mod buffer_pages;
mod burst;
mod compare;
mod counted_errors;
mod faults;
mod files;
mod files_broken;
mod files_states;
mod files_stonewall;
mod fill;
mod hpc;
mod kinds_on_targets;
mod levels;
mod lying_file;
mod network;
mod network_studies;
mod random;
mod record;
mod replay;
mod safety;
mod several_models;
mod shipped_studies;
mod simulated_faults;
mod spread_files;
mod ssd;
mod study;
mod study_commands;
mod study_left;
mod theory;
mod transactions;
mod transactions_truth;
mod transfer;
mod traps;
mod trial_targets;
mod trial_verify;
mod watch;
mod whatif;

#[path = "../support/mod.rs"]
mod support;
