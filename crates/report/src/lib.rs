//! Runs as text: the check-up's one screen, a page, details, tables and CSV.
//!
//! Values in, text out: knows nothing about clocks, files, terminals or the environment. The
//! caller says in a [`Style`] how wide the page is and what the terminal understands.

mod charts;
mod check_up;
mod clock_time;
mod columns;
mod compare;
mod csv;
mod csv_intervals;
mod csv_points;
mod csv_series;
mod curve;
mod curve_points;
mod devices;
mod figure;
mod files_comparison;
mod gate;
mod html;
mod inspection;
mod line_protocol;
mod list;
mod machine_over_time;
mod markdown;
mod markup;
mod measurement;
mod measurements;
mod names;
mod note;
mod openmetrics;
mod over_time;
mod page;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod plot;
mod profile;
mod pts;
mod section;
mod setup;
mod standing;
mod style;
mod system;
mod systems_comparison;
mod table;
mod target;
mod trace;
mod validation;
mod verdicts;
mod warnings;
mod watch;
mod watch_metrics;
mod what_if;

pub use charts::load::{curve_glyphs, curves_svg};
pub use charts::of_tables::tables_svg;
pub use charts::over_time::{latency_svg, series_svg};
pub use check_up::check_up;
pub use compare::{ComparisonError, comparison, comparison_svg, workload};
pub use csv::{csv_figures, csv_replicates};
pub use csv_intervals::csv_intervals;
pub use csv_points::csv_points;
pub use csv_series::csv_series;
pub use curve::curve_table;
pub use devices::{DeviceSheet, ListedDevice, device_list, device_sheet};
pub use figure::headline;
pub use files_comparison::{FilesComparisonError, files_comparison};
pub use gate::{RunSets, gate, gate_json, gate_limits, gate_markdown, gate_power};
pub use html::{
    LiveGlimpse, RUNS_COMPARED_MAX, archive_html, comparison_html, gate_html, html, live_html,
    not_compared_html, run_in_page, runs_asked,
};
pub use inspection::inspection;
pub use line_protocol::line_protocol;
pub use list::{ListRow, run_list, run_list_json};
pub use markdown::markdown;
pub use measurement::measurement;
pub use openmetrics::openmetrics;
pub use parquet::{PARQUET_LEFT_OUT, parquet_figures};
pub use plot::glyphs::{Glyph, GlyphPart, ascii};
pub use plot::strip::ratios_of_run_svg;
pub use profile::{profile_json, profile_sheet};
pub use pts::pts_report;
pub use setup::setup;
pub use style::{Style, TONES};
pub use system::DescribeModel;
pub use systems_comparison::{SystemFacts, SystemsError, SystemsTable, systems_comparison};
pub use trace::{trace_json, trace_sheet};
pub use validation::{validation, validation_json};
pub use verdicts::goal_lines;
pub use watch::{WallClock, watch_event, watch_hours, watch_level, watch_status, watch_summary};
pub use watch_metrics::watch_metrics;
pub use what_if::{what_if, what_if_json};
