//! What kind of load a trace is, as tables and as JSON.

use serde_json::{Value, json};
use stats::Histogram;
use trace::{LoadProfile, OpProfile, PeriodProfile, TraceSummary};
use units::{Bytes, format_count, format_counted, format_duration_ns, format_rate};

use crate::page::TextPage;
use crate::style::{Style, Tone};
use crate::table::{Align, TextTable};

/// Lengths that are named of each kind of request.
const LENGTHS_SHOWN: usize = 4;
const OPS: [&str; 2] = ["reads", "writes"];

/// The profile of a trace of that name and format. Names of processes are by their numbers.
pub fn profile_sheet(
    (name, format): (&str, &str),
    summary: &TraceSummary,
    profile: &LoadProfile,
    processes: &[String],
    style: &Style,
) -> String {
    let mut page = TextPage::new(style);
    page.heading(&format!("{name}: {format}"));
    page.fact("requests", &requests(summary));
    page.table(&ops(summary, profile));
    page.blank();
    page.fact("arrivals", &arrivals(summary, profile));
    page.fact("depth", &depth(profile));
    page.fact("chains", &chains(summary, profile));
    page.fact("places", &places(summary, profile));
    page.fact("processes", &processes_line(summary, profile, processes));
    page.blank();
    page.heading("By time");
    page.table(&periods(profile));
    for (what, count) in &summary.notes.skipped {
        let text = format!("left out: {what}, {}", format_count(*count as f64));
        page.item(Tone::Doubtful, "-", &text);
    }
    page.finish()
}

fn requests(summary: &TraceSummary) -> String {
    let bytes: u64 = summary.ops[..2].iter().map(|it| it.bytes).sum();
    let seconds = summary.span_ns as f64 / 1e9;
    let rate = match summary.per_second() {
        Some(rate) => format!(
            " in {}, {} IOPS, {}, {} in the busiest second",
            format_duration_ns(summary.span_ns as f64),
            format_count(rate),
            format_rate(bytes as f64 / seconds),
            format_count(summary.busiest_second as f64)
        ),
        None => ", all at one time".to_owned(),
    };
    format!("{}{rate}", format_counted(summary.requests(), "request"))
}

fn time(took: &Histogram, p: f64) -> String {
    let found = took.quantile(p);
    found.map_or_else(String::new, |it| format_duration_ns(it as f64))
}

fn share(part: u64, all: u64) -> String {
    format!("{:.1} %", part as f64 / all.max(1) as f64 * 100.0)
}

fn ops(summary: &TraceSummary, profile: &LoadProfile) -> TextTable {
    let mut table = TextTable::new(&[
        ("", Align::Left, 9),
        ("share", Align::Right, 9),
        ("bytes", Align::Right, 5),
        ("sequential", Align::Right, 6),
        ("run", Align::Right, 3),
        ("p50", Align::Right, 7),
        ("p99", Align::Right, 8),
        ("sizes", Align::Left, 4),
    ]);
    let all = summary.requests();
    for (op, name) in profile.ops.iter().zip(OPS).filter(|it| it.0.count > 0) {
        table.row(
            Tone::Plain,
            [
                name.to_owned(),
                share(op.count, all),
                Bytes(op.bytes).to_string(),
                share(op.sequential, op.count),
                format!("{:.1}", op.run_mean()),
                time(&op.took, 0.5),
                time(&op.took, 0.99),
                lengths(op),
            ],
        );
    }
    for (number, name) in [(2, "trims"), (3, "syncs")] {
        let op = &summary.ops[number];
        if op.count > 0 {
            let bytes = match op.bytes {
                0 => String::new(),
                bytes => Bytes(bytes).to_string(),
            };
            let mut cells = vec![name.to_owned(), share(op.count, all), bytes];
            cells.resize(8, String::new());
            table.row(Tone::Plain, cells);
        }
    }
    table
}

fn lengths(op: &OpProfile) -> String {
    let mut lengths: Vec<(u64, u64)> = op.lengths.iter().map(|(one, two)| (*one, *two)).collect();
    lengths.sort_by_key(|it| (std::cmp::Reverse(it.1), it.0));
    let shown = lengths.iter().take(LENGTHS_SHOWN);
    let shown: Vec<String> = shown
        .map(|(length, count)| {
            let percent = *count as f64 / op.count as f64 * 100.0;
            format!("{} {percent:.0} %", Bytes(*length))
        })
        .collect();
    let more = if lengths.len() > LENGTHS_SHOWN {
        ", ..."
    } else {
        ""
    };
    format!("{}{more}", shown.join(", "))
}

fn arrivals(summary: &TraceSummary, profile: &LoadProfile) -> String {
    if summary.gaps.is_empty() || summary.span_ns == 0 {
        return String::new();
    }
    let windows = profile.dispersion.iter();
    let windows: Vec<String> = windows
        .map(|(window, index)| format!("{index:.1} in {}", format_duration_ns(*window as f64)))
        .collect();
    let index = match windows.is_empty() {
        true => String::new(),
        false => format!(". Index of dispersion {}", windows.join(", ")),
    };
    format!(
        "gaps vary by {:.2} of their mean of {}{index} (1 is random, more is bursts)",
        summary.gap_variation,
        format_duration_ns(summary.gaps.mean())
    )
}

fn depth(profile: &LoadProfile) -> String {
    profile.depth.map_or_else(String::new, |depth| {
        format!(
            "{:.2} requests under way on average, p99 {}, at most {}",
            depth.mean, depth.p99, depth.max
        )
    })
}

