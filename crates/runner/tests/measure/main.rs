//! The measurements of a study: what each gives, what it leaves behind, and what it refuses.

mod command;
mod settings;
mod support;
mod transfer;
