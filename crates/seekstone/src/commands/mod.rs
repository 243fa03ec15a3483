//! One module for each command.

pub mod clean;
pub mod curve;
pub mod finish;
pub mod generate;
pub mod inspect;
pub mod rab;
pub mod run;
pub mod runs;
pub mod setup;
pub mod trial;
