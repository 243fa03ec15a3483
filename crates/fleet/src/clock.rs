//! What another rank's clock reads, from questions and answers, with a bound that holds.
//!
//! One question bounds the other clock's offset by half its round trip, whatever the two ways of it
//! took (F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989). The
//! question with the shortest round trip is kept of each burst. Through the readings of several
//! bursts goes a line: offset and drift by least squares, each reading weighted by the inverse
//! square of its bound. The line at an instant is a weighted sum of the readings, so the sum of
//! their bounds with the same weights, taken as positive, bounds its error too, as long as the
//! drift is constant. It is a bound, not a confidence interval: it always holds. The interval,
//! which is narrower, is in [`interval`].

mod interval;

use interval::{ClockQuestion, LikelyLine};
use units::{Duration, Instant};

/// The most that two clocks are taken to run apart where nothing is known of it, parts in a
/// million: the most that Linux lets a clock be steered (`MAXFREQ` of `adjtimex`).
pub const DRIFT_MAX_PPM: f64 = 500.0;

/// A question about another clock: when it was asked and answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When it was asked, on the requester's clock.
    pub asked: Instant,
    /// When it was answered, on the other clock.
    pub answered: Instant,
    /// When the answer was heard, on the requester's clock.
    pub heard: Instant,
}

impl Exchange {
    /// How long question and answer took.
    pub const fn round_trip(&self) -> Duration {
        self.heard.since(self.asked)
    }
}

/// By how much another clock was ahead at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockReading {
    /// The instant, on the requester's clock.
    pub at: Instant,
    /// By how much the other clock was ahead, nanoseconds.
    pub ahead_ns: f64,
    /// By how much that is wrong at most, nanoseconds.
    pub bound_ns: f64,
}

impl ClockReading {
    /// The best of a burst of questions: the one with the shortest round trip.
    pub fn best_of(burst: &[Exchange]) -> Option<Self> {
        let best = burst.iter().min_by_key(|it| it.round_trip())?;
        let half = best.round_trip().as_nanos() / 2;
        let middle = best.asked + Duration::from_nanos(half);
        let ahead = i128::from(best.answered.as_nanos()) - i128::from(middle.as_nanos());
        Some(Self {
            at: middle,
            ahead_ns: ahead as f64,
            // The half was rounded down.
            bound_ns: half as f64 + 1.0,
        })
    }
}

/// What another clock reads, as a line through readings.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockLine {
    readings: Vec<ClockReading>,
    questions: Vec<ClockQuestion>,
}

impl ClockLine {
    /// The clock that asks, for itself.
    pub const fn own() -> Self {
        Self {
            readings: Vec::new(),
            questions: Vec::new(),
        }
    }

    /// Take one more burst of questions into the line.
    pub fn add(&mut self, burst: &[Exchange]) {
        self.readings.extend(ClockReading::best_of(burst));
        self.questions.extend(interval::weigh(burst));
    }

    /// By how much the other clock is ahead at `at`, nanoseconds, and by how much that is wrong at
    /// most.
    pub fn ahead(&self, at: Instant) -> (f64, f64) {
        match self.fit() {
            Some(fit) => fit.at(self.since_first(at)),
            None => self.by_best(at),
        }
    }

    /// How much faster the other clock runs, parts in a million, and by how much that is wrong at
    /// most; `None` where the readings lie too close together to tell.
    pub fn drift_ppm(&self) -> Option<(f64, f64)> {
        let (drift, bound) = self.fit()?.drift();
        Some((drift * 1e6, bound * 1e6))
    }

    /// By how much the other clock is ahead at `at`, nanoseconds, and half the width of its 95 %
    /// interval; `None` before the second burst.
    pub fn likely_ahead(&self, at: Instant) -> Option<(f64, f64)> {
        let likely = self.likely()?.at(at);
        Some(within(likely, self.ahead(at)))
    }

    /// How much faster the other clock runs, parts in a million, and half the width of its 95 %
    /// interval; `None` before the second burst.
    pub fn likely_drift_ppm(&self) -> Option<(f64, f64)> {
        let (drift, half) = self.likely()?.drift();
        let sure = self.drift_ppm().unwrap_or((0.0, DRIFT_MAX_PPM));
        Some(within((drift * 1e6, half * 1e6), sure))
    }

    fn likely(&self) -> Option<LikelyLine> {
        let has_slope = self.readings.len() > 1;
        has_slope.then(|| LikelyLine::through(&self.questions))?
    }

    /// What the other clock reads when this one reads `at`.
    pub fn there(&self, at: Instant) -> Instant {
        let ahead = self.ahead(at).0.round() as i128;
        let there = i128::from(at.as_nanos()) + ahead;
        Instant(u64::try_from(there.max(0)).unwrap_or(u64::MAX))
    }

    /// What the best reading alone says, where nothing is known of the drift.
    fn by_best(&self, at: Instant) -> (f64, f64) {
        let ranked = self.readings.iter().map(|it| {
            let apart = (self.since_first(at) - self.since_first(it.at)).abs();
            (it.ahead_ns, it.bound_ns + apart * DRIFT_MAX_PPM / 1e6)
        });
        let best = ranked.min_by(|one, other| one.1.total_cmp(&other.1));
        best.unwrap_or((0.0, 0.0))
    }

