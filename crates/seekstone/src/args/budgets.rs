//! How long measurements take at most where nobody says so.

use lab::budget::TimeSetting;
use units::Duration;

/// Of `run`.
pub const RUN_BUDGET: TimeSetting = budget("110s");
/// Of `trial`.
pub const TRIAL_BUDGET: TimeSetting = budget("60s");
/// Of `curve`. Near saturation a queue forgets slowly. A level of random arrivals takes a million
/// operations of a model, which are computed in seconds.
pub const CURVE_BUDGET: TimeSetting = TimeSetting {
    brief: Duration::from_micros(100),
    ..budget("5min")
};
/// Of `rab`, for a run through all workloads.
pub const RAB_BUDGET: TimeSetting = budget("9min");
/// Of `random`.
pub const RANDOM_BUDGET: TimeSetting = budget("2min");
/// Of a cell of `random` in one round.
pub const CELL_TIME: TimeSetting = TimeSetting {
    name: "max-time",
    default: "60s",
    longest: Duration::from_secs(86_400),
    brief: BRIEF,
};

/// Models of storage that takes no longer for an operation get the time of real storage.
const BRIEF: Duration = Duration::from_millis(1);
/// No budget is longer.
pub const BUDGET_MAX: Duration = Duration::from_secs(7 * 86_400);

const fn budget(default: &'static str) -> TimeSetting {
    TimeSetting {
        name: "budget",
        default,
        longest: BUDGET_MAX,
        brief: BRIEF,
    }
}
