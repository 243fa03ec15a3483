//! What a full-screen display shows while a run goes on, and what its keys ask for: plain values.
//!
//! The measuring side writes a [`Live`], the display reads it; neither waits for the other.

use crate::curve::Curve;
use crate::mode::Mode;

/// Whether something is being measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LiveState {
    /// Waiting for the key that starts.
    Stopped,
    /// Measuring.
    #[default]
    Execute,
    /// Everything is done; the display stays until it is told to go.
    Finished,
}

/// How much the display says about single messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verbosity {
    /// Nothing.
    #[default]
    None,
    /// Rows in units of people.
    Summary,
    /// Everything there is.
    Detail,
}

impl Verbosity {
    /// The level after this one; after the last comes the first.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::None => Self::Summary,
            Self::Summary => Self::Detail,
            Self::Detail => Self::None,
        }
    }
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveCommand {
    /// The next mode (M).
    NextMode,
    /// End the program (Q, X, Ctrl-C).
    Quit,
    /// Begin the current workload again (R).
    Restart,
    /// Stop, or go on (S).
    StartStop,
    /// Go on with the next workload (T).
    NextWorkload,
    /// The next verbosity (V).
    NextVerbosity,
}

impl LiveCommand {
    /// What a display answers to a key that can do nothing once everything is done; `None` of one
    /// that still does something.
    #[must_use]
    pub const fn when_finished(self) -> Option<&'static str> {
        match self {
            Self::NextMode => Some("M: finished, no result is left to stamp. Q or X ends"),
            Self::Restart => Some("R: finished, nothing is left to restart. Q or X ends"),
            Self::StartStop => Some("S: finished, nothing is left to start. Q or X ends"),
            Self::NextWorkload => Some("T: finished, no workload is left. Q or X ends"),
            Self::NextVerbosity | Self::Quit => None,
        }
    }
}

/// A level of one workload on the display.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveLevel {
    /// Response time, milliseconds.
    pub response_ms: Option<f64>,
    /// Load at it, operations per second.
    pub iops: Option<f64>,
    /// Relative half-width of the load's interval, where there is one.
    pub relative_half_width: Option<f64>,
}

/// One workload's results so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveWorkload {
    /// Its number in the report, from 1.
    pub number: u32,
    pub name: String,
    /// Whether it is shown with levels: those of the transaction group are, and the first four of
    /// the manual.
    pub has_levels: bool,
    /// No load, one third, two thirds, and the highest response time.
    pub levels: [LiveLevel; 4],
    /// Operations per second and millisecond, summed over the levels.
    pub rabmark_r: Option<f64>,
    /// MiB per second.
    pub rabmark_s: Option<f64>,
    /// Its points and levels so far.
    pub curve: Curve,
}

/// A row of the verbose window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveRow {
    /// Messages, or looks at the measurement, so far.
    pub count: Option<u64>,
    /// Threads or clients.
    pub threads: Option<u64>,
    pub operations: Option<u64>,
    /// KiB moved.
    pub kib: Option<u64>,
    /// Mean response time, milliseconds.
    pub response_ms: Option<f64>,
    /// Operations per second.
    pub iops: Option<f64>,
    /// Operations per second and millisecond.
    pub rabmark_r: Option<f64>,
    /// MiB per second.
    pub rabmark_s: Option<f64>,
}

/// How the present trial gets more precise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveConvergence {
    /// Relative half-widths of the interval at the looks so far, the latest last.
    pub relative_half_widths: Vec<f64>,
    /// The one that ends the trial; `None` when the trial has no such goal.
    pub goal: Option<f64>,
}

/// Everything that the display shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// Whether something is being measured.
    pub state: LiveState,
    /// Number of the run through all workloads, from 1.
    pub run: u32,
    /// Mode that results are stamped with.
    pub mode: Mode,
    /// Whether the mode was read from the system.
    pub is_mode_detected: bool,
    /// Current workload's place in `workloads`.
    pub workload: usize,
    /// Threads or clients at present.
    pub threads: u64,
    /// Time since the start, nanoseconds.
    pub elapsed_ns: u64,
    /// Name and value of each line of the configuration window, at most four.
    pub configuration: Vec<(String, String)>,
    /// All workloads in order.
    pub workloads: Vec<LiveWorkload>,
    /// How much the verbose window says.
    pub verbosity: Verbosity,
    /// The message or glimpse that came last.
    pub current_message: LiveRow,
    /// The present number of threads.
    pub current_thread: LiveRow,
    /// The number of threads before.
    pub last_thread: LiveRow,
    /// The level that was found last.
    pub last_response: LiveRow,
    /// What is being done, in words.
    pub activity: String,
    /// How the present trial gets more precise.
    pub convergence: LiveConvergence,
    /// Share of all the work that is done, 0 to 1; `None` when the run has no end.
    pub progress: Option<f64>,
    /// Warnings so far, the latest last.
    pub warnings: Vec<String>,
}
