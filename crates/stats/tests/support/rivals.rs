//! Rules that do not work, for showing that the acceptance test can tell.

use stats::{Slot, SlotStore, student_t};

use super::processes::Process;

/// RPT's rule of 1995: messages of 100 I/Os, two discarded, 8 collected, doubled until
/// `3 s / sqrt(n) <= r mean` with s of the single I/Os. Returns whether its interval covers.
pub fn rpt_covers(process: &Process, precision: f64, replication: u64) -> bool {
    let mut series = process.start(replication);
    (0..200).for_each(|_| {
        series.next_time();
    });
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut wanted = 800.0;
    loop {
        while n < wanted {
            let time = series.next_time();
            (n, sum, squares) = (n + 1.0, sum + time, squares + time * time);
        }
        let mean: f64 = sum / n;
        let spread = (squares / n - mean * mean).max(0.0).sqrt();
        let half_width = 3.0 * spread / n.sqrt();
        if half_width <= precision * mean || n > 6.5e6 {
            return (mean - process.mean()).abs() <= half_width;
        }
        wanted *= 2.0;
    }
}

/// MSER-5 always, then overlapping batch means with 16 batches: a popular textbook pairing.
/// `samples_min` effective samples as for our rule. Returns the mean (ns) and its half-width
/// when precise.
pub fn mser_obm(store: &SlotStore, precision: f64, samples_min: f64) -> Option<(f64, f64)> {
    let slots = store.slots();
    let means: Vec<f64> = slots
        .iter()
        .map(|s| s.response.sum / s.completions as f64)
        .collect();
    let fives: Vec<f64> = means.chunks_exact(5).map(average).collect();
    let score = |d: usize| {
        let rest = &fives[d..];
        let centre = average(rest);
        rest.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
    };
    let cut = (0..=fives.len() / 2).min_by(|&a, &b| score(a).total_cmp(&score(b)))?;
    let used = &means[5 * cut..];
    let batch = used.len() / 16;
    let centre = average(used);
    let squares: f64 = used
        .windows(batch)
        .map(|w| (average(w) - centre).powi(2))
        .sum();
    let (n, m) = (used.len() as f64, batch as f64);
    let variance = m / (n - m) * squares / (n - m + 1.0);
    let half_width = student_t(0.975, 1.5 * (n / m - 1.0)) * variance.sqrt();
    let all: (f64, f64) = slots[5 * cut..]
        .iter()
        .fold((0.0, 0.0), |(q, c), slot: &Slot| {
            (q + slot.response.sum_squares, c + slot.completions as f64)
        });
    let samples = (all.0 / all.1 - centre * centre) / variance;
    let is_done = half_width <= precision * centre && samples >= samples_min;
    is_done.then_some((centre, half_width))
}

fn average(series: &[f64]) -> f64 {
    series.iter().sum::<f64>() / series.len() as f64
}
