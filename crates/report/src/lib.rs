//! Runs as text: the check-up's one screen, details, tables, JSON and CSV.
//!
//! Values in, text out: knows nothing about clocks, files, terminals or the environment. The
//! caller says in a [`Style`] how wide the page is and what the terminal understands.

mod chart;
mod check_up;
mod csv;
mod curve;
mod devices;
mod figure;
mod inspection;
mod json;
mod list;
mod measurement;
mod page;
mod rab;
#[doc(hidden)]
pub mod sample;
mod style;
mod table;
mod target;
mod transactions;
mod transfer;
mod warnings;

pub use check_up::check_up;
pub use csv::csv_measurements;
pub use curve::curve_table;
pub use devices::{DeviceRow, DeviceSheet, device_list, device_sheet};
pub use figure::headline;
pub use inspection::inspection;
pub use json::{JsonError, from_json, json};
pub use list::{ListRow, run_list};
pub use measurement::measurement;
pub use style::Style;
