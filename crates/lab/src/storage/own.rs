//! The program's own part in a measurement: what it had for it, and what became of its requests.

use drivers::{DriverKind, Notice, PAGE_BYTES, UringSettings};
use engine::{OnError, OwnWork};
use results::environment::DeviceActivity;
use results::{Access, Generator, Measurement, Warning, WarningCode};
use sys::clocks_disagree;
use units::{Bytes, Duration, format_counted, format_duration_ns};
use workload::{ClientSpec, Pattern};

use procedure::{Circumstances, Trial, busy_worker};

use super::StorageLaboratory;
use super::plan::{has_priorities, is_durable};
use crate::workers::{WorkerCpuUse, WorkerResults};

/// Device requests for each operation above which the kernel has split operations.
const SPLIT_FACTOR: f64 = 1.05;
/// From this share of huge pages on, buffers lie in them.
const MOSTLY_HUGE: f64 = 0.5;
/// The share of the median that reading the clock may take.
const CLOCK_SHARE: f64 = 0.01;
/// No clock source answers faster than some 10 to 60 ns, however short an operation is.
const CLOCK_FAST_NS: u64 = 100;
/// The device's bytes may differ from ours by this share before they count as those of others.
const FOREIGN_SHARE: f64 = 0.02;

impl StorageLaboratory {
    /// Warn of what the driver or the clocks added, which are `clocks` nanoseconds apart by then.
    pub(super) fn judge_ourselves(
        &mut self,
        measurement: &mut Measurement,
        trial: &Trial,
        driver: DriverKind,
        clocks: (u64, Duration),
    ) {
        self.note_read(measurement, trial);
        let load = Box::new((trial.spec.clone(), driver));
        let last = self.last_load.replace(load).map(|last| *last);
        let found = [
            engine_fallback(measurement),
            other_driver(measurement, trial, driver, last),
            kernel_hop(measurement, trial, driver),
            priority_ignored(measurement, trial, driver),
            doubtful_clock(measurement, clocks, self.read_cost_ns),
            busy_worker(measurement),
        ];
        measurement.warnings.extend(found.into_iter().flatten());
    }
}

/// The word that reports use for a driver.
pub const fn driver_name(kind: DriverKind) -> &'static str {
    match kind {
        DriverKind::Auto => "auto",
        DriverKind::Uring => "io_uring",
        DriverKind::Threads => "threads",
    }
}

/// The word for what carried requests out: a ring may have left that to threads of the kernel.
fn engine_name(kind: DriverKind, own: Option<&OwnWork>) -> &'static str {
    match kind {
        DriverKind::Uring if own.is_some_and(|own| own.by_kernel_threads) => {
            Measurement::BY_KERNEL_THREADS
        }
        kind => driver_name(kind),
    }
}

/// What is known of a trial besides its slots.
pub(super) fn circumstances(
    collected: &WorkerResults,
    (seed, nominal_depth): (u64, u32),
    on_error: OnError,
) -> Circumstances {
    Circumstances {
        driver: engine_name(collected.driver, collected.own_work.as_ref()).into(),
        workers: collected.cpu.len() as u32,
        seed,
        nominal_depth,
        elapsed: collected.elapsed,
        on_error,
        standstill: collected.standstill,
    }
}

/// What a report says of the drivers.
pub(super) fn generator(
    own: &OwnWork,
    settings: &UringSettings,
    processors: Vec<usize>,
    cpu: &[WorkerCpuUse],
    obstacle: Option<String>,
) -> Generator {
    let has_entries = own.entries_timed > 0;
    let entry_mean_ns = own.entries_timed_ns as f64 / own.entries_timed as f64;
    let busiest = cpu.iter().max_by(|a, b| a.busy.total_cmp(&b.busy));
    let sum: f64 = cpu.iter().map(|day| day.busy).sum();
    let share = |huge: u64| huge as f64 / own.buffer_bytes.max(1) as f64;
    Generator {
        buffer_bytes: own.buffer_bytes,
        huge_page_share: own.huge_bytes.map(share),
        batch: settings.batch as u32,
        processors,
        entry_mean_ns: has_entries.then_some(entry_mean_ns),
        entry_longest_ns: has_entries.then_some(own.entry_longest_ns),
        engine_because: engine_because(obstacle, own),
        busiest_worker: busiest.map(|day| day.busy),
        processor_wait: busiest.map(|day| day.without_processor),
        workers_busy: busiest.map(|_| sum / cpu.len() as f64),
        awake_ns: Some(own.awake_ns),
        polls: settings.notice == Notice::Poll,
    }
}

