//! RPT of 1995: its files, its procedure, its arithmetic, and its runs.
//!
//! Source: the manual "RPT". All but `run` is pure: bytes and values in, bytes and values out.

mod doubts;
mod import;
pub mod log;
mod log_file;
mod plan;
mod planned;
mod procedure;
mod program;
pub mod run;
mod session;
pub mod shipped;
mod sums;
mod syntax;
mod transact;

pub use crate::fault::{Diagnostic, Diagnostics, FileLine, LISTED_MAX, listed, quoted};
pub use crate::number::{general, rounded};
pub use import::{Imported, curve_points, imported};
pub use log_file::{NoLog, RptLog};
pub use plan::{SWITCH_MODES, THREADS_MAX, TestPlan, Typed};
pub use planned::{Workload, durations_differ};
pub use procedure::{LEVELS, LevelResult, Procedure, ProcedureAction, Rules};
pub use program::{Include, Object, ObjectItem, ObjectKind, Program, Variable};
pub use session::{Act, RptSession, SessionState, live};
pub use sums::{Calculation, Converging, Sums, ThreadMessage};
pub use syntax::{FILE_BYTES_MAX, NotText, text_of};
pub use transact::{DATA_FILE, PROGRAM, Transact, command_line, data_size};
