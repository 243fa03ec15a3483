//! Default time limits of measurements.

use engine::{Clock as _, Driver as _};
use random::{Purpose, Stream};
use results::Setup;
use units::{Duration, Instant, TargetName};
use workload::{ClientId, Completion, Op, Request, TargetId};

use crate::simulated::open_recorded_model;

/// Reads to determine a model's response time: few, since some models are slow to compute.
const READS: usize = 101;
const READ_BYTES: u32 = 4096;

/// A setting that limits a time.
#[derive(Clone, Copy, Debug)]
pub struct TimeSetting {
    pub name: &'static str,
    /// Its default.
    pub default: &'static str,
    /// Maximum that can be requested, and of the automatic extension.
    pub longest: Duration,
    /// Models whose operations take no longer than this use the default unchanged.
    pub brief: Duration,
}

impl TimeSetting {
    /// The time for `targets`: as requested or, if `time` is the default, enough for as many
    /// operations on models as on real storage. Virtual time is free, but operations cost CPU time:
    /// if all targets are models and the slowest takes more than `brief` per operation, the default
    /// grows in proportion, equally in every run. `setup` keeps it for repeated runs.
    pub fn fit<'a>(
        self,
        time: Duration,
        targets: impl IntoIterator<Item = &'a TargetName>,
        setup: &mut Setup,
    ) -> Duration {
        if setup.is_given(self.name) {
            return time;
        }
        if self.default.parse() != Ok(time) {
            setup.resolve(self.name, [time.to_exact_string()]);
            return time;
        }
        let responses = targets.into_iter().map(|it| response_of_model(it, setup));
        let slowest = responses.collect::<Option<Vec<_>>>();
        let slowest = slowest.and_then(|them| them.into_iter().max());
        let Some(slowest) = slowest.filter(|it| *it > self.brief) else {
            return time;
        };
        let times = slowest.as_nanos().div_ceil(self.brief.as_nanos());
        let grown = Duration(time.as_nanos().saturating_mul(times)).min(self.longest);
        setup.resolve(self.name, [grown.to_exact_string()]);
        grown
    }

    /// The same for a load curve of random arrivals. On fast models the default shrinks to the time
    /// in which they complete, at their highest load, what half a minute of CPU time can compute.
    pub fn fit_open<'a>(
        self,
        time: Duration,
        targets: impl IntoIterator<Item = &'a TargetName> + Clone,
        setup: &mut Setup,
    ) -> Duration {
        let is_own = setup.is_given(self.name) || self.default.parse() != Ok(time);
        let fitted = self.fit(time, targets.clone(), setup);
        // Slow models complete few operations, and some are slow to compute.
        if is_own || fitted > time {
            return fitted;
        }
        let rates = targets.into_iter().map(|it| rate_of_model(it, setup));
        let rates: Option<Vec<f64>> = rates.collect();
        let Some(rates) = rates else {
            return fitted;
        };
        let all = Duration::from_secs_f64(OPEN_OPERATIONS / rates.iter().sum::<f64>());
        if all >= fitted {
            return fitted;
        }
        setup.resolve(self.name, [all.to_exact_string()]);
        all
    }

    /// The same for random arrivals at a model, whose queue near saturation is correlated for long:
    /// the default grows until four million have arrived, unless the result is precise before.
    pub fn fit_arrivals(
        self,
        time: Duration,
        (target, rate): (&TargetName, f64),
        setup: &mut Setup,
    ) -> Duration {
        let is_own = setup.is_given(self.name) || !target.is_model();
        let all = Duration::from_secs_f64(ARRIVALS / rate).min(self.longest);
        if is_own || all <= time {
            return time;
        }
        setup.resolve(self.name, [all.to_exact_string()]);
        all
    }
}

/// Operations for arrivals at a model: M/M/1 at 90 % is known to 3 % after some two million, at 95
/// % to 4 to 6 % after all of them.
const ARRIVALS: f64 = 4e6;

/// Operations of a load curve of random arrivals.
const OPEN_OPERATIONS: f64 = 3e7;
/// Queue depth to determine a model's maximum rate, and the number of operations.
const BUSY: usize = 256;
const BUSY_READS: usize = 20 * BUSY;

/// The median response time of small random reads, one at a time. Rare stalls of the model do not
/// affect it. `None` if the target is not a model, or does not respond.
fn response_of_model(target: &TargetName, setup: &Setup) -> Option<Duration> {
    let done = small_reads(target, setup, (1, READS))?;
    let mut responses: Vec<_> = done.iter().map(|it| it.response_time()).collect();
    responses.sort_unstable();
    Some(responses[READS / 2])
}

/// Small random reads per second of a model at high depth.
fn rate_of_model(target: &TargetName, setup: &Setup) -> Option<f64> {
    let done = small_reads(target, setup, (BUSY, BUSY_READS))?;
    let seconds = done.last()?.completed.since(Instant::START).as_secs_f64();
    (seconds > 0.0).then(|| done.len() as f64 / seconds)
}

