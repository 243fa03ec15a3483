//! The programs of 1995 to 1997 behind one door: RPT, DISKMBPS and DISKRAND, each with its files,
//! its arithmetic and its runs, as their documents state them.

pub mod diskmbps;
pub mod diskrand;
mod fault;
mod form;
pub mod import;
mod moment;
mod number;
pub mod rpt;
pub mod run;
