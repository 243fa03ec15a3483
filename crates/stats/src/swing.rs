//! Slow ups and downs: a level that swings fewer than four times within a trial, which is neither a
//! line nor a step, and too seldom for a period to be proven.
//!
//! The series is taken apart into cosines (DCT-II). Of a steady one, however correlated, the power
//! of the slowest is that of those next to them, as long as correlations are short against the
//! trial: their ratio is an F variable. A swing has nearly all of its power in the slowest.

use crate::change::{RELEVANT_STEP, clipped};
use crate::cut::steady_from;
use crate::findings::Finding;
use crate::store::SlotStore;
use crate::variance::mean;
use crate::window::{Channel, Window, means_of_busy_slots};

/// Fewest slots in which a swing is looked for.
const SLOTS_MIN: usize = 64;
/// Cosines of up to four periods, and as many for comparison, ...
const SLOWEST: usize = 8;
/// ... with these between them, into which a swing that is no whole number of cosines leaks.
const BETWEEN: usize = 2;
/// The F distribution of 8 and 8 degrees of freedom exceeds it once in 2000.
const RATIO_MIN: f64 = 14.6;
/// Periods in a trial that are tried, in steps, ...
const PERIODS: (f64, f64) = (1.0, 4.5);
const STEP: f64 = 0.05;
/// ... of which one is named that came so often, and explains so much of the slowest cosines.
const PERIODS_SEEN: f64 = 1.5;
const EXPLAINED: f64 = 0.8;
/// Parts of a trial whose levels are reported.
const SWING_PARTS: usize = 16;

/// A level that moved up and down over the whole trial, warm-up included.
pub(crate) fn swinging(store: &SlotStore, channel: Channel) -> Option<Finding> {
    let first = steady_from(store).min(store.len());
    let window = Window::new(store, channel, first..store.len())?;
    // Slots of a stall, in which nothing completed, have no level: to repeat that of the one before
    // would be a bump as long as the stall.
    let (places, means) = means_of_busy_slots(store, channel, first);
    // Of logarithms a queue that is slow now and then is no less regular than its storage.
    let logarithms: Vec<f64> = means.iter().map(|mean| mean.max(1.0).ln()).collect();
    let Swing { level, period } = swing(&logarithms)?;
    let edge = |part: usize| part * level.len() / SWING_PARTS;
    let parts = (0..SWING_PARTS).map(|part| edge(part)..edge(part + 1));
    let means = parts.filter_map(|part| {
        let slots = *places.get(part.start)?..places.get(part.end.checked_sub(1)?)? + 1;
        Some((
            mean(&level[part]),
            Window::new(store, channel, slots)?.mean_ns,
        ))
    });
    let means: Vec<(f64, f64)> = means.collect();
    let lowest = means.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let highest = means.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (low_ns, high_ns) = (lowest.1, highest.1);
    let slot_ns = window.duration_ns() as f64 / places.len() as f64;
    let period_ns = period.map(|slots| (slots * slot_ns) as u64);
    (high_ns - low_ns > RELEVANT_STEP * low_ns).then_some(Finding::Swinging {
        low_ns,
        high_ns,
        period_ns,
    })
}

/// A level that moved up and down.
#[derive(Debug)]
struct Swing {
    /// The level in each slot.
    level: Vec<f64>,
    /// Slots from crest to crest, if it is so regular.
    period: Option<f64>,
}

/// The swing in a series, if there is one.
fn swing(series: &[f64]) -> Option<Swing> {
    if series.len() < SLOTS_MIN {
        return None;
    }
    let clipped = clipped(series);
    let centre = mean(&clipped);
    let centred: Vec<f64> = clipped.iter().map(|x| x - centre).collect();
    let cosines: Vec<f64> = (1..=2 * SLOWEST + BETWEEN)
        .map(|j| cosine(&centred, j))
        .collect();
    let power = |part: &[f64]| part.iter().map(|a| a * a).sum::<f64>();
    let (slowest, next) = (&cosines[..SLOWEST], &cosines[SLOWEST + BETWEEN..]);
    // Rounding is no power.
    let noise = power(next).max(1e-24 * centre * centre * series.len() as f64);
    if power(slowest) <= RATIO_MIN * noise {
        return None;
    }
    let level = |slot: usize| {
        let parts = (1..).zip(slowest);
        centre
            + parts
                .map(|(j, a)| a * wave(series.len(), j, slot))
                .sum::<f64>()
    };
    Some(Swing {
        level: (0..series.len()).map(level).collect(),
        period: period(&centred, power(slowest)),
    })
}

