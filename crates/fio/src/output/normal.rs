//! fio's normal report.

use std::fmt::Write as _;

use units::TimeSpan;

use super::{
    BATCH_CLASSES, DEPTH_CLASSES, DiskUse, JobReport, NAMES, SampleStatistics, Transfers, VERSION,
    batch_class, depth_class, percentile,
};

/// fio prints this after the rate of writes.
const NO_ZONES: &str = concat!(';', " 0 zone resets");

/// The report of these jobs; `by` is the process that ran them, and the time as text.
pub fn normal(jobs: &[JobReport], by: (u32, &str), disks: &[DiskUse]) -> String {
    let mut text = String::new();
    let headers: Vec<String> = jobs.iter().map(header).collect();
    // A line for the first of the copies, as in fio.
    for same in headers.chunk_by(|one, other| one == other) {
        let _ = writeln!(text, "{}", same[0]);
        if same.len() > 1 {
            text.push_str("...\n");
        }
    }
    let _ = writeln!(text, "{VERSION}\n");
    for job in jobs {
        job_text(&mut text, job, by);
    }
    // Results of hosts are in the sums.
    let sums: Vec<&JobReport> = jobs.iter().filter(|job| job.client.is_none()).collect();
    let mut groups: Vec<u32> = sums.iter().map(|job| job.group).collect();
    groups.dedup();
    for group in groups {
        let _ = writeln!(text, "\nRun status group {group} (all jobs):");
        let of_group = sums.iter().copied().filter(|job| job.group == group);
        let of_group: Vec<&JobReport> = of_group.collect();
        for name in NAMES.into_iter().chain(["mixed"]) {
            let parts = of_group.iter().flat_map(|job| job.parts());
            let moved = parts.filter(|(part, moved)| *part == name && moved.count() > 0);
            status(
                &mut text,
                name,
                &moved.map(|(_, moved)| moved).collect::<Vec<_>>(),
            );
        }
    }
    if !disks.is_empty() {
        let _ = writeln!(text, "\nDisk stats (read/write):");
    }
    for disk in disks {
        let [reads, writes] = disk.operations;
        let [read_merges, write_merges] = disk.merges;
        let [read_ms, write_ms] = disk.ticks_ms;
        let _ = writeln!(
            text,
            "  {}: ios={reads}/{writes}, merge={read_merges}/{write_merges}, \
             ticks={read_ms}/{write_ms}, in_queue={}, util={:.2}%",
            disk.name, disk.queue_ms, disk.busy_percent
        );
    }
    text
}

fn job_text(text: &mut String, job: &JobReport, (process, time): (u32, &str)) {
    let _ = writeln!(
        text,
        "{}: (groupid={}, jobs={}): err={:2}: pid={process}: {time}",
        job.title(),
        job.group,
        job.copies,
        job.error
    );
    for (name, moved) in job.parts() {
        if moved.count() > 0 {
            direction(text, job, moved, name);
        }
    }
    latency_classes(text, job);
    flushes(text, job);
    if let Some(found) = &job.steady {
        let (criterion, unit) = found.criterion;
        let attained = if found.is_attained { "yes" } else { "no" };
        let kind = if found.is_slope { "slope" } else { "mean dev" };
        let _ = writeln!(
            text,
            "  steadystate  : attained={attained}, bw={} ({}), iops={}, {} {kind}={criterion:.3}\
             {unit}",
            binary(found.mean(1), "/s"),
            decimal(found.mean(1), "/s"),
            count(found.mean(0)),
            found.figure.word()
        );
    }
    let _ = writeln!(
        text,
        "  cpu          : usr={:.2}%, sys={:.2}%, ctx=0, majf={}, minf={}",
        job.usage.user_percent,
        job.usage.system_percent,
        job.usage.major_faults,
        job.usage.minor_faults
    );
    let depths = classed(&DEPTH_CLASSES, depth_class(job.in_flight));
    let batches = classed(&BATCH_CLASSES, batch_class(job.in_flight));
    let _ = writeln!(text, "  IO depths    : {depths}");
    let _ = writeln!(text, "     submit    : {batches}");
    let _ = writeln!(text, "     complete  : {batches}");
    let _ = writeln!(
        text,
        "     issued rwts: total={},{},{},{} short=0,0,0,0 dropped=0,0,0,0",
        job.transfers[0].count(),
        job.transfers[1].count(),
        job.transfers[2].count(),
        job.flushes.count()
    );
    let _ = writeln!(
        text,
        "     latency   : target=0, window=0, percentile=100.00%, depth={}",
        job.depth
    );
}

