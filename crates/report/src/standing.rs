//! How far the figures of a run can be relied on, in a line.

use results::{Curve, Measurement, Resolution, Run, Table, Trust};
use units::format_duration_ns;

use crate::figure::{percent, trust};
use crate::page::TextPage;
use crate::style::Tone;

/// A row of usual length lasts so long: 10 s, less what its last slot lacks.
const USUAL_NS: u64 = 9_000_000_000;
/// A smaller share of foreign I/O is none.
const LEAST: f64 = 0.005;

/// Rows that can be used, foreign I/O, and what was too slow or too rare to be seen.
pub(crate) fn line(page: &mut TextPage<'_>, run: &Run) {
    let measurements = shown(run);
    let mut parts = Vec::new();
    match measurements.is_empty() && run.curve().is_none() {
        // The first table has the rows of the screen.
        true => parts.extend(of_counts(counts(run, first(&run.tables())))),
        false => parts.extend(rows(measurements)),
    }
    parts.extend(run.curve().and_then(curve));
    parts.extend(foreign(&run.measurements));
    parts.extend(rarest(measurements, run.curve()));
    if let Some(verdict) = &run.verdict {
        // That all rows are sound says the word by itself.
        let is_quoted = parts
            .first()
            .is_some_and(|it: &String| it.ends_with(" sound"));
        if verdict.trust != Trust::Sound || !is_quoted {
            parts.insert(0, verdict.trust.name().to_owned());
        }
    }
    if !parts.is_empty() {
        page.paragraph(Tone::Plain, &format!("Trust: {}", parts.join("; ")));
    }
}

fn first(tables: &[Table]) -> &[Table] {
    &tables[..tables.len().min(1)]
}

/// The trials that have rows of their own.
fn shown(run: &Run) -> &[Measurement] {
    match run.are_trials_summed_up() {
        true => &[],
        false => &run.measurements,
    }
}

/// How many rows can be trusted how far: trials, or the rows of `tables` of a run without any, but
/// for parts of others.
pub(crate) fn counts(run: &Run, tables: &[Table]) -> [(Trust, usize); 3] {
    let of_trials: Vec<Trust> = shown(run).iter().map(trust).collect();
    if !of_trials.is_empty() {
        return counted(&of_trials);
    }
    let rows = tables.iter().filter(|it| !it.are_steps);
    let rows = rows.flat_map(|table| &table.rows);
    let of_tables: Vec<Trust> = rows.map(|row| row.trust).collect();
    counted(&of_tables)
}

fn counted(rows: &[Trust]) -> [(Trust, usize); 3] {
    [Trust::Sound, Trust::Shaky, Trust::Void].map(|trust| {
        let count = rows.iter().filter(|it| **it == trust).count();
        (trust, count)
    })
}

/// How many rows are sound.
fn rows(measurements: &[Measurement]) -> Option<String> {
    if let [one] = measurements {
        return Some(match one.is_all_failed() {
            true => "void: every operation failed".to_owned(),
            false if Trust::of(&one.verdict, &[]).is_usable() && !one.has_interval() => {
                format!("{}, without a usable interval", one.verdict)
            }
            false => one.verdict.to_string(),
        });
    }
    of_counts(counted(&measurements.iter().map(trust).collect::<Vec<_>>()))
}

/// The same of rows that were counted.
fn of_counts(counts: [(Trust, usize); 3]) -> Option<String> {
    let [(_, sound), worse @ ..] = counts;
    let mut text = match sound + worse.iter().map(|it| it.1).sum::<usize>() {
        0 => return None,
        1 if sound == 1 => return Some("the row is sound".to_owned()),
        2 if sound == 2 => return Some("both rows sound".to_owned()),
        all if all == sound => return Some(format!("all {all} rows sound")),
        all => format!("{sound} of {all} rows sound"),
    };
    for (trust, rows) in worse {
        if rows > 0 {
            text.push_str(&format!(", {rows} {}", trust.name()));
        }
    }
    Some(text)
}

/// That a load curve cannot be used, which rows do not tell.
fn curve(curve: &Curve) -> Option<String> {
    match Trust::unless_void(&curve.warnings) {
        Trust::Sound => None,
        trust => Some(format!("load curve {}", trust.name())),
    }
}

/// What others did on the device while rows were measured, where it could be seen.
pub(crate) fn foreign(measurements: &[Measurement]) -> Option<String> {
    let seen = measurements.iter().filter_map(|it| {
        let foreign = it.counters.as_ref()?.foreign?;
        // Of a device with hardly anything to do a log is a large share.
        let is_negligible = foreign.is_negligible(it.duration_ns as f64 / 1e9);
        let disturbing = if is_negligible { 0.0 } else { foreign.share };
        Some((foreign.share, disturbing))
    });
    let highest = seen.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)));
    Some(match highest? {
        (share, _) if share < LEAST => "no foreign I/O".to_owned(),
        (_, share) if share >= LEAST => format!("up to {} foreign I/O", percent(share)),
        _ => "negligible foreign I/O".to_owned(),
    })
}

/// What is too slow or too rare for the rows of usual length, and for what is shorter than they.
fn rarest(measurements: &[Measurement], curve: Option<&Curve>) -> Option<String> {
    let lasted = |row: &&Measurement| row.warmup_ns + row.duration_ns >= USUAL_NS;
    let (usual, shorter): (Vec<_>, Vec<_>) = measurements
        .iter()
        .filter(|row| row.resolution.is_some())
        .partition(lasted);
    let of = |rows: &[&Measurement]| {
        let each = rows.iter().filter_map(|row| row.resolution);
        each.reduce(Resolution::both)
    };
    let points = curve.and_then(|curve| curve.resolution);
    let Some(seen) = of(&usual) else {
        let all = of(&shorter).into_iter().chain(points);
        return all.reduce(Resolution::both).map(too_short_for);
    };
    let points = points.filter(|it| it.rarest_ns < seen.rarest_ns);
    let less = [
        points.map(|it| ("load curve".to_owned(), it)),
        of(&shorter).map(|it| (counted_rows(shorter.len()), it)),
    ];
    let less: Vec<String> = less
        .into_iter()
        .flatten()
        .map(|(of_what, it)| {
            let [slowest, rarest] = [it.slowest_change_ns, it.rarest_ns];
            let [slowest, rarest] = [slowest, rarest].map(|ns| format_duration_ns(ns as f64));
            format!("{of_what}: {slowest} and {rarest}")
        })
        .collect();
    let less = match less.is_empty() {
        true => String::new(),
        false => format!(" ({})", less.join("; ")),
    };
    Some(too_short_for(seen) + &less)
}

fn counted_rows(count: usize) -> String {
    match count {
        1 => "1 shorter row".to_owned(),
        _ => format!("{count} shorter rows"),
    }
}

fn too_short_for(seen: Resolution) -> String {
    format!(
        "too short to show changes slower than {} or stalls rarer than one in {}",
        format_duration_ns(seen.slowest_change_ns as f64),
        format_duration_ns(seen.rarest_ns as f64)
    )
}
