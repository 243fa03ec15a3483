//! How wide the intervals of a trial are beside its errors, by load and length, and how many of
//! those without a sign hold the truth: what is too narrow must not pass as reliable.

#![allow(clippy::print_stdout, reason = "the table is a product of this test")]

use std::ops::RangeInclusive;

use results::Measurement;
use stats::{Goal, Verdict};

use crate::support::queues::{ConstantService, OpenQueue};
use crate::support::{Bench, Coverage, binomial_floor, of_seeds, poisson};

/// Random arrivals at a queue.
struct Load {
    name: &'static str,
    device: &'static str,
    /// Arrivals per second.
    rate: f64,
    /// The mean response time, milliseconds.
    mean_ms: f64,
}

/// How long a trial goes on.
#[derive(Clone, Copy, Debug)]
enum Length {
    Seconds(f64),
    /// Until mean and rate are known to 3 %.
    Precise,
}

fn markov(name: &'static str, device: &'static str, servers: u32, ms: f64, load: f64) -> Load {
    let queue = OpenQueue::at(servers, load, ms);
    Load {
        name,
        device,
        rate: 1e3 * queue.arrivals,
        mean_ms: queue.response_mean(),
    }
}

fn constant(load: f64) -> Load {
    Load {
        name: "M/D/1 .8",
        device: "sim:md1?time=1ms",
        rate: 1e3 * load,
        mean_ms: ConstantService { load }.response_mean(),
    }
}

/// Hits of 100 us and misses of 4 ms, one in five: Pollaczek and Khinchine.
fn skewed(load: f64) -> Load {
    let (mean, square) = (0.88, 2.0 * (0.8 * 0.01 + 0.2 * 16.0));
    Load {
        name: "M/H2/1 .7",
        device: "sim:cache?hit=100us&miss=4ms&hits=80%&run=1",
        rate: 1e3 * load / mean,
        mean_ms: mean + load / mean * square / (2.0 * (1.0 - load)),
    }
}

fn cases() -> [(Load, Length); 14] {
    use Length::{Precise, Seconds};
    let one = |name, load| markov(name, "sim:mm1?mean=1ms", 1, 1.0, load);
    let four = || markov("M/M/4 .9", "sim:mmc?mean=4ms&servers=4", 4, 4.0, 0.9);
    let eight = markov("M/M/8 .9", "sim:mmc?mean=8ms&servers=8", 8, 8.0, 0.9);
    let fast = markov("M/M/4 .8", "sim:mmc?mean=400us&servers=4", 4, 0.4, 0.8);
    [
        (one("M/M/1 .8", 0.8), Seconds(10.0)),
        (one("M/M/1 .8", 0.8), Seconds(30.0)),
        (one("M/M/1 .8", 0.8), Seconds(60.0)),
        (four(), Seconds(10.0)),
        (four(), Seconds(30.0)),
        (four(), Seconds(60.0)),
        (one("M/M/1 .95", 0.95), Seconds(30.0)),
        (one("M/M/1 .95", 0.95), Seconds(60.0)),
        (eight, Seconds(60.0)),
        (constant(0.8), Seconds(30.0)),
        (fast, Seconds(10.0)),
        (skewed(0.7), Seconds(30.0)),
        (one("M/M/1 .5", 0.5), Precise),
        (one("M/M/1 .8", 0.8), Precise),
    ]
}

/// Whether no sign says that the mean may be wrong.
fn is_unmarked(found: &Measurement) -> bool {
    match found.verdict {
        Verdict::Converged => true,
        Verdict::Budget { is_citable }
        | Verdict::Timed { is_citable }
        | Verdict::Short { is_citable } => is_citable,
        Verdict::NotStationary | Verdict::Correlated => false,
    }
}

/// The means of trials with a value, those of them without a sign, and the rates.
fn measured(load: &Load, length: Length, seeds: RangeInclusive<u64>) -> [Coverage; 3] {
    let (seconds, goal) = match length {
        Length::Seconds(seconds) => (seconds, None),
        Length::Precise => (600.0, Some(Goal::result(0.03))),
    };
    let bench = Bench::new(load.device, 1, poisson(load.rate), seconds)
        .depth(1 << 16)
        .goal(goal);
    let name = |what: &str| format!("{}, {length:?}, {what}", load.name);
    let mut all = ["mean", "mean without a sign", "rate"].map(|it| Coverage::of(name(it)));
    let numbers: Vec<u64> = seeds.clone().collect();
    for (found, seed) in of_seeds(seeds, |seed| bench.measure(seed))
        .iter()
        .zip(numbers)
    {
        let (mean, truth) = (&found.response.mean, 1e6 * load.mean_ms);
        all[0].add(mean, truth, seed);
        if is_unmarked(found) {
            all[1].add(mean, truth, seed);
        }
        all[2].add(&found.throughput, load.rate, seed);
    }
    all
}

/// Bug: intervals of trials at .9 load were 1.5 to 2 times as wide as their errors, since one burst
/// made the upper half of one several times as long; and of those without a sign half were wrong.
///
/// What has no sign and is wrong may be 5 % of all trials: of those without a sign it is more,
/// where few trials have none.
#[test]
#[ignore = "nightly: takes minutes"]
fn intervals_are_as_wide_as_their_errors() {
    let mut wrong = Vec::new();
    for (load, length) in cases() {
        let [mean, unmarked, rate] = measured(&load, length, 20_001..=20_100);
        let trials = mean.replications();
        println!("{mean}\n{unmarked}\n{rate}");
        let least = |share| binomial_floor(trials, share, 1e-3);
        let is_right = mean.hits() >= least(0.93)
            && rate.hits() >= least(0.93)
            && trials - (unmarked.replications() - unmarked.hits()) >= least(0.95)
            && (0.9..=1.4).contains(&mean.width())
            && (0.9..=1.3).contains(&rate.width());
        if !is_right {
            wrong.push(format!("{mean}; {unmarked}; {rate}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
