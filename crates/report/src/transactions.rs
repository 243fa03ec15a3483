//! Transactions of users: rates, response times, what the machine did, and how many users fit.

use results::{
    StandardTable, SystemSample, SystemSeries, Times, TransactionLoad, Transactions,
    UserSearchResult, UserSearchStep, UserTimes,
};
use stats::Estimate;
use units::{format_count, format_counted, format_duration_ns};

use crate::figure::{INDICATIVE, indicative_legend, operations, percent, time};
use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};

/// What the columns mean.
const LEGEND: &str = "From due: from the end of the think time. From start: from the issue of the \
                      transaction's first operation. Steady, and the response times: while all \
                      users are at work, from the last one's first think time to the first one's \
                      leaving. Whole run: transactions over elapsed time, as the document of 1997 \
                      has it, the users' start and stragglers included. At that \
                      rate: by the utilisation law, what a transaction took over the whole run \
                      times the steady rate. \
                      Intervals: CPU is that of all processes, and device what the kernel counts \
                      for all of them; a transfer is the time of one request with the device; \
                      cache misses are pages of 4 KiB that were fetched, read-ahead included.";
/// Independent response times beyond a percentile from which its interval is shown, ...
const EVIDENCE_MIN: f64 = 10.0;
/// ... and from which it is more than indicative.
const EVIDENCE_FIRM: f64 = 20.0;
/// Rows of the table of intervals, and of the one with everything.
const INTERVALS: (usize, usize) = (6, 60);
/// Percentiles of the tables.
const SHOWN: [(f64, &str); 3] = [(0.9, "90 %"), (0.95, "95 %"), (0.99, "99 %")];

/// Everything about the transactions.
pub(crate) fn section(page: &mut Page<'_>, found: &Transactions) {
    let all = page.style.all || found.search.is_none() && found.standard.is_none();
    for load in &found.loads {
        if all {
            one(page, load);
        }
    }
    if let Some(search) = &found.search {
        searched(page, search);
    }
    if let Some(standard) = &found.standard {
        table_of(page, standard);
    }
    if page.style.all && !found.loads.is_empty() {
        page.blank();
        page.paragraph(Tone::Quiet, LEGEND);
    }
}

fn one(page: &mut Page<'_>, load: &TransactionLoad) {
    page.blank();
    page.heading(&format!(
        "{}, {} in {}",
        format_counted(load.users.into(), "user"),
        format_counted(load.all.transactions, "transaction"),
        format_duration_ns(load.elapsed_ns as f64)
    ));
    if load.per_second_steady.high.is_finite() {
        let (steady, interval) = operations(load.per_second_steady);
        page.fact("steady", &format!("{steady}  ({interval})"));
    } else {
        page.fact("steady", "too short to measure");
    }
    if load.all.transactions > 0 {
        times(page, load);
        busy_when_steady(page, load);
        laws(page, load);
    }
    page.blank();
    page.fact(
        "whole run",
        &format!(
            "{}/s; the figures below are of the whole run, stragglers included",
            format_count(load.per_second_whole)
        ),
    );
    machine(page, load);
    if let Some(series) = &load.series {
        over_time(page, series);
    }
}

/// What happened when, in no more rows than a screen has.
fn over_time(page: &mut Page<'_>, series: &SystemSeries) {
    // One interval says what stands above already.
    if series.samples.len() < 2 {
        return;
    }
    let rows = if page.style.all {
        INTERVALS.1
    } else {
        INTERVALS.0
    };
    let mut table = Table::new(&[
        ("until", Align::Right, 9),
        ("transactions", Align::Right, 9),
        ("response", Align::Right, 8),
        ("CPU", Align::Right, 8),
        ("device", Align::Right, 8),
        ("queue", Align::Right, 7),
        ("reads", Align::Right, 7),
        ("writes", Align::Right, 6),
        ("a transfer", Align::Right, 3),
        ("cache misses", Align::Right, 6),
        ("page faults", Align::Right, 4),
    ]);
    for sample in series.condensed(rows) {
        table.row(Tone::Plain, interval_row(&sample));
    }
    page.blank();
    page.table(&table);
}

