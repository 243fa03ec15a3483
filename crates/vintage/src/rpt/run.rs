//! Runs `rpt` and `transact`: control threads come and go in one engine while it runs.

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
