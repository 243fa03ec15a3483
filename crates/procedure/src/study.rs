//! Studies: how a measurement depends on factors.
//!
//! A file defines the factors, the plan defines the order of measurements, and the analysis draws
//! the conclusions that the repeats support. Each round visits every cell once in a random order,
//! and levels are compared within rounds, so that drift of the machine affects all of them alike.

mod analysis;
mod contrast;
mod definition;
mod effects;
mod environment;
mod gate;
mod limit;
mod needed;
mod plan;
mod reader;
mod variables;

pub use analysis::{StudyFindings, StudyShape, analyse, is_precise};
pub use definition::{
    Against, Factor, FactorLevel, ROUNDS_GROWTH, ShellScript, StudyDefinition, digest, filled,
};
pub use effects::{KindOutline, Kinds, SettingMistake};
pub use environment::EnvironmentLine;
pub use gate::{BASE_RUNS_MIN, gate, resolved, set_ratios};
pub use limit::{Limit, judge};
pub use needed::replicates_needed;
pub use plan::{CellGroup, StudyPlan};
pub use reader::{STUDY_BYTES_MAX, StudyOverrides, read_study};
pub use stats::PAIRS_MIN;
pub use toml_reader::{TomlFault as StudyFault, TomlFaults as StudyError};
pub use variables::{level_variable, names_variable};