fn interval_row(sample: &SystemSample) -> [String; 11] {
    let rate =
        |rate: Option<f64>| rate.map_or_else(String::new, |it| format!("{}/s", format_count(it)));
    let share = |share: Option<f64>| share.map(percent).unwrap_or_default();
    let span = |span: Option<f64>| span.map(format_duration_ns).unwrap_or_default();
    let faults = sample
        .minor_faults_per_second
        .zip(sample.major_faults_per_second);
    [
        format_duration_ns(sample.end_ns as f64),
        rate(Some(sample.per_second)),
        span(sample.response_mean_ns),
        share(sample.cpu_share),
        share(sample.device_busy_share),
        sample.device_queue.map(format_count).unwrap_or_default(),
        rate(sample.device_reads_per_second),
        rate(sample.device_writes_per_second),
        span(sample.device_transfer_ns),
        rate(sample.page_cache_misses_per_second),
        rate(faults.map(|(minor, major)| minor + major)),
    ]
}

fn times(page: &mut Page<'_>, load: &TransactionLoad) {
    let mut table = Table::new(&[
        ("response time", Align::Left, 9),
        ("min", Align::Right, 6),
        ("mean", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("90 %", Align::Right, 7),
        ("95 %", Align::Right, 8),
        ("95 % interval", Align::Left, 4),
        ("99 %", Align::Right, 7),
        ("max", Align::Right, 6),
    ]);
    for found in std::iter::once(&load.all).chain(&load.profiles) {
        let name = name_of(found, load);
        let rows = [
            ("from due", &found.from_due),
            ("from start", &found.from_start),
        ];
        for (how, times) in rows {
            table.row(Tone::Plain, row(format!("{name}{how}"), times));
        }
    }
    page.table(&table);
    let all = std::iter::once(&load.all).chain(&load.profiles);
    let mut shown = all
        .flat_map(|found| [&found.from_due, &found.from_start])
        .flat_map(|times| SHOWN.map(|(share, _)| percentile(times, share).0));
    if shown.any(|text| text.ends_with(INDICATIVE)) {
        page.paragraph(Tone::Quiet, &indicative_legend());
    }
    for found in &load.profiles {
        let text = format!(
            "{}, {}, {}/s",
            format_counted(found.users.into(), "user"),
            format_counted(found.transactions, "transaction"),
            format_count(found.per_second)
        );
        page.fact(&found.name, &text);
    }
}

fn name_of(found: &UserTimes, load: &TransactionLoad) -> String {
    if load.profiles.is_empty() {
        String::new()
    } else {
        format!("{}, ", found.name)
    }
}

fn row(name: String, times: &Times) -> [String; 9] {
    let (mean, interval) = time(times.mean);
    let [p90, p95, p99] = SHOWN.map(|(share, _)| percentile(times, share));
    [
        name,
        format_duration_ns(times.min_ns as f64),
        mean,
        interval,
        p90.0,
        p95.0,
        p95.1,
        p99.0,
        format_duration_ns(times.max_ns as f64),
    ]
}

/// A percentile and its interval, with the sign of those with little evidence.
fn percentile(times: &Times, share: f64) -> (String, String) {
    let mut all = times.percentiles.iter();
    let Some(found) = all.find(|it| (it.p - share).abs() < 1e-9) else {
        return Default::default();
    };
    let (value, mut interval) = found.estimate.map(time).unwrap_or_default();
    if !found.has_interval() {
        interval.clear();
    }
    let mark = if found.is_indicative && !value.is_empty() {
        INDICATIVE
    } else {
        ""
    };
    (format!("{value}{mark}"), interval)
}

fn machine(page: &mut Page<'_>, load: &TransactionLoad) {
    let cpu = load.cpu_each_ns.map(|each| {
        let asked = format_duration_ns(load.cpu_work_each_ns);
        let share = load.cpu_share.map_or_else(String::new, |share| {
            format!(", all processors {} busy with it", percent(share))
        });
        format!(
            "{} a transaction, of which {asked} were asked for{share}",
            format_duration_ns(each)
        )
    });
    page.fact("CPU", &cpu.unwrap_or_default());
    let rate = |rate: f64| format!("{}/s", format_count(rate));
    let asked = format!(
        "reads {}, writes {}, {} outstanding on average",
        rate(load.reads_per_second),
        rate(load.writes_per_second),
        format_count(load.storage_queue)
    );
    page.fact("I/Os", &asked);
    let device = [
        load.device_reads_per_second
            .map(|it| format!("reads {}", rate(it))),
        load.device_writes_per_second
            .map(|it| format!("writes {}", rate(it))),
        load.device_queue
            .map(|queue| format!("queue {}", format_count(queue))),
        load.device_busy_share
            .map(|share| format!("busy {}", percent(share))),
    ];
    page.fact("device", &joined(device));
    let memory = [
        load.page_cache_share
            .map(|share| format!("the page cache answered {} of the bytes", percent(share))),
        load.minor_faults_per_second
            .map(|it| format!("page faults {}", rate(it))),
        load.major_faults_per_second
            .map(|it| format!("{} of them from a device", rate(it))),
    ];
    page.fact("memory", &joined(memory));
}

/// How busy the machine was in the steady part, by the utilisation law: what it did for each
/// transaction of the whole run, times the transactions per second of the steady part.
fn busy_when_steady(page: &mut Page<'_>, load: &TransactionLoad) {
    let steady = load.per_second_steady;
    if !steady.high.is_finite() || load.per_second_whole <= 0.0 {
        return;
    }
    let times = steady.value / load.per_second_whole;
    let busy = |what: &str, share: Option<f64>| {
        share.map(|share| format!("{what} {} busy", percent((times * share).min(1.0))))
    };
    let parts = [
        busy("processors", load.cpu_share),
        busy("device", load.device_busy_share),
        Some(format!(
            "reads {}/s, writes {}/s",
            format_count(times * load.reads_per_second),
            format_count(times * load.writes_per_second)
        )),
    ];
    page.fact("at that rate", &joined(parts));
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

/// The two laws, beside what they are about.
fn laws(page: &mut Page<'_>, load: &TransactionLoad) {
    let users = Estimate {
        low: load.users_by_law.low.max(0.0),
        ..load.users_by_law
    };
    let (by_law, interval) = operations(users);
    let by_law = by_law.trim_end_matches("/s");
    page.fact(
        "X (R + Z)",
        &format!(
            "{by_law} users ({interval}) by Little's law, and there were {}",
            format_count(f64::from(load.users))
        ),
    );
    let (by_law, interval) = time(load.response_by_law);
    page.fact(
        "N / X - Z",
        &format!(
            "{by_law} ({interval}) by the response-time law, and {} was measured",
            time(load.all.from_due.mean).0
        ),
    );
}

fn searched(page: &mut Page<'_>, search: &UserSearchResult) {
    page.blank();
    let share = format!("{}", (search.share * 1e5).round() / 1e3);
    page.heading(&format!(
        "How many users? {share} % of the transactions within {}",
        format_duration_ns(search.limit_ns as f64)
    ));
    let meets = match search.meets {
        0 => "no number of users is sure to meet the limit".to_owned(),
        1 => "1 user is sure to meet the limit".to_owned(),
        users => format!("{} users are sure to meet the limit", whole(users)),
    };
    let misses = match search.misses {
        None => "none is sure to miss it".to_owned(),
        Some(users) => format!("{} are sure to miss it", whole(users)),
    };
    page.paragraph(Tone::Strong, &format!("{meets}, {misses}"));
    let mut table = Table::new(&[
        ("trial", Align::Left, 9),
        ("users", Align::Right, 9),
        ("percentile", Align::Right, 8),
        ("95 % interval", Align::Left, 4),
        ("within limit", Align::Right, 7),
        ("95 % interval", Align::Left, 6),
        ("limit", Align::Left, 8),
    ]);
    for step in &search.steps {
        table.row(tone(step), step_row(search, step));
    }
    page.table(&table);
    let is_doubtful = |step: &UserSearchStep| !is_firm(search, step);
    if search.steps.iter().any(is_doubtful) {
        page.paragraph(Tone::Quiet, &indicative_legend());
    }
}

/// Whether enough independent times lie beyond the percentile; an unknown one claims nothing.
fn is_firm(search: &UserSearchResult, step: &UserSearchStep) -> bool {
    let evidence = step.percentile.samples * (1.0 - search.share);
    evidence >= EVIDENCE_FIRM || !step.percentile.value.is_finite()
}

fn tone(step: &UserSearchStep) -> Tone {
    if step.is_final {
        Tone::Plain
    } else {
        Tone::Quiet
    }
}

fn step_row(search: &UserSearchResult, step: &UserSearchStep) -> [String; 7] {
    let (value, interval) = if step.percentile.value.is_finite() {
        time(step.percentile)
    } else {
        ("unknown".into(), String::new())
    };
    // The rule of all percentiles: below this evidence no interval is published.
    let is_known = step.percentile.samples * (1.0 - search.share) >= EVIDENCE_MIN;
    let within = step
        .within
        .map(|it| (percent(it.value), span_of_shares(it)));
    let (within, span) = within.unwrap_or_default();
    [
        if step.is_final { "fresh" } else { "scout" }.into(),
        whole(step.users),
        if is_firm(search, step) {
            value
        } else {
            format!("{value}{INDICATIVE}")
        },
        if is_known { interval } else { String::new() },
        within,
        span,
        step.outcome.name().to_owned(),
    ]
}

/// A number of users that was tried, none of its digits rounded: the rounded one was not tried.
fn whole(users: u32) -> String {
    let counted = format_counted(users.into(), "user");
    counted.split(' ').next().unwrap_or_default().to_owned()
}

/// The interval of a share, in percent.
fn span_of_shares(share: Estimate) -> String {
    let percent = |share: f64| format!("{}", (share * 1e3).round() / 1e1);
    format!("{} .. {}", percent(share.low), percent(share.high))
}

/// A table of the document, with ours beneath.
fn table_of(page: &mut Page<'_>, standard: &StandardTable) {
    page.blank();
    page.heading(&format!("{} {}", standard.section, standard.title));
    let mut widths: Vec<usize> = Vec::new();
    let rows: Vec<Vec<&str>> =
        std::iter::once(standard.columns.iter().map(String::as_str).collect())
            .chain(standard.rows.iter().map(|row| {
                let cells = row.cells.iter().map(String::as_str);
                [row.machine.as_str(), row.tasks.as_str()]
                    .into_iter()
                    .chain(cells)
                    .collect()
            }))
            .collect();
    for row in &rows {
        for (index, cell) in row.iter().enumerate() {
            if widths.len() == index {
                widths.push(0);
            }
            widths[index] = widths[index].max(cell.chars().count());
        }
    }
    for (index, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let ours = index > 0 && standard.rows[index - 1].machine == "here";
        page.line(
            if ours { Tone::Strong } else { Tone::Plain },
            &format!("  {line}"),
        );
    }
    for row in standard.rows.iter().filter(|row| !row.fault.is_empty()) {
        let mark = format!("{} {}:", row.machine, row.tasks);
        page.item(Tone::Doubtful, &mark, &row.fault);
    }
}
