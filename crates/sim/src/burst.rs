//! Burst credits of cloud volumes: token buckets in front of a device.
//!
//! A bucket fills at the baseline rate up to its capacity. An operation pays one credit per started
//! `io-size`, or one per byte, and starts once it can pay: with credits left at the burst rate at
//! most, otherwise at the baseline. Operations are served in order of arrival. Clouds describe the
//! same law: a full bucket lasts credits / (burst - baseline). Consecutive operations are not
//! merged, as some clouds do.

use units::{Bytes, UnitError, format_count, format_duration_ns, parse_percent, parse_rate};

use crate::device::{Action, Command, Device};
use crate::paced::{PacedDevice, Pacer};

/// A limit on operations or bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstLimit {
    /// Sustained rate per second: how fast the bucket fills.
    pub baseline: f64,
    /// Maximum rate per second while there are credits.
    pub burst: f64,
    /// Capacity of the bucket; 0 without burst.
    pub credits: f64,
}

/// Unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimitUnit {
    Operations,
    Bytes,
}

/// Which operations share a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paying {
    Both,
    Reads,
    Writes,
}

/// A limit by its name in definitions and options, taken from cgroups.
#[derive(Debug)]
pub struct LimitKey {
    pub name: &'static str,
    /// Its meaning, with an example.
    pub meaning: &'static str,
    paying: Paying,
    counted: LimitUnit,
}

/// The names of all limits.
pub const LIMITS: [LimitKey; 6] = [
    LimitKey::new("iops", IOPS, Paying::Both, LimitUnit::Operations),
    LimitKey::new("riops", IOPS, Paying::Reads, LimitUnit::Operations),
    LimitKey::new("wiops", IOPS, Paying::Writes, LimitUnit::Operations),
    LimitKey::new("bps", BPS, Paying::Both, LimitUnit::Bytes),
    LimitKey::new("rbps", BPS, Paying::Reads, LimitUnit::Bytes),
    LimitKey::new("wbps", BPS, Paying::Writes, LimitUnit::Bytes),
];
const IOPS: &str = "BASELINE..BURST:CREDITS, as in \"100..3000:5.4M\", or a limit as in \"3000\"";
const BPS: &str =
    "BASELINE..BURST:CREDITS, as in \"40MiB/s..250MiB/s:1TiB\", or a limit as in \"125MiB/s\"";
/// The smallest limit per second.
const LEAST: f64 = 1.0;

impl LimitKey {
    const fn new(
        name: &'static str,
        meaning: &'static str,
        paying: Paying,
        counted: LimitUnit,
    ) -> Self {
        Self {
            name,
            meaning,
            paying,
            counted,
        }
    }

    /// Parses a limit.
    ///
    /// # Errors
    /// If a number is invalid, or the numbers contradict each other.
    pub fn parse(&self, text: &str) -> Result<BurstLimit, String> {
        let (rates, credits) = match text.split_once(':') {
            Some((rates, credits)) => (rates, Some(credits)),
            None => (text, None),
        };
        let (baseline, burst) = rates.split_once("..").unwrap_or((rates, rates));
        let wrong = |error: UnitError| format!("{error}. Use {}", self.meaning);
        let baseline = self.counted.rate(baseline).map_err(wrong)?;
        let burst = self.counted.rate(burst).map_err(wrong)?;
        if baseline < LEAST {
            return Err(format!("a baseline is at least {LEAST} a second"));
        }
        match credits {
            _ if burst < baseline => Err("the burst is at least the baseline".into()),
            None if burst > baseline => Err("say after a colon how many credits it holds".into()),
            Some(_) if burst == baseline => {
                Err("credits are for a burst above the baseline".into())
            }
            None => Ok(0.0),
            Some(credits) => self.counted.amount(credits).map_err(wrong),
        }
        .and_then(|credits| match burst > baseline && credits < LEAST {
            true => Err("a bucket holds at least one credit".into()),
            false => Ok(BurstLimit {
                baseline,
                burst,
                credits,
            }),
        })
    }
}

impl LimitUnit {
    fn rate(self, text: &str) -> Result<f64, UnitError> {
        match self {
            Self::Operations => parse_rate(text).map(units::Rate::per_second),
            Self::Bytes => self.amount(text.strip_suffix("/s").unwrap_or(text)),
        }
    }

    fn amount(self, text: &str) -> Result<f64, UnitError> {
        match self {
            Self::Operations => parse_rate(text).map(units::Rate::per_second),
            Self::Bytes => text.parse().map(|Bytes(bytes)| bytes as f64),
        }
    }

    fn in_words(self, amount: f64) -> String {
        match self {
            Self::Operations => format_count(amount),
            Self::Bytes => Bytes(amount as u64).to_string(),
        }
    }
}

impl Paying {
    const fn has(self, action: Action) -> bool {
        match action {
            Action::Read => !matches!(self, Self::Writes),
            Action::Write(_) => !matches!(self, Self::Reads),
            Action::Flush | Action::Compute { .. } => false,
        }
    }
}

/// All limits of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BurstLimits {
    limits: Vec<(&'static LimitKey, BurstLimit)>,
    /// Bytes that one operation may move per credit; `None` if each operation costs one.
    io_size: Option<u64>,
    /// Initial fill of each bucket, as a share.
    left: f64,
}

