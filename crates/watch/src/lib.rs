//! Monitors a storage over days by probes: minutes with mergeable histograms within a size budget,
//! level changes, and events.
//!
//! Knows nothing about clocks, files or threads: the same probes give the same windows and events.

mod detector;
mod event;
mod level;
mod prober;
mod share_cells;
mod target_watch;
mod times;
mod usual;
mod window;

pub use detector::{ChangeDetector, ChangeFound};
pub use event::{ProcessShare, SlowEvent, WatchEvent};
pub use level::{LevelFinding, WatchLevel};
pub use prober::{PROBE_BYTES, PROBES_AT_ONCE, Probe, ProbeKind, ProbePlaces, ProbePlan, Prober};
pub use target_watch::{TargetWatch, WatchNews};
pub use times::ProbeTimes;
pub use window::{
    StoredWindow, WINDOW_SECONDS, WatchCounter, WatchWindow, WindowError, next_merge,
};
