//! The one screen of a check-up: what was measured, how sure it is, and what to make of it.

use std::collections::BTreeSet;

use results::environment::ForeignIo;
use results::{Measurement, Run, Status, Trust};
use units::{Bytes, format_count, format_duration_ns};

use crate::curve;
use crate::figure::{
    INDICATIVE, cpu, figure, indicative_legend, legend, mark, percent, tone_of, trust,
};
use crate::files;
use crate::measurement::not_looked_for;
use crate::page::Page;
use crate::rab;
use crate::random_access;
use crate::study;
use crate::style::{Style, Tone};
use crate::table::{Align, Table};
use crate::target;
use crate::timing;
use crate::transactions;
use crate::transfer;
use crate::verdicts::goals;
use crate::warnings;

/// Everything an administrator needs of a run, on one screen. Where it was saved is not said.
#[must_use]
pub fn check_up(run: &Run, style: &Style) -> String {
    let mut page = Page::new(style);
    header(&mut page, run);
    // The rounds of random access stand in its cells.
    if !run.measurements.is_empty() && run.random.is_none() {
        page.blank();
        measurements(&mut page, &run.measurements);
    }
    if let Some(curve) = &run.curve {
        page.blank();
        curve::section(&mut page, curve);
    }
    if let Some(rab) = &run.rab {
        page.blank();
        rab::section(&mut page, rab);
    }
    if let Some(found) = &run.transactions {
        transactions::section(&mut page, found);
    }
    if let Some(found) = &run.transfer {
        page.blank();
        transfer::section(&mut page, found);
    }
    if let Some(found) = &run.random {
        page.blank();
        random_access::section(&mut page, found);
    }
    if let Some(found) = &run.timing {
        page.blank();
        timing::section(&mut page, found);
    }
    if let Some(found) = &run.study {
        page.blank();
        study::section(&mut page, found);
    }
    if let Some(found) = &run.files {
        page.blank();
        files::section(&mut page, found, run.target.kind);
    }
    goals(&mut page, run);
    if !run.findings.is_empty() {
        page.blank();
        page.heading("Findings");
        for finding in &run.findings {
            page.item(Tone::Plain, "-", finding);
        }
    }
    warnings::section(&mut page, run);
    page.finish()
}

/// What was measured, such as `check-up of /data`.
pub(crate) fn title(run: &Run) -> String {
    let what = match run.settings.command.as_str() {
        "run" => "check-up",
        other => other,
    };
    format!("{what} of {}", run.target.given)
}

pub(crate) fn header(page: &mut Page<'_>, run: &Run) {
    let number = run.id.map_or_else(String::new, |id| format!("run {id}: "));
    let title = format!("{number}{}", title(run));
    let how = format!(
        "{}, seed {}",
        format_duration_ns(run.elapsed_ns as f64),
        run.settings.seed
    );
    let room = page
        .style
        .columns()
        .saturating_sub(title.chars().count() + 2);
    if how.chars().count() <= room {
        page.line(Tone::Strong, &format!("{title}  {how:>room$}"));
    } else {
        page.heading(&title);
        page.line(Tone::Strong, &how);
    }
    if let Status::Partial { reason } = &run.status {
        let reason = reason.trim_end_matches('.');
        let text = format!("{reason}. What had been measured by then is shown.");
        page.item(Tone::Bad, "partial:", &text);
    }
    let target = target::in_brief(&run.target) + &neighbours(&run.measurements);
    page.paragraph(Tone::Plain, &target);
    page.paragraph(Tone::Plain, &machine(run));
}

/// What others did on the device, where it was enough to disturb.
pub(crate) fn neighbours(measurements: &[Measurement]) -> String {
    let foreign = |it: &Measurement| Some(it.counters.as_ref()?.foreign?.share);
    let shares = measurements.iter().filter_map(foreign);
    let highest = shares.fold(0.0, f64::max);
    if highest < ForeignIo::MARKED_SHARE {
        return String::new();
    }
    format!(", up to {:.0} % foreign I/O", highest * 100.0)
}