    /// The line, where it tells the drift better than [`DRIFT_MAX_PPM`] does.
    fn fit(&self) -> Option<ClockFit> {
        let points = self.readings.iter();
        let points: Vec<_> = points.map(|it| (self.since_first(it.at), *it)).collect();
        let total: f64 = points.iter().map(|(_, it)| weight_of(it)).sum();
        let mean = points.iter().map(|(x, it)| weight_of(it) * x).sum::<f64>() / total;
        let squares = points
            .iter()
            .map(|(x, it)| weight_of(it) * (x - mean).powi(2));
        let squares: f64 = squares.sum();
        let fit = ClockFit {
            points,
            total,
            mean,
            squares,
        };
        (squares > 0.0 && fit.drift().1 < DRIFT_MAX_PPM / 1e6).then_some(fit)
    }

    /// Nanoseconds since the first reading: near zero there are digits enough.
    fn since_first(&self, at: Instant) -> f64 {
        let first = self.readings.first().map_or(Instant::START, |it| it.at);
        (i128::from(at.as_nanos()) - i128::from(first.as_nanos())) as f64
    }
}

/// A value that is likely with that half width, as far as it lies within what is sure: few
/// questions on a busy machine tell less than the bound does.
fn within((likely, half): (f64, f64), (sure, bound): (f64, f64)) -> (f64, f64) {
    let low = (likely - half).max(sure - bound);
    let high = (likely + half).min(sure + bound);
    match low <= high {
        true => (f64::midpoint(low, high), (high - low) / 2.0),
        false => (sure, bound),
    }
}

/// A line through readings, by weighted least squares.
struct ClockFit {
    /// Readings, each with the nanoseconds since the first.
    points: Vec<(f64, ClockReading)>,
    /// The sum of the weights.
    total: f64,
    /// The weighted mean of the instants.
    mean: f64,
    /// The weighted sum of their squares around it.
    squares: f64,
}

impl ClockFit {
    fn at(&self, x: f64) -> (f64, f64) {
        self.sum(|point, weight| {
            weight / self.total + weight * (point - self.mean) * (x - self.mean) / self.squares
        })
    }

    fn drift(&self) -> (f64, f64) {
        self.sum(|point, weight| weight * (point - self.mean) / self.squares)
    }

    /// The sum of the readings with those coefficients, made of instant and weight, and its bound.
    fn sum(&self, coefficient: impl Fn(f64, f64) -> f64) -> (f64, f64) {
        let each = self.points.iter();
        each.fold((0.0, 0.0), |(value, bound), (point, it)| {
            let share = coefficient(*point, weight_of(it));
            (
                value + share * it.ahead_ns,
                bound + share.abs() * it.bound_ns,
            )
        })
    }
}

fn weight_of(reading: &ClockReading) -> f64 {
    1.0 / reading.bound_ns.powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(asked: u64, answered: u64, heard: u64) -> Exchange {
        Exchange {
            asked: Instant(asked),
            answered: Instant(answered),
            heard: Instant(heard),
        }
    }

    #[test]
    fn the_shortest_round_trip_of_a_burst_is_its_reading() {
        let burst = [
            exchange(0, 5_900, 1_000),
            exchange(2_000, 7_050, 2_100),
            exchange(3_000, 8_400, 3_500),
        ];
        let reading = ClockReading::best_of(&burst).expect("three exchanges");
        assert_eq!(
            (reading.at, reading.ahead_ns, reading.bound_ns),
            (Instant(2_050), 5_000.0, 51.0)
        );
        assert_eq!(ClockReading::best_of(&[]), None);
    }

    #[test]
    fn two_readings_give_the_line_through_them_and_the_bound_between() {
        let mut line = ClockLine::own();
        let reading = |at: u64, ahead: u64, half: u64| [exchange(at - half, at + ahead, at + half)];
        assert_eq!(line.ahead(Instant(7)), (0.0, 0.0));
        line.add(&reading(1_000, 1_000, 99));
        let (ahead, bound) = line.ahead(Instant(1_001_000));
        assert_eq!((ahead, bound), (1_000.0, 100.0 + 500.0));
        assert_eq!(line.drift_ppm(), None);

        line.add(&reading(1_000_001_000, 51_000, 299));
        let (drift, bound) = line.drift_ppm().expect("two instants");
        assert!((drift - 50.0).abs() < 1e-9 && (bound - 0.4).abs() < 1e-9);
        for (share, expected) in [(0.0, 100.0), (0.25, 150.0), (1.0, 300.0)] {
            let (ahead, bound) = line.ahead(Instant(1_000 + (share * 1e9) as u64));
            assert!((ahead - (1_000.0 + share * 50_000.0)).abs() < 1e-6);
            assert!((bound - expected).abs() < 1e-6, "{share}: {bound}");
        }
        assert_eq!(line.there(Instant(1_000_001_000)), Instant(1_000_052_000));
    }
}
