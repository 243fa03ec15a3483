//! Everything about one measurement.

use results::environment::{CountersDelta, DeviceTime};
use results::{
    ErrorCount, KindTimes, Law, Measurement, Resolution, WarningCode, Work, percentile_name,
};
use stats::{DriftVerdict, Estimate, PercentileEstimate};
use units::{Bytes, format_count, format_counted, format_duration_ns};

use crate::figure::{INDICATIVE, access_in_words, cpu, operations, percent, rate, time};
use crate::over_time::over_time;
use crate::page::TextPage;
use crate::style::{Style, Tone};
use crate::table::{Align, TextTable};

/// The measurement in full: times with intervals, costs, counters. Its warnings are with the run.
pub fn measurement(m: &Measurement, style: &Style) -> String {
    let mut page = TextPage::new(style);
    page.heading(&format!("{} [{}]", m.title, m.name));
    page.paragraph(Tone::Plain, &settings(m));
    if !m.is_all_failed() {
        page.blank();
        times(&mut page, m);
    }
    if !m.kinds.is_empty() {
        page.blank();
        kinds(&mut page, &m.kinds);
    }
    page.blank();
    page.fact("throughput", &with_interval(operations(m.throughput)));
    if let Some(bandwidth) = m.bandwidth {
        page.fact("bandwidth", &with_interval(rate(bandwidth)));
    }
    if let Some(offered) = m.offered {
        page.fact("offered", &format!("{}/s", format_count(offered)));
    }
    queue(&mut page, m);
    quality(&mut page, m);
    costs(&mut page, m);
    if let Some(counters) = &m.counters {
        system(&mut page, counters);
    }
    for error in &m.errors {
        page.fact("errors", &failed(error));
    }
    over_time(&mut page, m);
    page.finish()
}

/// Wait and service apart, and what the law of the queue says.
pub(crate) fn queue(page: &mut TextPage<'_>, m: &Measurement) {
    if let Some(server) = &m.server {
        let (wait, service) = (
            with_interval(time(server.wait)),
            with_interval(time(server.service)),
        );
        // Service time elsewhere is from issue on, with the wait in this queue.
        let text = format!("simulated: wait {wait}, service {service}");
        page.fact("queue", &text);
    }
    let Some(Law::Queue(law)) = &m.law else {
        return;
    };
    let off = (m.response.mean.value / law.response_mean_ns - 1.0) * 100.0;
    let mean = &m.response.mean;
    let place = match mean.contains(law.response_mean_ns) {
        _ if !mean.is_bounded() => "no interval to hold it against",
        true => "inside the interval",
        false => "outside the interval",
    };
    let text = format!(
        "{}: response {} ({place}, measured {off:+.1} %), wait {}, service {}, {}/s",
        law.name,
        format_duration_ns(law.response_mean_ns),
        format_duration_ns(law.wait_mean_ns),
        format_duration_ns(law.service_mean_ns),
        format_count(law.per_second),
    );
    page.fact("theory", &text);
}

/// One kind of failure with its times, which are in no other figure.
fn failed(error: &ErrorCount) -> String {
    let number = match error.errno {
        0 => String::new(),
        number => format!(", errno {number}"),
    };
    format!(
        "{} {}: {} ({}{number}), latency {} on average, {} at most, service time {}, {}",
        format_count(error.count as f64),
        error.kind,
        error.name,
        error.class.name(),
        format_duration_ns(error.response_mean_ns),
        format_duration_ns(error.response_max_ns as f64),
        format_duration_ns(error.service_mean_ns),
        format_duration_ns(error.service_max_ns as f64),
    )
}

fn settings(m: &Measurement) -> String {
    format!(
        "{}, {}, {}, driver {}, seed {}",
        format_counted(m.clients.into(), "client"),
        format_counted(m.workers.into(), "worker"),
        access_in_words(m.access),
        m.driver,
        m.seed
    )
}

fn with_interval((value, interval): (String, String)) -> String {
    format!("{value}  ({interval})")
}

