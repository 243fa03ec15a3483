//! `steadystate`: a job ends when its rate or latency was stable for long enough, by fio's rule.
//!
//! In a window of samples, one per interval, the largest deviation from the mean, or the slope per
//! interval of the least-squares line, is compared with a limit; see `steadystate` in fio's
//! documentation. The rule ignores uncertainty: docs/fio.md explains the consequences.

use std::collections::VecDeque;

use units::Duration;

use crate::number::{KbBase, TimeUnit, size, time};

/// Maximum number of samples in a window.
const WINDOW_MAX: u64 = 1 << 20;

/// The figure that must be stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyFigure {
    /// Operations a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// Mean time from submission to completion, nanoseconds.
    Latency,
}

impl SteadyFigure {
    /// fio's word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Bandwidth => "bw",
            Self::Latency => "lat",
        }
    }
}

/// Criterion of steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyCriterion {
    /// The figure.
    pub figure: SteadyFigure,
    /// Whether the slope of the line is compared, rather than the largest deviation.
    pub is_slope: bool,
    /// Limit.
    pub limit: f64,
    /// Whether the limit is a percentage of the mean.
    pub is_percent: bool,
}

/// All options of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    /// fio's default if not given.
    pub criterion: SteadyCriterion,
    /// Length of the window; zero switches it off.
    pub duration: Duration,
    /// Time left out at the job's start.
    pub ramp: Duration,
    /// Time between samples.
    pub interval: Duration,
}

impl SteadyState {
    /// fio's defaults: off.
    pub(crate) const OFF: Self = Self {
        criterion: SteadyCriterion {
            figure: SteadyFigure::Iops,
            is_slope: true,
            limit: 0.01,
            is_percent: true,
        },
        duration: Duration::ZERO,
        ramp: Duration::ZERO,
        interval: Duration::from_secs(1),
    };

    /// Whether it can end the job.
    pub fn is_on(&self) -> bool {
        self.duration > Duration::ZERO
    }

    /// Number of samples in a window.
    fn intervals(&self) -> u64 {
        self.duration.as_nanos() / self.interval.as_nanos().max(1)
    }

    /// The error in its times, if any.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let fits = (2..=WINDOW_MAX).contains(&self.intervals());
        (self.is_on() && !fits).then_some("ss_dur holds two intervals (ss_interval) at least")
    }
}

impl SteadyCriterion {
    /// Parses `steadystate=`.
    pub(crate) fn parse(text: &str, base: KbBase) -> Result<Self, String> {
        let (word, limit) = text
            .split_once(':')
            .ok_or("it needs a limit: write iops_slope:0.3%")?;
        let (figure, is_slope) = match word {
            "iops" => (SteadyFigure::Iops, false),
            "iops_slope" => (SteadyFigure::Iops, true),
            "bw" => (SteadyFigure::Bandwidth, false),
            "bw_slope" => (SteadyFigure::Bandwidth, true),
            "lat" => (SteadyFigure::Latency, false),
            "lat_slope" => (SteadyFigure::Latency, true),
            _ => {
                return Err(format!(
                    "{word:?} is none of iops, bw, lat, or one with _slope"
                ));
            }
        };
        let number = |text: &str| {
            let number = text.trim().parse::<f64>().ok();
            let number = number.filter(|number| number.is_finite() && *number > 0.0);
            number.ok_or_else(|| format!("{text:?} is no number above 0"))
        };
        let (limit, is_percent) = match (limit.strip_suffix('%'), figure) {
            (Some(percent), _) => (number(percent)?, true),
            (None, SteadyFigure::Iops) => (number(limit)?, false),
            (None, SteadyFigure::Bandwidth) => (size(limit, base)? as f64, false),
            (None, SteadyFigure::Latency) => {
                let limit = time(limit, TimeUnit::Microseconds)?;
                (limit.as_nanos() as f64, false)
            }
        };
        Ok(Self {
            figure,
            is_slope,
            limit,
            is_percent,
        })
    }

    /// Name in fio's output.
    fn name(&self) -> String {
        let word = self.figure.word();
        let slope = if self.is_slope { "_slope" } else { "" };
        format!("{word}{slope}:{:.6}{}", self.limit, self.unit())
    }

    const fn unit(&self) -> &'static str {
        if self.is_percent { "%" } else { "" }
    }
}

/// Totals up to some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SteadyTotals {
    pub operations: u64,
    pub bytes: u64,
    /// Total time from submission to completion, nanoseconds.
    pub nanos: f64,
}

/// Looks at a job while it runs.
#[derive(Clone, Debug)]
pub struct SteadyWatch {
    rule: SteadyState,
    /// The last samples: operations and bytes per second, mean time.
    window: VecDeque<[f64; 3]>,
    /// Time of the last sample from the job's start, with the totals by then.
    before: Option<(Duration, SteadyTotals)>,
    next: Duration,
    criterion: f64,
    is_attained: bool,
}

/// Result.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyReport {
    /// The criterion and its limit, as in fio.
    pub rule: String,
    /// Length of the window, seconds.
    pub seconds: u64,
    /// Whether it ended the job.
    pub is_attained: bool,
    /// The largest deviation or the slope, and its unit, `%` or empty.
    pub criterion: (f64, &'static str),
    /// The figure that was to be stable.
    pub figure: SteadyFigure,
    /// Whether it is the slope.
    pub is_slope: bool,
    /// The samples of the last window: operations and bytes a second, mean nanoseconds.
    pub samples: Vec<[f64; 3]>,
}