/// A note for who knows other figures of the same device: by default fio's buffers lie in small
/// pages, each of which the kernel has to look up and may have to hand over by itself.
pub(super) fn huge_pages(measurement: &Measurement, trial: &Trial) -> Option<Warning> {
    let ClientSpec::Mix(mix) = &trial.spec else {
        return None;
    };
    let is_sequential = matches!(mix.addresses.pattern, Pattern::Sequential { .. });
    let share = measurement.generator.as_ref()?.huge_page_share?;
    let is_huge = share >= MOSTLY_HUGE && trial.spec.len_max() as usize > PAGE_BYTES;
    let is_told = measurement.access == Access::Direct && is_sequential && is_huge;
    is_told.then(|| {
        Warning::info(
            WarningCode::HugePages,
            format!(
                "{}: buffers lie in huge pages. In small ones, fio's default, large requests take \
                 more work, and may be several times slower.",
                measurement.title
            ),
        )
        .advise("To measure as fio does, use --buffer-pages small.")
    })
}

/// A note when operations reached the device in pieces: the time of one is then that of several.
pub(super) fn split_operations(measurement: &Measurement, trial: &Trial) -> Option<Warning> {
    let device = measurement.counters.as_ref()?.device.as_ref()?;
    // A durable write makes the file system write something of its own.
    let counts_writes = match &trial.spec {
        ClientSpec::Mix(mix) => !mix.durability.is_durable(),
        ClientSpec::Control(_) | ClientSpec::Users(_) => true,
        ClientSpec::Own(own) => !own.is_durable,
        ClientSpec::Files(_) | ClientSpec::Jobs(_) => false,
    };
    if measurement.access != Access::Direct {
        return None;
    }
    let kinds = measurement.kinds.iter();
    let factors = kinds.filter_map(|kind| match kind.kind.as_str() {
        "read" => factor(kind.count, kind.bytes, (device.reads, device.read_bytes)),
        "write" if counts_writes => factor(
            kind.count,
            kind.bytes,
            (device.writes, device.written_bytes),
        ),
        _ => None,
    });
    let most = factors.fold(1.0, f64::max);
    (most > SPLIT_FACTOR).then(|| note(measurement, device, most))
}

/// A note when the same load was carried out by another driver before: two points of a curve then
/// differ by more than the load.
fn other_driver(
    measurement: &Measurement,
    trial: &Trial,
    driver: DriverKind,
    last: Option<(ClientSpec, DriverKind)>,
) -> Option<Warning> {
    let (spec, before) = last?;
    (spec == trial.spec && before != driver).then(|| {
        Warning::info(
            WarningCode::OtherDriver,
            format!(
                "{}: this load used {}, and the one before {}",
                measurement.title,
                driver_name(driver),
                driver_name(before)
            ),
        )
        .advise("choose one with --driver to compare them.")
    })
}

/// Why the driver is not the usual one, or carried requests out in another way: what stood in the
/// way at first, or showed while the trial ran.
fn engine_because(obstacle: Option<String>, own: &OwnWork) -> Option<String> {
    let held_up = format_counted(own.entries_held_up, "call");
    let shown =
        || format!("{held_up} that only handed requests to io_uring waited for the storage");
    obstacle.or_else(|| own.by_kernel_threads.then(shown))
}

/// A note when the usual engine could not be had, or would have made the load another: rows of
/// different engines do not compare.
fn engine_fallback(measurement: &Measurement) -> Option<Warning> {
    let generator = measurement.generator.as_ref()?;
    let because = generator.engine_because.as_deref()?;
    let engine = measurement.engine_in_words();
    Some(
        Warning::info(
            WarningCode::EngineFallback,
            format!(
                "{}: measured by {engine}, since {because}.",
                measurement.title
            ),
        )
        .advise(
            "IOPS and CPU time depend on the I/O engine: compare only with rows of the same one.",
        ),
    )
}

/// Requests were to be more or less urgent, and the kernel was told of none.
fn priority_ignored(
    measurement: &Measurement,
    trial: &Trial,
    driver: DriverKind,
) -> Option<Warning> {
    (has_priorities(&trial.spec) && driver != DriverKind::Uring).then(|| {
        Warning::warn(
            WarningCode::PriorityIgnored,
            format!(
                "{}: all requests had the same priority, as {} cannot set one.",
                measurement.title,
                measurement.engine_in_words()
            ),
        )
        .advise("Leave out --driver threads, or see `seekstone inspect` for io_uring.")
    })
}

