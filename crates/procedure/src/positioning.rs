//! Positioning: opens files in random order and reads the first record of each.
//!
//! Source: KP3's performance tests, "DLT2000 SMFS Positioning Performance" (1995): a random
//! permutation of the files on a tape, so that each is opened once, and a histogram of the times in
//! bins of ten seconds. The order and the sums are the same for real files and for a model;
//! [`position`] is the measurement on a driver, where files are parts of one target.

use engine::{Driver, DriverError};
use random::{Purpose, Stream};
use stats::{Estimate, mean_interval};
use units::Duration;
use workload::{ClientId, Op, Request, TargetId};

/// Minimum number of rounds for the range of 95 % of them.
const ROUNDS_MIN: usize = 40;
/// The share of the rounds outside that range on either side.
const TAIL: f64 = 0.025;
/// Maximum number of bins, and the maximum created by default.
const BINS_MAX: u64 = 1000;
const BINS_USUAL: u64 = 12;

/// Settings of positioning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositioningPlan {
    /// Number of files, stored one after the other on the target.
    pub files: u32,
    pub file_bytes: u64,
    /// Bytes of the first record.
    pub record_bytes: u32,
    /// Bin width of the histogram; by default a round one that gives at most a dozen bins.
    pub bin: Option<Duration>,
    /// Seed of the orders.
    pub seed: u64,
}

/// The random order in which a round opens the files, each once.
pub fn positioning_order(files: u32, seed: u64, round: u32) -> Vec<u32> {
    let mut stream = Stream::new(seed, u64::from(round), Purpose::Order);
    let mut order: Vec<u32> = (0..files).collect();
    stream.shuffle(&mut order);
    order
}

/// Opens every file once, in the order of `round`, and returns the times in that order.
///
/// # Errors
/// If the driver fails, or a record cannot be read.
pub fn position<D: Driver>(
    driver: &mut D,
    plan: &PositioningPlan,
    round: u32,
) -> Result<Vec<Duration>, PositioningError> {
    let mut done = Vec::new();
    let mut times = Vec::new();
    for file in positioning_order(plan.files, plan.seed, round) {
        let op = Op::Read {
            target: TargetId(0),
            offset: u64::from(file) * plan.file_bytes,
            len: plan.record_bytes,
        };
        let begun = driver.now();
        driver.submit(Request::new(ClientId(0), begun, op))?;
        while done.is_empty() {
            driver.wait(None, &mut done)?;
        }
        for completion in done.drain(..) {
            if let Err(error) = completion.result {
                return Err(PositioningError::Read {
                    file,
                    code: error.0,
                });
            }
            times.push(completion.completed.since(begun));
        }
    }
    Ok(times)
}

/// Why the files could not all be opened.
#[derive(Debug, thiserror::Error)]
pub enum PositioningError {
    /// The driver failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A record could not be read.
    #[error("the first record of file {file} cannot be read: error number {code}")]
    Read {
        /// Number of the file, from zero.
        file: u32,
        /// errno value.
        code: i32,
    },
}

/// Summary of the times of all rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct PositioningFound {
    /// Mean time to the first record, over all rounds, nanoseconds.
    pub mean: Estimate,
    /// Range of the means of 95 % of the rounds, nanoseconds. Absent with too few rounds.
    pub one_round: Option<Estimate>,
    pub longest: Duration,
    /// Width of a bin.
    pub bin: Duration,
    /// Files per round by time: the mean over rounds, and the range of 95 % of the rounds. The
    /// first bin starts at zero.
    pub bins: Vec<Estimate>,
}

/// Summarises the times of all rounds. At least one time is required.
pub fn positioning_found(plan: &PositioningPlan, rounds: &[Vec<Duration>]) -> PositioningFound {
    let nanos = |round: &Vec<Duration>| -> Vec<f64> {
        round.iter().map(|time| time.as_nanos() as f64).collect()
    };
    let mean_of = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let means: Vec<f64> = rounds.iter().map(|round| mean_of(&nanos(round))).collect();
    let mean = match rounds {
        [only] => mean_of_some(&nanos(only)),
        // Each round starts with an idle device, so rounds are independent.
        _ => mean_of_some(&means),
    };
    let max_ns = rounds
        .iter()
        .flatten()
        .max()
        .map_or(0, |time| time.as_nanos());
    let bin_ns = plan
        .bin
        .map_or_else(|| round_bin(max_ns, BINS_USUAL), Duration::as_nanos)
        .max(1);
    let bins = (0..=max_ns / bin_ns).map(|bin| {
        let count = |round: &Vec<Duration>| {
            let inside = |time: &&Duration| time.as_nanos() / bin_ns == bin;
            round.iter().filter(inside).count() as f64
        };
        let counts: Vec<f64> = rounds.iter().map(count).collect();
        within(&counts).unwrap_or_else(|| known(mean_of(&counts), counts.len()))
    });
    PositioningFound {
        mean,
        one_round: within(&means),
        longest: Duration::from_nanos(max_ns),
        bin: Duration::from_nanos(bin_ns),
        bins: bins.collect(),
    }
}