/// Response and service time side by side.
fn times(page: &mut TextPage<'_>, m: &Measurement) {
    let mut table = TextTable::new(&[
        ("", Align::Left, 9),
        ("latency", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("service time", Align::Right, 5),
        ("95 % interval", Align::Left, 4),
    ]);
    let extreme = |nanos: u64| format_duration_ns(nanos as f64);
    let row = |name: &str, response: (String, String), service: (String, String)| {
        [
            name.to_owned(),
            response.0,
            response.1,
            service.0,
            service.1,
        ]
    };
    let alone = |text: String| (text, String::new());
    table.row(
        Tone::Plain,
        row(
            "shortest",
            alone(extreme(m.response.min_ns)),
            alone(extreme(m.service.min_ns)),
        ),
    );
    table.row(
        Tone::Strong,
        row("mean", time(m.response.mean), time(m.service.mean)),
    );
    for share in shares(m) {
        let of = |percentiles: &[PercentileEstimate]| {
            percentile(percentiles.iter().find(|one| is_same(one.p, share)))
        };
        let cells = row(
            &percentile_name(share),
            of(&m.response.percentiles),
            of(&m.service.percentiles),
        );
        table.row(Tone::Plain, cells);
    }
    let is_kept_back = m
        .warnings
        .iter()
        .any(|warning| warning.code == WarningCode::KeptBack);
    table.row(
        Tone::Plain,
        row(
            if is_kept_back {
                "longest at least"
            } else {
                "longest"
            },
            alone(extreme(m.response.max_ns)),
            alone(extreme(m.service.max_ns)),
        ),
    );
    page.table(&table);
}

fn is_same(p: f64, q: f64) -> bool {
    (p - q).abs() < 1e-9
}

/// The shares for which either time has a percentile, ascending.
fn shares(m: &Measurement) -> Vec<f64> {
    let mut shares: Vec<f64> = Vec::new();
    for one in m.response.percentiles.iter().chain(&m.service.percentiles) {
        if !shares.iter().any(|&known| is_same(known, one.p)) {
            shares.push(one.p);
        }
    }
    shares.sort_by(f64::total_cmp);
    shares
}

fn percentile(found: Option<&PercentileEstimate>) -> (String, String) {
    let Some(found) = found else {
        return (String::new(), String::new());
    };
    let Some(estimate) = found.estimate else {
        return ("too few".to_owned(), String::new());
    };
    let (value, interval) = time(estimate);
    if !found.has_interval() {
        (
            format!("{value}{INDICATIVE}"),
            "too few for an interval".to_owned(),
        )
    } else if found.is_indicative {
        (
            format!("{value}{INDICATIVE}"),
            format!("{interval}, indicative"),
        )
    } else {
        (value, interval)
    }
}

/// One row for each kind of operation; the whole trial, warm-up included.
fn kinds(page: &mut TextPage<'_>, kinds: &[KindTimes]) {
    let mut table = TextTable::new(&[
        ("whole trial", Align::Left, 9),
        ("operations", Align::Right, 8),
        ("bytes", Align::Right, 3),
        ("latency: mean", Align::Right, 9),
        ("p99", Align::Right, 7),
        ("longest", Align::Right, 6),
        ("service: mean", Align::Right, 5),
        ("p99", Align::Right, 2),
        ("longest", Align::Right, 1),
    ]);
    let known = |nanos: Option<u64>| {
        nanos.map_or_else(
            || "too few".to_owned(),
            |nanos| format_duration_ns(nanos as f64),
        )
    };
    for kind in kinds {
        let cells = [
            kind.kind.clone(),
            format_count(kind.count as f64),
            if kind.bytes > 0 {
                Bytes(kind.bytes).to_string()
            } else {
                String::new()
            },
            format_duration_ns(kind.response_mean_ns),
            known(kind.response_p99_ns),
            format_duration_ns(kind.response_max_ns as f64),
            format_duration_ns(kind.service_mean_ns),
            known(kind.service_p99_ns),
            format_duration_ns(kind.service_max_ns as f64),
        ];
        table.row(Tone::Plain, cells);
    }
    page.table(&table);
}

/// How much the numbers can be relied on.
fn quality(page: &mut TextPage<'_>, m: &Measurement) {
    page.fact("verdict", &verdict(m));
    if !m.is_all_failed() {
        steadiness(page, m);
    }
    page.fact(
        "depth",
        &format!(
            "{} outstanding requests on average, {} at most",
            format_count(rounded(m.effective_depth)),
            format_count(f64::from(m.nominal_depth))
        ),
    );
    let late = &m.lateness;
    let p99 = late.p99_ns.map_or_else(String::new, |p99| {
        format!(", p99 {}", format_duration_ns(p99 as f64))
    });
    page.fact(
        "issued late by",
        &format!(
            "{} on average{p99}, {} at most",
            format_duration_ns(late.mean_ns),
            format_duration_ns(late.max_ns as f64)
        ),
    );
}

/// What was counted, and whether it stayed as it was.
fn steadiness(page: &mut TextPage<'_>, m: &Measurement) {
    let steady = format_duration_ns(m.duration_ns as f64);
    let warmup = if m.warmup_ns == 0 {
        "nothing cut off as warm-up".to_owned()
    } else {
        format!(
            "after {} of warm-up",
            format_duration_ns(m.warmup_ns as f64)
        )
    };
    let counted = format_count(m.completions as f64);
    let all = format_count(m.completions_all as f64);
    page.fact(
        "steady part",
        &format!("{steady}, {warmup}, {counted} of {all} operations"),
    );
    page.fact("drift", &drift(m));
    if let Some(seen) = &m.resolution {
        page.fact("not looked for", &not_looked_for(seen));
    }
}

/// What the trial was too short for.
pub(crate) fn not_looked_for(seen: &Resolution) -> String {
    format!(
        "changes slower than {}, events rarer than one in {} operations or {}",
        format_duration_ns(seen.slowest_change_ns as f64),
        format_count(seen.rarest_operations as f64),
        format_duration_ns(seen.rarest_ns as f64)
    )
}

/// Two decimals are all that a mean depth means.
fn rounded(depth: f64) -> f64 {
    (depth * 100.0).round() / 100.0
}

fn verdict(m: &Measurement) -> String {
    if m.is_all_failed() {
        return match m.work {
            Work::Operation => "invalid: every operation failed".into(),
            Work::File => "invalid: no file was completed".into(),
            Work::Transaction => "invalid: no transaction was completed".into(),
        };
    }
    let Estimate { samples, .. } = m.response.mean;
    let width = m.response.mean.relative_half_width();
    let precision = if width.is_finite() {
        format!("mean latency within {:.1} %", width * 100.0)
    } else {
        "no bound on the mean latency".to_owned()
    };
    format!(
        "{}, {precision}, {} independent samples",
        m.verdict,
        format_count(samples.round())
    )
}

fn drift(m: &Measurement) -> String {
    let word = match m.drift.verdict {
        DriftVerdict::Steady => "steady",
        DriftVerdict::Drifting => "drifting",
        DriftVerdict::Undecided => "undecided",
    };
    let size = if m.drift.bound.is_finite() {
        let (total, bound) = (m.drift.total * 100.0, m.drift.bound * 100.0);
        format!("moved by {total:+.1} % of its mean over the trial, at most {bound:.1} %")
    } else {
        "no bound".to_owned()
    };
    let snia = match m.snia_steady {
        Some(true) => ", steady by SNIA's rule",
        Some(false) => ", not steady by SNIA's rule",
        None => "",
    };
    format!("{word}: {size}{snia}")
}

fn costs(page: &mut TextPage<'_>, m: &Measurement) {
    if let Some(cost) = m.cpu {
        let busy = cost.cores_busy;
        let polls = m.generator.as_ref().is_some_and(|it| it.polls);
        let (word, purpose) = match polls {
            true => (", completions polled", "polls that found nothing"),
            false => ("", "awake for the next arrival"),
        };
        let awake = awake(m).map_or_else(String::new, |share| {
            format!(", {} of it {purpose}", percent(share))
        });
        page.fact(
            "CPU",
            &format!("{}, {busy:.2} cores busy{word}{awake}", cpu(m)),
        );
    }
    if let Some(share) = m.page_cache_share {
        page.fact(
            "page cache",
            &format!("answered {} of the bytes", percent(share)),
        );
    }
}

/// The share of the processor time that was spent waiting awake, where it is worth a word.
fn awake(m: &Measurement) -> Option<f64> {
    const WORTH_A_WORD: f64 = 0.05;
    let awake_ns = m.generator.as_ref()?.awake_ns? as f64;
    let share = awake_ns / m.counters.as_ref()?.cpu_ns as f64;
    (share > WORTH_A_WORD).then_some(share.min(1.0))
}

/// What the system counted during the trial.
fn system(page: &mut TextPage<'_>, counters: &CountersDelta) {
    let mut parts = vec![format!(
        "{} in all",
        format_duration_ns(counters.cpu_ns as f64)
    )];
    for (time, name) in [
        (counters.cpu_user_ns, "in the program"),
        (counters.cpu_system_ns, "in the kernel"),
        (counters.steal_ns, "given to others by the hypervisor"),
    ] {
        parts.extend(time.map(|time| format!("{} {name}", format_duration_ns(time as f64))));
    }
    page.fact("CPU time", &parts.join(", "));
    if let (Some(minor), Some(major)) = (counters.minor_faults, counters.major_faults) {
        let (minor, major) = (format_count(minor as f64), format_count(major as f64));
        page.fact(
            "page faults",
            &format!("{minor} from memory, {major} from a device"),
        );
    }
    if let Some(io) = counters.process_io {
        let (read, written) = (Bytes(io.read_bytes), Bytes(io.write_bytes));
        page.fact(
            "process",
            &format!("caused {read} of reads and {written} of writes"),
        );
    }
    if let Some(device) = &counters.device {
        let reads = format!(
            "{} reads, {}",
            format_count(device.reads as f64),
            Bytes(device.read_bytes)
        );
        let writes = format!(
            "{} writes, {}",
            format_count(device.writes as f64),
            Bytes(device.written_bytes)
        );
        let flushes = device.flushes.map_or_else(String::new, |count| {
            format!(", {} flushes", format_count(count as f64))
        });
        let busy = format_duration_ns(device.busy_ms as f64 * 1e6);
        page.fact(
            "device",
            &format!(
                "{}: {reads}, {writes}{flushes}, busy for {busy}",
                device.name
            ),
        );
    }
    if let Some(time) = &counters.device_time {
        page.fact("device time", &device_time(time));
    }
}

fn device_time(time: &DeviceTime) -> String {
    let means = [(time.read_mean_ns, "read"), (time.write_mean_ns, "write")];
    let means = means.into_iter().filter_map(|(mean, kind)| {
        let mean = format_duration_ns(mean?);
        Some(format!("{mean} per {kind}"))
    });
    let means: Vec<String> = means.collect();
    format!(
        "{} on average, warm-up and block-layer queue included",
        means.join(", ")
    )
}