/// The machine, and what of the settings changes the meaning of the numbers.
pub(crate) fn machine(run: &Run) -> String {
    let environment = &run.environment;
    let memory = environment.memory_total_bytes;
    let limit = environment
        .memory_limit_bytes
        .filter(|&limit| Some(limit) < memory);
    let cpus = environment.cpus_allowed;
    let parts = [
        memory.map(|bytes| format!("{} RAM", Bytes(bytes))),
        limit.map(|bytes| format!("limited to {}", Bytes(bytes))),
        Some(format!("{cpus} CPU{}", if cpus == 1 { "" } else { "s" })),
        Some(environment.kernel.clone()),
        environment.virtualised.clone(),
        run.settings
            .value("size")
            .and_then(|size| size.parse::<Bytes>().ok())
            .map(|size| format!("test file {size}")),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(", ")
}

/// One row for each measurement, and what the signs in the rows mean.
fn measurements(page: &mut Page<'_>, measurements: &[Measurement]) {
    let mut table = Table::new(&[
        ("", Align::Left, 9),
        ("value", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("p99", Align::Right, 6),
        ("CPU", Align::Right, 5),
        ("page cache", Align::Right, 4),
    ]);
    let mut used = BTreeSet::new();
    let mut is_indicative = false;
    for measurement in measurements {
        let trust = trust(measurement);
        used.insert(trust);
        let p99 = percentile_99(measurement);
        is_indicative |= p99.ends_with(INDICATIVE);
        let figure = figure(measurement);
        table.row(
            tone_of(trust),
            [
                format!("{}{}", measurement.title, figure.addition),
                format!("{}{}", mark(trust), figure.value),
                figure.interval,
                p99,
                cpu(measurement),
                measurement
                    .page_cache_share
                    .map_or_else(String::new, percent),
            ],
        );
    }
    page.table(&table);
    used.remove(&Trust::Sound);
    for trust in used {
        let text = format!("{} {}", mark(trust), legend(trust));
        page.paragraph(Tone::Quiet, &text);
    }
    if is_indicative {
        page.paragraph(Tone::Quiet, &indicative_legend());
    }
    unseen(page, measurements);
}

/// What rows of this length cannot show: of all together, or of each.
fn unseen(page: &mut Page<'_>, measurements: &[Measurement]) {
    let seen = |row: &Measurement| row.resolution;
    if page.style.all {
        for row in measurements {
            if let Some(seen) = seen(row) {
                let text = format!("{}: not looked for: {}", row.title, not_looked_for(&seen));
                page.item(Tone::Quiet, "-", &text);
            }
        }
        return;
    }
    let all = || measurements.iter().filter_map(seen);
    let Some(shortest) = all().min_by_key(|seen| seen.rarest_ns) else {
        return;
    };
    let operations = all().map(|seen| seen.rarest_operations).min();
    let text = format!(
        "Nothing rarer than one in {} or {} operations, or slower than {}, shows in every row.",
        format_duration_ns(shortest.rarest_ns as f64),
        format_count(operations.unwrap_or(0) as f64),
        format_duration_ns(shortest.slowest_change_ns as f64),
    );
    page.paragraph(Tone::Quiet, &text);
}

/// The 99th percentile of the response time where the row is about times and the sample bears it.
fn percentile_99(measurement: &Measurement) -> String {
    if crate::figure::aspect(measurement) == crate::figure::Aspect::Bandwidth {
        return String::new();
    }
    let found = measurement
        .response
        .percentiles
        .iter()
        .find(|one| (one.p - 0.99).abs() < 1e-9);
    let Some((percentile, estimate)) = found.and_then(|one| Some((one, one.estimate?))) else {
        return String::new();
    };
    let mark = if percentile.is_indicative {
        INDICATIVE
    } else {
        ""
    };
    format!("{}{mark}", format_duration_ns(estimate.value))
}