impl PartialEq for LimitKey {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl BurstLimits {
    /// Limits with a common credit size and initial fill.
    pub const fn new(
        limits: Vec<(&'static LimitKey, BurstLimit)>,
        io_size: Option<u64>,
        left: f64,
    ) -> Self {
        Self {
            limits,
            io_size,
            left,
        }
    }

    pub const fn is_none(&self) -> bool {
        self.limits.is_empty()
    }

    /// Wraps the device in its limits.
    pub fn around(&self, device: Box<dyn Device>) -> Box<dyn Device> {
        match self.is_none() {
            true => device,
            false => {
                let meters = self.limits.iter();
                let pacer = BurstPacer {
                    meters: meters
                        .map(|(_, limit)| BurstMeter::new(*limit, self.left))
                        .collect(),
                    limits: self.clone(),
                };
                Box::new(PacedDevice::new(pacer, device))
            }
        }
    }

    /// Derived facts: each limit's name, and how long a full bucket lasts.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let facts = self.limits.iter().map(|(key, limit)| {
            let rate = |rate| format!("{}/s", key.counted.in_words(rate));
            let words = match limit.credits > 0.0 {
                false => format!("{} at most", rate(limit.baseline)),
                true => format!(
                    "{} for {} from a full bucket of {}, then {}",
                    rate(limit.burst),
                    format_duration_ns(1e9 * limit.credits / (limit.burst - limit.baseline)),
                    key.counted.in_words(limit.credits),
                    rate(limit.baseline)
                ),
            };
            (key.name, words)
        });
        facts.collect()
    }

    fn cost(&self, key: &LimitKey, bytes: u64) -> f64 {
        match (key.counted, self.io_size) {
            (LimitUnit::Bytes, _) => bytes as f64,
            (LimitUnit::Operations, None) => 1.0,
            (LimitUnit::Operations, Some(size)) => bytes.div_ceil(size).max(1) as f64,
        }
    }
}

/// A running bucket. Times are nanoseconds with fractions, since rates would be slightly off
/// otherwise.
#[derive(Clone, Copy, Debug)]
struct BurstMeter {
    limit: BurstLimit,
    /// Credits after the last payment, negative if one operation cost more than the capacity.
    level: f64,
    /// Time of the last payment.
    at: f64,
    /// When the burst rate allows the next operation to start.
    free: f64,
}

impl BurstMeter {
    const fn new(limit: BurstLimit, left: f64) -> Self {
        Self {
            limit,
            level: limit.credits * left,
            at: 0.0,
            free: 0.0,
        }
    }

    fn level_at(&self, ns: f64) -> f64 {
        let earned = self.limit.baseline * (ns - self.at) / 1e9;
        (self.level + earned).min(self.limit.credits)
    }

    /// When an operation with that cost may start.
    fn opens(&self, now: f64, cost: f64) -> f64 {
        let start = now.max(self.free).max(self.at);
        // Without credits, only the rate limits.
        let lacking = cost.min(self.limit.credits) - self.level_at(start);
        start + lacking.max(0.0) * 1e9 / self.limit.baseline
    }

    fn pay(&mut self, begin: f64, cost: f64) {
        self.level = (self.level_at(begin) - cost).min(self.limit.credits);
        self.at = begin;
        self.free = begin + cost * 1e9 / self.limit.burst;
    }
}

/// The running buckets of a device.
#[derive(Debug)]
struct BurstPacer {
    limits: BurstLimits,
    /// One per limit.
    meters: Vec<BurstMeter>,
}

impl Pacer for BurstPacer {
    fn begin(&mut self, now: f64, command: &Command) -> f64 {
        let limits = &self.limits;
        let asked: Vec<(usize, f64)> = limits
            .limits
            .iter()
            .enumerate()
            .filter(|(_, (key, _))| key.paying.has(command.action))
            .map(|(index, (key, _))| (index, limits.cost(key, command.len)))
            .collect();
        let opens = asked
            .iter()
            .map(|&(index, cost)| self.meters[index].opens(now, cost));
        let begin = opens.fold(now, f64::max);
        for (index, cost) in asked {
            self.meters[index].pay(begin, cost);
        }
        begin
    }
}

/// Parses the initial fill of the buckets.
///
/// # Errors
/// If it is invalid.
pub fn parse_left(text: &str) -> Result<f64, String> {
    let share = parse_percent(text).map_err(|error| error.to_string())?;
    match share <= 1.0 {
        true => Ok(share),
        false => Err("a share lies between 0% and 100%".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_mistakes_named() {
        let [iops, bps] = [&LIMITS[0], &LIMITS[3]];
        let limit = |baseline, burst, credits| BurstLimit {
            baseline,
            burst,
            credits,
        };
        assert_eq!(
            iops.parse("100..3000:5.4M"),
            Ok(limit(100.0, 3000.0, 5.4e6))
        );
        assert_eq!(iops.parse("16k"), Ok(limit(16e3, 16e3, 0.0)));
        let mib = 1_048_576.0;
        let tib = mib * mib;
        let st1 = limit(40.0 * mib, 250.0 * mib, tib);
        assert_eq!(bps.parse("40MiB/s..250MiB/s:1TiB"), Ok(st1));
        for (text, reason) in [
            ("100..3000", "after a colon"),
            ("3000..100:5M", "at least the baseline"),
            ("100:5M", "above the baseline"),
            ("100..3000:0", "at least one credit"),
            ("0", "at least 1 a second"),
            ("many", "BASELINE..BURST:CREDITS"),
        ] {
            let error = iops.parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(parse_left("120%").is_err() && parse_left("0%") == Ok(0.0));
    }
}
