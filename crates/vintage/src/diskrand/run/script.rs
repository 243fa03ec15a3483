//! The transactions of one user, reproducible from the seed.

use crate::diskrand::ReadArguments;
use random::{Purpose, Stream, standard_exponential};
use units::Duration;

/// A program has one user.
const CLIENT: u64 = 0;

/// One transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScriptStep {
    /// Think time before it, whole seconds.
    pub(super) think_s: u32,
    /// I/Os.
    pub(super) ios: u64,
    /// CPU work, nanoseconds.
    pub(super) cpu_ns: u64,
    /// Factor that scales both; zero if loads do not vary.
    pub(super) load: f64,
}

/// Random streams of one user.
#[derive(Clone, Debug)]
pub(super) struct UserStreams {
    think: Stream,
    demand: Stream,
    address: Stream,
    think_s: u32,
    ios: f64,
    cpu_ns: f64,
    varies: bool,
    records: u64,
    /// Fraction of an I/O carried over to the next transaction, so that the mean is kept.
    ios_owed: f64,
}

impl UserStreams {
    pub(super) fn new(arguments: &ReadArguments, unit: Duration, records: u64, seed: u64) -> Self {
        let stream = |purpose| Stream::new(seed, CLIENT, purpose);
        Self {
            think: stream(Purpose::Think),
            demand: stream(Purpose::Demand),
            address: stream(Purpose::Address),
            think_s: arguments.think_s,
            ios: f64::from(arguments.ios),
            cpu_ns: arguments.cpu_units * unit.as_nanos() as f64,
            varies: arguments.mode.varies_loads(),
            records,
            ios_owed: 0.0,
        }
    }

    /// The next transaction. Think times are whole seconds, uniform from zero to twice their mean,
    /// as in the document's logs.
    pub(super) fn step(&mut self) -> ScriptStep {
        let think_s = self.think.below(2 * u64::from(self.think_s) + 1);
        let load = if self.varies {
            standard_exponential(&mut self.demand)
        } else {
            0.0
        };
        let factor = if self.varies { load } else { 1.0 };
        let ios = factor * self.ios + self.ios_owed;
        self.ios_owed = ios.fract();
        ScriptStep {
            think_s: u32::try_from(think_s).unwrap_or(u32::MAX),
            ios: ios as u64,
            cpu_ns: (factor * self.cpu_ns).round() as u64,
            load,
        }
    }

    /// The next record, counted from zero.
    pub(super) fn record(&mut self) -> u64 {
        self.address.below(self.records)
    }
}

#[cfg(test)]
mod tests {
    use crate::diskrand::{LogName, ReadMode};

    use super::*;

    fn script(mode: ReadMode, seed: u64) -> UserStreams {
        let arguments = ReadArguments {
            mode,
            file: "D".into(),
            user: 1,
            draw: 0,
            transactions: 1,
            log: LogName::Two,
            ios: 20,
            think_s: 5,
            memory_kb: 0,
            cpu_units: 2.0,
        };
        UserStreams::new(&arguments, Duration::from_millis(10), 1000, seed)
    }

    #[test]
    fn think_times_are_whole_seconds_around_their_mean() {
        let mut script = script(ReadMode::Read, 101);
        let steps: Vec<ScriptStep> = (0..11_000).map(|_| script.step()).collect();
        let mut counts = [0_u32; 11];
        for step in &steps {
            counts[step.think_s as usize] += 1;
            assert_eq!((step.ios, step.cpu_ns, step.load), (20, 20_000_000, 0.0));
        }
        // A thousand of each, within four standard deviations.
        assert!(
            counts.iter().all(|&count| (880..1120).contains(&count)),
            "{counts:?}"
        );
    }

    #[test]
    fn loads_are_negative_exponential_and_keep_their_mean() {
        let mut script = script(ReadMode::Yread, 101);
        let steps: Vec<ScriptStep> = (0..20_000).map(|_| script.step()).collect();
        let mean = steps.iter().map(|step| step.load).sum::<f64>() / 20_000.0;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        let long = steps.iter().filter(|step| step.load > 3.0).count();
        assert!(
            (880..1120).contains(&long),
            "5 % are longer than three means: {long}"
        );
        let ios: u64 = steps.iter().map(|step| step.ios).sum();
        let expected: f64 = steps.iter().map(|step| step.load * 20.0).sum();
        assert!((ios as f64 - expected).abs() <= 1.0, "{ios} {expected}");
        for step in steps {
            let work = step.load * 2e7;
            assert!((step.cpu_ns as f64 - work).abs() <= 0.5);
        }
    }

    #[test]
    fn a_seed_says_everything_and_users_differ() {
        let records = |seed| {
            let mut script = script(ReadMode::Read, seed);
            (0..50).map(|_| script.record()).collect::<Vec<u64>>()
        };
        assert_eq!(records(101), records(101));
        assert_ne!(records(101), records(102));
        assert!(records(7).iter().all(|&record| record < 1000));
        // Another load does not change the records.
        let mut varied = script(ReadMode::Yread, 101);
        varied.step();
        let found: Vec<u64> = (0..50).map(|_| varied.record()).collect();
        assert_eq!(found, records(101));
    }
}
