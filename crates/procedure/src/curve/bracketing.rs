//! Between which numbers of clients a level lies.

use units::Duration;

use super::finals::FINAL_PRECISION;
use super::visit::Visit;
use super::{Bracket, CurveSearch, LoadCurve, PointPlan};

/// The times of two ends whose intervals are this wide each should differ by so many half-widths:
/// from a third of that on a chord is believed.
const RISE_PER_NOISE: f64 = 4.0;
/// The ends are no further apart than this part of the lower one: the curve bends.
const WIDEST_PART: u32 = 3;
/// Ends take this part of what is left of the budget: some may have to be moved.
const END_PART: f64 = 0.8;

impl LoadCurve {
    /// The best that is known of `clients`: the last final point, or else the last scout.
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
        // The last one below, not the first one above: where few operations are done, chance lifts
        // a time more easily than it hides a queue.
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
        // First, because it is the one number that every curve must have.
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
        // The levels take turns: when time runs out, none is left without its two ends.
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
        None
    }

    /// Brings the ends of a bracket to within a tenth of each other, by guarded regula falsi.
    pub(super) fn narrow(&self, search: &mut CurveSearch) -> Option<PointPlan> {
        if search.tries > 0 || search.is_closed {
            return None;
        }
        search.bracket = self.bracket(search.level);
        let Bracket::Between { low, high } = search.bracket else {
            return None;
        };
        // Where no chord is drawn, the ends themselves are the answer.
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

    /// Whether so many clients wait longer and longer.
    pub(super) fn is_unbounded(&self, clients: u32) -> bool {
        self.best(clients)
            .is_some_and(|visit| visit.time().value.is_infinite())
    }

    /// By what part of a change of the time the load changes, both in relation to themselves: from
    /// the last point up to `low` clients to the first from `high` on.
    pub(super) fn elasticity(&self, low: u32, high: u32) -> Option<f64> {
        let visited = self.visited();
        let below = visited.iter().rev().find(|clients| **clients <= low)?;
        let above = visited.iter().find(|clients| **clients >= high)?;
        let (below, above) = (self.best(*below)?, self.best(*above)?);
        let of_load = (above.point.load.value / below.point.load.value).ln();
        let of_time = (above.time().value / below.time().value).ln();
        (of_time > 0.0).then(|| of_load.abs() / of_time)
    }

    /// How far `level` lies from the response time of `low` clients (0) to that of `high` (1), in
    /// reciprocal times.
    pub(super) fn share_between(&self, level: Duration, low: u32, high: u32) -> Option<f64> {
        let below = 1.0 / self.best(low)?.time().value;
        let above = 1.0 / self.best(high)?.time().value;
        let share =
            (below - 1.0 / level.as_nanos() as f64) / (below - above).max(f64::MIN_POSITIVE);
        Some(share.clamp(0.0, 1.0))
    }

    /// The bracket to measure afresh, as wide as it should be. A narrower one would be worse,
    /// because the difference between its ends drowns in their noise.
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

    /// How far apart the ends of a bracket should be. Of random arrivals at service times that vary
    /// so much that no end is precise in its time, so far that their times differ by more.
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

    /// How long each end of each level may be measured with what is left of the budget.
    pub(super) fn time_of_end(&self) -> Option<Duration> {
        let left = self.options.budget?.saturating_sub(self.spent);
        let ends = 2 * self.options.levels.count();
        let done = self.visits.iter().filter(|it| !it.point.is_scout).count();
        let open = ends.saturating_sub(done).max(1);
        Some(left.mul_f64(END_PART / open as f64))
    }

    /// Two points measured afresh, for other levels, that are near enough to each other to answer
    /// for this one.
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
