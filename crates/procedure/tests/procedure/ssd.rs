//! Two rules for steady state on series whose truth is known: where the letter of SSS PTS misleads,
//! and what the trend says there. The rates are those of docs/ssd.md.

use procedure::{pts_window, round_trend};
use random::{Purpose, Stream};
use stats::DriftVerdict;

/// Series of each kind: a share of them has a standard error of 3 % at most.
const SERIES: u64 = 300;
/// Rounds after which the standard gives up.
const ROUNDS: usize = 25;
const LIMIT: f64 = 0.10;

/// What each rule said of many series, as shares.
#[derive(Clone, Copy, Debug)]
struct Rates {
    /// The standard was met within the rounds, and at once.
    met: f64,
    met_at_once: f64,
    /// The mean of its window over the truth, where it was met.
    met_over_truth: f64,
    /// The trend was steady in two rounds in a row.
    steady: f64,
    /// Its mean over the truth, where it was.
    steady_over_truth: f64,
    /// The round of that.
    steady_round: f64,
    /// A change was certain at the end.
    drifting: f64,
}

fn normal(stream: &mut Stream) -> f64 {
    let mut uniform = || (stream.below(1 << 52) as f64 + 0.5) / (1_u64 << 52) as f64;
    let (one, other) = (uniform(), uniform());
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// Rounds of that level with normal noise of that coefficient of variation; `truth` is what the
/// figure should be where a rule ends at that round.
fn rates(
    noise: f64,
    rounds: usize,
    level: impl Fn(f64) -> f64,
    truth: impl Fn(f64) -> f64,
) -> Rates {
    let (mut met, mut at_once, mut met_off) = (0.0, 0.0, 0.0);
    let (mut steady, mut steady_off, mut steady_rounds, mut drifting) = (0.0, 0.0, 0.0, 0.0);
    for number in 0..SERIES {
        let mut stream = Stream::new(1, number, Purpose::Load);
        let values: Vec<f64> = (1..=rounds)
            .map(|round| level(round as f64) * (1.0 + noise * normal(&mut stream)))
            .collect();
        let mut windows = (5..=rounds).filter_map(|round| pts_window(&values[..round], 1));
        if let Some(window) = windows.find(|window| window.is_met) {
            met += 1.0;
            at_once += f64::from(u8::from(window.last_round == 5));
            met_off += window.mean / truth(f64::from(window.last_round));
        }
        let mut was_steady = false;
        let mut last = None;
        for round in 8..=rounds {
            last = round_trend(&values[..round], LIMIT);
            let is_steady = last.is_some_and(|it| it.verdict == DriftVerdict::Steady);
            if let (true, true, Some(trend)) = (is_steady, was_steady, last) {
                steady += 1.0;
                steady_off += trend.mean.value / truth(round as f64);
                steady_rounds += round as f64;
                break;
            }
            was_steady = is_steady;
        }
        let is_drifting = last.is_some_and(|it| it.verdict == DriftVerdict::Drifting);
        drifting += f64::from(u8::from(is_drifting));
    }
    let all = SERIES as f64;
    Rates {
        met: met / all,
        met_at_once: at_once / all,
        met_over_truth: met_off / met,
        steady: steady / all,
        steady_over_truth: steady_off / steady,
        steady_round: steady_rounds / steady,
        drifting: drifting / all,
    }
}

fn is_near(found: f64, expected: f64, within: f64) {
    let off = (found - expected).abs();
    assert!(off <= within, "{found}, and not {expected} within {within}");
}

/// A level that only looks steady for five rounds: 2 % less each round, with 2 % noise, and 40 % of
/// it is gone by the end.
#[test]
fn the_standard_takes_a_slow_decay_for_steady_and_the_trend_does_not() {
    let decay = |share: f64| move |round: f64| f64::powf(1.0 - share, round);
    let two = rates(0.02, ROUNDS, decay(0.02), decay(0.02));
    is_near(two.met, 1.0, 0.01);
    is_near(two.met_at_once, 0.77, 0.08);
    assert!(two.steady <= 0.02 && two.drifting >= 0.95, "{two:?}");
    let three = rates(0.02, ROUNDS, decay(0.03), decay(0.03));
    is_near(three.met, 0.99, 0.02);
    is_near(three.met_over_truth, 1.06, 0.02);
    assert!(three.steady <= 0.01 && three.drifting >= 0.95, "{three:?}");
    let four = rates(0.02, ROUNDS, decay(0.04), decay(0.04));
    is_near(four.met, 0.11, 0.06);
    assert!(four.steady <= 0.01, "{four:?}");
    // What is lost by 1 % a round is within the limit for as long as the standard looks.
    let one = rates(0.02, ROUNDS, decay(0.01), decay(0.01));
    is_near(one.met_at_once, 1.0, 0.01);
    is_near(one.steady, 0.45, 0.1);
}

/// From four times the level, with a time constant of five and of eight rounds.
#[test]
fn the_standard_stops_on_the_way_down_and_the_trend_waits() {
    let approach = |tau: f64| move |round: f64| 1.0 + 3.0 * (-round / tau).exp();
    let five = rates(0.02, 100, approach(5.0), |_| 1.0);
    is_near(five.met_over_truth, 1.14, 0.02);
    assert!(five.steady >= 0.99, "{five:?}");
    is_near(five.steady_over_truth, 1.0, 0.03);
    is_near(five.steady_round, 39.0, 2.0);
    let eight = rates(0.02, 100, approach(8.0), |_| 1.0);
    is_near(eight.met_over_truth, 1.28, 0.04);
    is_near(eight.steady_over_truth, 1.0, 0.03);
}

/// Rounds that are noisy and go nowhere, as on shared storage.
#[test]
fn the_standard_refuses_noise_that_goes_nowhere() {
    let still = |noise, rounds| rates(noise, rounds, |_| 1.0, |_| 1.0);
    let quiet = still(0.02, ROUNDS);
    is_near(quiet.met_at_once, 1.0, 0.01);
    assert!(quiet.steady >= 0.99, "{quiet:?}");
    is_near(still(0.10, ROUNDS).met_at_once, 0.30, 0.08);
    is_near(still(0.15, ROUNDS).met, 0.69, 0.08);
    let loud = still(0.20, ROUNDS);
    is_near(loud.met, 0.37, 0.08);
    // 25 rounds do not tell 20 % of noise from a trend of 10 %; 200 rounds tell a half of it.
    assert!(loud.steady <= 0.05 && loud.drifting <= 0.03, "{loud:?}");
    let longer = still(0.10, 200);
    assert!(
        longer.steady >= 0.95 && longer.drifting <= 0.03,
        "{longer:?}"
    );
}

/// Up and down: a window at the top of a wave is flat. Neither rule knows of a wave that is slower
/// than the rounds that it has seen; docs/ssd.md says so.
#[test]
fn waves_fool_the_standard_and_slow_ones_the_trend() {
    let wave = |amplitude: f64, period: f64| {
        move |round: f64| 1.0 + amplitude * (std::f64::consts::TAU * round / period).sin()
    };
    let slow = rates(0.01, 100, wave(0.2, 40.0), |_| 1.0);
    assert!(slow.met >= 0.99, "{slow:?}");
    is_near(slow.met_over_truth, 1.11, 0.03);
    is_near(slow.steady, 0.83, 0.08);
    is_near(slow.steady_over_truth, 1.19, 0.03);
    let middle = rates(0.01, 100, wave(0.1, 20.0), |_| 1.0);
    is_near(middle.met_over_truth, 1.07, 0.02);
    assert!(
        middle.met_at_once >= 0.99 && middle.steady <= 0.05,
        "{middle:?}"
    );
}

#[test]
fn a_window_is_judged_by_the_letter() {
    let check = |values: &[f64], stride: u32, expected: Option<(f64, f64, bool)>| {
        let found = pts_window(values, stride);
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        if let (Some(found), Some((range, excursion, is_met))) = (found, expected) {
            is_near(found.range, range, 1e-12);
            is_near(found.excursion, excursion, 1e-12);
            assert_eq!(found.is_met, is_met, "{found:?}");
        }
    };
    check(&[1.0; 4], 1, None);
    check(&[7.0; 5], 1, Some((0.0, 0.0, true)));
    // At both limits: 20 % apart, without a slope; and 10 % along a line.
    check(
        &[100.0, 90.0, 100.0, 110.0, 100.0],
        1,
        Some((0.2, 0.08, true)),
    );
    check(
        &[95.0, 97.5, 100.0, 102.5, 105.0],
        1,
        Some((0.1, 0.1, true)),
    );
    check(
        &[94.0, 97.0, 100.0, 103.0, 106.0],
        1,
        Some((0.12, 0.12, false)),
    );
    check(
        &[106.0, 103.0, 100.0, 97.0, 94.0],
        1,
        Some((0.12, -0.12, false)),
    );
    check(
        &[100.0, 89.0, 100.0, 111.0, 100.0],
        1,
        Some((0.22, 0.088, false)),
    );
    // Only every second round is looked at.
    let apart = [1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 1.0];
    check(&apart, 2, Some((0.0, 0.0, true)));
    check(&apart[1..], 2, None);
    check(&apart, 1, Some((8.0 / 4.2, 0.0, false)));
}

/// Whatever the rounds say of themselves, fewer than eight say nothing together.
#[test]
fn a_trend_needs_eight_rounds_and_covers_the_last_half_of_many() {
    let values = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.0];
    assert!(round_trend(&values[1..], LIMIT).is_none());
    let check = |rounds: usize, first: u32| {
        let values: Vec<f64> = values.iter().copied().cycle().take(rounds).collect();
        let trend = round_trend(&values, LIMIT).expect("enough rounds");
        assert_eq!(trend.first_round, first, "{trend:?}");
        assert_eq!(trend.verdict, DriftVerdict::Steady, "{trend:?}");
        assert!(trend.bound > trend.total.abs());
    };
    check(8, 1);
    check(16, 9);
    check(40, 21);
    assert!(round_trend(&[0.0; 8], LIMIT).is_none());
}