impl SteadyReport {
    /// Mean of a figure, by its place in a sample.
    pub(crate) fn mean(&self, at: usize) -> f64 {
        let sum: f64 = self.samples.iter().map(|sample| sample[at]).sum();
        sum / self.samples.len().max(1) as f64
    }
}

impl SteadyWatch {
    /// A watch with this rule.
    pub fn new(rule: SteadyState) -> Self {
        Self {
            rule,
            window: VecDeque::new(),
            before: None,
            next: rule.ramp,
            criterion: 0.0,
            is_attained: false,
        }
    }

    /// Whether a sample is due at that time from the job's start.
    pub fn is_due(&self, at: Duration) -> bool {
        !self.is_attained && at >= self.next
    }

    /// Adds the totals at that time. Returns whether the job is steady now.
    pub fn look(&mut self, at: Duration, totals: SteadyTotals) -> bool {
        let passed = at.saturating_sub(self.rule.ramp).as_nanos() / self.interval_nanos();
        self.next = self.rule.ramp + self.rule.interval * (passed + 1);
        let Some((then, before)) = self.before.replace((at, totals)) else {
            return false;
        };
        let seconds = at.saturating_sub(then).as_secs_f64().max(1e-9);
        let operations = totals.operations.saturating_sub(before.operations) as f64;
        self.window.push_back([
            operations / seconds,
            totals.bytes.saturating_sub(before.bytes) as f64 / seconds,
            (totals.nanos - before.nanos) / operations.max(1.0),
        ]);
        let wanted = self.rule.intervals() as usize;
        if self.window.len() > wanted {
            self.window.pop_front();
        }
        if self.window.len() == wanted {
            self.criterion = self.judge();
            self.is_attained = self.criterion.abs() < self.rule.criterion.limit;
        }
        self.is_attained
    }

    fn interval_nanos(&self) -> u64 {
        self.rule.interval.as_nanos().max(1)
    }

    /// The largest deviation from the mean, or the slope, of a full window.
    fn judge(&self) -> f64 {
        let criterion = self.rule.criterion;
        let values = self.window.iter().map(|it| it[criterion.figure as usize]);
        let count = self.window.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        let found = match criterion.is_slope {
            false => values.map(|value| (value - mean).abs()).fold(0.0, f64::max),
            true => {
                let middle = (count - 1.0) / 2.0;
                let across = |at: usize| at as f64 - middle;
                let products = values.enumerate().map(|(at, value)| across(at) * value);
                let squares = (0..self.window.len()).map(|at| across(at).powi(2));
                products.sum::<f64>() / squares.sum::<f64>()
            }
        };
        match criterion.is_percent {
            true if mean > 0.0 => found * 100.0 / mean,
            true => f64::INFINITY,
            false => found,
        }
    }

    /// The result.
    pub fn report(&self) -> SteadyReport {
        let criterion = self.rule.criterion;
        SteadyReport {
            rule: criterion.name(),
            seconds: self.rule.duration.as_nanos() / 1_000_000_000,
            is_attained: self.is_attained,
            criterion: (self.criterion, criterion.unit()),
            figure: criterion.figure,
            is_slope: criterion.is_slope,
            samples: self.window.iter().copied().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds until one sample per second is steady; `None` if not within 100.
    fn steady_after(rule: &str, seconds: u64, rate: impl Fn(u64) -> u64) -> Option<u64> {
        let criterion = SteadyCriterion::parse(rule, KbBase::Binary).expect("a rule");
        let mut watch = SteadyWatch::new(SteadyState {
            criterion,
            duration: Duration::from_secs(seconds),
            ramp: Duration::from_secs(5),
            ..SteadyState::OFF
        });
        let mut done = SteadyTotals::default();
        (0..=100).find(|&second| {
            let at = Duration::from_secs(second);
            done.operations += rate(second);
            done.bytes += rate(second) * 4096;
            watch.is_due(at) && watch.look(at, done)
        })
    }

    #[test]
    fn an_even_rate_is_steady_once_the_window_is_full() {
        for rule in [
            "iops:1%",
            "iops:10",
            "bw:4k",
            "bw_slope:0.1%",
            "iops_slope:0.01",
        ] {
            assert_eq!(steady_after(rule, 10, |_| 1000), Some(15), "{rule}");
        }
    }

    /// Falls from 2000 by 20 per second to 1000 at 50 s, constant from there on.
    #[test]
    fn a_fall_is_steady_when_it_is_over() {
        let rate = |second: u64| 2000 - 20 * second.min(50);
        assert_eq!(steady_after("iops_slope:0.1%", 10, rate), Some(59));
        assert_eq!(steady_after("iops:0.5%", 10, rate), Some(59));
        // The line falls by 20 per second, which is below 2 % of the mean for means above 1000.
        assert_eq!(steady_after("iops_slope:2%", 10, rate), Some(15));
    }

    #[test]
    fn a_rate_that_jumps_is_never_steady() {
        let rate = |second: u64| 1000 + second % 2 * 500;
        assert_eq!(steady_after("iops:10%", 10, rate), None);
        assert_eq!(steady_after("iops:1%", 10, |_| 0), None);
    }

    #[test]
    fn what_is_no_criterion_is_said() {
        for text in ["iops", "mood:1%", "iops:x", "bw:-1%", "lat:1parsec"] {
            assert!(
                SteadyCriterion::parse(text, KbBase::Binary).is_err(),
                "{text}"
            );
        }
    }
}
