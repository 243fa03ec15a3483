//! Every form of every kind of run.

mod charts;
mod files;
mod forms;
mod hostile;
mod html;
mod indicative;
mod json;
mod rab;
mod random_access;
mod recorded;
mod schema;
mod screen;
mod study;
mod tables;
mod timing;
mod transfer;
mod validation;
mod verdict;
mod warnings;
mod watch;
mod what_if;

#[path = "../support/found.rs"]
mod found;
#[path = "../support/kinds.rs"]
mod kinds;
#[cfg(feature = "parquet")]
mod parquet_files;

#[path = "../support/mod.rs"]
mod support;
