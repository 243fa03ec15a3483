//! Doubts and observations about a trial, each with advice.
//!
//! Thresholds: section 5 of the statistics notes, "warnings". They are heuristics: a finding is
//! worth a look, its absence proves nothing.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::format_duration_ns;

use crate::change::{FAR, RELEVANT_STEP, SeriesChange, change, robust_deviation};
use crate::cut::steady_from;
use crate::drift::Z_BOUND;
use crate::estimate::{Estimate, SHARE};
use crate::evaluation::Evaluation;
use crate::gaps::{Silence, Stalls};
use crate::modes::valley;
use crate::quantile::PooledValues;
use crate::slot::Slot;
use crate::store::SlotStore;
use crate::swing::swinging;
use crate::tail_index::heavy_tail;
use crate::variance::{autocovariance, centred, long_run_variance, mean, mean_interval};
use crate::window::{Channel, Window, means_of_busy_slots, slot_counts};

/// Slots above this many medians belong to a rare episode.
const RARE_MEDIANS: f64 = 2.0;
/// Fewer episodes than this do not give a stable mean.
const EPISODES_MIN: usize = 10;
/// Shortest period, in slots, that is called an oscillation, and the autocorrelation it needs.
const PERIOD_MIN: usize = 9;
const RETURN_MIN: f64 = 0.3;
/// ... and the first return as high as this, beside the highest, is one period behind.
const RETURN_PART: f64 = 0.4;
/// Share of the response time beyond which the generator's own lateness matters.
const LATENESS_MAX: f64 = 0.05;
/// Share of the clients' time that may be unaccounted for.
const UNACCOUNTED_MAX: f64 = 0.02;
/// Share of the spread above which one operation among so many tells of a heavy tail: of 400
/// exponential times, the longest makes up 5 % on average.
const OUTLIER_SPREAD: f64 = 0.25;
const OUTLIER_COMPLETIONS: f64 = 400.0;
/// One that makes up less of the sum moves no figure that is shown, whatever of the spread it is.
const OUTLIER_SUM: f64 = 5e-4;
/// So many stalls may be what a step led to.
const STALLS_OF_STEP: u64 = 8;
/// Stalls of which none is longer than the shortest by more than this factor have one length.
const ALIKE: f64 = 1.1;
/// Standard errors by which a warm-up must differ from the rest to be reported.
const CUT_ERRORS: f64 = 3.0;

