//! Evaluates the measured points: the result for each level, saturation, and warnings.

use results::{
    Arrivals, CurveLevel, CurvePoint, LevelOutcome, Measurement, Saturation, Warning, WarningCode,
};
use stats::{Channel, Estimate};
use units::{Duration, format_count, format_duration_ns};

use super::interpolation::{curvature, interpolate, sigma};
use super::visit::{BracketEnd, Visit};
use super::{Bracket, CurveSearch, Levels, LoadCurve};

/// If the generator takes a larger part of a response time than this, a warning is issued.
const OWN_SHARE_MAX: f64 = 0.1;

/// Number of standard errors by which the load at the most clients must be below the highest one.
/// The best of several points is also lucky.
const FALL_IS_SURE: f64 = 3.5;

/// A response time above this multiple of that of one client is mostly queueing.
const QUEUEING_FACTOR: f64 = 2.0;

impl LoadCurve {
    pub(super) fn clients_of_most_load(&self) -> Option<u32> {
        // Only of the search points that doubled. The many that narrow brackets are as noisy, and
        // the luckiest of them would win with too few clients.
        self.visits[..self.outward]
            .iter()
            .max_by(|a, b| a.point.load.value.total_cmp(&b.point.load.value))
            .map(|visit| visit.point.clients)
    }

    /// The highest load of a closed loop. Random arrivals have none: their queue grows without
    /// bound near it.
    pub(super) fn saturation(&self) -> Option<Saturation> {
        if self.is_open() {
            return None;
        }
        let chosen = self.best(self.clients_of_most_load()?)?;
        // The search points may have been misled by temporary background load. If a point measured
        // for a level clearly reached more, it is the highest load. An invalid point is not used if
        // a valid one exists. If that reached less with fewer clients, the load still grows.
        let visited = self.visited().into_iter();
        let visit = visited
            .filter_map(|clients| self.finals(clients))
            .filter(|visit| !visit.is_void)
            .filter(|visit| chosen.is_void || visit.point.load.low > chosen.point.load.high)
            .max_by(|a, b| a.point.load.value.total_cmp(&b.point.load.value))
            .unwrap_or(chosen);
        let (point, most) = (&visit.point, &chosen.point);
        let is_most = point.clients >= most.clients || point.load.value >= most.load.value;
        Some(Saturation {
            load: visit.point.load,
            clients: visit.point.clients,
            is_saturated: self.is_saturated && is_most,
            is_converged: visit.point.is_converged && !visit.point.is_scout,
        })
    }

    /// The result for a level. No load between two points is above the highest, and none is below
    /// the highest that keeps the level: where the load falls as clients are added, fewer of them
    /// carry more in less time.
    pub(super) fn outcome(&self, search: &CurveSearch) -> Option<LevelOutcome> {
        let outcome = self.outcome_unbounded(search)?;
        if let Some(top) = self.top_within(search.level, &outcome) {
            return Some(top);
        }
        let (LevelOutcome::Between { low, high }, Some(saturation)) = (outcome, self.saturation())
        else {
            return Some(outcome);
        };
        let bound = if saturation.is_converged && saturation.is_saturated {
            saturation.load.high.max(low)
        } else {
            f64::INFINITY
        };
        Some(LevelOutcome::Between {
            low,
            high: high.min(bound),
        })
    }

    /// The highest load, if it reliably keeps a level and is reliably above what was found there.
    fn top_within(&self, level: Duration, found: &LevelOutcome) -> Option<LevelOutcome> {
        let most = match found {
            LevelOutcome::Reached { load, .. } | LevelOutcome::NotReached { load, .. } => load.high,
            LevelOutcome::Between { high, .. } => *high,
            LevelOutcome::Exceeded { .. } => return None,
        };
        let top = self.saturation()?;
        let is_within = self
            .best(top.clients)?
            .is_surely_below(level.as_nanos() as f64);
        (is_within && top.load.low > most).then_some(LevelOutcome::Reached {
            load: top.load,
            clients: top.clients.into(),
            is_precise: top.is_converged,
        })
    }

    /// Whether a level's load is the highest of all, and not one between two points.
    pub(super) fn is_top(&self, load: Estimate) -> bool {
        self.saturation().is_some_and(|it| it.load == load)
    }

