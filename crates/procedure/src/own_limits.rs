//! Detects figures limited by this program rather than by the storage.
//!
//! At most as many requests are outstanding as the driver has slots. The rest wait here. That is
//! equivalent to a queue at the storage as long as more requests make the storage slower. If
//! service times are the same with all slots taken, the storage could have sustained more, and the
//! limit was the number of slots.

use engine::{Record, RoomWaits};
use results::{Measurement, RoomWait, Severity, Warning, WarningCode};
use stats::Finding;
use workload::{ClientSpec, OpKind};

use crate::doubts::STALL_NS;
use crate::single::{Circumstances, Standstill};
use crate::trial::Trial;

/// Share of the response times spent waiting for a slot above which it is reported ...
const SHARE_REPORTED: f64 = 0.01;
/// ... and above which the number is invalid, if the limit is ours. If the interval of the mean is
/// narrower, its half-width is the threshold, but at least the one above.
const SHARE_VOID: f64 = 0.05;
/// If service times grow by less than this factor with all slots taken, there is no queue at the
/// storage.
const RATIO_OURS: f64 = 1.5;
/// From this many requests on, a queue of further clients was not requested.
const DEPTH_UNASKED: u32 = 1024;
/// Waiting for a slot is attributed to a stall up to this multiple of the wait during the stall:
/// later requests also wait until its queue is gone.
const STALL_FACTOR: f64 = 4.0;
/// A worker busy for this share of the time is saturated.
const WORKER_FULL: f64 = 0.95;
/// If this program stood still for more than this share of a trial, it is reported ...
const STANDSTILL_DOUBT: f64 = 0.05;
/// ... and for more than this, the result is invalid.
const STANDSTILL_VOID: f64 = 0.25;
/// A stall is attributed to this program if it stood still for this part of it.
const STANDSTILL_PART: f64 = 0.7;
/// Code of the warning that a worker was the bottleneck.
pub(crate) const BUSY_WORKER: WarningCode = WarningCode::BusyWorker;
/// Minimum number of operations of either kind to compare their service times.
const COMPARED_MIN: u64 = 30;

/// Waits for a slot relative to the response times; `None` without any.
pub(crate) fn room_wait(room: &RoomWaits, record: &Record) -> Option<RoomWait> {
    let of_storage = record
        .kinds
        .iter()
        .filter(|(kind, _)| **kind != OpKind::Compute);
    let response_ns: f64 = of_storage
        .map(|(_, kind)| kind.response.mean() * kind.response.len() as f64)
        .sum();
    let mean = |sum: u64, count: u64| sum as f64 / count as f64;
    let is_compared = room.waited.min(room.free) >= COMPARED_MIN;
    (room.waited > 0 && response_ns > 0.0).then(|| RoomWait {
        count: room.waited,
        share: (room.waited_ns as f64 / response_ns).min(1.0),
        service_ratio: is_compared.then(|| {
            mean(room.waited_service_ns, room.waited) / mean(room.free_service_ns, room.free)
        }),
    })
}

/// The warning that a number is limited by the slots for outstanding requests. `mean_whole_ns` is
/// the mean response time with the warm-up.
pub(crate) fn own_limit(
    trial: &Trial,
    measurement: &Measurement,
    mean_whole_ns: f64,
    findings: &[Finding],
) -> Option<Warning> {
    // Control threads have their own clocks, and clients without think time have no schedule to be
    // late for: with few requests for many clients, the queue here was requested.
    let is_asked = trial.is_saturating() && measurement.nominal_depth < DEPTH_UNASKED;
    let is_reported = match trial.spec {
        ClientSpec::Mix(_) => !is_asked,
        ClientSpec::Users(_) => true,
        ClientSpec::Control(_)
        | ClientSpec::Files(_)
        | ClientSpec::Own(_)
        | ClientSpec::Jobs(_) => false,
    };
    let room = measurement
        .room
        .filter(|room| is_reported && room.share > SHARE_REPORTED)?;
    let waited_ns = room.share * mean_whole_ns * measurement.completions_all as f64;
    // A storage that stalls fills all slots, which the warning about the stall covers.
    if waited_ns <= STALL_FACTOR * behind_stalls_ns(measurement, findings) {
        return None;
    }
    let mean = measurement.response.mean;
    let bar = SHARE_VOID
        .min(mean.relative_half_width())
        .max(SHARE_REPORTED);
    let is_ours = is_ours(room);
    let severity = if is_ours && room.share > bar {
        Severity::Invalid
    } else {
        Severity::Warning
    };
    let what = if is_ours {
        "The limit is Seekstone's queue, not the storage"
    } else {
        "A deeper queue may be faster"
    };
    Some(
        Warning::new(
            severity,
            WarningCode::OwnLimit,
            format!(
                "{}: {:.0} % of the latency was the wait for one of {} queue slots. {what}.",
                measurement.title,
                room.share * 100.0,
                measurement.nominal_depth,
            ),
        )
        .advise(if trial.is_saturating() {
            "Use fewer clients, or raise --depth."
        } else {
            "Raise --depth."
        }),
    )
}

