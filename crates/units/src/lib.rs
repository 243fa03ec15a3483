//! Instants, durations, bytes and rates, and the only parser and printer of human-readable units;
//! names of targets.
//!
//! Knows nothing about clocks, files or statistics.

mod error;
mod left_out;
mod named_text;
mod number;
mod print;
mod printable;
mod rate;
mod size;
mod span;
mod target_name;
mod time;
mod time_text;
mod typed;
mod words;

pub use error::{Quantity, UnitError};
pub use left_out::LeftOut;
pub use print::{
    format_count, format_counted, format_duration_ns, format_interval_count, format_interval_ns,
    format_interval_rate, format_rate,
};
pub use printable::{capitalised, is_obeyed, printable, printable_lines};
pub use rate::{Rate, exact_percent, parse_percent, parse_rate};
pub use size::Bytes;
pub use span::TimeSpan;
pub use target_name::{TargetName, UnnamedTarget, listed_name};
pub use time::{Duration, Instant};
pub use typed::{did_you_mean, edits, line_at, nearest, shortened};
