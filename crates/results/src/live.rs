//! State of the full-screen display during a run, and the commands of its keys.
//!
//! The measuring side writes a [`Live`] and the display reads it. Neither waits for the other.

use crate::curve::Curve;
use crate::mode::Mode;

/// State of the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LiveState {
    /// Waiting for the start key.
    Stopped,
    /// Measuring.
    #[default]
    Execute,
    /// Finished; the display stays until the user quits.
    Finished,
}

/// Level of detail about single messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verbosity {
    /// Nothing.
    #[default]
    None,
    /// Rows in human-readable units.
    Summary,
    /// Everything.
    Detail,
}

impl Verbosity {
    /// The next level; the last is followed by the first.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::None => Self::Summary,
            Self::Summary => Self::Detail,
            Self::Detail => Self::None,
        }
    }
}

/// The command of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveCommand {
    /// The next mode (M).
    NextMode,
    /// End the program (Q, X, Ctrl-C).
    Quit,
    /// Restart the current workload (R).
    Restart,
    /// Stop, or continue (S).
    StartStop,
    /// Skip to the next workload (T).
    NextWorkload,
    /// The next verbosity (V).
    NextVerbosity,
}

impl LiveCommand {
    /// The display's answer to a key that has no effect once the run is finished; `None` for other
    /// keys.
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

/// One level of a workload on the display.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveLevel {
    /// Response time, milliseconds.
    pub response_ms: Option<f64>,
    /// Load at it, operations per second.
    pub iops: Option<f64>,
    /// Relative half-width of the load's interval, if known.
    pub relative_half_width: Option<f64>,
}

/// Results of one workload so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveWorkload {
    /// Its number in the report, from 1.
    pub number: u32,
    pub name: String,
    /// Whether levels are shown: for the transaction group and the first four of the manual.
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
    /// Messages, or readings of the measurement, so far.
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

/// Convergence of the current trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveConvergence {
    /// Relative half-widths so far, the latest last.
    pub relative_half_widths: Vec<f64>,
    /// The half-width that ends the trial; `None` if there is no such goal.
    pub goal: Option<f64>,
}

/// Everything that the display shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// Whether something is being measured.
    pub state: LiveState,
    /// Number of the current cycle through all workloads, from 1.
    pub run: u32,
    /// Mode recorded with the results.
    pub mode: Mode,
    /// Whether the mode was read from the system.
    pub is_mode_detected: bool,
    /// Index of the current workload in `workloads`.
    pub workload: usize,
    /// Current number of threads or clients.
    pub threads: u64,
    /// Time since the start, nanoseconds.
    pub elapsed_ns: u64,
    /// Lines of the configuration window as name and value, at most four.
    pub configuration: Vec<(String, String)>,
    /// All workloads in order.
    pub workloads: Vec<LiveWorkload>,
    /// Level of detail in the verbose window.
    pub verbosity: Verbosity,
    /// The latest message.
    pub current_message: LiveRow,
    /// The current number of threads.
    pub current_thread: LiveRow,
    /// The previous number of threads.
    pub last_thread: LiveRow,
    /// The latest level.
    pub last_response: LiveRow,
    /// Current activity, in words.
    pub activity: String,
    /// Convergence of the current trial.
    pub convergence: LiveConvergence,
    /// Progress, 0 to 1; `None` for an endless run.
    pub progress: Option<f64>,
    /// Warnings so far, the latest last.
    pub warnings: Vec<String>,
}