/// Completions of `count` small random reads of a model at depth `depth`.
fn small_reads(
    target: &TargetName,
    setup: &Setup,
    (depth, count): (usize, usize),
) -> Option<Vec<Completion>> {
    let spec = open_recorded_model(target.model()?, setup).ok()?;
    let mut driver = spec.driver(0, depth, Instant::START);
    let mut places = Stream::new(0, 0, Purpose::Address);
    let blocks = (spec.size.as_u64() / u64::from(READ_BYTES)).max(1);
    let mut done = Vec::new();
    let mut asked = 0;
    while done.len() < count {
        while asked - done.len() < depth && asked < count {
            let read = Op::Read {
                target: TargetId(0),
                offset: places.below(blocks) * u64::from(READ_BYTES),
                len: READ_BYTES,
            };
            let request = Request::new(ClientId(0), driver.now(), read);
            driver.submit(request).ok()?;
            asked += 1;
        }
        let before = done.len();
        while done.len() == before {
            driver.wait(None, &mut done).ok()?;
        }
    }
    Some(done)
}

#[cfg(test)]
mod tests {
    use results::{RunSetting, SettingOrigin};

    use super::*;

    const BUDGET: TimeSetting = TimeSetting {
        name: "budget",
        default: "60s",
        longest: Duration::from_secs(7 * 86_400),
        brief: Duration::from_millis(1),
    };
    const DEFAULT: Duration = Duration::from_secs(60);

    fn setup(origin: SettingOrigin) -> Setup {
        let mut setup = Setup::new("trial", 1);
        setup.settings.push(RunSetting {
            name: BUDGET.name.into(),
            values: vec!["1min".into()],
            origin,
        });
        setup
    }

    fn named(targets: &[&str]) -> Vec<TargetName> {
        targets.iter().map(|&it| it.into()).collect()
    }

    fn fitted(targets: &[&str], setup: &mut Setup) -> Duration {
        BUDGET.fit(DEFAULT, &named(targets), setup)
    }

    #[track_caller]
    fn check(targets: &[&str], seconds: std::ops::RangeInclusive<u64>) {
        let mut setup = setup(SettingOrigin::Default);
        let found = fitted(targets, &mut setup);
        assert!(
            seconds.contains(&(found.as_nanos() / 1_000_000_000)),
            "{found}"
        );
        let kept = setup.value(BUDGET.name).expect("a setting");
        assert_eq!(kept.parse::<Duration>(), Ok(found), "{targets:?}");
    }

    #[test]
    fn a_model_of_slow_storage_gets_time_for_as_many_operations() {
        check(&["sim:md1?time=1s"], 60_000..=60_000);
        check(&["sim:nvme"], 60..=60);
        check(&["sim:md1?time=2ms", "sim:nvme"], 120..=120);
        check(&["sim:drive"], 800..=1000);
        check(&["sim:md1?time=1h"], 604_800..=604_800);
    }

    #[test]
    fn random_arrivals_at_a_fast_model_are_computed_in_seconds() {
        let open = |targets: &[&str], origin| {
            let mut setup = setup(origin);
            let found = BUDGET.fit_open(DEFAULT, &named(targets), &mut setup);
            found.as_secs_f64()
        };
        // 50,000/s each take ten minutes for thirty million.
        let slow = "sim:mmc?servers=50&mean=1ms";
        assert_eq!(open(&[slow], SettingOrigin::Default), 60.0);
        let nvme = open(&["sim:nvme"], SettingOrigin::Default);
        assert!((20.0..60.0).contains(&nvme), "{nvme}");
        assert_eq!(open(&["sim:nvme"], SettingOrigin::Given), 60.0);
        assert_eq!(open(&["/mnt"], SettingOrigin::Default), 60.0);
    }

    #[test]
    fn real_storage_gets_the_default() {
        check(&["/mnt"], 60..=60);
        check(&["/mnt", "sim:drive"], 60..=60);
        check(&["sim:nosuch"], 60..=60);
    }

    #[test]
    fn what_was_asked_for_stays() {
        let mut setup = setup(SettingOrigin::Given);
        assert_eq!(fitted(&["sim:drive"], &mut setup), DEFAULT);
        assert_eq!(setup.value(BUDGET.name), Some("1min"));
    }

    #[test]
    fn a_repeated_run_gets_what_the_first_one_got() {
        let mut first = setup(SettingOrigin::Default);
        let grown = fitted(&["sim:mm1?mean=7ms"], &mut first);
        let mut second = setup(SettingOrigin::Default);
        assert_eq!(fitted(&["sim:mm1?mean=7ms"], &mut second), grown);
        let mut third = setup(SettingOrigin::Default);
        let again = BUDGET.fit(grown, &named(&["sim:mm1?mean=7ms"]), &mut third);
        assert_eq!(again, grown);
        assert_eq!(third.settings, first.settings);
    }
}
