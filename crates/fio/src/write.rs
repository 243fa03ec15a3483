//! Writes jobs as a job file for fio.

use std::fmt::Write as _;

use units::TargetName;

use crate::blocks::BlockSizes;
use crate::job::{Amount, EachWrite, FileOrder, Job, RateLimit};
use crate::pattern::{Directions, Distribution};
use crate::zones;

/// A job file for these jobs, with one option per line.
pub fn job_file_text(jobs: &[Job]) -> String {
    let mut text = String::new();
    for job in jobs {
        let _ = writeln!(text, "[{}]", job.section);
        for (name, value) in options_of(job) {
            let _ = writeln!(text, "{name}={value}");
        }
        text.push('\n');
    }
    text
}

type Lines = Vec<(&'static str, String)>;

fn options_of(job: &Job) -> Lines {
    let mut lines: Lines = vec![
        ("ioengine", job.engine.name.into()),
        ("rw", rw(job)),
        ("direct", u8::from(job.is_direct).to_string()),
        ("iodepth", job.depth.to_string()),
    ];
    if job.name != job.section {
        lines.push(("name", job.name.clone()));
    }
    place(job, &mut lines);
    load(job, &mut lines);
    course(job, &mut lines);
    content(job, &mut lines);
    lines
}

fn rw(job: &Job) -> String {
    let word = match (job.pattern.directions, job.pattern.is_random) {
        (Directions::Read, false) => "read",
        (Directions::Write, false) => "write",
        (Directions::Mixed, false) => "rw",
        (Directions::Read, true) => "randread",
        (Directions::Write, true) => "randwrite",
        (Directions::Mixed, true) => "randrw",
        (Directions::Trim, false) => "trim",
        (Directions::Trim, true) => "randtrim",
        (Directions::TrimWrite, false) => "trimwrite",
        (Directions::TrimWrite, true) => "randtrimwrite",
    };
    match job.pattern.modifier {
        Some(modifier) => format!("{word}:{modifier}"),
        None => word.into(),
    }
}

fn place(job: &Job, lines: &mut Lines) {
    let files = &job.files;
    let escaped = |names: &[String]| {
        let names = names
            .iter()
            .map(|name| match TargetName::from(name.as_str()) {
                TargetName::Path(path) | TargetName::Bucket(path) => path.replace(':', "\\:"),
                other => other.to_string(),
            });
        names.collect::<Vec<String>>().join(":")
    };
    // A name includes its directory already.
    if files.names.is_empty() && !files.directories.is_empty() {
        lines.push(("directory", escaped(&files.directories)));
    }
    match files.names.is_empty() {
        // fio gives a file with such a name only to the first copy of a job, and prefers one named
        // like the job.
        true if files.count <= 1 && !files.format.contains('$') => {
            lines.push(("filename", files.format.clone()));
        }
        true => {
            lines.push(("filename_format", files.format.clone()));
            if files.count > 1 {
                lines.push(("nrfiles", files.count.to_string()));
            }
        }
        false => lines.push(("filename", escaped(&files.names))),
    }
    if files.open > 0 {
        lines.push(("openfiles", files.open.to_string()));
    }
    let sizes = files.each.map(|(least, most)| match least == most {
        true => least.to_string(),
        false => format!("{least}-{most}"),
    });
    lines.extend(sizes.map(|sizes| ("filesize", sizes)));
    let order = match files.order {
        FileOrder::RoundRobin => "roundrobin",
        FileOrder::Random => "random",
        FileOrder::Sequential => "sequential",
    };
    match files.run {
        1 if files.order == FileOrder::RoundRobin => {}
        1 => lines.push(("file_service_type", order.into())),
        run => lines.push(("file_service_type", format!("{order}:{run}"))),
    }
    for (name, is_on) in [
        ("create_only", job.only_creates),
        ("pre_read", job.is_read_before),
    ] {
        if is_on {
            lines.push((name, "1".into()));
        }
    }
    lines.extend(job.size.map(|size| ("size", amount(size))));
    lines.extend(job.io_size.map(|size| ("io_size", amount(size))));
    for (name, shift) in [
        ("offset", job.offset),
        ("offset_increment", job.offset_increment),
    ] {
        if shift != Amount::Bytes(0) {
            lines.push((name, amount(shift)));
        }
    }
}

fn amount(amount: Amount) -> String {
    match amount {
        Amount::Bytes(bytes) => bytes.to_string(),
        Amount::Percent(percent) => format!("{percent}%"),
    }
}

fn load(job: &Job, lines: &mut Lines) {
    let each = |of: &dyn Fn(&BlockSizes) -> String| {
        // The last value applies to the rest.
        let parts = if job.blocks[2] == job.blocks[1] { 2 } else { 3 };
        let each: Vec<String> = job.blocks[..parts].iter().map(of).collect();
        each.join(",")
    };
    lines.push(match job.blocks.iter().any(BlockSizes::vary) {
        true => ("bssplit", each(&split)),
        false => ("bs", each(&|sizes| sizes.least().to_string())),
    });
    if job.pattern.directions == Directions::Mixed {
        lines.push(("rwmixread", job.read_percent.to_string()));
    }
    if job.copies != 1 {
        lines.push(("numjobs", job.copies.to_string()));
    }
    if job.may_repeat {
        lines.push(("norandommap", "1".into()));
    }
    if job.random_percent != [100; 3] {
        let [reads, writes, trims] = job.random_percent;
        lines.push(("percentage_random", format!("{reads},{writes},{trims}")));
    }
    match &job.distribution {
        Distribution::Uniform => {}
        Distribution::Zipf(theta) => lines.push(("random_distribution", format!("zipf:{theta}"))),
        Distribution::Pareto(share) => {
            lines.push(("random_distribution", format!("pareto:{share}")));
        }
        Distribution::Normal(percent) => {
            lines.push(("random_distribution", format!("normal:{percent}")));
        }
        Distribution::Zoned(shares) => lines.push(("random_distribution", zones::text(shares))),
    }
}

/// Sizes with whole percentages; the last one absorbs the rounding.
fn split(sizes: &BlockSizes) -> String {
    let all: u64 = sizes.sizes.iter().map(|it| it.weight).sum();
    let mut left = 100;
    let count = sizes.sizes.len();
    let parts = sizes.sizes.iter().enumerate().map(|(number, it)| {
        let own = match number + 1 == count {
            true => left,
            false => (it.weight * 100 / all.max(1)).min(left),
        };
        left -= own;
        format!("{}/{own}", it.bytes)
    });
    parts.collect::<Vec<String>>().join(":")
}

fn course(job: &Job, lines: &mut Lines) {
    let micros = |time: units::Duration| format!("{}us", time.as_nanos() / 1000);
    let limits = &job.limits;
    for (name, time) in [
        ("startdelay", limits.delay),
        ("ramp_time", limits.ramp),
        ("runtime", limits.runtime),
        ("thinktime", job.think.time),
    ] {
        if time > units::Duration::ZERO {
            lines.push((name, micros(time)));
        }
    }
    if job.think.after > 1 {
        lines.push(("thinktime_blocks", job.think.after.to_string()));
    }
    if job.think.counts_issued {
        lines.push(("thinktime_blocks_type", "issue".into()));
    }
    if job.think.stops_rates {
        lines.push(("rate_ignore_thinktime", "1".into()));
    }
    if limits.is_time_based {
        lines.push(("time_based", "1".into()));
    }
    if limits.loops > 1 {
        lines.push(("loops", limits.loops.to_string()));
    }
    lines.extend(
        limits
            .requests
            .map(|count| ("number_ios", count.to_string())),
    );
    rates(job, lines);
    if job.syncs.period() > 0 {
        let every = job.syncs.period();
        lines.push(match (job.syncs.range(), job.syncs.are_of_data()) {
            (Some(steps), _) => ("sync_file_range", format!("{}:{every}", steps.words())),
            (None, true) => ("fdatasync", every.to_string()),
            (None, false) => ("fsync", every.to_string()),
        });
    }
    if job.syncs.at_end {
        lines.push(("end_fsync", "1".into()));
    }
    match job.syncs.each {
        None => {}
        Some(EachWrite::Sync) => lines.push(("sync", "sync".into())),
        Some(EachWrite::DataSync) => lines.push(("sync", "dsync".into())),
    }
    if let Some(name) = &job.waits_for {
        lines.push(("wait_for", name.clone()));
    }
    for (name, is_on) in [
        ("group_reporting", job.reports.is_grouped),
        ("new_group", job.begins_group),
        ("stonewall", job.is_behind_wall),
    ] {
        if is_on {
            lines.push((name, "1".into()));
        }
    }
}

fn rates(job: &Job, lines: &mut Lines) {
    let pick = |of: &dyn Fn(RateLimit) -> Option<u64>| {
        let each = job.pace.rates.map(|rate| rate.and_then(of));
        let text = |rate: Option<u64>| rate.map_or_else(|| "0".into(), |rate| rate.to_string());
        let is_any = each.iter().any(Option::is_some);
        let each = each.map(text);
        // The last value applies to the rest.
        let parts = if each[2] == each[1] { 2 } else { 3 };
        is_any.then(|| each[..parts].join(","))
    };
    let requests = pick(&|rate| match rate {
        RateLimit::Requests(rate) => Some(rate),
        RateLimit::Bytes(_) => None,
    });
    let bytes = pick(&|rate| match rate {
        RateLimit::Bytes(rate) => Some(rate),
        RateLimit::Requests(_) => None,
    });
    lines.extend(requests.map(|text| ("rate_iops", text)));
    lines.extend(bytes.map(|text| ("rate", text)));
    if job.pace.is_poisson {
        lines.push(("rate_process", "poisson".into()));
    }
}

fn content(job: &Job, lines: &mut Lines) {
    let buffers = &job.buffers;
    for (name, is_on) in [
        ("zero_buffers", buffers.are_zeroes),
        ("refill_buffers", buffers.are_refilled),
    ] {
        if is_on {
            lines.push((name, "1".into()));
        }
    }
    if let Some(pattern) = &buffers.pattern {
        let digits: String = pattern.iter().map(|byte| format!("{byte:02x}")).collect();
        lines.push(("buffer_pattern", format!("0x{digits}")));
    }
    for (name, percent) in [
        ("buffer_compress_percentage", buffers.compress_percent),
        ("dedupe_percentage", buffers.dedupe_percent),
    ] {
        if percent > 0 {
            lines.push((name, percent.to_string()));
        }
    }
    if job.verify.is_on {
        lines.push(("verify", "crc32c".into()));
    }
}
