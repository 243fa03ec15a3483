//! Runs as text: the check-up's one screen, a page, details, tables and CSV.
//!
//! Values in, text out: knows nothing about clocks, files, terminals or the environment. The
//! caller says in a [`Style`] how wide the page is and what the terminal understands.

mod axis;
mod chart;
mod check_up;
mod compare;
mod csv;
mod csv_intervals;
mod csv_points;
mod curve;
mod devices;
mod figure;
mod files;
mod files_comparison;
mod gate;
mod html;
mod inspection;
mod list;
mod markdown;
mod measurement;
mod measurements;
mod openmetrics;
mod page;
mod picture;
mod positioning;
mod rab;
mod random_access;
mod setup;
mod side_by_side;
mod standing;
mod study;
mod study_note;
mod style;
mod table;
mod target;
mod timing;
mod transactions;
mod transfer;
mod validation;
mod verdicts;
mod warnings;
mod what_if;

pub use check_up::check_up;
pub use compare::{ComparisonError, comparison};
pub use csv::{csv_figures, csv_replicates};
pub use csv_intervals::csv_intervals;
pub use csv_points::csv_points;
pub use curve::curve_table;
pub use devices::{DeviceRow, DeviceSheet, device_list, device_sheet};
pub use figure::headline;
pub use files_comparison::{FilesComparisonError, files_comparison};
pub use gate::{SetSizes, gate, gate_markdown};
pub use html::{comparison_html, html, run_in_page};
pub use inspection::inspection;
pub use list::{ListRow, run_list, run_list_json};
pub use markdown::markdown;
pub use measurement::measurement;
pub use openmetrics::openmetrics;
pub use picture::{curves_svg, positioning_svg, series_svg};
pub use positioning::{positioning, positioning_json};
pub use setup::setup;
pub use side_by_side::side_by_side;
pub use style::Style;
pub use validation::{validation, validation_json};
pub use what_if::{what_if, what_if_json};
