//! RABmarks of a curve: load over response time, summed over no load and the levels.
//!
//! `RABmark[r]` = X(1)/R(1) + sum over k of load_k / L_k, in operations per second and millisecond.
//! A level derived from the time of one client depends on R(1): the sum changes with it by d(load_k
//! / L_k)/dL_k dL_k/dR(1), which is added to the influence of that point (the delta method: A. W.
//! van der Vaart, "Asymptotic Statistics" (1998), section 3.1). Requested levels are constants. The
//! interval includes points shared by several levels, and the covariance of load and time within a
//! point: the influence of every point is summed over the terms that use it, its long-run variance
//! is taken, and the points are independent. Method: section 6 of the statistics notes, which
//! `docs/reference/statistics.md` sums up.

use std::collections::BTreeMap;

use results::{CurveLevel, CurvePoint, LevelOutcome, Rabmark};
use stats::{Estimate, long_run_variance, student_t};

use super::interpolation::{Chord, interpolate};
use super::visit::Visit;
use super::{Bracket, CurveSearch, Levels, LoadCurve, THIRDS};

/// Nanoseconds in a millisecond.
const MS: f64 = 1e6;

/// Intermediate state of a sum.
#[derive(Default)]
struct Sum {
    value: f64,
    /// Uncertainty besides the noise of the points. Bounds add up.
    bound: f64,
    is_whole: bool,
    /// Influence of each point by number of clients, as weights of its load and time.
    weights: BTreeMap<u32, (f64, f64)>,
}

impl Sum {
    fn add_point(&mut self, clients: u32, of_load: f64, of_time: f64) {
        let weights = self.weights.entry(clients).or_default();
        weights.0 += of_load;
        weights.1 += of_time;
    }
}

/// The result for a searched level.
fn outcome_of(levels: &[CurveLevel], search: &CurveSearch) -> Option<LevelOutcome> {
    let level_ns = search.level.as_nanos();
    let found = levels.iter().find(|level| level.level_ns == level_ns);
    found.map(|level| level.outcome)
}

/// A level with its result.
type FoundLevel<'a> = (&'a CurveSearch, Option<LevelOutcome>);

impl LoadCurve {
    /// The final point of one client.
    pub fn no_load(&self) -> Option<CurvePoint> {
        self.finals(1).map(|visit| visit.point.clone())
    }

    /// `RABmark[r]`: operations per second and millisecond.
    pub fn rabmark_r(&self) -> Option<Rabmark> {
        let mut sum = Sum {
            is_whole: true,
            ..Sum::default()
        };
        let one = self.finals(1)?;
        let (load, time) = (one.point.load.value, one.time().value);
        sum.value += load / time * MS;
        sum.add_point(1, MS / time, -load * MS / (time * time));
        let (levels, _) = self.levels();
        for (place, search) in self.searches.iter().flatten().enumerate() {
            let outcome = outcome_of(&levels, search);
            self.add_level((search, outcome), &mut sum);
            sum.add_point(1, 0.0, self.through_level(place, (search, outcome)));
        }
        let (mut variance, mut freedom) = (0.0, f64::INFINITY);
        for (&clients, &(of_load, of_time)) in &sum.weights {
            let visit = self.finals(clients)?;
            let (part, its_freedom) = noise(visit, of_load, of_time)?;
            variance += part;
            freedom = freedom.min(its_freedom);
        }
        let half_width = student_t(0.975, freedom) * variance.sqrt() + sum.bound;
        Some(Rabmark {
            value: Estimate {
                low: (sum.value - half_width).max(0.0),
                high: sum.value + half_width,
                ..Estimate::exact(sum.value, one.time().samples)
            },
            is_whole: sum.is_whole,
        })
    }

    /// The dependence of a level's term on the time of one client from which it was derived.
    /// Without a chord, the load is assumed not to depend on the level.
    fn through_level(&self, place: usize, (search, outcome): FoundLevel<'_>) -> f64 {
        let Levels::Thirds { min, .. } = self.options.levels else {
            return 0.0;
        };
        let is_from_one = |visit: &Visit| visit.time().value > min.as_nanos() as f64;
        if !self.finals(1).is_some_and(is_from_one) {
            return 0.0;
        }
        let load = match outcome {
            Some(LevelOutcome::Reached { load, .. }) => load,
            Some(LevelOutcome::Between { low, high }) => Estimate::exact(0.5 * (low + high), 0.0),
            _ => return 0.0,
        };
        let level = search.level.as_nanos() as f64;
        let rise = self
            .chord_of(search, load)
            .map_or(0.0, |chord| chord.of_level(level));
        let of_level = (rise - load.value / level) / level * MS;
        of_level * (1.0 - (place + 1) as f64 / THIRDS as f64)
    }