/// Something a reader of the result should know.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Finding {
    /// A few slow episodes make up much of the mean.
    Rare {
        /// Share of the mean above twice the median of the slots.
        share: f64,
        /// Number of such episodes.
        episodes: usize,
    },
    /// Two modes at least an octave apart.
    Bimodal {
        /// Mean time of the fast and of the slow mode, ns.
        modes: [f64; 2],
        /// Share of the completions in the slow mode.
        weight: Estimate,
    },
    /// The time rises and falls regularly.
    Oscillation {
        /// Time from crest to crest, ns.
        period_ns: u64,
    },
    /// The mean moves over the trial.
    Drifting {
        /// Change over the trial, relative to the mean.
        total: f64,
        /// The drift is at most this, with 95 % confidence.
        bound: f64,
    },
    /// The time went from one level to another.
    Shifted {
        /// Mean time before, ns.
        before_ns: f64,
        /// Mean time after, ns.
        after_ns: f64,
        /// When, from the start of the trial, ns.
        at_ns: u64,
    },
    /// The level rose and fell, too slowly for a period to be proven.
    Swinging {
        /// Mean time where it was lowest, ns.
        low_ns: f64,
        /// Mean time where it was highest, ns.
        high_ns: f64,
        /// Time from crest to crest, ns, if it looks like a wave.
        period_ns: Option<u64>,
    },
    /// Nothing completed for a while, although something was due.
    Stalled(Stalls),
    /// What was left out as warm-up is not like the rest.
    CutDiffers {
        /// Mean time of what was left out, ns.
        before_ns: f64,
        /// Mean time of the rest, ns.
        after_ns: f64,
        /// How much was left out, ns.
        cut_ns: u64,
    },
    /// One operation took so long that the mean depends on whether it is there.
    Outlier {
        /// How long it took, ns.
        longest_ns: u64,
        /// Its share of the sum of all times.
        of_sum: f64,
        /// Its share of the sum of their squared deviations.
        of_spread: f64,
    },
    /// The times have no variance, so that no interval of the mean is right.
    HeavyTail {
        /// With this exponent the share of longer times falls.
        exponent: f64,
    },
    /// Random arrivals wait so long behind long services that their times have no variance.
    HeavyServices,
    /// The generator issued requests late that were due and had room.
    Late {
        /// Mean lateness over mean response time.
        share: f64,
    },
    /// Clients' time that is neither response nor think time.
    Unaccounted {
        /// `1 - X (R + Z) / N`, the residual of the interactive response time law.
        residual: f64,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Rare { share, episodes } => write!(
                f,
                "{:.0} % of the mean comes from slow episodes ({episodes}). Run longer, or use \
                 the median.",
                share * 100.0
            ),
            Self::Bimodal {
                modes: [fast, slow],
                weight,
            } => fmt_bimodal(f, fast, slow, &weight),
            Self::Oscillation { period_ns } => write!(
                f,
                "latency spikes every {}. Look for periodic flushes or jobs.",
                format_duration_ns(period_ns as f64)
            ),
            Self::Drifting { total, bound } => fmt_drift(f, total, bound),
            Self::Shifted {
                before_ns,
                after_ns,
                at_ns,
            } => write!(
                f,
                "latency changed from {} to {} after {}",
                format_duration_ns(before_ns),
                format_duration_ns(after_ns),
                format_duration_ns(at_ns as f64)
            ),
            Self::Swinging {
                low_ns,
                high_ns,
                period_ns,
            } => fmt_swing(f, low_ns, high_ns, period_ns),
            Self::Stalled(stalls) => fmt_stalled(f, stalls),
            Self::CutDiffers {
                before_ns,
                after_ns,
                cut_ns,
            } => fmt_cut(f, before_ns, after_ns, cut_ns),
            Self::Outlier {
                longest_ns,
                of_spread,
                ..
            } => write!(
                f,
                "one {} outlier accounts for {:.0} % of the variance. Run longer, or use \
                 percentiles.",
                format_duration_ns(longest_ns as f64),
                of_spread * 100.0
            ),
            Self::HeavyTail { .. } => {
                f.write_str("a few very slow I/Os dominate the mean. Use percentiles instead.")
            }
            Self::HeavyServices => f.write_str(HEAVY_SERVICES),
            Self::Late { share } => write!(
                f,
                "Seekstone issued operations late, by {:.0} % of the latency. Use fewer clients, \
                 more workers or a quieter machine.",
                share * 100.0
            ),
            Self::Unaccounted { residual } => write!(
                f,
                "{:.1} % of the clients' time is unaccounted for, so throughput reads too low.",
                residual * 100.0
            ),
        }
    }
}

const HEAVY_SERVICES: &str =
    "rare slow I/Os dominate the wait in the queue, and with it the mean. Use percentiles instead.";

fn fmt_drift(f: &mut fmt::Formatter<'_>, total: f64, bound: f64) -> fmt::Result {
    f.write_str(&moved(total))?;
    if bound <= 1.0 {
        let most = of_start(bound.copysign(total)).abs() * 100.0;
        write!(f, " ({most:.1} % at most)")?;
    }
    f.write_str(". Precondition the target, or run longer.")
}

/// How far the latency moved from where it began, given its drift over its mean. Beyond that a
/// percentage is meaningless.
pub fn moved(total: f64) -> String {
    match of_start(total) * 100.0 {
        _ if total > 1.0 => "latency rose by more than its mean".to_owned(),
        _ if total < -1.0 => "latency fell by more than its mean".to_owned(),
        percent if percent < 0.0 => format!("latency fell {:.1} %", -percent),
        percent => format!("latency rose {percent:.1} %"),
    }
}

/// A change over the mean as one of the start: a line from 1 to 2 rises by two thirds of its mean.
fn of_start(total: f64) -> f64 {
    total / (1.0 - total / 2.0)
}

fn fmt_stalled(f: &mut fmt::Formatter<'_>, stalls: Stalls) -> fmt::Result {
    let Stalls {
        count,
        longest_ns,
        shortest_ns,
        period_ns,
    } = stalls;
    let [shortest, longest] = [shortest_ns, longest_ns].map(|it| format_duration_ns(it as f64));
    let is_alike = longest_ns as f64 <= ALIKE * shortest_ns as f64;
    match count {
        0 | 1 => write!(f, "I/O stalled for {longest}")?,
        _ if is_alike => write!(f, "{count} I/O stalls of {longest}")?,
        _ => write!(f, "{count} I/O stalls of {shortest} to {longest}")?,
    }
    if let Some(period_ns) = period_ns {
        write!(f, ", every {}", format_duration_ns(period_ns as f64))?;
    }
    f.write_str(". Check dmesg and other processes.")
}

