//! Options of a load curve.

use results::Arrivals;
use stats::Channel;
use units::Duration;

use super::THIRDS;

/// The response times at which the load is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Levels {
    /// The given levels.
    Explicit(Vec<Duration>),
    /// The first `count` levels of a fixed grid that the storage can show, so that systems are
    /// compared at equal levels.
    Grid { count: usize },
    /// Levels that an earlier curve chose from the grid, searched for in the same way.
    Chosen(Vec<Duration>),
    /// One third, two thirds and all of the way from the time of one client, or `min` if larger, to
    /// `max`. The RPT manual's text divides only the difference; its sample report (19, 29, 40, 50
    /// ms) adds the time of one client, as is done here.
    Thirds {
        /// Minimum for the time without load.
        min: Duration,
        /// The highest level.
        max: Duration,
    },
}

impl Levels {
    /// Maximum number of levels.
    pub(super) const fn count(&self) -> usize {
        match self {
            Self::Explicit(levels) | Self::Chosen(levels) => levels.len(),
            Self::Grid { count } => *count,
            Self::Thirds { .. } => THIRDS,
        }
    }

    /// The explicit levels, for the time at `percentile`, as goals name them.
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

/// Minimum number of points of a curve: three outward, both ends of a level, the highest load.
pub const POINTS_MIN: u64 = 6;

/// Options of a load curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveOptions {
    /// Which time the levels refer to.
    pub channel: Channel,
    /// The percentile that the levels refer to, as a share from 0 to 1; `None` for the mean.
    pub percentile: Option<f64>,
    /// Levels of that time.
    pub levels: Levels,
    /// What generates the operations.
    pub arrivals: Arrivals,
    /// Maximum number of clients, or of multiples of `clients_each`.
    pub clients_max: u32,
    /// Step of the number of clients, above 1 to keep the proportions of a workload.
    pub clients_each: u32,
    /// Requested relative half-width of the load at a level.
    pub precision: f64,
    /// Fixed warm-up that every point cuts off before its counted time; detected automatically if
    /// absent.
    pub warm_up: Option<Duration>,
    /// Minimum time of a search point.
    pub scout_min: Duration,
    /// Maximum time of a search point.
    pub scout_max: Duration,
    /// Minimum time of a final point.
    pub final_min: Duration,
    /// Maximum time of a final point.
    pub final_max: Duration,
    /// Maximum time of a final point with one client; absent if none is needed.
    pub no_load_max: Option<Duration>,
    /// Whether points are measured for their load alone if the load hardly depends on the time: two
    /// ends with close loads are then the answer.
    pub is_load_enough: bool,
    /// Maximum number of measurements for one level.
    pub tries_max: u32,
    /// Total time. Afterwards only the saturation point is still measured.
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