    fn outcome_unbounded(&self, search: &CurveSearch) -> Option<LevelOutcome> {
        let ends_of = |bracket| match bracket {
            Bracket::Between { low, high } => Some((self.finals(low)?, self.finals(high)?)),
            _ => None,
        };
        if let Some((below, above)) = ends_of(search.bracket) {
            return Some(self.outcome_between(search.level, below, above));
        }
        match self.bracket(search.level) {
            Bracket::Exceeded => Some(LevelOutcome::Exceeded {
                response: self.best(1)?.point.time(self.options.channel),
            }),
            Bracket::NotReached => {
                let last = self.best(*self.visited().last()?)?;
                Some(LevelOutcome::NotReached {
                    clients: last.point.clients,
                    load: last.point.load,
                    response: last.point.time(self.options.channel),
                })
            }
            bracket @ Bracket::Between { low, high } => Some(match ends_of(bracket) {
                Some((below, above)) => self.outcome_between(search.level, below, above),
                None => self.between_surely(search.level, self.best(low)?, self.best(high)?),
            }),
        }
    }

    fn outcome_between(&self, level: Duration, below: &Visit, above: &Visit) -> LevelOutcome {
        let (low, high) = (below.point.clients, above.point.clients);
        let mut found = interpolate(&below.end(), &above.end(), level.as_nanos() as f64);
        if !found.is_sound {
            return self.answer_of_ends(level, below, above);
        }
        let bend = self.bend(below, above, found.share);
        if let LevelOutcome::Between { low, high } = self.between_surely(level, below, above) {
            found.widen(bend, low..=high);
        }
        LevelOutcome::Reached {
            load: found.load,
            clients: self.clients_between(low, high, found.share),
            is_precise: found.load.relative_half_width() <= self.options.precision,
        }
    }

    /// The number of clients at a share of the way; not defined for sources of arrivals.
    fn clients_between(&self, low: u32, high: u32, share: f64) -> f64 {
        match self.options.arrivals {
            Arrivals::Closed => f64::from(low) + share * f64::from(high - low),
            Arrivals::Open => f64::NAN,
        }
    }

    /// The answer of two ends without a chord: the range of their loads, with noise. It counts if
    /// it is as narrow as the requested precision and the level reliably lies between their times.
    fn answer_of_ends(&self, level: Duration, below: &Visit, above: &Visit) -> LevelOutcome {
        let is_answer = self.are_answer(level, below, above);
        let ends = self.between_surely(level, below, above);
        let LevelOutcome::Between { low, high } = ends else {
            return ends;
        };
        if !is_answer {
            return ends;
        }
        let samples = below.point.load.samples.min(above.point.load.samples);
        LevelOutcome::Reached {
            load: Estimate {
                low,
                high,
                ..Estimate::exact(0.5 * (low + high), samples)
            },
            clients: self.clients_between(below.point.clients, above.point.clients, 0.5),
            is_precise: true,
        }
    }

    /// Whether two ends without a chord are an answer for a level.
    pub(super) fn are_answer(&self, level: Duration, below: &Visit, above: &Visit) -> bool {
        let level = level.as_nanos() as f64;
        let LevelOutcome::Between { low, high } = hull([below, above]) else {
            return false;
        };
        let is_bracketed = below.is_surely_below(level) && above.is_surely_above(level);
        self.options.is_load_enough && is_bracketed && self.is_close(low, high)
    }

    /// The loads between which a level reliably lies. If the time of an end does not tell on which
    /// side of the level it is, the next number of clients that does takes its place.
    fn between_surely(&self, level: Duration, below: &Visit, above: &Visit) -> LevelOutcome {
        let level = level.as_nanos() as f64;
        let best = || self.visited().into_iter().filter_map(|it| self.best(it));
        let is_below = |visit: &&Visit| visit.is_surely_below(level);
        let is_above = |visit: &&Visit| visit.is_surely_above(level);
        let (lowest, highest) = (below.point.clients, above.point.clients);
        let surely_below = best()
            .filter(|visit| visit.point.clients <= lowest)
            .filter(is_below)
            .max_by_key(|visit| visit.point.clients);
        let surely_above = best()
            .filter(|visit| visit.point.clients >= highest)
            .find(is_above);
        let below = surely_below.unwrap_or(below);
        let above = surely_above.unwrap_or(above);
        // Any point between them whose time does not decide may be at the level.
        let clients = below.point.clients..=above.point.clients;
        let inside = best().filter(|visit| clients.contains(&visit.point.clients));
        hull(inside.chain([below, above]))
    }