fn fmt_swing(f: &mut fmt::Formatter<'_>, low: f64, high: f64, period: Option<u64>) -> fmt::Result {
    let (low, high) = (format_duration_ns(low), format_duration_ns(high));
    write!(f, "latency moved between {low} and {high}")?;
    if let Some(period) = period {
        let period = format_duration_ns(period as f64);
        write!(f, " with a period of {period}")?;
    }
    f.write_str(". Run for many such periods.")
}

fn fmt_cut(f: &mut fmt::Formatter<'_>, before: f64, after: f64, cut_ns: u64) -> fmt::Result {
    write!(
        f,
        "the first {} were discarded as warm-up (mean {} there, {} after it)",
        format_duration_ns(cut_ns as f64),
        format_duration_ns(before),
        format_duration_ns(after)
    )
}

fn fmt_bimodal(f: &mut fmt::Formatter<'_>, fast: f64, slow: f64, weight: &Estimate) -> fmt::Result {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let interval = match (percent(weight.low), percent(weight.high)) {
        (low, high) if low == high => String::new(),
        (low, high) => format!(" ({low} to {high} %)"),
    };
    write!(
        f,
        "latency is bimodal, {} % near {} and {} %{interval} near {}. The mean describes neither.",
        percent(1.0 - weight.value),
        format_duration_ns(fast),
        percent(weight.value),
        format_duration_ns(slow),
    )
}