/// The warning that a load is limited by one thread of this program. A worker with one request at a
/// time is the storage's own path and not a limit.
pub fn busy_worker(measurement: &Measurement) -> Option<Warning> {
    let generator = measurement.generator.as_ref()?;
    let (busiest, mean) = (generator.busiest_worker?, generator.workers_busy?);
    let at_once = match measurement.offered {
        Some(_) => measurement.nominal_depth,
        None => measurement.clients.min(measurement.nominal_depth),
    };
    if busiest < WORKER_FULL || at_once <= measurement.workers {
        return None;
    }
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let who = match measurement.workers {
        1 => format!("the only worker was busy {} of the time", percent(busiest)),
        all => format!(
            "the busiest of {all} workers was busy {} of the time ({} on average)",
            percent(busiest),
            percent(mean)
        ),
    };
    let waited = generator.processor_wait.unwrap_or(0.0);
    let advice = if waited > busiest / 4.0 {
        format!(
            "It waited for a CPU {} of the time. Stop other programs.",
            percent(waited)
        )
    } else if mean < busiest / 2.0 {
        "Make the number of clients a multiple of --workers.".into()
    } else {
        "Raise --workers if more CPUs are free.".into()
    };
    Some(Warning::warn(
        BUSY_WORKER,
        format!(
            "{}: {who}. Seekstone's threads may be the limit, not the storage. {advice}",
            measurement.title
        ),
    ))
}

/// The warning that this program stood still. Requests outstanding then took longer, whatever the
/// storage did.
pub(crate) fn standstill(measurement: &Measurement, known: &Circumstances) -> Option<Warning> {
    // A standstill after the end of a short trial did not pause anything in it.
    let Standstill { total, longest } = known.standstill;
    let (total, longest) = (total.min(known.elapsed), longest.min(known.elapsed));
    let share = total.as_secs_f64() / known.elapsed.as_secs_f64().max(1e-9);
    if longest.as_nanos() < STALL_NS && share < STANDSTILL_DOUBT {
        return None;
    }
    let severity = if share > STANDSTILL_VOID {
        Severity::Invalid
    } else {
        Severity::Warning
    };
    Some(
        Warning::new(
            severity,
            WarningCode::Standstill,
            format!(
                "{}: Seekstone itself was paused for {total}, {:.0} % of the trial, up to \
                 {longest} at a time. Latencies include that time.",
                measurement.title,
                share * 100.0
            ),
        )
        .advise("Look for Ctrl-Z, a CPU quota, swapping or a paused virtual machine, and rerun."),
    )
}

/// The findings, without stalls as long as our own standstill.
pub(crate) fn storages_own(findings: &[Finding], own: Standstill) -> Vec<Finding> {
    let is_ours = |finding: &Finding| match finding {
        Finding::Stalled(stalls) => {
            stalls.longest_ns as f64 * STANDSTILL_PART <= own.longest.as_nanos() as f64
        }
        _ => false,
    };
    let others = findings.iter().filter(|it| !is_ours(it));
    others.cloned().collect()
}

/// Lower bound for the total wait of arrivals behind stalls: at a rate `r`, a stall of `L` causes
/// `r L^2 / 2`. All but the longest are taken to be as short as the shortest.
fn behind_stalls_ns(measurement: &Measurement, findings: &[Finding]) -> f64 {
    let per_second = measurement.offered.unwrap_or(measurement.throughput.value);
    let squares = findings.iter().map(|finding| match finding {
        Finding::Stalled(stalls) => {
            let others = stalls.count.saturating_sub(1) as f64;
            (stalls.longest_ns as f64).powi(2) + others * (stalls.shortest_ns as f64).powi(2)
        }
        _ => 0.0,
    });
    squares.sum::<f64>() / 2.0 * per_second / 1e9
}

/// Whether the slots for outstanding requests limited the load, rather than the storage.
fn is_ours(room: RoomWait) -> bool {
    room.service_ratio.is_some_and(|ratio| ratio < RATIO_OURS)
}

/// Whether the cause is unknown: nearly all requests waited for a slot, so there are no others to
/// compare their service times with.
pub(crate) fn is_unexplained(measurement: &Measurement) -> bool {
    let room = measurement.room;
    room.is_some_and(|room| room.service_ratio.is_none())
}

