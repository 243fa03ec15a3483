//! One module for each command.

pub mod clean;
pub mod curve;
pub mod devices;
pub mod diskmbps;
pub mod diskrand;
pub mod files;
pub mod finish;
pub mod generate;
pub mod import;
pub mod import_diskrand;
pub mod import_run;
pub mod inspect;
pub mod merge;
pub mod rab;
pub mod random;
pub mod rpt;
pub mod run;
pub mod runs;
pub mod setup;
pub mod transact;
pub mod transactions;
pub mod transfer;
pub mod trial;
pub mod what_if;
mod what_if_device;
