//! Makes levels consistent with each other: a longer allowed response time never has a lower load.

use results::{CurveLevel, LevelOutcome, Warning, WarningCode};
use stats::Estimate;
use units::{format_count, format_duration_ns};

use super::interpolation::sigma;

/// Bounds of the load of a level.
fn ends(level: &mut CurveLevel) -> Option<(&mut f64, &mut f64)> {
    match &mut level.outcome {
        LevelOutcome::Reached { load, .. } => Some((&mut load.low, &mut load.high)),
        LevelOutcome::Between { low, high } => Some((low, high)),
        LevelOutcome::Exceeded { .. } | LevelOutcome::NotReached { .. } => None,
    }
}

/// Combines the knowledge about all levels. If a level reliably has less load than a shorter one,
/// they contradict each other and all stay as measured.
pub(super) fn in_order(levels: &mut [CurveLevel]) -> Option<Warning> {
    let mut rising: Vec<&mut CurveLevel> = levels.iter_mut().collect();
    rising.sort_by_key(|level| level.level_ns);
    if let Some(warning) = contradiction(&mut rising) {
        return Some(warning);
    }
    let mut least = 0.0;
    for (low, _) in rising.iter_mut().filter_map(|level| ends(level)) {
        least = low.max(least);
        *low = least;
    }
    let mut most = f64::INFINITY;
    for (_, high) in rising.iter_mut().rev().filter_map(|level| ends(level)) {
        most = high.min(most);
        *high = most;
    }
    let loads = rising
        .iter_mut()
        .filter_map(|level| match &mut level.outcome {
            LevelOutcome::Reached { load, .. } => Some(load),
            _ => None,
        });
    not_falling(loads.collect());
    None
}

/// Pools falling values into weighted means: isotonic least squares (Ayer et al. 1955).
fn not_falling(loads: Vec<&mut Estimate>) {
    // Pools of neighbours: sum of weights, sum of weighted values, and count.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    let level = |pool: &(f64, f64, usize)| pool.1 / pool.0;
    for load in &loads {
        let weight = 1.0 / sigma(load).powi(2).max(f64::MIN_POSITIVE);
        let mut pool = (weight, weight * load.value, 1);
        while let Some(last) = pools.pop_if(|last| level(last) > level(&pool)) {
            pool = (pool.0 + last.0, pool.1 + last.1, pool.2 + last.2);
        }
        pools.push(pool);
    }
    let values = pools
        .iter()
        .flat_map(|pool| std::iter::repeat_n(level(pool), pool.2));
    for (load, value) in loads.into_iter().zip(values) {
        load.value = value.clamp(load.low, load.high);
    }
}

/// A level whose load is reliably below that of a shorter one.
fn contradiction(rising: &mut [&mut CurveLevel]) -> Option<Warning> {
    let mut most: Option<(f64, u64)> = None;
    for level in rising {
        let time = level.level_ns;
        let Some((low, high)) = ends(level) else {
            continue;
        };
        if let Some((load, shorter)) = most.filter(|(load, _)| *high < *load) {
            return Some(
                Warning::warn(
                    WarningCode::LevelsFall,
                    format!(
                        "at most {} IOPS at {}, but at least {} IOPS at {}. The storage changed \
                         between these points, or slows down past saturation.",
                        format_count(*high),
                        format_duration_ns(time as f64),
                        format_count(load),
                        format_duration_ns(shorter as f64),
                    ),
                )
                .advise("Rerun with more time for each level."),
            );
        }
        if most.is_none_or(|(load, _)| *low > load) {
            most = Some((*low, time));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(level_ns: u64, value: f64, low: f64, high: f64) -> CurveLevel {
        let load = Estimate {
            low,
            high,
            ..Estimate::exact(value, 1.0)
        };
        let outcome = LevelOutcome::Reached {
            load,
            clients: f64::NAN,
            is_precise: true,
        };
        CurveLevel {
            level_ns,
            outcome,
            open: None,
        }
    }

    fn loads(levels: &[CurveLevel]) -> Vec<(f64, f64, f64)> {
        let load = |level: &CurveLevel| match level.outcome {
            LevelOutcome::Reached { load, .. } => (load.low, load.value, load.high),
            LevelOutcome::Between { low, high } => (low, f64::NAN, high),
            _ => panic!("a load"),
        };
        levels.iter().map(load).collect()
    }

    /// Bug: 216/s at 10 ms and 178/s at 20 ms, both without a warning.
    #[test]
    fn a_level_that_surely_carries_less_is_doubted_and_stays_as_it_is() {
        let fall = [
            reached(10, 216.0, 206.0, 226.0),
            reached(20, 178.0, 164.0, 193.0),
        ];
        let mut levels = fall;
        let warning = in_order(&mut levels).expect("a doubt");
        assert_eq!(warning.code, WarningCode::LevelsFall);
        assert_eq!(loads(&levels), loads(&fall));
    }

    #[test]
    fn levels_that_fall_by_chance_are_one_and_bound_each_other() {
        let mut levels = [
            reached(20, 210.0, 200.0, 220.0),
            reached(10, 214.0, 204.0, 224.0),
            reached(40, 300.0, 290.0, 310.0),
        ];
        assert_eq!(in_order(&mut levels), None);
        let expected = [
            (204.0, 212.0, 220.0),
            (204.0, 212.0, 220.0),
            (290.0, 300.0, 310.0),
        ];
        assert_eq!(loads(&levels), expected);
    }

    /// Whatever is measured, loads do not fall and lie in their intervals, or there is a warning.
    #[test]
    fn levels_rise_or_are_doubted() {
        for seed in 0..2000_u64 {
            let mut state = seed;
            let mut unit = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695);
                (state >> 40) as f64 / (1_u64 << 24) as f64
            };
            let mut levels: Vec<CurveLevel> = (1..6)
                .map(|level_ns| {
                    let (value, half) = (100.0 + 40.0 * unit(), 60.0 * unit());
                    let mut level = reached(level_ns, value, value - half, value + half);
                    if unit() < 0.3 {
                        let (low, high) = (value - half, value + half);
                        level.outcome = LevelOutcome::Between { low, high };
                    }
                    level
                })
                .collect();
            if in_order(&mut levels).is_some() {
                continue;
            }
            let found = loads(&levels);
            for (low, value, high) in &found {
                assert!(
                    low <= high && (value.is_nan() || (low..=high).contains(&value)),
                    "{seed}: {found:?}"
                );
            }
            let values: Vec<f64> = found
                .iter()
                .map(|it| it.1)
                .filter(|it| !it.is_nan())
                .collect();
            assert!(values.is_sorted(), "{seed}: {values:?}");
            assert!(
                found.is_sorted_by(|a, b| a.0 <= b.0 && a.2 <= b.2),
                "{seed}: {found:?}"
            );
        }
    }
}
