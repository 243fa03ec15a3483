//! Burst credits, as volumes of clouds have them: token buckets in front of a device.
//!
//! A bucket fills at the baseline, and holds so many credits at most. An operation pays one for
//! each `io-size` of it that is begun, or one for each byte, and begins once it can pay: with
//! credits left at the burst rate at most, without them at the baseline. First come, first served.
//! What clouds say of theirs is the same law: a full bucket lasts credits / (burst - baseline).
//! Operations that follow each other are not merged, as some clouds do.

use units::{Bytes, UnitError, format_count, format_duration_ns, parse_percent, parse_rate};

use crate::device::{Action, Command, Device};
use crate::paced::{PacedDevice, Pacer};

/// A limit, in operations or bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstLimit {
    /// Per second, for ever: how fast the bucket fills.
    pub baseline: f64,
    /// Per second at most, as long as there are credits.
    pub burst: f64,
    /// What a full bucket holds; 0 without burst.
    pub credits: f64,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimitUnit {
    Operations,
    Bytes,
}

/// Which operations have one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paying {
    Both,
    Reads,
    Writes,
}

/// A limit as definitions and options name it; the names are those of cgroups.
#[derive(Debug)]
pub struct LimitKey {
    pub name: &'static str,
    /// What it says, with an example.
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
/// The least that a limit allows in a second.
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

    /// Read a limit: what it says when it is none.
    ///
    /// # Errors
    /// When a number cannot be read, or the numbers contradict each other.
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
    /// Bytes that one operation may move for one credit; `None` where each counts as one.
    io_size: Option<u64>,
    /// Share of each bucket that is there at the start.
    left: f64,
}

impl PartialEq for LimitKey {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl BurstLimits {
    /// Limits that share what a credit pays for, and how full their buckets are at the start.
    #[must_use]
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

    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.limits.is_empty()
    }

    /// The device behind its limits.
    #[must_use]
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

    /// What follows from each limit: its name, and how long a full bucket lasts.
    #[must_use]
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

/// A bucket at work. Instants are nanoseconds with their fractions, or rates would be a little off.
#[derive(Clone, Copy, Debug)]
struct BurstMeter {
    limit: BurstLimit,
    /// Credits after the last payment, below zero where one operation cost more than there may be.
    level: f64,
    /// When that was.
    at: f64,
    /// When the burst rate lets the next operation begin.
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

    /// When an operation of that cost may begin.
    fn opens(&self, now: f64, cost: f64) -> f64 {
        let start = now.max(self.free).max(self.at);
        // Without credits there is no more to pay than the rate.
        let lacking = cost.min(self.limit.credits) - self.level_at(start);
        start + lacking.max(0.0) * 1e9 / self.limit.baseline
    }

    fn pay(&mut self, begin: f64, cost: f64) {
        self.level = (self.level_at(begin) - cost).min(self.limit.credits);
        self.at = begin;
        self.free = begin + cost * 1e9 / self.limit.burst;
    }
}

/// The buckets of a device at work.
#[derive(Debug)]
struct BurstPacer {
    limits: BurstLimits,
    /// One for each limit.
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

/// Read the share of each bucket that is there at the start.
///
/// # Errors
/// When it is none.
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
