//! The programs of 1995 to 1997 in one crate: RPT, DISKMBPS and DISKRAND, each with its files,
//! arithmetic and runs, as documented.

pub mod diskmbps;
pub mod diskrand;
mod fault;
mod form;
pub mod import;
mod moment;
mod number;
pub mod rpt;
pub mod run;
