//! How precise is the trial, and may it stop: the stopping rule of section 5.

use serde::{Deserialize, Serialize};

use crate::cut::{Cut, find_cut};
use crate::drift::{Drift, is_steady_by_snia};
use crate::estimate::{Estimate, NOT_NEGATIVE};
use crate::findings::{Finding, findings};
use crate::goal::{
    Aim, CITABLE_OF_NEARLY_CONSTANT, CITABLE_SAMPLES, Goal, GoalKind, NEARLY_CONSTANT, Verdict,
};
use crate::quantile::{PercentileEstimate, is_reached, percentiles};
use crate::store::SlotStore;
use crate::variance::{
    LongRun, cautious_variance, group_means, interval_around, long_run_variance, mean,
};
use crate::window::{Channel, Window, slot_counts, slot_means};

/// Fewest slots from which anything is concluded.
const SLOTS_MIN: usize = 16;
/// Fewest completions from which anything is concluded.
const COMPLETIONS_MIN: u64 = 8;
/// Parts of a window whose levels are compared.
const PARTS: usize = 5;
/// Levels that differ by less than this many times the precision wanted are one value: that of a
/// drift that is called steady.
const NEAR: f64 = 4.0;
/// ... and by less than this, however little precision is wanted.
const NEAR_MAX: f64 = 0.12;
/// Think times for each completion from which clients are users.
const THINKING: f64 = 0.9;
/// The trial must be this many times longer than a time scale that it can resolve.
pub const RESOLVABLE: u64 = 30;

/// What the slots of a store say about one kind of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Which time this is about.
    pub channel: Channel,
    /// Mean time, ns.
    pub mean: Estimate,
    /// Completions per second.
    pub throughput: Estimate,
    /// Percentiles of the time, ns; empty unless asked for.
    pub percentiles: Vec<PercentileEstimate>,
    /// Effective number of independent completions behind the mean.
    pub ess: f64,
    /// Longest lag, in slots, at which times or counts were found correlated.
    pub lag: usize,
    /// How the trial stands.
    pub verdict: Verdict,
    /// Whether the goal is reached.
    pub is_converged: bool,
    /// What was left out as warm-up.
    pub cut: Cut,
    /// Trend of the mean time over the window.
    pub drift: Drift,
    /// Whether SNIA PTS would call the window steady.
    pub is_steady_by_snia: bool,
    /// Doubts and observations; empty unless asked for.
    pub findings: Vec<Finding>,
    /// Length of the window after the cut, ns.
    pub duration_ns: u64,
    /// Completions in the window.
    pub completions: u64,
}

impl Evaluation {
    /// The same, which is not converged before the percentile that is aimed at is known.
    fn held_to_percentile(self, store: &SlotStore, goal: &Goal, standing: &WindowQuality) -> Self {
        match goal.aim {
            Aim::Percentile(p) if self.is_converged && !is_reached(store, &self, goal, p) => Self {
                verdict: Verdict::Budget {
                    is_citable: standing.is_citable,
                },
                is_converged: false,
                ..self
            },
            _ => self,
        }
    }

    /// The series behind the estimates, for functions of mean and rate such as a load curve.
    pub fn window(&self, store: &SlotStore) -> Option<Window> {
        Window::new(store, self.channel, self.cut.slots..store.len())
    }
}

