//! Finds the numbers of clients between which a level lies.

use units::Duration;

use super::finals::FINAL_PRECISION;
use super::visit::Visit;
use super::{Bracket, CurveSearch, LoadCurve, PointPlan};

/// The times of two ends should differ by this many half-widths of their intervals. A chord is
/// accepted from a third of that.
const RISE_PER_NOISE: f64 = 4.0;
/// Maximum distance of the ends, relative to the lower one, since the curve bends.
const WIDEST_PART: u32 = 3;
/// Share of the remaining budget for bracket ends. Some may have to be moved.
const END_PART: f64 = 0.8;

impl LoadCurve {
    /// The best measurement of `clients`: the last final point, or else the last search point.
    pub(super) fn best(&self, clients: u32) -> Option<&Visit> {
        self.finals(clients).or_else(|| {
            self.visits
                .iter()
                .rev()
                .find(|visit| visit.point.clients == clients)
        })
    }

    pub(super) fn finals(&self, clients: u32) -> Option<&Visit> {
        self.visits
            .iter()
            .rev()
            .find(|visit| visit.point.clients == clients && !visit.point.is_scout)
    }

    pub(super) fn visited(&self) -> Vec<u32> {
        let mut clients: Vec<u32> = self
            .visits
            .iter()
            .map(|visit| visit.point.clients)
            .collect();
        clients.sort_unstable();
        clients.dedup();
        clients
    }

    pub(super) fn bracket(&self, level: Duration) -> Bracket {
        let visited = self.visited();
        let is_below = |clients: &u32| {
            self.best(*clients)
                .is_some_and(|visit| visit.time().value < level.as_nanos() as f64)
        };
        // Uses the last point below, not the first one above: with few operations, chance raises a
        // time more easily than it hides a queue.
        match visited.iter().rposition(is_below) {
            None => Bracket::Exceeded,
            Some(index) if index + 1 == visited.len() => Bracket::NotReached,
            Some(index) => Bracket::Between {
                low: visited[index],
                high: visited[index + 1],
            },
        }
    }

    pub(super) fn continue_searches(&self, searches: &mut [CurveSearch]) -> Option<PointPlan> {
        // First, because every curve needs this number.
        if let Some(plan) = self.saturation_point() {
            return Some(plan);
        }
        if !self.is_out_of_time() {
            for search in searches.iter_mut() {
                if let Some(plan) = self.narrow(search) {
                    return Some(plan);
                }
            }
        }
        // Levels take turns, so that when time runs out all have both ends.
        let mut order: Vec<usize> = (0..searches.len()).collect();
        order.sort_by_key(|&index| searches[index].tries);
        for index in order {
            let search = &mut searches[index];
            if search.is_closed {
                continue;
            }
            if self.is_out_of_time() {
                break;
            }
            if let Some(plan) = self.settle(search) {
                return Some(plan);
            }
            search.is_closed = true;
        }
        self.saturation_again()
    }

    /// Narrows a bracket to within a tenth by guarded regula falsi.
    pub(super) fn narrow(&self, search: &mut CurveSearch) -> Option<PointPlan> {
        if search.tries > 0 || search.is_closed {
            return None;
        }
        search.bracket = self.bracket(search.level);
        let Bracket::Between { low, high } = search.bracket else {
            return None;
        };
        // Without a chord, the ends themselves are the answer.
        let gap_wanted = if self.is_unbounded(high) {
            (low / 40).max(1)
        } else if self.options.is_load_enough {
            2 * self.gap(low)
        } else {
            self.gap_to_be_seen(low)
        };
        if high - low <= gap_wanted {
            return None;
        }
        let share = self.share_between(search.level, low, high)?;
        let jump = f64::from(high - low) * (0.25 + 0.5 * share);
        let middle = (f64::from(low) + jump).round() as u32;
        Some(self.scout(middle.clamp(low + 1, high - 1)))
    }

    /// Whether the queue of this many clients grows without bound.
    pub(super) fn is_unbounded(&self, clients: u32) -> bool {
        self.best(clients)
            .is_some_and(|visit| visit.time().value.is_infinite())
    }