/// What delayed operations that were due but not completed, and what to do about it.
pub(crate) fn who_kept_back(measurement: &Measurement) -> &'static str {
    let response_ns = measurement.response.mean.value;
    if measurement
        .room
        .is_some_and(|room| is_ours(room) && room.share > SHARE_VOID)
    {
        "They waited for a free queue slot. Raise --depth."
    } else if measurement.lateness.mean_ns > response_ns / 2.0 {
        "Seekstone could not issue them in time. Reduce the load, or use more --workers."
    } else {
        "The storage stalled, or cannot sustain this load. Run longer."
    }
}

#[cfg(test)]
mod tests {
    use stats::Stalls;
    use units::Duration;

    use super::*;

    fn waits(waited: u64, service_ns: u64) -> RoomWaits {
        RoomWaits {
            waited,
            waited_ns: waited * 1000,
            waited_service_ns: waited * service_ns,
            free: 100,
            free_service_ns: 100 * 5000,
        }
    }

    #[test]
    fn a_worker_without_time_for_more_is_the_limit_of_what_it_may_have_outstanding() {
        let check = |clients, workers, (busiest, mean), expected: Option<&str>| {
            let measurement = Measurement {
                clients,
                workers,
                nominal_depth: 32,
                generator: Some(results::Generator {
                    busiest_worker: Some(busiest),
                    workers_busy: Some(mean),
                    ..results::Generator::default()
                }),
                ..Measurement::empty()
            };
            let text = busy_worker(&measurement).map(|it| it.text());
            let found = text.as_deref().unwrap_or_default();
            assert_eq!(text.is_some(), expected.is_some(), "{clients} on {workers}");
            assert!(found.contains(expected.unwrap_or_default()), "{found}");
        };
        check(16, 1, (0.94, 0.94), None);
        check(
            16,
            1,
            (0.99, 0.99),
            Some("the only worker was busy 99 % of the time"),
        );
        check(1, 1, (1.0, 1.0), None);
        check(4, 4, (1.0, 1.0), None);
        check(
            5,
            4,
            (0.97, 0.3),
            Some("97 % of the time (30 % on average)"),
        );
        check(64, 4, (0.97, 0.96), Some("Raise --workers"));
    }

    /// A stall of 2.5 s in a trial of 10 s, during 2.45 s of which this program stood still.
    #[test]
    fn a_stall_while_we_stood_still_is_not_the_storages() {
        let second = Duration::from_secs(1);
        let known = |total: Duration, longest: Duration| Circumstances {
            driver: "io_uring".into(),
            workers: 1,
            seed: 1,
            nominal_depth: 4,
            elapsed: second * 10,
            on_error: engine::OnError::Stop,
            standstill: Standstill { total, longest },
        };
        let stalled = |longest: Duration| {
            Finding::Stalled(Stalls {
                longest_ns: longest.as_nanos(),
                count: 1,
                shortest_ns: longest.as_nanos(),
                period_ns: None,
            })
        };
        let millis = Duration::from_millis;
        let check = |own: (Duration, Duration), severity, is_ours| {
            let known = known(own.0, own.1);
            let found = standstill(&Measurement::empty(), &known).map(|it| it.severity);
            assert_eq!(found, severity, "{own:?}");
            let left = storages_own(&[stalled(millis(2500))], known.standstill);
            assert_eq!(left.is_empty(), is_ours, "{own:?}");
        };
        check((millis(2450), millis(2450)), Some(Severity::Warning), true);
        check((millis(3000), millis(90)), Some(Severity::Invalid), false);
        check((millis(600), millis(30)), Some(Severity::Warning), false);
        check((millis(400), millis(30)), None, false);
        check((Duration::ZERO, Duration::ZERO), None, false);
        // Bug: a trial of 22 ms was "paused for 36.6 ms, 164 % of the trial".
        let beyond = known(millis(16_400), millis(16_400));
        let said = standstill(&Measurement::empty(), &beyond).expect("a warning");
        assert!(
            said.text().contains("for 10.0 s, 100 % of the trial"),
            "{said:?}"
        );
    }

    #[test]
    fn the_limit_is_ours_where_the_storage_is_no_slower() {
        let check = |room: RoomWaits, expected| {
            let mut record = Record::default();
            let kind = record.kinds.entry(OpKind::Read).or_default();
            (0..100).for_each(|_| kind.response.record(6000));
            let found = room_wait(&room, &record).map(is_ours);
            assert_eq!(found, expected, "{room:?}");
        };
        check(waits(0, 0), None);
        check(waits(100, 5000), Some(true));
        check(waits(100, 10_000), Some(false));
        check(waits(10, 5000), Some(false));
    }
}
