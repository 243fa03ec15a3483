//! The workloads of the RAID Performance Test: levels, RABmarks, averages, and what a mode changed.

use results::{
    Group, LevelOutcome, Measurement, Mode, ModeComparison, Rab, RabAverage, RabLevel, RabOverRuns,
    RabWorkload, Rabmark, Severity, Trust,
};
use stats::Estimate;
use units::{format_count, format_counted, format_duration_ns, format_interval_count};

use crate::curve::{self, level_name};
use crate::figure::{legend, mark as sign, operations, rate, time, tone_of, trust};
use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};

/// Units of the two RABmarks, and how they come about.
const LEGEND: [&str; 2] = [
    "RABmark[r]: operations/s per ms of service time, summed over no load and the levels \
     (transaction) or at the one load (batch); RABmark[s]: MiB/s at the highest level, or at the \
     one load.",
    "By service time, from when a request is sent, as the document of 1995 defines it; by response \
     time, from when it was due.",
];
/// What intervals cover, where batch clients were begun at several sets of places.
const COVERED: &str = "Intervals are at 95 %. Batch clients began at new random places for each of \
                       the sets, and the interval covers that choice; the variation between runs \
                       takes --runs.";
/// The same where there are none.
const COVERED_OF_ONE_SET: &str = "Intervals are at 95 % and cover the variation within a run; that \
                                  between runs takes --runs.";

/// Everything about the workloads.
pub(crate) fn section(page: &mut Page<'_>, rab: &Rab) {
    settings(page, rab);
    let transactions = rab.workloads.iter();
    let transactions = transactions.filter(|it| it.group == Group::Transaction);
    let charts = page.style.all || transactions.count() == 1;
    for workload in &rab.workloads {
        if workload.group == Group::Transaction {
            transaction(page, workload, charts);
        }
    }
    batch(page, &rab.workloads);
    over_runs(page, &rab.over_runs);
    if rab.over_runs.is_empty() || page.style.all {
        averages(page, &rab.averages);
    }
    comparisons(page, &rab.comparisons);
    page.blank();
    for line in LEGEND {
        page.paragraph(Tone::Quiet, line);
    }
    let is_begun_anew = rab.workloads.iter().any(|it| it.place_sets > Some(1));
    page.paragraph(
        Tone::Quiet,
        if is_begun_anew {
            COVERED
        } else {
            COVERED_OF_ONE_SET
        },
    );
    marks(page, rab);
}

fn settings(page: &mut Page<'_>, rab: &Rab) {
    let load = match rab.iops_per_client {
        Some(rate) => format!("{}/s for each client that waits", format_count(rate)),
        None => "the load of each client is set by its workload".into(),
    };
    let text = format!(
        "levels up to {}; {load}; target precision {:.3} %",
        level_name(rab.response_max_ns),
        rab.precision * 100.0
    );
    page.paragraph(Tone::Plain, &text.replace(".000 %", " %"));
    for change in &rab.modes {
        let is_plain = change.at_ns == 0 && change.mode == Mode::Normal && !change.is_detected;
        if is_plain && rab.modes.len() == 1 {
            continue;
        }
        let how = if change.is_detected { "detected: " } else { "" };
        let at = format_duration_ns(change.at_ns as f64);
        let text = format!("from {at} on: {how}{}", change.text);
        page.item(Tone::Plain, &format!("mode {}", change.mode), &text);
    }
}

fn heading(workload: &RabWorkload) -> String {
    let state = if workload.is_complete {
        ""
    } else {
        ", not measured to its end"
    };
    format!(
        "{} {}: run {}, mode {}, {}, {} operations{state}",
        workload.number,
        workload.title,
        workload.run,
        workload.mode,
        format_duration_ns(workload.elapsed_ns as f64),
        format_count(workload.operations as f64),
    )
}