    /// The chord that a level's `load` lies on, if there is one.
    fn chord_of(&self, search: &CurveSearch, load: Estimate) -> Option<Chord> {
        if self.is_top(load) {
            return None;
        }
        let Bracket::Between { low, high } = search.bracket else {
            return None;
        };
        let (below, above) = (self.finals(low)?.end(), self.finals(high)?.end());
        let level = search.level.as_nanos() as f64;
        let is_sound = interpolate(&below, &above, level).is_sound;
        is_sound.then(|| Chord::new(&below, &above, level))
    }

    fn add_level(&self, (search, outcome): FoundLevel<'_>, sum: &mut Sum) {
        let level = search.level.as_nanos() as f64;
        match outcome {
            Some(LevelOutcome::Reached { load, .. }) => {
                sum.value += load.value / level * MS;
                if !self.add_ends(search, load, sum) {
                    sum.bound += 0.5 * (load.high - load.low) / level * MS;
                }
            }
            Some(LevelOutcome::Between { low, high }) => {
                sum.value += 0.5 * (low + high) / level * MS;
                sum.bound += 0.5 * (high - low) / level * MS;
            }
            // The load keeps rising or stays: the load of the most clients is a lower bound.
            Some(LevelOutcome::NotReached { load, .. }) => {
                sum.value += load.low / level * MS;
                sum.is_whole = false;
            }
            Some(LevelOutcome::Exceeded { .. }) | None => sum.is_whole = false,
        }
    }

    /// Adds the influence of both ends of a level's bracket, and the bound for curvature. False
    /// without a chord.
    fn add_ends(&self, search: &CurveSearch, load: Estimate, sum: &mut Sum) -> bool {
        let level = search.level.as_nanos() as f64;
        let Bracket::Between { low, high } = search.bracket else {
            return false;
        };
        let Some(chord) = self.chord_of(search, load) else {
            return false;
        };
        let (Some(below), Some(above)) = (self.finals(low), self.finals(high)) else {
            return false;
        };
        for (clients, weight) in [(low, 1.0 - chord.share), (high, chord.share)] {
            let end = if clients == low { below } else { above }.end();
            let scale = MS / level;
            sum.add_point(clients, scale * weight, scale * chord.of_time(&end, weight));
        }
        sum.bound += self.bend(below, above, chord.share) / level * MS;
        true
    }

    /// `RABmark[s]`: MiB per second at the highest level.
    pub fn rabmark_s(&self) -> Option<Rabmark> {
        let search = self.searches.as_ref()?.last()?;
        let (levels, _) = self.levels();
        let (load, is_whole) = match outcome_of(&levels, search)? {
            LevelOutcome::Reached { load, .. } => (load, true),
            LevelOutcome::Between { low, high } => {
                let middle = Estimate::exact(0.5 * (low + high), 0.0);
                (
                    Estimate {
                        low,
                        high,
                        ..middle
                    },
                    true,
                )
            }
            LevelOutcome::NotReached { load, .. } => (load, false),
            LevelOutcome::Exceeded { .. } => return None,
        };
        let clients = match search.bracket {
            Bracket::Between { high, .. } => high,
            _ => *self.visited().last()?,
        };
        // If time ran out, the end of a bracket has no point.
        let visit = match self.best(clients) {
            Some(visit) => visit,
            None => self.best(*self.visited().last()?)?,
        };
        let bytes_each = visit.bytes_each;
        Some(Rabmark {
            value: load.scale(bytes_each / f64::from(1 << 20)),
            is_whole,
        })
    }
}

/// Variance of a point's contribution to the sum, and its degrees of freedom.
fn noise(visit: &Visit, of_load: f64, of_time: f64) -> Option<(f64, f64)> {
    let end = visit.end();
    let window = end.window?;
    let series: Vec<f64> = window
        .throughput
        .iter()
        .zip(&window.response_influence)
        .map(|(x, y)| of_load * (x - end.load.value) + of_time * (y - end.time.value))
        .collect();
    let run = long_run_variance(&series);
    Some((run.variance_of_mean, run.degrees_of_freedom))
}