fn header(job: &JobReport) -> String {
    let sizes = job.sizes.map(|(least, most)| {
        let [least, most] = [least, most].map(|bytes| binary(bytes as f64, ""));
        format!("{least}-{most}")
    });
    let [reads, writes, trims] = sizes;
    format!(
        "{}: (g={}): rw={}, bs=(R) {reads}, (W) {writes}, (T) {trims}, ioengine={}, iodepth={}",
        job.title(),
        job.group,
        job.rw,
        job.engine,
        job.depth
    )
}

/// All requests in one class.
fn classed(classes: &[&str], class: usize) -> String {
    let shares = classes.iter().enumerate().map(|(at, name)| {
        let share = if at == class { 100.0 } else { 0.0 };
        format!("{name}={share:.1}%")
    });
    shares.collect::<Vec<_>>().join(", ")
}

/// Percentages of requests by latency, five per line.
fn latency_classes(text: &mut String, job: &JobReport) {
    for (unit, classes) in ["nsec", "usec", "msec"].iter().zip(job.classes()) {
        let shares = classes.iter().filter(|(_, share)| *share > 0.0);
        let shares: Vec<String> = shares
            .map(|(bound, share)| format!("{bound}={share:.2}%"))
            .collect();
        for line in shares.chunks(5) {
            let _ = writeln!(text, "  lat ({unit})   : {}", line.join(", "));
        }
    }
}

fn direction(text: &mut String, job: &JobReport, moved: &Transfers, name: &str) {
    let rate = moved.bytes_per_second();
    let _ = writeln!(
        text,
        "  {name}: IOPS={}, BW={} ({})({}/{}msec){}",
        count(moved.iops()),
        binary(rate, "/s"),
        decimal(rate, "/s"),
        binary(moved.bytes as f64, ""),
        moved.milliseconds(),
        // fio prints this for every device, zoned or not.
        if name == "write" { NO_ZONES } else { "" }
    );
    let of = job.percentiles_of;
    let times = [
        ("slat", &moved.submission, of.submission),
        ("clat", &moved.service, of.completion),
        ("lat", &moved.whole, of.whole),
    ];
    let measured = times.iter().filter(|(_, times, _)| !times.is_empty());
    for (label, times, _) in measured.clone() {
        spread(text, &format!("{label:>4}"), &SampleStatistics::of(times));
    }
    for (label, times, _) in measured.filter(|(.., has_percentiles)| *has_percentiles) {
        percentiles(text, job, label, &|it| percentile(times, it));
    }
    let [iops, bw] = moved.windows();
    if bw.count == 0 {
        return;
    }
    let _ = writeln!(
        text,
        "   bw (  KiB/s): min={:>5}, max={:>5}, per={:.2}%, avg={:>5.2}, stdev={:>5.2}, samples={}",
        bw.least as u64,
        bw.most as u64,
        moved.share_of_group(&bw),
        bw.mean,
        bw.deviation,
        bw.count
    );
    let _ = writeln!(
        text,
        "   iops        : min={:>5}, max={:>5}, avg={:>5.2}, stdev={:>5.2}, samples={}",
        iops.least as u64, iops.most as u64, iops.mean, iops.deviation, iops.count
    );
}

/// Times of flushes, whichever call it was.
fn flushes(text: &mut String, job: &JobReport) {
    if job.flushes.count() == 0 {
        return;
    }
    text.push_str("  fsync/fdatasync/sync_file_range:\n");
    spread(text, "sync", &SampleStatistics::of(&job.flushes.service));
    percentiles(text, job, "sync", &|it| {
        percentile(&job.flushes.service, it)
    });
}

