//! Summarises externally timed data: single transactions of a log, or passes of which only the mean
//! is known.

use std::collections::BTreeMap;

use engine::{KindRecord, KindSet, OnError, Recorder, RecorderOptions};
use results::{Measurement, Times};
use stats::{CONFIDENCE, Channel, Estimate, Verdict, student_t};
use units::{Duration, Instant};
use workload::{Errno, UnitOfWork};

use crate::single::{Circumstances, Standstill, TrialError, summarise};
use crate::trial::Trial;
use monitor::Monitor;

/// Log timestamps have a resolution of a second. Shorter slots would show rates that are not in the
/// data.
const SLOT_WIDTH: Duration = Duration::from_secs(1);

/// Summary of transactions.
#[derive(Debug)]
pub struct Replayed {
    pub measurement: Measurement,
    /// Times by the number of the profile.
    pub units: BTreeMap<u32, KindRecord>,
    /// From the start of the trial to the last end.
    pub elapsed: Duration,
}

/// Sum up transactions, each with the number of its user. Instants count from the trial's start.
///
/// # Errors
/// When there are none.
pub fn replay(
    trial: &Trial,
    mut units: Vec<(u32, UnitOfWork)>,
    driver: &str,
) -> Result<Replayed, TrialError> {
    units.sort_by_key(|(_, unit)| unit.completed);
    let start = Instant::START;
    let last = units.last().map_or(start, |(_, unit)| unit.completed);
    let elapsed = last.since(start);
    let clients = trial.clients as usize;
    let mut recorder = Recorder::new(RecorderOptions {
        start,
        slot_width: SLOT_WIDTH,
        counted: KindSet::default(),
        clients,
    });
    let limit = trial.duration_max;
    let mut monitor = Monitor::new(None, Channel::Response, limit, SLOT_WIDTH, 1, trial.clients)
        .arriving(trial.arrivals());
    for (user, unit) in &units {
        recorder.record_unit(unit, *user as usize);
    }
    recorder.close_until(last + SLOT_WIDTH);
    monitor.push(0, recorder.take_slots(), elapsed);
    monitor.finish(elapsed);
    let record = recorder.to_record();
    let circumstances = Circumstances {
        driver: driver.into(),
        workers: 1,
        seed: 0,
        nominal_depth: trial.depth,
        elapsed,
        on_error: OnError::Stop,
        standstill: Standstill::default(),
    };
    let name = |errno: Errno| errno.0.to_string();
    let measurement = summarise(trial, &monitor, &record, &circumstances, name)?;
    Ok(Replayed {
        measurement,
        units: record.units,
        elapsed,
    })
}

/// A pass of which only the length is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanPass {
    pub operations: u64,
    pub seconds: f64,
}

/// Passes of one operation at a time, as a measurement. The interval comes from the few means of
/// the passes, by Student's t, since single operations are unknown.
pub fn passes_measured(
    (name, title): (&str, &str),
    passes: &[MeanPass],
    bytes_each: u64,
    driver: &str,
) -> Option<Measurement> {
    let operations: u64 = passes.iter().map(|pass| pass.operations).sum();
    let seconds: f64 = passes.iter().map(|pass| pass.seconds).sum();
    if operations == 0 || seconds <= 0.0 {
        return None;
    }
    let means = passes.iter().filter(|pass| pass.operations > 0);
    let means: Vec<f64> = means
        .map(|pass| 1e9 * pass.seconds / pass.operations as f64)
        .collect();
    let mean = 1e9 * seconds / operations as f64;
    let one_at_a_time = around(mean, &means);
    let mut measurement = of_mean(one_at_a_time, operations);
    measurement.name = name.into();
    measurement.title = title.into();
    measurement.driver = driver.into();
    measurement.bandwidth = Some(measurement.throughput.scale(bytes_each as f64));
    measurement.bytes_all = operations * bytes_each;
    measurement.duration_ns = (seconds * 1e9) as u64;
    Some(measurement)
}

/// Operations, one at a time, of which only the mean time is known.
pub(crate) fn of_mean(mean: Estimate, operations: u64) -> Measurement {
    let times = Times {
        mean,
        percentiles: Vec::new(),
        min_ns: 0,
        max_ns: 0,
    };
    Measurement {
        response: times.clone(),
        service: times,
        throughput: rate_of(mean),
        completions: operations,
        completions_all: operations,
        effective_depth: 1.0,
        verdict: Verdict::Budget {
            is_citable: mean.is_bounded(),
        },
        ..Measurement::empty()
    }
}

/// Operations per second, one at a time, with that mean time in nanoseconds.
fn rate_of(mean: Estimate) -> Estimate {
    let high = if mean.low > 0.0 {
        1e9 / mean.low
    } else {
        f64::INFINITY
    };
    Estimate {
        value: 1e9 / mean.value,
        low: 1e9 / mean.high,
        high,
        ..mean
    }
}

