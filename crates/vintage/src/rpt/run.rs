//! Runs `rpt` and `transact`: control threads are started and stopped in a running engine.

mod data_file;
mod messages;
mod output_files;
mod rig;
mod solo;
mod test_run;

pub use data_file::{DataAccess, Filling};
pub use messages::{Detail, IoDetail};
pub use output_files::OutputFiles;
pub use solo::{SoloReport, SoloRequest, run_solo};
pub use test_run::{Operator, TestEnding, TestRequest, run_test};