fn spread(text: &mut String, label: &str, times: &SampleStatistics) {
    let (unit, scale) = unit_of(times);
    let _ = writeln!(
        text,
        "    {label} ({unit}): min={}, max={}, avg={:>5.2}, stdev={:>5.2}",
        six_digits(times.least / scale),
        six_digits(times.most / scale),
        times.mean / scale,
        times.deviation / scale
    );
}

fn percentiles(text: &mut String, job: &JobReport, label: &str, value: &dyn Fn(f64) -> u64) {
    let values = job.percentiles().iter();
    let values: Vec<(f64, u64)> = values.map(|percent| (*percent, value(*percent))).collect();
    let least = values.iter().map(|(_, value)| *value).min().unwrap_or(0);
    let most = values.iter().map(|(_, value)| *value).max().unwrap_or(0);
    // fio uses the next unit if both ends are large.
    let (unit, scale) = match () {
        () if least > 2_000_000 && most > 99_999_999 => ("msec", 1_000_000),
        () if least > 2_000 && most > 99_999 => ("usec", 1_000),
        () => ("nsec", 1),
    };
    let _ = writeln!(text, "    {label} percentiles ({unit}):");
    let all = values.iter();
    let all = all.map(|(percent, value)| format!("{percent:5.2}th=[{:5}]", value / scale));
    let lines: Vec<String> = all
        .collect::<Vec<_>>()
        .chunks(4)
        .map(|line| format!("     | {}", line.join(", ")))
        .collect();
    let _ = writeln!(text, "{}", lines.join(",\n"));
}

fn status(text: &mut String, name: &str, moved: &[&Transfers]) {
    if moved.is_empty() {
        return;
    }
    let bytes: u64 = moved.iter().map(|it| it.bytes).sum();
    let spans = moved.iter().map(|it| it.span);
    let span = spans.fold(TimeSpan::default(), TimeSpan::with).length();
    let rate = bytes as f64 / span.as_secs_f64().max(1e-9);
    let rates = moved.iter().map(|it| it.bytes_per_second());
    let least = rates.clone().fold(f64::INFINITY, f64::min);
    let most = rates.fold(0.0, f64::max);
    let times = moved.iter().map(|it| it.milliseconds());
    let _ = writeln!(
        text,
        "{:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec",
        name.to_ascii_uppercase(),
        binary(rate, "/s"),
        decimal(rate, "/s"),
        binary(least, "/s"),
        binary(most, "/s"),
        decimal(least, "/s"),
        decimal(most, "/s"),
        binary(bytes as f64, ""),
        decimal(bytes as f64, ""),
        times.clone().min().unwrap_or(0),
        times.max().unwrap_or(0)
    );
}

/// fio uses the next unit if minimum, maximum and deviation are all large.
fn unit_of(times: &SampleStatistics) -> (&'static str, f64) {
    let is_large = |scale: f64| {
        let [least, most, deviation] =
            [times.least, times.most, times.deviation].map(|time| time / scale);
        least > 2000.0 && most > 99_999.0 && deviation > 1000.0
    };
    match (is_large(1.0), is_large(1000.0)) {
        (false, _) => ("nsec", 1.0),
        (true, false) => ("usec", 1e3),
        (true, true) => ("msec", 1e6),
    }
}

/// A time as shortened by fio: at most six digits.
fn six_digits(value: f64) -> String {
    match value < 999_999.5 {
        true => format!("{}", value as u64),
        false => format!("{:.0}k", value / 1000.0),
    }
}

/// A number as shortened by fio: at most four digits, then k and M for 1000.
fn count(value: f64) -> String {
    shortened(value, 1000.0, &["", "k", "M", "G"])
}

fn binary(bytes: f64, per: &str) -> String {
    shortened(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"]) + per
}

fn decimal(bytes: f64, per: &str) -> String {
    shortened(bytes, 1000.0, &["B", "kB", "MB", "GB", "TB"]) + per
}

fn shortened(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut units = units.iter().enumerate().peekable();
    while let Some((divided, unit)) = units.next() {
        if value < 9999.5 || units.peek().is_none() {
            return match divided > 0 && value < 99.95 {
                true => format!("{value:.1}{unit}"),
                false => format!("{value:.0}{unit}"),
            };
        }
        value /= step;
    }
    String::new()
}