/// A value with the interval of the mean of independent `means`; unbounded with fewer than two.
fn around(value: f64, means: &[f64]) -> Estimate {
    let count = means.len() as f64;
    let centre = means.iter().sum::<f64>() / count;
    let squares: f64 = means.iter().map(|mean| (mean - centre).powi(2)).sum();
    let half = if means.len() < 2 {
        f64::INFINITY
    } else {
        let error = (squares / (count - 1.0) / count).sqrt();
        student_t(0.5 + CONFIDENCE / 2.0, count - 1.0) * error
    };
    Estimate {
        value,
        low: (value - half).max(0.0),
        high: value + half,
        confidence: CONFIDENCE,
        samples: count,
    }
}

#[cfg(test)]
mod tests {
    use results::TransactionLoad;
    use workload::{
        ClientSpec, Gap, GapShape, LoadFactor, Records, TargetId, UserProfile, UsersSpec,
    };

    use results::Access;

    use super::*;
    use crate::transactions::{UnitCounts, transaction_load};
    use crate::trial::Preparation;

    fn users() -> UsersSpec {
        let profile = UserProfile {
            name: "user".into(),
            users: 2,
            ios: 5,
            io_size: 4096,
            reads: 1,
            writes: 0,
            think: Gap::new(GapShape::Uniform, Duration::from_secs(1)),
            cpu_ns: 0,
            memory: 0,
            load: LoadFactor::Constant,
            records: Records::Repeat,
            transactions: Some(100),
        };
        UsersSpec::new(TargetId::NONE, 0, None, vec![profile]).expect("a profile")
    }

    fn trial() -> Trial {
        Trial {
            name: "transactions".into(),
            title: "2 users".into(),
            spec: ClientSpec::Users(users()),
            clients: 2,
            depth: 2,
            access: Access::Buffered,
            preparation: Preparation::None,
            goal: None,
            channel: Channel::Response,
            duration_max: Duration::from_secs(86_400),
            salt: 0,
            sample_every: None,
            limit: None,
            warm_up: None,
        }
    }

    /// Each user thinks for 1 s and waits for 0.2 or 0.4 s by turns.
    fn unit(user: u32, number: u64) -> (u32, UnitOfWork) {
        let response = 200 + 200 * (number % 2);
        let begun = 1300 * number;
        let completed = Instant::START + Duration::from_millis(begun + 1000 + response);
        let due = Instant::START + Duration::from_millis(begun + 1000);
        let unit = UnitOfWork {
            kind: 0,
            due,
            started: due,
            completed,
            lateness: Duration::ZERO,
            bytes: 0,
        };
        (user, unit)
    }

    fn replayed(count: u64) -> (Replayed, TransactionLoad) {
        let units = (0..count).flat_map(|number| [unit(1, number), unit(0, number)]);
        let found = replay(&trial(), units.collect(), "unknown").expect("transactions");
        let counts = UnitCounts {
            units: &found.units,
            elapsed: found.elapsed,
            processors: 1,
            series: None,
            model_cpu_ns: None,
        };
        let (load, _) = transaction_load(&users(), &found.measurement, &counts);
        (found, load)
    }

    #[test]
    fn a_log_is_summed_up_as_a_trial_is() {
        let (found, load) = replayed(1000);
        let mean = found.measurement.response.mean;
        assert!(
            mean.contains(3e8) && mean.relative_half_width() < 0.05,
            "{mean:?}"
        );
        assert_eq!(load.all.transactions, 2000);
        let rate = 2000.0 / 1300.1;
        assert!(
            (load.per_second_whole - rate).abs() < 0.001,
            "{}",
            load.per_second_whole
        );
        assert!(
            load.per_second_steady.contains(rate),
            "{:?}",
            load.per_second_steady
        );
        assert!((load.all.sample_95_ns - 4e8).abs() < 4e6);
    }

    #[test]
    fn a_short_log_has_no_interval() {
        let (found, load) = replayed(1);
        assert_eq!(load.all.transactions, 2);
        assert!(!found.measurement.response.mean.is_bounded());
        assert!(matches!(
            replay(&trial(), Vec::new(), "unknown"),
            Err(TrialError::Nothing { .. })
        ));
    }

    /// Passes of 7.5, 8 and 8.5 ms: mean 8 ms, standard error 0.2887 ms, t of two degrees 4.3027.
    #[test]
    fn passes_have_the_interval_of_their_means() {
        let pass = |seconds| MeanPass {
            operations: 800,
            seconds,
        };
        let passes = [pass(6.0), pass(6.4), pass(6.8)];
        let found = passes_measured(("random-read", "reads"), &passes, 4096, "unknown");
        let found = found.expect("passes");
        let mean = found.service.mean;
        assert!((mean.value - 8e6).abs() < 1.0, "{mean:?}");
        assert!(
            (mean.high - mean.value - 4.3027 * 288_675.0).abs() < 1000.0,
            "{mean:?}"
        );
        assert!((found.throughput.value - 125.0).abs() < 1e-6);
        assert_eq!(found.bytes_all, 2400 * 4096);
        let one = passes_measured(("random-read", "reads"), &passes[..1], 4096, "unknown");
        assert!(!one.expect("a pass").service.mean.is_bounded());
        assert!(passes_measured(("random-read", "reads"), &[], 4096, "unknown").is_none());
    }
}
