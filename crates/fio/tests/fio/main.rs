//! fio's grammar, options and resolved jobs.

mod document;
mod lints;
mod logs;
mod meaning;
mod mistakes;
mod options;
mod public;
mod show;
mod written;

#[path = "../support/mod.rs"]
mod support;