    /// Maximum deviation of the curve from the chord at a share of the way between two points.
    pub(super) fn bend(&self, below: &Visit, above: &Visit, share: f64) -> f64 {
        // A parabola is furthest from its chord in the middle, and further beyond the ends.
        let beyond = (4.0 * share * (1.0 - share)).abs().max(1.0);
        let (low, high) = (below.point.clients, above.point.clients);
        beyond * self.curvature_at(low, high, &below.end(), &above.end())
    }

    /// Maximum deviation of a curve from the chord between the ends of a bracket.
    fn curvature_at(
        &self,
        low: u32,
        high: u32,
        below: &BracketEnd<'_>,
        above: &BracketEnd<'_>,
    ) -> f64 {
        let visited = self.visited();
        let neighbour = visited
            .iter()
            .copied()
            // A closer point shows the noise of a slope, not its change.
            .filter(|&clients| clients + self.gap(low) <= low || clients >= high + self.gap(low))
            .min_by_key(|&clients| clients.abs_diff(low).min(clients.abs_diff(high)))
            .and_then(|clients| self.best(clients));
        neighbour.map_or(0.0, |third| curvature(below, above, &third.end()))
    }

    pub(super) fn warnings(&self, levels: &[CurveLevel]) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let left_out = |warm_up| warm_up_left_out(warm_up, "point");
        warnings.extend(self.options.warm_up.map(left_out));
        if let Some(failed) = self.failed() {
            warnings.push(cut_short(failed));
            return warnings;
        }
        warnings.extend(self.levels_too_low());
        warnings.extend(self.unsettled(levels));
        warnings.extend(self.load_that_falls());
        warnings.extend(self.own_share());
        if self.visits.iter().any(|visit| self.shows_drift(visit)) {
            warnings.push(
                Warning::warn(
                    WarningCode::CurveDrift,
                    "Latency drifted while the curve was measured. The storage may be warming up, \
                     throttling or shared.",
                )
                .advise("Rerun when latency is stable."),
            );
        }
        let most = self.visits.iter().map(|visit| visit.point.clients).max();
        if let Some(most) = most.filter(|_| !self.is_saturated && !self.is_open()) {
            warnings.push(Warning::info(
                WarningCode::NotSaturated,
                format!("Not saturated at {most} clients. Peak IOPS may be higher."),
            ));
        }
        warnings
    }

    /// All levels not found for lack of time, in one sentence.
    fn unsettled(&self, levels: &[CurveLevel]) -> Vec<Warning> {
        let (mut between, mut below) = (Vec::new(), Vec::new());
        for level in levels {
            let name = format_duration_ns(level.level_ns as f64);
            match &level.outcome {
                LevelOutcome::Between { low, high } if !self.is_close(*low, *high) => {
                    between.push(format!(
                        "{name} is reached between {} and {} IOPS",
                        format_count(*low),
                        format_count(*high)
                    ));
                }
                LevelOutcome::NotReached { clients, load, .. }
                    if *clients < self.options.clients_max =>
                {
                    below.push(match self.options.arrivals {
                        Arrivals::Closed => {
                            format!("{name} with {}", self.counted(*clients))
                        }
                        Arrivals::Open => format!("{name} at {}/s", format_count(load.value)),
                    });
                }
                _ => {}
            }
        }
        let causes = [
            (
                "The level ",
                between,
                ". There was too little time or too much noise to narrow it down.",
            ),
            (
                "Latency stayed below ",
                below,
                ", with no time for more clients.",
            ),
        ];
        let lines = causes
            .into_iter()
            .filter(|(_, levels, _)| !levels.is_empty());
        lines
            .map(|(begin, levels, end)| {
                let cause = format!("{begin}{}{end}", levels.join(", "));
                Warning::warn(WarningCode::LevelUncertain, cause)
                    .advise("Allow more time with --budget.")
            })
            .collect()
    }

    /// Warns that one client already exceeds the highest level.
    fn levels_too_low(&self) -> Option<Warning> {
        let Levels::Thirds { max, .. } = self.options.levels else {
            return None;
        };
        let one = self.best(1)?.time().value;
        (one >= max.as_nanos() as f64).then(|| {
            Warning::warn(
                WarningCode::LevelsTooLow,
                format!(
                    "A single client takes {}, more than the highest level of {max}.",
                    format_duration_ns(one)
                ),
            )
            .advise("Raise --response-max.")
        })
    }

    /// Whether two loads are as close as the requested precision, and so are an answer.
    pub(super) fn is_close(&self, low: f64, high: f64) -> bool {
        high - low <= self.options.precision * (high + low)
    }

    /// Whether a point shows that the storage drifts. With program clocks, queues near saturation
    /// wander for longer than any trial.
    fn shows_drift(&self, visit: &Visit) -> bool {
        let one = self.best(1).map_or(f64::INFINITY, |one| one.time().value);
        let is_queueing = visit.time().value > QUEUEING_FACTOR * one;
        let wanders = self.options.is_load_enough && is_queueing;
        visit.is_drifting && !visit.point.is_scout && !wanders
    }

    /// Warns about the share of the quoted response times that is this program's own.
    fn own_share(&self) -> Option<Warning> {
        if self.options.channel == Channel::Service {
            return None;
        }
        let cited = self
            .visits
            .iter()
            .map(|visit| visit.point.clone())
            .filter(|point| !point.is_scout);
        let share = |point: &CurvePoint| point.lateness_ns / point.response.value;
        let worst = cited.max_by(|a, b| share(a).total_cmp(&share(b)))?;
        (share(&worst) > OWN_SHARE_MAX).then(|| {
            Warning::warn(
                WarningCode::OwnShare,
                format!(
                    "Seekstone itself caused {:.0} % of the latency {}, {} of {}. Try more \
                     --workers.",
                    share(&worst) * 100.0,
                    self.load_of(&worst),
                    format_duration_ns(worst.lateness_ns),
                    format_duration_ns(worst.response.value),
                ),
            )
        })
    }

    /// The load of a point, in words.
    fn load_of(&self, point: &CurvePoint) -> String {
        match point.offered {
            Some(rate) => format!("at {} IOPS", format_count(rate)),
            None => format!("with {}", self.counted(point.clients)),
        }
    }

    /// Warns that the load clearly falls as clients are added: a level may then be crossed on the
    /// way down.
    fn load_that_falls(&self) -> Option<Warning> {
        let best = &self.best(self.clients_of_most_load()?)?.point;
        let last = &self.visits[..self.outward].last()?.point;
        let fall = best.load.value - last.load.value;
        let noise = sigma(&best.load).hypot(sigma(&last.load));
        let falls = last.clients > best.clients && fall > FALL_IS_SURE * noise;
        falls.then(|| {
            Warning::info(
                WarningCode::LoadFalls,
                format!(
                    "IOPS fell from {:.0} to {:.0} when {} clients became {}. Past saturation the \
                     storage does less.",
                    best.load.value,
                    last.load.value,
                    self.clients_of(best.clients),
                    self.clients_of(last.clients)
                ),
            )
        })
    }
}

/// The range of the loads of those points, with noise.
fn hull<'a>(points: impl IntoIterator<Item = &'a Visit>) -> LevelOutcome {
    let loads = points.into_iter().map(|visit| visit.point.load);
    let (low, high) = loads.fold((f64::INFINITY, 0.0_f64), |(low, high), load| {
        (low.min(load.low), high.max(load.high))
    });
    LevelOutcome::Between { low, high }
}

/// Warns that no loads beyond one at which every operation failed were tried.
fn cut_short(failed: &Measurement) -> Warning {
    Warning::warn(
        WarningCode::CurveCutShort,
        format!(
            "The search stopped where every operation failed ({}). Higher levels are unknown.",
            failed.title
        ),
    )
}

/// Warns that a requested warm-up shortened each `part`.
pub fn warm_up_left_out(warm_up: Duration, part: &str) -> Warning {
    Warning::info(
        WarningCode::WarmUpLeftOut,
        format!("The first {warm_up} of every {part} are discarded, as set by --warm-up."),
    )
}