/// Evaluates the store against `goal`; tens of microseconds. `None` below 16 slots or 8
/// completions after the warm-up, from which nothing honest can be said.
pub fn evaluate(store: &SlotStore, channel: Channel, goal: &Goal) -> Option<Evaluation> {
    if store.len() < SLOTS_MIN.saturating_add(store.lead_in_slots()) {
        return None;
    }
    let cut = match goal.aim {
        Aim::TimeAndLoad | Aim::LoadAtTime(_) | Aim::Percentile(_) => {
            let whole = Window::new(store, channel, 0..store.len())?;
            let means = slot_means(store, channel);
            find_cut(store, &whole.response_influence, &means)
        }
        Aim::Load => {
            let counts = slot_counts(store, channel);
            find_cut(store, &counts, &counts)
        }
    };
    let window = Window::new(store, channel, cut.slots..store.len())?;
    if window.completions < COMPLETIONS_MIN {
        return None;
    }
    let spread = WindowEstimates::of(store, channel, &window, long_run_variance);
    let drift = Drift::of(&window, goal.precision);
    let standing = WindowQuality::of(store, goal, &window, &spread, &drift);
    let levels = PartLevels::of(&window);
    let verdict = match cut.is_settled {
        true => judge(&standing),
        false
            if goal.kind == GoalKind::Result
                && levels.are_near(goal.precision, users_think(store, &window)) =>
        {
            Verdict::Correlated
        }
        false => Verdict::NotStationary,
    };
    let lag = spread.lag(goal.aim);
    let spread = match verdict {
        // An estimate's interval is not a result: it must show on which side of a level it lies.
        Verdict::Correlated if goal.kind == GoalKind::Result => {
            let cautious = WindowEstimates::of(store, channel, &window, cautious_variance);
            match cut.is_settled {
                true => cautious,
                false => cautious.holding(&levels),
            }
        }
        _ => spread,
    };
    let found = Evaluation {
        channel,
        mean: Estimate {
            samples: spread.ess,
            ..spread.mean
        },
        throughput: spread.throughput,
        percentiles: Vec::new(),
        ess: spread.ess,
        lag,
        verdict,
        is_converged: verdict == Verdict::Converged,
        cut,
        drift,
        is_steady_by_snia: is_steady_by_snia(&window),
        findings: Vec::new(),
        duration_ns: window.duration_ns(),
        completions: window.completions,
    };
    Some(found.held_to_percentile(store, goal, &standing))
}

/// As [`evaluate`], with percentiles `ps` (0 to 1) and findings: for the end of a trial.
pub fn evaluate_fully(
    store: &SlotStore,
    channel: Channel,
    goal: &Goal,
    ps: &[f64],
) -> Option<Evaluation> {
    let mut evaluation = evaluate(store, channel, goal)?;
    evaluation.percentiles = percentiles(store, channel, &evaluation, ps);
    evaluation.findings = findings(store, channel, &evaluation, goal.precision);
    Some(evaluation)
}

/// Whether nearly every completion had a think time before it.
fn users_think(store: &SlotStore, window: &Window) -> bool {
    let slots = &store.slots()[window.slots.clone()];
    let thought: u64 = slots.iter().map(|slot| slot.think_count).sum();
    thought as f64 > THINKING * window.completions as f64
}

/// Mean time and throughput of a window with their intervals.
struct WindowEstimates {
    mean: Estimate,
    throughput: Estimate,
    ess: f64,
    of_mean: LongRun,
    of_rate: LongRun,
}

impl WindowEstimates {
    /// Whether there are enough effective samples to quote the mean, fewer where the times hardly
    /// vary: their interval is narrow enough not to mislead were it several times as wide.
    fn is_citable(&self) -> bool {
        let is_narrow = |it: Estimate| it.relative_half_width() <= NEARLY_CONSTANT;
        let hardly_varies = is_narrow(self.mean) && is_narrow(self.throughput);
        let enough = match hardly_varies {
            true => CITABLE_OF_NEARLY_CONSTANT,
            false => CITABLE_SAMPLES,
        };
        self.ess >= enough
    }

    fn of(
        store: &SlotStore,
        channel: Channel,
        window: &Window,
        variance: impl Fn(&[f64]) -> LongRun,
    ) -> Self {
        let of_mean = variance(&window.response_influence);
        let of_rate = variance(&window.throughput);
        Self {
            mean: interval_around(window.mean_ns, &window.response_influence, &of_mean)
                .within(&NOT_NEGATIVE),
            throughput: interval_around(window.rate, &window.throughput, &of_rate)
                .within(&NOT_NEGATIVE),
            ess: effective_samples(store, channel, window, of_mean.variance_of_mean),
            of_mean,
            of_rate,
        }
    }

    /// The same with intervals that hold all of `levels`.
    const fn holding(mut self, levels: &PartLevels) -> Self {
        self.mean = holding(self.mean, levels.of_mean);
        self.throughput = holding(self.throughput, levels.of_rate);
        self
    }

    /// The longest lag at which what is wanted was found correlated.
    fn lag(&self, aim: Aim) -> usize {
        let (time, rate) = (self.of_mean.lag, self.of_rate.lag);
        match aim {
            Aim::Load => rate,
            Aim::TimeAndLoad | Aim::LoadAtTime(_) | Aim::Percentile(_) => time.max(rate),
        }
    }
}

