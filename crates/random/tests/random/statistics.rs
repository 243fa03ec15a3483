//! The few statistics that judge a sample against a law.

/// Standard errors, or normal quantiles, at which a sample is called wrong: one sound sample in
/// about 16,000 (two-sided) would be.
pub const SIGMAS: f64 = 4.0;

/// Fails when the counts do not fit the probabilities, by Pearson's chi-square test. Cells that
/// expect fewer than ten are pooled with their neighbours.
#[track_caller]
pub fn check_chi_square(counts: &[u64], probabilities: &[f64], context: &str) {
    assert_eq!(counts.len(), probabilities.len(), "{context}");
    let draws = counts.iter().sum::<u64>() as f64;
    let total: f64 = probabilities.iter().sum();
    assert!(
        (total - 1.0).abs() < 1e-6,
        "{context}: the probabilities add up to {total}"
    );
    let mut cells = vec![(0.0, 0.0)];
    for (&count, &probability) in counts.iter().zip(probabilities) {
        let (observed, expected) = cells.last_mut().expect("there is always a cell");
        if *expected < 10.0 {
            *observed += count as f64;
            *expected += probability * draws;
        } else {
            cells.push((count as f64, probability * draws));
        }
    }
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.1 < 10.0) {
        let rest = cells.pop().expect("just seen");
        let last = cells.last_mut().expect("there were two");
        *last = (last.0 + rest.0, last.1 + rest.1);
    }
    let statistic: f64 = cells.iter().map(|(o, e)| (o - e).powi(2) / e).sum();
    let limit = chi_square_limit(cells.len() - 1);
    assert!(
        statistic <= limit,
        "{context}: chi-square {statistic:.1} is above {limit:.1}"
    );
}

/// Upper limit of a chi-square variable at [`SIGMAS`] (E. Wilson and M. Hilferty, 1931).
fn chi_square_limit(degrees: usize) -> f64 {
    if degrees == 0 {
        return 1e-9;
    }
    let degrees = degrees as f64;
    let spread = 2.0 / (9.0 * degrees);
    degrees * (1.0 - spread + SIGMAS * spread.sqrt()).powi(3)
}

/// Fails when a mean is further from its expectation than [`SIGMAS`] standard errors.
#[track_caller]
pub fn check_mean(values: &[f64], mean: f64, deviation: f64, context: &str) {
    let draws = values.len() as f64;
    let found = values.iter().sum::<f64>() / draws;
    let standard_error = deviation / draws.sqrt();
    let distance = (found - mean).abs() / standard_error;
    assert!(
        distance <= SIGMAS,
        "{context}: {found} is {distance:.1} sigma from {mean}"
    );
}