/// The cosine of `j` half periods in `len` slots, of length one.
fn wave(len: usize, j: usize, slot: usize) -> f64 {
    let angle = std::f64::consts::PI * j as f64 * (slot as f64 + 0.5) / len as f64;
    (2.0 / len as f64).sqrt() * angle.cos()
}

fn cosine(centred: &[f64], j: usize) -> f64 {
    let terms = centred.iter().enumerate();
    terms.map(|(i, x)| x * wave(centred.len(), j, i)).sum()
}

/// The period of the one wave that explains most of `power`, slots.
fn period(centred: &[f64], power: f64) -> Option<f64> {
    let len = centred.len() as f64;
    let steps = ((PERIODS.1 - PERIODS.0) / STEP).round() as u32;
    let tried = (0..=steps).map(|step| PERIODS.0 + STEP * f64::from(step));
    let (periods, explained) = tried
        .map(|periods| (periods, explained_by(centred, periods)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (periods >= PERIODS_SEEN && explained > EXPLAINED * power).then_some(len / periods)
}

/// The sum of squares that a sine and a cosine of so many periods take away.
fn explained_by(centred: &[f64], periods: f64) -> f64 {
    let turn = std::f64::consts::TAU * periods / centred.len() as f64;
    let (mut ss, mut cc, mut sc, mut xs, mut xc) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (i, x) in centred.iter().enumerate() {
        let (sine, cosine) = (turn * i as f64).sin_cos();
        (ss, cc, sc) = (ss + sine * sine, cc + cosine * cosine, sc + sine * cosine);
        (xs, xc) = (xs + x * sine, xc + x * cosine);
    }
    (cc * xs * xs - 2.0 * sc * xs * xc + ss * xc * xc) / (ss * cc - sc * sc)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A level over the part of the trial that is over, with noise of a tenth of it.
    fn found(level: impl Fn(f64) -> f64) -> Option<Swing> {
        let noise = |i: usize| f64::from((i as u32).wrapping_mul(2_654_435_761) >> 16) / 65_536.0;
        let series: Vec<f64> = (0..300)
            .map(|i| level(i as f64 / 300.0) * (0.9 + 0.2 * noise(i)))
            .collect();
        swing(&series)
    }

    fn ends(swing: &Swing) -> (f64, f64) {
        let least = swing.level.iter().copied().fold(f64::INFINITY, f64::min);
        (least, swing.level.iter().copied().fold(0.0, f64::max))
    }

    #[test]
    fn waves_of_few_periods_are_found_with_their_levels_and_period() {
        for periods in [1.5, 2.4, 3.0, 3.7] {
            let wave = |u: f64| 1.0 + 0.5 * (u * periods * std::f64::consts::TAU).sin();
            let swing = found(wave).unwrap_or_else(|| panic!("{periods}"));
            let (low, high) = ends(&swing);
            assert!((0.4..0.65).contains(&low) && (1.35..1.6).contains(&high));
            let named = 300.0 / swing.period.unwrap_or_else(|| panic!("{periods}"));
            assert!((named / periods - 1.0).abs() < 0.1, "{periods}: {named}");
        }
    }

    #[test]
    fn bumps_are_found_and_neither_noise_nor_a_stall_is_one() {
        let bump = |u: f64, at: f64| (-((u - at) / 0.08).powi(2)).exp();
        let twice = found(|u| 1.0 + bump(u, 0.2) + 0.7 * bump(u, 0.65));
        assert!(twice.is_some());
        assert!(found(|_| 1.0).is_none());
        assert!(found(|u| if (0.3..0.304).contains(&u) { 50.0 } else { 1.0 }).is_none());
        assert!(swing(&[1.0 / 3.0; 100]).is_none() && swing(&[0.0; 100]).is_none());
    }
}
