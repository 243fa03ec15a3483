//! A confidence interval for what another clock reads, where [`super`] has a bound.
//!
//! The bound holds even if all of a round trip was spent one way. The interval takes less for
//! granted and says less: that neither way of a question is slower than the other in the long run.
//! Then the middle of a round trip errs to both sides alike, whatever the round trip was. So all
//! questions count, not the best of each burst alone: a line by weighted least squares, in which a
//! question weighs less the more its round trip exceeds the shortest of its burst. A weight that
//! depends on the round trip alone favours no side. The variance is White's, with the leverage of
//! each question taken out (HC3; MacKinnon and White, "Some heteroskedasticity-consistent
//! covariance matrix estimators", Journal of Econometrics 29, 1985), and the quantile Student's for
//! as many questions as the weights are worth (Kish). `tests/virtual_time.rs` has the coverage.

use stats::{CONFIDENCE, student_t};
use units::{Duration, Instant};

use super::Exchange;

/// The excess over the burst's shortest round trip at which a question has a quarter of the
/// shortest's weight, in medians of all excesses of the burst.
const EXCESS_SHARE: f64 = 0.5;
/// Clocks read whole nanoseconds.
const RESOLUTION_NS: f64 = 1.0;

/// One question of a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClockQuestion {
    /// The middle of its round trip, on the requester's clock.
    at: Instant,
    /// By how much the other clock was ahead, if both ways took as long.
    ahead_ns: f64,
    weight: f64,
}

/// A value, and half the width of its interval.
pub(super) type Likely = (f64, f64);

/// The questions of a burst, weighed.
pub(super) fn weigh(burst: &[Exchange]) -> Vec<ClockQuestion> {
    let shortest = burst.iter().map(Exchange::round_trip).min();
    let shortest = shortest.unwrap_or_default();
    let excess = |it: &Exchange| (it.round_trip() - shortest).as_nanos() as f64;
    let mut excesses: Vec<f64> = burst.iter().map(excess).collect();
    excesses.sort_by(f64::total_cmp);
    let median = excesses.get(excesses.len() / 2).copied().unwrap_or(0.0);
    let scale = (EXCESS_SHARE * median).max(RESOLUTION_NS);
    let question = |it: &Exchange| {
        let half = it.round_trip().as_nanos() / 2;
        let at = it.asked + Duration::from_nanos(half);
        let ahead = i128::from(it.answered.as_nanos()) - i128::from(at.as_nanos());
        ClockQuestion {
            at,
            ahead_ns: ahead as f64,
            weight: (excess(it) + scale).powi(-2),
        }
    };
    burst.iter().map(question).collect()
}

/// A line through all questions of several bursts.
pub(super) struct LikelyLine {
    /// Nanoseconds from the first question on, what was read, its weight.
    points: Vec<(f64, f64, f64)>,
    origin: Instant,
    total: f64,
    mean_x: f64,
    squares: f64,
    /// At the mean instant, and for each nanosecond.
    ahead: f64,
    slope: f64,
    /// Student's quantile.
    quantile: f64,
}

impl LikelyLine {
    /// The line through those questions; `None` where they tell no slope or nothing of its error.
    pub(super) fn through(questions: &[ClockQuestion]) -> Option<Self> {
        let origin = questions.first()?.at;
        let since = |at: Instant| i128::from(at.as_nanos()) - i128::from(origin.as_nanos());
        let points: Vec<(f64, f64, f64)> = questions
            .iter()
            .map(|it| (since(it.at) as f64, it.ahead_ns, it.weight))
            .collect();
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            points
                .iter()
                .map(|(x, y, weight)| weight * of(*x, *y))
                .sum()
        };
        let total = sum(&|_, _| 1.0);
        let mean_x = sum(&|x, _| x) / total;
        let ahead = sum(&|_, y| y) / total;
        let squares = sum(&|x, _| (x - mean_x).powi(2));
        let slope = sum(&|x, y| (x - mean_x) * (y - ahead)) / squares;
        let weights: f64 = points.iter().map(|it| it.2.powi(2)).sum();
        let freedom = total.powi(2) / weights - 2.0;
        (squares > 0.0 && freedom >= 1.0).then(|| Self {
            points,
            origin,
            total,
            mean_x,
            squares,
            ahead,
            slope,
            quantile: student_t(0.5 + CONFIDENCE / 2.0, freedom),
        })
    }

    /// By how much the other clock is ahead at `at`, nanoseconds.
    pub(super) fn at(&self, at: Instant) -> Likely {
        let x = i128::from(at.as_nanos()) - i128::from(self.origin.as_nanos());
        let apart = x as f64 - self.mean_x;
        let half = self.half_width(|x| 1.0 / self.total + (x - self.mean_x) * apart / self.squares);
        (self.ahead + self.slope * apart, half.max(RESOLUTION_NS))
    }

    /// How much faster the other clock runs.
    pub(super) fn drift(&self) -> Likely {
        let half = self.half_width(|x| (x - self.mean_x) / self.squares);
        (self.slope, half)
    }

    /// Half the interval of a sum of what was read, each with its weight times that coefficient.
    fn half_width(&self, coefficient: impl Fn(f64) -> f64) -> f64 {
        let each = self.points.iter().map(|(x, y, weight)| {
            let apart = x - self.mean_x;
            let leverage = weight / self.total + weight * apart.powi(2) / self.squares;
            let residual = y - self.ahead - self.slope * apart;
            // A point that the line goes through by force shows no error; it counts as it is.
            let free = if leverage < 0.999 {
                1.0 - leverage
            } else {
                1.0
            };
            (weight * coefficient(*x) * residual / free).powi(2)
        });
        self.quantile * each.sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(asked: u64, there: u64, back: u64, ahead: u64) -> Exchange {
        Exchange {
            asked: Instant(asked),
            answered: Instant(asked + there + ahead),
            heard: Instant(asked + there + back),
        }
    }

    #[test]
    fn one_burst_tells_no_drift_and_no_questions_tell_nothing() {
        assert!(LikelyLine::through(&[]).is_none());
        let one = weigh(&[exchange(0, 20, 20, 500)]);
        assert_eq!(one.len(), 1);
        assert!(LikelyLine::through(&one).is_none());
    }

    #[test]
    fn questions_without_errors_give_the_line_to_the_nanosecond() {
        let burst = |from: u64, ahead: u64| -> Vec<Exchange> {
            (0..4)
                .map(|index| exchange(from + index * 100, 20, 20, ahead))
                .collect()
        };
        let mut questions = weigh(&burst(0, 1_000));
        questions.extend(weigh(&burst(1_000_000_000, 51_000)));
        let line = LikelyLine::through(&questions).expect("two bursts");
        let (drift, half) = line.drift();
        assert!((drift * 1e6 - 50.0).abs() < 1e-3, "{drift}");
        assert!(half * 1e6 < 1e-3, "{half}");
        let (ahead, half) = line.at(Instant(500_000_000));
        assert!((ahead - 26_000.0).abs() < 0.1, "{ahead}");
        assert!((half - RESOLUTION_NS).abs() < 0.1, "{half}");
    }

    #[test]
    fn a_slow_question_weighs_little() {
        let burst = [
            exchange(0, 20, 20, 0),
            exchange(100, 30, 30, 0),
            exchange(200, 40, 40, 0),
            exchange(300, 900, 20, 0),
        ];
        let weights: Vec<f64> = weigh(&burst).iter().map(|it| it.weight).collect();
        assert!(weights[0] > weights[1] && weights[1] > weights[2]);
        assert!(weights[3] < weights[0] / 100.0, "{weights:?}");
    }
}
