//! Clients, operations and their definitions.

mod accepted_threads;
mod advice;
mod bandwidth;
mod constraints;
mod decus;
mod definition_mistakes;
mod definitions;
mod document_tables;
mod documented;
mod metadata;
mod streams;
mod users;

#[path = "../support/mod.rs"]
mod support;