fn transaction(page: &mut Page<'_>, workload: &RabWorkload, chart: bool) {
    page.blank();
    page.heading(&heading(workload));
    if let (true, Some(found)) = (chart, &workload.curve) {
        curve::section(page, found, 0);
    }
    let mut table = Table::new(&[
        ("level", Align::Left, 9),
        ("", Align::Right, 9),
        ("95 % interval", Align::Left, 7),
        ("load by service", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("load by response", Align::Right, 7),
        ("95 % interval", Align::Left, 6),
    ]);
    if let Some(one) = &workload.no_load {
        let (load, interval) = operations(one.load);
        let (alone, its_interval) = time(one.service);
        let row = [
            "no load".into(),
            alone,
            its_interval,
            load,
            interval,
            format!("waits {}", time(one.response).0),
            String::new(),
        ];
        table.row(Tone::Plain, row);
    }
    for level in &workload.levels {
        table.row(Tone::Plain, level_row(level));
    }
    if !table.is_empty() {
        page.table(&table);
    }
    if let Some(mark) = workload.rabmark_r {
        page.paragraph(Tone::Strong, &mark_line(mark, workload.rabmark_s));
    }
    if let Some(failed) = &workload.measurement {
        let (none, most) = operations(failed.throughput);
        let text = format!(
            "{}: every operation failed, {none} done ({most})",
            failed.title
        );
        page.paragraph(Tone::Bad, &text);
    }
}

fn mark_line(of_load: Rabmark, of_bytes: Option<Rabmark>) -> String {
    let (value, interval) = mark(of_load);
    let bytes = of_bytes.map_or_else(String::new, |bytes| {
        let (value, interval) = mark(bytes);
        format!("   RABmark[s] {value}  ({interval})")
    });
    format!("RABmark[r] {value}  ({interval}){bytes}")
}

/// A RABmark and its interval; one that leaves levels out is a lower bound.
fn mark(mark: Rabmark) -> (String, String) {
    let Estimate {
        value, low, high, ..
    } = mark.value;
    let (value, interval) = format_interval_count(value, low, high);
    if mark.is_whole {
        (value, interval)
    } else {
        (format!("at least {value}"), "levels not reached".into())
    }
}

fn level_row(level: &RabLevel) -> [String; 7] {
    let name = if level.label.contains(' ') {
        String::new()
    } else {
        level.label.clone()
    };
    let (load, interval) = outcome(&level.by_service);
    let (by_response, its_interval) = level.by_response.as_ref().map(outcome).unwrap_or_default();
    let (time, of_time) = match level.level_estimate {
        Some(level) => time(level),
        None => (
            time(Estimate::exact(level.level_ns as f64, 0.0)).0,
            String::new(),
        ),
    };
    [
        name,
        time,
        of_time,
        load,
        interval,
        by_response,
        its_interval,
    ]
}

fn outcome(outcome: &LevelOutcome) -> (String, String) {
    match *outcome {
        LevelOutcome::Reached { load, .. } => operations(load),
        LevelOutcome::Between { low, high } => {
            let (low, high) = (format_count(low), format_count(high));
            // In the column that a narrow screen keeps.
            (format!("{low} to {high}"), "not settled".into())
        }
        LevelOutcome::Exceeded { response } => {
            ("none".into(), format!("one waits {}", time(response).0))
        }
        LevelOutcome::NotReached { clients, load, .. } => (
            format!("> {}", operations(load).0),
            format_counted(clients.into(), "client"),
        ),
    }
}

fn batch(page: &mut Page<'_>, workloads: &[RabWorkload]) {
    let is_one_run = workloads.iter().all(|workload| workload.run == 1);
    let is_one_mode = workloads.windows(2).all(|two| two[0].mode == two[1].mode);
    let mut table = Table::new(&[
        ("batch workload", Align::Left, 9),
        // What tells one row from another stays on a narrow screen.
        ("run", Align::Right, if is_one_run { 4 } else { 9 }),
        ("mode", Align::Left, if is_one_mode { 5 } else { 9 }),
        ("clients", Align::Right, 6),
        ("sets", Align::Right, 7),
        ("throughput", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("response", Align::Right, 7),
        ("RABmark[r]", Align::Right, 7),
        ("RABmark[s]", Align::Right, 7),
    ]);
    let mut worst = Trust::Sound;
    let of_batch = workloads.iter().filter(|it| it.group == Group::Batch);
    for workload in of_batch {
        let Some(load) = &workload.measurement else {
            continue;
        };
        worst = worst.max(trust(load));
        table.row(tone_of(trust(load)), batch_row(workload, load));
    }
    if table.is_empty() {
        return;
    }
    page.blank();
    page.table(&table);
    if worst != Trust::Sound {
        let text = format!("{} {}", sign(worst), legend(worst));
        page.paragraph(Tone::Quiet, &text);
    }
}

fn batch_row(workload: &RabWorkload, load: &Measurement) -> [String; 10] {
    let (value, interval) = match load.bandwidth {
        Some(bandwidth) => rate(bandwidth),
        None => operations(load.throughput),
    };
    let response = match load.is_all_failed() {
        true => "none".into(),
        false => time(load.service.mean).0,
    };
    let shown = |found: Option<Rabmark>| found.map_or_else(String::new, |found| mark(found).0);
    [
        format!("{} {}", workload.number, workload.title),
        workload.run.to_string(),
        workload.mode.to_string(),
        format_count(f64::from(load.clients)),
        workload
            .place_sets
            .map_or_else(String::new, |it| it.to_string()),
        format!("{}{value}", sign(trust(load))),
        interval,
        response,
        shown(workload.rabmark_r),
        shown(workload.rabmark_s),
    ]
}

/// Several runs as one.
fn over_runs(page: &mut Page<'_>, found: &[RabOverRuns]) {
    let Some(first) = found.first() else {
        return;
    };
    let is_one_mode = found.iter().all(|it| it.mode == first.mode);
    let mut table = Table::new(&[
        ("all runs", Align::Left, 9),
        ("runs", Align::Right, 8),
        ("mode", Align::Left, if is_one_mode { 5 } else { 9 }),
        ("RABmark[r]", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("RABmark[s]", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
    ]);
    for it in found {
        let (of_load, of_load_interval) = mark(it.rabmark_r);
        let (of_bytes, of_bytes_interval) = mark(it.rabmark_s);
        let (tone, name) = match &it.title {
            Some(title) => (Tone::Plain, title.clone()),
            None => (Tone::Strong, format!("average of {}", it.group.name())),
        };
        let row = [
            name,
            it.runs.to_string(),
            it.mode.to_string(),
            of_load,
            of_load_interval,
            of_bytes,
            of_bytes_interval,
        ];
        table.row(tone, row);
    }
    page.blank();
    page.table(&table);
    let text = "These intervals cover the variation from run to run.";
    page.paragraph(Tone::Quiet, text);
}

fn averages(page: &mut Page<'_>, averages: &[RabAverage]) {
    if averages.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("average over a group", Align::Left, 9),
        ("run", Align::Right, 4),
        ("mode", Align::Left, 5),
        ("RABmark[r]", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("RABmark[s]", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
    ]);
    for average in averages {
        let (of_load, of_load_interval) = mark(average.rabmark_r);
        let (of_bytes, of_bytes_interval) = mark(average.rabmark_s);
        let count = average.workloads;
        let row = [
            format!(
                "{} ({count} workload{})",
                average.group.name(),
                if count == 1 { "" } else { "s" }
            ),
            average.run.to_string(),
            average.mode.to_string(),
            of_load,
            of_load_interval,
            of_bytes,
            of_bytes_interval,
        ];
        table.row(Tone::Strong, row);
    }
    page.blank();
    page.table(&table);
}

/// What another mode changed; a ratio whose interval holds 1 shows no difference.
fn comparisons(page: &mut Page<'_>, comparisons: &[ModeComparison]) {
    if comparisons.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("modes compared", Align::Left, 9),
        ("figure", Align::Left, 9),
        ("ratio", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("verdict", Align::Left, 7),
    ]);
    for found in comparisons {
        let Estimate {
            value, low, high, ..
        } = found.ratio;
        let verdict = if low > 1.0 {
            "higher"
        } else if high < 1.0 {
            "lower"
        } else {
            "no difference shown"
        };
        let scope = if found.spans_runs { "" } else { "*" };
        let row = [
            format!("{}: {} over {}", found.workload, found.mode, found.base),
            found.figure.clone(),
            format!("{value:.3}"),
            format!("{low:.3} .. {high:.3}"),
            format!("{verdict}{scope}"),
        ];
        table.row(Tone::Plain, row);
    }
    page.blank();
    page.table(&table);
    if comparisons.iter().any(|found| !found.spans_runs) {
        let text = "* only one run in one of the modes: the interval does not include variation \
                    from run to run";
        page.paragraph(Tone::Quiet, text);
    }
}

/// Whether a number must not be used.
fn marks(page: &mut Page<'_>, rab: &Rab) {
    let is_void = rab
        .workloads
        .iter()
        .flat_map(RabWorkload::all_warnings)
        .any(|warning| warning.severity == Severity::Void);
    if is_void {
        page.paragraph(
            Tone::Bad,
            "a number above must not be used: see the warnings",
        );
    }
}