/// A wider round width if bins of this width would be too many for `times`.
pub fn wider_bin(bin: Duration, times: &[Duration]) -> Option<Duration> {
    let max_ns = times.iter().max().map_or(0, |time| time.as_nanos());
    let is_fine = max_ns / bin.as_nanos().max(1) < BINS_MAX;
    (!is_fine).then(|| Duration::from_nanos(round_bin(max_ns, BINS_MAX)))
}

/// The smallest of 1, 2, 5, 10 ... that gives at most `most` bins.
fn round_bin(max_ns: u64, most: u64) -> u64 {
    let steps = (0..19).flat_map(|decade| [1, 2, 5].map(|digit| digit * 10_u64.pow(decade)));
    let mut fitting = steps.filter(|step| max_ns / step < most);
    fitting.next().unwrap_or(max_ns)
}

/// The mean with its interval; a single value has none.
fn mean_of_some(values: &[f64]) -> Estimate {
    match values {
        [only] => Estimate {
            low: f64::NEG_INFINITY,
            ..known(*only, 1)
        },
        _ => mean_interval(values),
    }
}

/// A value without an interval.
fn known(value: f64, samples: usize) -> Estimate {
    Estimate {
        low: 0.0,
        high: f64::INFINITY,
        ..Estimate::exact(value, samples as f64)
    }
}

/// The mean, and the range of 95 % of the values.
fn within(values: &[f64]) -> Option<Estimate> {
    if values.len() < ROUNDS_MIN {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let beyond = (TAIL * sorted.len() as f64).floor() as usize;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some(Estimate {
        low: sorted[beyond],
        high: sorted[sorted.len() - 1 - beyond],
        ..Estimate::exact(mean, values.len() as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: PositioningPlan = PositioningPlan {
        files: 3,
        file_bytes: 1 << 20,
        record_bytes: 4096,
        bin: Some(Duration::from_secs(10)),
        seed: 1,
    };

    #[test]
    fn every_file_is_opened_once_in_an_order_of_the_round() {
        let mut first = positioning_order(91, 7, 0);
        let second = positioning_order(91, 7, 1);
        assert_ne!(first, second);
        assert_eq!(first, positioning_order(91, 7, 0));
        first.sort_unstable();
        assert_eq!(first, (0..91).collect::<Vec<u32>>());
    }

    /// Each of the six orders of three files is equally frequent.
    #[test]
    fn all_orders_are_alike() {
        let mut found = std::collections::BTreeMap::<Vec<u32>, u32>::new();
        for round in 0..6000 {
            *found.entry(positioning_order(3, 11, round)).or_default() += 1;
        }
        assert_eq!(found.len(), 6);
        assert!(
            found.values().all(|&count| count.abs_diff(1000) < 130),
            "{found:?}"
        );
    }

    #[test]
    fn times_are_summed_up_by_round() {
        let seconds = |times: [u64; 3]| times.map(Duration::from_secs).to_vec();
        let found = positioning_found(&PLAN, &[seconds([5, 10, 30]), seconds([9, 19, 35])]);
        assert_eq!(
            (found.mean.value, found.longest),
            (18e9, Duration::from_secs(35))
        );
        let counts: Vec<f64> = found.bins.iter().map(|bin| bin.value).collect();
        assert_eq!(counts, [1.0, 1.0, 0.0, 1.0]);
        assert_eq!(found.one_round, None, "two rounds say nothing about 95 %");
        assert!(found.bins[0].high.is_infinite());
    }

    #[test]
    fn bins_are_round_and_few() {
        let check =
            |max_ns, expected| assert_eq!(round_bin(max_ns, BINS_USUAL), expected, "{max_ns}");
        check(92_000_000_000, 10_000_000_000);
        check(21_000_000, 2_000_000);
        check(11, 1);
        check(0, 1);
    }

    #[test]
    fn bins_that_are_too_many_are_not_taken() {
        let times = [Duration::from_secs(91), Duration::from_secs(2)];
        let check = |bin, expected| assert_eq!(wider_bin(bin, &times), expected);
        check(Duration::from_nanos(1), Some(Duration::from_millis(100)));
        check(Duration::from_millis(91), Some(Duration::from_millis(100)));
        check(Duration::from_millis(92), None);
        check(Duration::from_millis(100), None);
    }

    #[test]
    fn a_single_time_has_no_interval() {
        let once = [vec![Duration::from_secs(3)]];
        let found = positioning_found(&PLAN, &once);
        assert_eq!(found.mean.value, 3e9);
        assert!(!found.mean.is_bounded(), "{:?}", found.mean);
        let twice = [once[0].clone(), once[0].clone()];
        assert!(positioning_found(&PLAN, &twice).mean.is_bounded());
    }

    #[test]
    fn of_many_rounds_the_middle_95_percent_are_told() {
        let rounds: Vec<Vec<Duration>> = (1..=40)
            .map(|round| vec![Duration::from_secs(round)])
            .collect();
        let found = positioning_found(&PLAN, &rounds);
        let one = found.one_round.expect("enough rounds");
        assert_eq!((one.low, one.value, one.high), (2e9, 20.5e9, 39e9));
    }
}