/// The lowest and highest level of the parts of a window, over its mean. One that moves, but
/// hardly, has a value all the same: the interval that holds its levels says how far it is known.
struct PartLevels {
    of_mean: (f64, f64),
    of_rate: (f64, f64),
}

impl PartLevels {
    fn of(window: &Window) -> Self {
        let ends = |series: &[f64]| {
            let (levels, centre) = (group_means(series, PARTS), mean(series));
            let levels = || levels.iter().map(|level| level / centre);
            let least = levels().fold(f64::INFINITY, f64::min);
            (least, levels().fold(f64::NEG_INFINITY, f64::max))
        };
        Self {
            of_mean: ends(&window.response_influence),
            of_rate: ends(&window.throughput),
        }
    }

    /// Whether the levels are one value to who wants this precision. The rate of users who think
    /// varies by chance while their times are all alike.
    fn are_near(&self, precision: f64, think: bool) -> bool {
        let share = (NEAR * precision).min(NEAR_MAX);
        let is_near = |(low, high): (f64, f64)| high - low <= share * low;
        is_near(self.of_mean) && (think || is_near(self.of_rate))
    }
}

const fn holding(estimate: Estimate, (low, high): (f64, f64)) -> Estimate {
    Estimate {
        low: estimate.low.min(low * estimate.value),
        high: estimate.high.max(high * estimate.value),
        ..estimate
    }
}

/// `s^2 / var(mean)` of the single completions; all of them when nothing varies.
fn effective_samples(store: &SlotStore, channel: Channel, window: &Window, error: f64) -> f64 {
    let used = &store.slots()[window.slots.clone()];
    let squares: f64 = used
        .iter()
        .map(|slot| channel.tally(slot).sum_squares)
        .sum();
    let completions = window.completions as f64;
    let variance = squares / completions - window.mean_ns * window.mean_ns;
    if error > 0.0 {
        variance.max(0.0) / error
    } else {
        completions
    }
}

struct WindowQuality {
    is_resolved: bool,
    is_correlated: bool,
    is_long: bool,
    is_precise: bool,
    is_citable: bool,
}

impl WindowQuality {
    /// The quality of a window that is steady.
    fn of(
        store: &SlotStore,
        goal: &Goal,
        window: &Window,
        spread: &WindowEstimates,
        drift: &Drift,
    ) -> Self {
        let wanted_of_time = match goal.aim {
            Aim::TimeAndLoad | Aim::Percentile(_) => Some(goal.precision),
            Aim::LoadAtTime(precision) => Some(precision),
            Aim::Load => None,
        };
        // How precise a percentile is stands apart from the mean and the load.
        let of_percentile = matches!(goal.aim, Aim::Percentile(_));
        let is_time_precise = wanted_of_time.is_none_or(|precision| {
            let is_narrow = spread.mean.relative_half_width() <= precision;
            (is_narrow || of_percentile) && spread.ess >= goal.samples_min
        });
        let is_moving = wanted_of_time.is_some_and(|precision| drift.spoils(precision));
        let is_load_precise =
            of_percentile || spread.throughput.relative_half_width() <= goal.precision;
        let lags = goal.lag_factor as usize * (spread.lag(goal.aim) + 1);
        Self {
            is_resolved: window.slots.len() >= lags,
            is_correlated: wanted_of_time.is_some() && spread.of_mean.is_correlated
                || spread.of_rate.is_correlated,
            is_long: store.base_slots() >= u64::from(goal.slots_min)
                && store.width().saturating_mul(store.len() as u64) >= goal.duration_min_ns,
            is_precise: is_time_precise && !is_moving && is_load_precise,
            is_citable: (spread.is_citable() || goal.aim == Aim::Load)
                && goal.kind == GoalKind::Result,
        }
    }
}

fn judge(standing: &WindowQuality) -> Verdict {
    let is_citable = standing.is_citable;
    if !standing.is_resolved && standing.is_correlated {
        Verdict::Correlated
    } else if !standing.is_resolved {
        Verdict::Short { is_citable }
    } else if standing.is_long && standing.is_precise {
        Verdict::Converged
    } else {
        Verdict::Budget { is_citable }
    }
}
