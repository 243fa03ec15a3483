//! Runs as text: the check-up's one screen, details, tables, JSON and CSV.
//!
//! Values in, text out: knows nothing about clocks, files, terminals or the environment. The
//! caller says in a [`Style`] how wide the page is and what the terminal understands.

mod chart;
mod check_up;
mod csv;
mod csv_curve;
mod csv_files;
mod curve;
mod devices;
mod figure;
mod files;
mod files_comparison;
mod inspection;
mod json;
mod list;
mod measurement;
mod page;
mod picture;
mod positioning;
mod rab;
mod random_access;
#[doc(hidden)]
pub mod sample;
mod study;
mod study_note;
mod style;
mod table;
mod target;
mod timing;
mod transactions;
mod transfer;
mod validation;
mod warnings;
mod what_if;

pub use check_up::check_up;
pub use csv::{csv_intervals, csv_measurements, csv_passes, csv_timed_runs};
pub use csv_curve::{csv_levels, csv_points, csv_series};
pub use csv_files::csv_files;
pub use curve::curve_table;
pub use devices::{DeviceRow, DeviceSheet, device_list, device_sheet};
pub use figure::headline;
pub use files_comparison::{FilesComparisonError, files_comparison};
pub use inspection::inspection;
pub use json::{JsonError, from_json, json};
pub use list::{ListRow, run_list};
pub use measurement::measurement;
pub use picture::{curves_svg, positioning_svg, series_svg};
pub use positioning::{positioning, positioning_json};
pub use study::{csv_study, csv_study_replicates};
pub use study_note::markdown_note;
pub use style::Style;
pub use validation::{validation, validation_json};
pub use what_if::{what_if, what_if_json};