/// All findings about the window of `evaluation`; `precision` is the relative half-width wanted.
pub fn findings(
    store: &SlotStore,
    channel: Channel,
    evaluation: &Evaluation,
    precision: f64,
) -> Vec<Finding> {
    let Some(window) = Window::new(store, channel, evaluation.cut.slots..store.len()) else {
        return Vec::new();
    };
    let slots = &store.slots()[window.slots.clone()];
    let changing = changing(store, channel);
    let oscillation = oscillation(&window, store.stalls(Silence::default()));
    let is_explained = changing.is_some() || oscillation.is_some();
    [
        changing,
        rare(slots, channel, precision),
        bimodal(store, channel, &window),
        oscillation,
        (!is_explained).then(|| swinging(store, channel)).flatten(),
        outlier(slots, channel, evaluation, precision),
        heavy_tail(&PooledValues::of(store, channel, &window).bins)
            .map(|exponent| Finding::HeavyTail { exponent }),
        store.has_heavy_services().then_some(Finding::HeavyServices),
        store
            .warm_up_slots()
            .is_none()
            .then(|| cut_differs(store, channel, evaluation.cut.slots, &window))
            .flatten(),
        late(slots),
        unaccounted(slots, store.clients(), &window),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// How the level changed over the whole trial, warm-up included.
fn changing(store: &SlotStore, channel: Channel) -> Option<Finding> {
    let first = steady_from(store).min(store.len());
    let slots = &store.slots()[first..];
    let tally = |slot: &Slot| (channel.tally(slot).count as f64, channel.tally(slot).sum);
    let (places, means) = means_of_busy_slots(store, channel, first);
    let at = match change(&means) {
        Some(SeriesChange::Line { total, error }) => {
            let bound = total.abs() + Z_BOUND * error;
            return Some(Finding::Drifting { total, bound });
        }
        Some(SeriesChange::Step { at }) => places[at] - first,
        None => step_of_counts(store, &slot_counts(store, channel)[first..])?,
    };
    let mean = |slots: &[Slot]| {
        let sums = slots.iter().map(tally);
        let (count, sum) = sums.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        (count > 0.0).then(|| sum / count)
    };
    let (before_ns, after_ns) = (mean(&slots[..at])?, mean(&slots[at..])?);
    let is_relevant = (after_ns - before_ns).abs() > RELEVANT_STEP * before_ns;
    is_relevant.then_some(Finding::Shifted {
        before_ns,
        after_ns,
        at_ns: store.width().saturating_mul((first + at) as u64),
    })
}

/// Pauses in which nothing completes show in what completes, not in most times: a step to many of
/// them is one, and a few are stalls.
fn step_of_counts(store: &SlotStore, counts: &[f64]) -> Option<usize> {
    let is_few = |stalls: Stalls| stalls.count < STALLS_OF_STEP;
    match change(counts) {
        Some(SeriesChange::Step { at })
            if !store.stalls(Silence::default()).is_some_and(is_few) =>
        {
            Some(at)
        }
        _ => None,
    }
}

fn rare(slots: &[Slot], channel: Channel, precision: f64) -> Option<Finding> {
    let tallies = || slots.iter().map(|slot| channel.tally(slot));
    let mean_of = |count: u64, sum: f64| if count > 0 { sum / count as f64 } else { 0.0 };
    let means: Vec<f64> = tallies()
        .map(|tally| mean_of(tally.count, tally.sum))
        .collect();
    let mut sorted: Vec<f64> = tallies()
        .filter(|tally| tally.count > 0)
        .map(|t| mean_of(t.count, t.sum))
        .collect();
    sorted.sort_by(f64::total_cmp);
    let median = *sorted.get(sorted.len() / 2)?;
    // Slots that hold little vary by themselves.
    let slow_from = (RARE_MEDIANS * median).max(median + FAR * robust_deviation(&sorted, median));
    let is_slow = |mean: f64| mean > slow_from;
    let total: f64 = tallies().map(|tally| tally.sum).sum();
    let excess: f64 = tallies()
        .zip(&means)
        .filter(|&(_, &mean)| is_slow(mean))
        .map(|(tally, _)| tally.sum - median * tally.count as f64)
        .sum();
    let share = if total > 0.0 { excess / total } else { 0.0 };
    let is_rare = episodes_above(&means, RARE_MEDIANS * median) < EPISODES_MIN;
    let episodes = episodes_above(&means, slow_from);
    (share > precision && is_rare).then_some(Finding::Rare { share, episodes })
}

/// How often the series rises above a level.
fn episodes_above(means: &[f64], level: f64) -> usize {
    let runs = means.chunk_by(|a, b| (*a > level) == (*b > level));
    runs.filter(|run| run[0] > level).count()
}

fn bimodal(store: &SlotStore, channel: Channel, window: &Window) -> Option<Finding> {
    let bins = PooledValues::of(store, channel, window).bins;
    let valley = valley(&bins)?;
    let total = bins.total() as f64;
    let below = bins.count_below(valley);
    let mass = |is_fast: bool| {
        bins.iter()
            .map(|(bin, count)| {
                let low = crate::LogBins::lower_edge(bin) as f64;
                let middle = (low + crate::LogBins::upper_edge(bin) as f64) / 2.0;
                if (middle < valley) == is_fast {
                    middle * count as f64
                } else {
                    0.0
                }
            })
            .sum::<f64>()
    };
    let modes = [mass(true) / below, mass(false) / (total - below)];
    let share = 1.0 - below / total;
    // Sticky modes make the weight far less certain than its count suggests.
    let series = window.share_influence(store, channel, share, |tally| {
        tally.count as f64 - tally.bins.count_below(valley)
    });
    Some(Finding::Bimodal {
        modes,
        weight: mean_interval(&series).within(&SHARE),
    })
}

/// A period: the autocorrelation falls, returns above 0.3 and above its noise, and returns again
/// after two periods. The second return tells a period from two accidental bursts. It returns after
/// every further period, too, and higher where a period is no whole number of slots: the first high
/// return counts.
fn oscillation(window: &Window, stalls: Option<Stalls>) -> Option<Finding> {
    let series = centred(&window.response_influence);
    let own = autocovariance(&series, 0);
    let centre = mean(&window.response_influence);
    if own <= 1e-24 * centre * centre {
        return None;
    }
    let lags = series.len() / 2;
    let correlation: Vec<f64> = (0..=lags)
        .map(|lag| autocovariance(&series, lag) / own)
        .collect();
    let fall = correlation.iter().position(|&r| r <= 0.0)?;
    let persistence: f64 = correlation[1..fall.max(1)].iter().map(|r| r * r).sum();
    // Bartlett's standard error of an autocorrelation beyond the reach of the persistence.
    let noise = ((1.0 + 2.0 * persistence) / series.len() as f64).sqrt();
    let period = first_return(&correlation[..=lags / 2], fall)?;
    let peak = correlation[period];
    let slack = (period / 8).max(2);
    let (twice, again) = highest(&correlation, 2 * period - slack, 2 * period + slack)?;
    let is_periodic =
        period >= PERIOD_MIN && peak > RETURN_MIN.max(3.0 * noise) && again > 0.5 * peak;
    let period_ns = window.width_ns.saturating_mul(twice as u64) / 2;
    // Stalls that come several times in a slot beat with the slots.
    let is_beat =
        stalls.is_some_and(|it| it.count.saturating_mul(period_ns) > 2 * window.duration_ns());
    (is_periodic && !is_beat).then_some(Finding::Oscillation { period_ns })
}

/// The lag from `fall` on at which the autocorrelation is back for the first time, next to where it
/// is highest.
fn first_return(correlation: &[f64], fall: usize) -> Option<usize> {
    let (_, most) = highest(correlation, fall, correlation.len())?;
    let is_high = |lag: &usize| correlation[*lag] > RETURN_PART * most;
    let begin = (fall..correlation.len()).find(is_high)?;
    let high = (begin..correlation.len()).take_while(is_high).count();
    highest(correlation, begin, begin + high - 1).map(|(lag, _)| lag)
}

/// Where `correlation` is highest from the lag `first` to `last`, and how high.
fn highest(correlation: &[f64], first: usize, last: usize) -> Option<(usize, f64)> {
    let lags = first..(last + 1).min(correlation.len());
    lags.map(|lag| (lag, correlation[lag]))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The warm-up against the rest, in either direction: a device that slows down while it is measured
/// has no warm-up. The noise of the part that was cut is taken to be that of the rest, since its
/// own hides a trend.
fn cut_differs(
    store: &SlotStore,
    channel: Channel,
    cut: usize,
    window: &Window,
) -> Option<Finding> {
    let first = steady_from(store);
    let before = Window::new(store, channel, first..cut.max(first))?;
    let rest = long_run_variance(&window.response_influence).variance_of_mean;
    let parts = window.slots.len() as f64 / before.slots.len() as f64;
    let error = (rest * (1.0 + parts)).sqrt();
    let change = (window.mean_ns - before.mean_ns).abs();
    let is_other = change > CUT_ERRORS * error && change > RELEVANT_STEP * before.mean_ns;
    is_other.then_some(Finding::CutDiffers {
        before_ns: before.mean_ns,
        after_ns: window.mean_ns,
        cut_ns: before.duration_ns(),
    })
}

/// The longest operation against all: it alone may move the mean by a third of its half-width, or
/// of what was asked for; or it makes up so much of the spread that there may be no variance at
/// all, as of a distribution with a heavy tail.
fn outlier(
    slots: &[Slot],
    channel: Channel,
    evaluation: &Evaluation,
    precision: f64,
) -> Option<Finding> {
    let tallies = || slots.iter().map(|slot| channel.tally(slot));
    let count = tallies().map(|tally| tally.count).sum::<u64>() as f64;
    let sum: f64 = tallies().map(|tally| tally.sum).sum();
    let squares: f64 = tallies().map(|tally| tally.sum_squares).sum();
    let longest_ns = tallies().map(|tally| tally.max).max()?;
    let (longest, mean) = (longest_ns as f64, sum / count);
    let of_sum = longest / sum;
    // By how much it raises the mean: where all take nearly as long, each is a share of the sum.
    let raised = (longest - mean) / sum;
    let of_spread = (longest - mean).powi(2) / (squares - mean * sum);
    let width = evaluation.mean.relative_half_width().max(precision);
    let is_heavy = of_spread > OUTLIER_SPREAD && raised > OUTLIER_SUM;
    let is_reported = count >= OUTLIER_COMPLETIONS && (is_heavy || raised > width / 3.0);
    is_reported.then_some(Finding::Outlier {
        longest_ns,
        of_sum,
        of_spread,
    })
}

fn late(slots: &[Slot]) -> Option<Finding> {
    let lateness: f64 = slots.iter().map(|slot| slot.lateness_sum).sum();
    let response: f64 = slots.iter().map(|slot| slot.response.sum).sum();
    let share = lateness / response;
    (response > 0.0 && share > LATENESS_MAX).then_some(Finding::Late { share })
}

fn unaccounted(slots: &[Slot], clients: u32, window: &Window) -> Option<Finding> {
    let think_count: u64 = slots.iter().map(|slot| slot.think_count).sum();
    let completions: u64 = slots.iter().map(|slot| slot.response.count).sum();
    // Without a think time for nearly every completion the law does not apply.
    if clients == 0 || (think_count as f64) < 0.9 * completions as f64 {
        return None;
    }
    let response = slots.iter().map(|slot| slot.response.sum).sum::<f64>() / completions as f64;
    let think = slots.iter().map(|slot| slot.think_sum).sum::<f64>() / think_count as f64;
    let rate = completions as f64 * 1e9 / window.duration_ns() as f64;
    let residual = 1.0 - rate * (response + think) / 1e9 / f64::from(clients);
    // Requests cut off at the ends of the window blur the law for long response times.
    let blur = (response + think) / window.duration_ns() as f64;
    // Clients that do not all think have more operations than the law counts: none are lost.
    (residual > UNACCOUNTED_MAX + blur).then_some(Finding::Unaccounted { residual })
}
