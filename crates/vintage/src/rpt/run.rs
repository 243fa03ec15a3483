//! Runs `rpt` and `transact`: control threads come and go in one engine while it runs.

mod data_file;
mod messages;
mod output_files;
mod rig;
mod solo;
mod test_run;

pub use data_file::{DataFile, DataRequest, Filling, open_data};
pub use messages::{Detail, IoDetail, Posted, Report};
pub use output_files::OutputFiles;
pub use rig::{Failure, Rig};
pub use solo::{Said, SoloRequest, run_solo};
pub use test_run::{Ending, Operator, TestRequest, run_test};