fn chains(summary: &TraceSummary, profile: &LoadProfile) -> String {
    let chains = &profile.chains;
    let mut parts = Vec::new();
    let syncs = &chains.writes_per_sync;
    if !syncs.is_empty() {
        parts.push(format!(
            "{:.1} writes before each sync on average",
            syncs.mean()
        ));
    }
    let all = summary.requests();
    if !chains.think.is_empty() {
        parts.push(format!(
            "{} of the requests came when their process had no other under way, {} after the last \
             on average",
            share(chains.alone, all),
            format_duration_ns(chains.think.mean())
        ));
    }
    parts.join(", ")
}

fn places(summary: &TraceSummary, profile: &LoadProfile) -> String {
    let hottest = |part| summary.heat.share_of_hottest(part) * 100.0;
    let mut text = format!(
        "{} touched of {} (in parts of {}), the hottest tenth gets {:.1} %",
        Bytes(profile.working_set),
        Bytes(summary.extent()),
        Bytes(profile.part_bytes),
        hottest(0.1)
    );
    if let Some(spot) = summary.hot_spots.first() {
        text += &format!(
            ", the hottest {} at byte {} of {} {}",
            Bytes(spot.length),
            spot.offset,
            spot.file,
            share(spot.count, summary.moving())
        );
    }
    text
}

fn processes_line(summary: &TraceSummary, profile: &LoadProfile, names: &[String]) -> String {
    if profile.process_count < 2 && names.iter().all(String::is_empty) {
        return String::new();
    }
    let all = summary.requests();
    let shown = profile.processes.iter().take(5).map(|it| {
        let name = names.get(it.process as usize).filter(|it| !it.is_empty());
        let name = name.cloned();
        let name = name.unwrap_or_else(|| format!("process {}", it.process));
        format!("{name} {}", share(it.requests, all))
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    format!("{}: {shown}", profile.process_count)
}

fn periods(profile: &LoadProfile) -> TextTable {
    let mut table = TextTable::new(&[
        ("from", Align::Left, 9),
        ("IOPS", Align::Right, 9),
        ("rate", Align::Right, 7),
        ("reads", Align::Right, 6),
        ("depth", Align::Right, 5),
        ("p50", Align::Right, 4),
        ("p99", Align::Right, 8),
        ("touched", Align::Right, 3),
        ("new", Align::Right, 2),
    ]);
    let length = profile.span_ns / profile.periods.len().max(1) as u64;
    let seconds = (length as f64 / 1e9).max(1e-9);
    for (number, period) in profile.periods.iter().enumerate() {
        let all: u64 = period.ops.iter().sum();
        let depth = period.depth_mean.map(|it| format!("{it:.2}"));
        table.row(
            Tone::Plain,
            [
                format_duration_ns(number as f64 * length as f64),
                format_count(all as f64 / seconds),
                format_rate(period.bytes as f64 / seconds),
                share(period.ops[0], all),
                depth.unwrap_or_default(),
                time(&period.took, 0.5),
                time(&period.took, 0.99),
                Bytes(period.touched).to_string(),
                Bytes(period.new).to_string(),
            ],
        );
    }
    table
}

/// The same as JSON; `docs/json-schema.md` says what the keys mean.
pub fn profile_json(
    (name, format): (&str, &str),
    summary: &TraceSummary,
    profile: &LoadProfile,
    processes: &[String],
) -> Value {
    let ops = profile.ops.iter().zip(OPS).map(|(op, kind)| {
        json!({
            "kind": kind, "count": op.count, "bytes": op.bytes, "sequential": op.sequential,
            "run_mean": op.run_mean(), "lengths": op.lengths.iter().collect::<Vec<_>>(),
            "places": op.places, "p50_ns": op.took.quantile(0.5), "p99_ns": op.took.quantile(0.99),
        })
    });
    let dispersion = profile.dispersion.iter();
    let dispersion = dispersion.map(|(window, index)| json!({"window_ns": window, "index": index}));
    let periods = profile.periods.iter().map(period_json);
    let named = profile.processes.iter().map(|it| {
        let name = processes.get(it.process as usize);
        json!({"process": it.process, "name": name, "requests": it.requests, "bytes": it.bytes})
    });
    let chains = &profile.chains;
    json!({
        "trace": name,
        "format": format,
        "requests": summary.requests(),
        "span_ns": profile.span_ns,
        "trims": summary.ops[2].count,
        "syncs": summary.ops[3].count,
        "gap_mean_ns": summary.gaps.mean(),
        "gap_variation": summary.gap_variation,
        "ops": ops.collect::<Vec<_>>(),
        "dispersion": dispersion.collect::<Vec<_>>(),
        "depth": profile.depth.map(|it| json!({"mean": it.mean, "p99": it.p99, "max": it.max})),
        "writes_per_sync_mean": chains.writes_per_sync.mean(),
        "alone": chains.alone,
        "think_mean_ns": chains.think.mean(),
        "working_set_bytes": profile.working_set,
        "part_bytes": profile.part_bytes,
        "process_count": profile.process_count,
        "processes": named.collect::<Vec<_>>(),
        "periods": periods.collect::<Vec<_>>(),
    })
}

fn period_json(period: &PeriodProfile) -> Value {
    let [reads, writes, trims, syncs] = period.ops;
    json!({
        "reads": reads, "writes": writes, "trims": trims, "syncs": syncs, "bytes": period.bytes,
        "depth_mean": period.depth_mean, "p50_ns": period.took.quantile(0.5),
        "p99_ns": period.took.quantile(0.99), "touched_bytes": period.touched,
        "new_bytes": period.new,
    })
}
