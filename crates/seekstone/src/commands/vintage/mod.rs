//! The programs of 1995 to 1997, and what reads their logs.

pub mod diskmbps;
pub mod diskrand;
pub mod import_diskmbps;
pub mod import_diskrand;
pub mod merge;
pub mod names;
pub mod rpt;
mod status;
pub mod together;
pub mod transact;
