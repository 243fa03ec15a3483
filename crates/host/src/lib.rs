//! This machine and its targets: inspection, environment, counters, limits, signals and child
//! processes. Measures nothing.

pub mod arguments;
pub mod counters;
pub mod device_state;
pub mod environment;
pub mod heartbeat;
pub mod hung;
pub mod inspect;
pub mod interrupt;
pub mod keeper;
pub mod limits;
pub mod line_file;
pub mod locked;
pub mod machine_look;
pub mod process;
pub mod process_io;
pub mod processors;
#[doc(hidden)]
pub mod readers;
pub mod starting_line;
pub mod together;
pub mod traced;
pub mod tracefs;

/// Version of this program. Defined once, where a test can override it.
pub static VERSION: &str = env!("CARGO_PKG_VERSION");