/// A note when flushes took a way through a thread of the kernel, which costs some microseconds.
fn kernel_hop(measurement: &Measurement, trial: &Trial, driver: DriverKind) -> Option<Warning> {
    (is_durable(&trial.spec) && driver == DriverKind::Uring).then(|| {
        Warning::info(
            WarningCode::FlushByKernelThread,
            format!(
                "{}: io_uring runs each flush in a kernel thread, which adds about 5 to 10 \
                 us to a write. --driver threads avoids that.",
                measurement.title
            ),
        )
    })
}

/// A void where our clock and the system's came `apart_ns` apart in a trial of that length, or a
/// doubt where two readings are more than 1 % of the median.
fn doubtful_clock(
    measurement: &Measurement,
    (apart_ns, elapsed): (u64, Duration),
    read_cost_ns: u64,
) -> Option<Warning> {
    let title = &measurement.title;
    if clocks_disagree(apart_ns, elapsed) {
        let (apart, elapsed) = (apart_ns as f64, elapsed.as_nanos() as f64);
        return Some(
            Warning::invalid(
                WarningCode::Clock,
                format!(
                    "{title}: the CPU's counter and the system clock drifted {} apart in {}. No \
                 time in this trial can be trusted.",
                    format_duration_ns(apart),
                    format_duration_ns(elapsed)
                ),
            )
            .advise("Look for a suspend, or a clock source marked unstable (dmesg)."),
        );
    }
    let cost = 2.0 * read_cost_ns as f64;
    let median = measurement.service.percentile(0.5)?.value;
    is_slow(read_cost_ns, median).then(|| {
        Warning::warn(
            WarningCode::SlowClock,
            format!(
                "{title}: reading the clock twice takes {}, more than 1 % of an operation of {}. \
                 The system has no fast clock source (see current_clocksource).",
                format_duration_ns(cost),
                format_duration_ns(median)
            ),
        )
    })
}

/// Whether the clock is a slow one, and two readings of it matter beside a median time.
fn is_slow(read_cost_ns: u64, median_ns: f64) -> bool {
    read_cost_ns > CLOCK_FAST_NS && 2.0 * read_cost_ns as f64 > CLOCK_SHARE * median_ns
}

/// Requests of the device for each of our operations, where the device worked for us alone.
fn factor(count: u64, bytes: u64, (requests, moved): (u64, u64)) -> Option<f64> {
    let is_ours = (moved as f64 / bytes as f64 - 1.0).abs() < FOREIGN_SHARE;
    (count > 0 && bytes > 0 && is_ours).then(|| requests as f64 / count as f64)
}

fn note(measurement: &Measurement, device: &DeviceActivity, factor: f64) -> Warning {
    let size = Bytes(measurement.bytes_all / measurement.completions_all.max(1));
    Warning::info(
        WarningCode::SplitOperations,
        format!(
            "{}: the kernel split each {size} operation into {factor:.2} requests to {}. The \
             slowest one determines its latency.",
            measurement.title, device.name
        ),
    )
    .advise(match measurement.generator.as_ref() {
        Some(generator) if generator.huge_page_share.is_some_and(|share| share < 1.0) => {
            "Seekstone's buffers lie in small pages, and each is a piece of its own. Unless \
             --buffer-pages small was wanted, see /sys/kernel/mm/transparent_hugepage/enabled, \
             or use a smaller --block."
        }
        _ => {
            "Look at max_sectors_kb and max_segments in /sys/block/*/queue, or use a smaller \
             --block."
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_fast_clock_is_never_called_slow() {
        let check = |read_cost_ns, median_ns, expected| {
            let found = is_slow(read_cost_ns, median_ns);
            assert_eq!(found, expected, "{read_cost_ns} ns beside {median_ns} ns");
        };
        check(15, 700.0, false);
        check(1000, 700.0, true);
        check(1000, 80_000.0, true);
        check(1000, 4e6, false);
    }

    #[test]
    fn only_a_device_that_works_for_us_tells_of_our_operations() {
        let check = |requests, moved, expected| {
            assert_eq!(factor(1000, 1000 * MIB, (requests, moved)), expected);
        };
        check(2000, 1000 * MIB, Some(2.0));
        check(1000, 1000 * MIB, Some(1.0));
        check(250, 1000 * MIB, Some(0.25));
        check(2000, 1030 * MIB, None);
        check(0, 0, None);
        assert_eq!(factor(0, 0, (0, 0)), None);
    }
}
