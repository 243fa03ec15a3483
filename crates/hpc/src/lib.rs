//! Command lines of IOR, mdtest and IO500: their options as data, the corresponding settings, and
//! their result tables.
//!
//! Options are those of the programs' public documentation. Nothing here measures: the options
//! become settings of `seekstone files`.

mod io500;
mod ior;
mod mdtest;
mod option;
mod results_table;
mod values;

pub use io500::{
    HARD_FILE, HARD_TRANSFER, IO500_SECTIONS, Io500Config, Io500Phase, Io500Result, Io500Score,
    STONEWALL_BY_RULE, io500_result, io500_summary, not_a_submission,
};
pub use ior::{IOR_OPTIONS, IorCommand};
pub use mdtest::{MDTEST_OPTIONS, MdtestCommand};
pub use option::{HpcAnswer, HpcOption};
pub use results_table::{HpcPass, HpcPhase, ior_table, mdtest_table};