    /// Elasticity of the load with respect to time: relative change of load per relative change of
    /// time, from the last point up to `low` clients to the first from `high` on.
    pub(super) fn elasticity(&self, low: u32, high: u32) -> Option<f64> {
        let visited = self.visited();
        let below = visited.iter().rev().find(|clients| **clients <= low)?;
        let above = visited.iter().find(|clients| **clients >= high)?;
        let (below, above) = (self.best(*below)?, self.best(*above)?);
        let of_load = (above.point.load.value / below.point.load.value).ln();
        let of_time = (above.time().value / below.time().value).ln();
        (of_time > 0.0).then(|| of_load.abs() / of_time)
    }

    /// Position of `level` between the response time of `low` clients (0) and of `high` clients
    /// (1), in reciprocal times.
    pub(super) fn share_between(&self, level: Duration, low: u32, high: u32) -> Option<f64> {
        let below = 1.0 / self.best(low)?.time().value;
        let above = 1.0 / self.best(high)?.time().value;
        let share =
            (below - 1.0 / level.as_nanos() as f64) / (below - above).max(f64::MIN_POSITIVE);
        Some(share.clamp(0.0, 1.0))
    }

    /// The bracket to measure afresh, as wide as it should be. In a narrower one, noise would hide
    /// the difference between the ends.
    pub(super) fn placed(&self, level: Duration) -> Bracket {
        if let Some(known) = self.measured_around(level) {
            return known;
        }
        let bracket = self.bracket(level);
        let Bracket::Between { low, high } = bracket else {
            return bracket;
        };
        let Some(share) = self.share_between(level, low, high) else {
            return bracket;
        };
        let gap = self.gap_to_be_seen(low);
        let is_wide = self.options.is_load_enough && high - low > gap;
        if high - low >= gap && !is_wide {
            return bracket;
        }
        let middle = f64::from(low) + share * f64::from(high - low);
        let low = (middle - 0.5 * f64::from(gap)).round().max(1.0) as u32;
        Bracket::Between {
            low,
            high: (low + self.gap_to_be_seen(low)).min(self.options.clients_max),
        }
    }

    /// Distance between the ends of a bracket. If service times vary too much for a precise time,
    /// the ends of random arrivals are moved apart until their times differ.
    fn gap_to_be_seen(&self, low: u32) -> u32 {
        let least = self.gap(low);
        let wanted = || {
            let time = self.time_of_end().filter(|_| self.is_open())?;
            let visited = self.visited();
            let nearest = visited.iter().min_by_key(|it| it.abs_diff(low))?;
            let known = self.best(*nearest)?;
            let seconds = known.elapsed.as_secs_f64() / time.as_secs_f64();
            let noise = known.time().relative_half_width() * seconds.sqrt();
            let load_by_time = self.elasticity(low * 3 / 4, low + least)?;
            let wanted = RISE_PER_NOISE * noise * load_by_time * f64::from(low);
            (noise > FINAL_PRECISION).then(|| wanted.round() as u32)
        };
        let most = (low / WIDEST_PART).max(least);
        wanted().unwrap_or(least).clamp(least, most)
    }

    /// Time for each end of each level within the remaining budget.
    pub(super) fn time_of_end(&self) -> Option<Duration> {
        let left = self.options.budget?.saturating_sub(self.spent);
        let ends = 2 * self.options.levels.count();
        let done = self.visits.iter().filter(|it| !it.point.is_scout).count();
        let open = ends.saturating_sub(done).max(1);
        Some(left.mul_f64(END_PART / open as f64))
    }

    /// Two final points of other levels that are close enough to answer for this one.
    fn measured_around(&self, level: Duration) -> Option<Bracket> {
        let level = level.as_nanos() as f64;
        let finals = || self.visited().into_iter().filter_map(|it| self.finals(it));
        let below = finals().rfind(|visit| visit.time().value < level)?;
        let above = finals().find(|visit| visit.time().value >= level)?;
        let (low, high) = (below.point.clients, above.point.clients);
        let is_near = low < high && 2 * (high - low) <= 3 * self.gap(low);
        let is_usable = is_near && !below.is_load_alone && !above.is_load_alone;
        is_usable.then_some(Bracket::Between { low, high })
    }
}
