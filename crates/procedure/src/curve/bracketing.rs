//! Between which numbers of clients a level lies.

use units::Duration;

use super::visit::Visit;
use super::{Bracket, CurveStep, LoadCurve, Search, gap};

/// Below this elasticity of the load to the time, a tenth more time brings 1.5 % more load at most.
const FLAT_MAX: f64 = 0.15;

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
        let is_above = |clients: &u32| {
            self.best(*clients)
                .is_some_and(|visit| visit.time().value >= level.as_nanos() as f64)
        };
        match visited.iter().position(is_above) {
            None => Bracket::NotReached,
            Some(0) => Bracket::Exceeded,
            Some(index) => Bracket::Between {
                low: visited[index - 1],
                high: visited[index],
            },
        }
    }

    pub(super) fn continue_searches(&self, searches: &mut [Search]) -> CurveStep {
        // First, because it is the one number that every curve must have.
        if let Some(step) = self.saturation_step() {
            return step;
        }
        if !self.is_out_of_time() {
            for search in searches.iter_mut() {
                if let Some(step) = self.narrow(search) {
                    return step;
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
            if let Some(step) = self.settle(search) {
                return step;
            }
            search.is_closed = true;
        }
        CurveStep::Finish
    }

    /// Brings the ends of a bracket to within a tenth of each other, by guarded regula falsi.
    pub(super) fn narrow(&self, search: &mut Search) -> Option<CurveStep> {
        if search.tries > 0 || search.is_closed {
            return None;
        }
        search.bracket = self.bracket(search.level);
        let Bracket::Between { low, high } = search.bracket else {
            return None;
        };
        // Where no chord is drawn, the ends themselves are the answer.
        let gap_wanted = if self.is_unbounded(high) || self.is_flat(low, high) {
            (low / 40).max(1)
        } else {
            gap(low)
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

    /// Whether the load hardly depends on the time between two numbers of clients: it changes by a
    /// small part of what the time changes by, both in relation to themselves.
    pub(super) fn is_flat(&self, low: u32, high: u32) -> bool {
        let (Some(below), Some(above)) = (self.best(low), self.best(high)) else {
            return false;
        };
        let of_load = (above.point.load.value / below.point.load.value).ln();
        let of_time = (above.time().value / below.time().value).ln();
        self.options.is_load_enough && of_time > 0.0 && of_load.abs() < FLAT_MAX * of_time
    }

    /// How far `level` lies from the response time of `low` clients (0) to that of `high` (1).
    pub(super) fn share_between(&self, level: Duration, low: u32, high: u32) -> Option<f64> {
        let below = self.best(low)?.time().value;
        let above = self.best(high)?.time().value;
        let share = (level.as_nanos() as f64 - below) / (above - below).max(1e-9);
        Some(share.clamp(0.0, 1.0))
    }

    /// The bracket to measure afresh: a tenth wide. A narrower one would be worse, because the
    /// difference between its ends drowns in their noise.
    pub(super) fn placed(&self, level: Duration) -> Bracket {
        let bracket = self.bracket(level);
        let Bracket::Between { low, high } = bracket else {
            return bracket;
        };
        let Some(share) = self.share_between(level, low, high) else {
            return bracket;
        };
        if high - low >= gap(low) || self.is_flat(low, high) {
            return bracket;
        }
        let middle = f64::from(low) + share * f64::from(high - low);
        let low = (middle - 0.5 * f64::from(gap(low))).round().max(1.0) as u32;
        Bracket::Between {
            low,
            high: (low + gap(low)).min(self.options.clients_max),
        }
    }
}
