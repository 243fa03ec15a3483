//! What a load curve is asked for.

use results::Arrivals;
use stats::Channel;
use units::Duration;

use super::THIRDS;

/// The response times at which the load is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Levels {
    /// These.
    Explicit(Vec<Duration>),
    /// The first `count` of a fixed grid that the storage can show, so that two systems are
    /// compared at the same levels.
    Grid { count: usize },
    /// Those that an earlier curve took from the grid: searched for in the same way.
    Chosen(Vec<Duration>),
    /// A third, two thirds and all of the way from the time of one client, or `min` if that is
    /// more, to `max`. The RPT manual's text divides only the difference; its sample report (19,
    /// 29, 40, 50 ms) adds the time of one client, as is done here.
    Thirds {
        /// The least time that counts as that of no load.
        min: Duration,
        /// The highest level.
        max: Duration,
    },
}

impl Levels {
    /// How many there are at most.
    pub(super) const fn count(&self) -> usize {
        match self {
            Self::Explicit(levels) | Self::Chosen(levels) => levels.len(),
            Self::Grid { count } => *count,
            Self::Thirds { .. } => THIRDS,
        }
    }

    /// The levels as goals name them, of the time at `percentile`, where they were asked for.
    #[must_use]
    pub fn given(&self, percentile: Option<f64>) -> Option<Vec<(u64, Option<f64>)>> {
        match self {
            Self::Explicit(levels) | Self::Chosen(levels) => {
                let levels = levels.iter();
                Some(levels.map(|it| (it.as_nanos(), percentile)).collect())
            }
            Self::Grid { .. } | Self::Thirds { .. } => None,
        }
    }
}

/// The fewest points that make a curve: three on the way out, both ends of a level, the highest
/// load.
pub const POINTS_MIN: u64 = 6;

/// What a load curve is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveOptions {
    /// Which time the levels are about.
    pub channel: Channel,
    /// The share of the times, 0 to 1, that may not be longer than a level; `None` where the levels
    /// are about the mean.
    pub percentile: Option<f64>,
    /// Levels of that time.
    pub levels: Levels,
    /// What the operations come from.
    pub arrivals: Arrivals,
    /// The most clients to try, or multiples of `clients_each`.
    pub clients_max: u32,
    /// Clients by which a load grows at least: several where workloads keep their proportions.
    pub clients_each: u32,
    /// Relative half-width wanted for the load at a level.
    pub precision: f64,
    /// What every point leaves out at its start, whatever it looks like, before its time begins to
    /// count; a rule finds it when absent.
    pub warm_up: Option<Duration>,
    /// The least time for a scout.
    pub scout_min: Duration,
    /// The most time for a scout.
    pub scout_max: Duration,
    /// The least time for a point that is cited.
    pub final_min: Duration,
    /// The most time for a point that is cited.
    pub final_max: Duration,
    /// Whether one client alone is measured for the result, and the most time for that.
    pub no_load_max: Option<Duration>,
    /// Whether, where the load hardly depends on the time any more, points are measured for their
    /// load alone: two ends whose loads are close enough are then the answer.
    pub is_load_enough: bool,
    /// How often the search for one level may measure.
    pub tries_max: u32,
    /// Time for everything; after it only the point of saturation is still measured.
    pub budget: Option<Duration>,
}

impl Default for CurveOptions {
    fn default() -> Self {
        Self {
            channel: Channel::Response,
            percentile: None,
            levels: Levels::Grid { count: 3 },
            arrivals: Arrivals::Closed,
            clients_max: 256,
            clients_each: 1,
            precision: 0.03,
            warm_up: None,
            scout_min: Duration::from_secs(1),
            scout_max: Duration::from_secs(10),
            final_min: Duration::from_secs(5),
            final_max: Duration::from_secs(120),
            no_load_max: None,
            is_load_enough: false,
            tries_max: 12,
            budget: None,
        }
    }
}

/// 10, 20, 50, 100 us and so on up to 5 s.
pub fn level_grid() -> impl Iterator<Item = Duration> {
    (0..6).flat_map(|decade| {
        [1, 2, 5]
            .into_iter()
            .map(move |digit| Duration::from_micros(10 * digit * 10_u64.pow(decade)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_goes_in_one_two_five_steps() {
        let grid: Vec<u64> = level_grid().take(5).map(Duration::as_nanos).collect();
        assert_eq!(grid, [10_000, 20_000, 50_000, 100_000, 200_000]);
        assert_eq!(level_grid().last(), Some(Duration::from_secs(5)));
    }
}
