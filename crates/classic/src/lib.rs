//! The classic programs' files, procedures and arithmetic, as their documents state them.

pub mod backup;
pub mod diskmbps;
pub mod diskrand;
mod fault;
mod import;
pub mod kp3;
pub mod log;
mod log_file;
mod number;
mod plan;
mod planned;
mod procedure;
mod program;
mod session;
pub mod shipped;
mod standard_tests;
mod sums;
mod syntax;
mod transact;

pub use fault::{Fault, Faults, Place, TOLD_MAX, quoted, told};
pub use import::{Imported, curve_points, imported};
pub use log_file::{LOG_BYTES_MAX, Log, NoLog};
pub use number::{general, rounded};
pub use plan::{Plan, SWITCH_MODES, THREADS_MAX, Typed};
pub use planned::Workload;
pub use procedure::{Found, LEVELS, Procedure, Rules, Said};
pub use program::{Include, Item, Object, ObjectKind, Program, Variable};
pub use session::{Act, Glance, Session, State};
pub use standard_tests::{STANDARD_FILE, STANDARD_SECTIONS, StandardLoad, StandardTest};
pub use sums::{Calculation, Converging, Message, Sums};
pub use syntax::{FILE_BYTES_MAX, NotText, text_of};
pub use transact::{DATA_FILE, PROGRAM, Transact, command_line, data_size};
