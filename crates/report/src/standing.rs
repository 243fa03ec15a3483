//! The answer of a run, and how far it can be trusted, in a few lines.

use results::{
    Curve, LimitVerdict, Measurement, Resolution, Row, Run, Status, Table, Trust, main_rows,
};
use stats::RESOLVABLE;
use units::{format_counted, format_duration_ns};

use crate::figure::{percent, tone_of, trust};
use crate::page::TextPage;
use crate::style::Tone;
use crate::verdicts::verdict_word;

/// A smaller share of background I/O is none.
const LEAST: f64 = 0.005;

/// The answer, last on a screen, where the prompt is: the verdict in a sentence, how far it can be
/// trusted and why, and whether the goals were met.
pub(crate) fn answer(page: &mut TextPage<'_>, run: &Run) {
    page.blank();
    if let Status::Partial { reason } = &run.status {
        let reason = reason.trim_end_matches('.');
        let text = format!("{reason}. Only what had been measured by then is shown.");
        page.item(Tone::Bad, "PARTIAL", &text);
    }
    if let Some(change) = run.change() {
        page.item(Tone::Bad, "CHANGED", change);
    }
    let Some(verdict) = &run.verdict else {
        return;
    };
    page.paragraph(Tone::Strong, &verdict.sentence);
    let tone = match verdict.trust {
        Trust::Reliable => Tone::Strong,
        worse => tone_of(worse),
    };
    let outcome = verdict.goals.map(|goals| goals_met(run, goals));
    let parts: Vec<String> = outcome.into_iter().chain(reasons(run)).collect();
    let (name, parts) = (verdict.trust.name(), parts.join(", "));
    match (&run.status, verdict.trust) {
        // Of a run that was cut off nothing says that the whole of it can be relied on.
        (Status::Partial { .. }, Trust::Reliable) => {
            let text = format!("{name}, {parts}");
            page.item(Tone::Quiet, "SO FAR", text.trim_end_matches(", "));
        }
        _ => page.item(tone, &name.to_uppercase(), &parts),
    }
    if page.style.all {
        page.paragraph(Tone::Quiet, &missed(run).unwrap_or_default());
    }
}

/// How many of the goals were met.
fn goals_met(run: &Run, outcome: LimitVerdict) -> String {
    let met = run
        .goals
        .iter()
        .filter(|it| it.verdict == LimitVerdict::Kept);
    let (met, all) = (met.count(), run.goals.len());
    format!("goals {} ({met} of {all})", verdict_word(outcome))
}

/// Rows that can be used, and I/O of others.
fn reasons(run: &Run) -> impl Iterator<Item = String> {
    let measurements = shown(run);
    let rows = match measurements.is_empty() && run.curve().is_none() {
        // The first table has the rows of the screen.
        true => {
            let rows = counts(&run.tables());
            // Where there is no answer, reliable rows are no reason to trust one.
            let is_at_odds = !is_answered(run) && rows[1..].iter().all(|(_, rows)| *rows == 0);
            of_counts(rows).filter(|_| !is_at_odds)
        }
        false => rows(run, measurements),
    };
    let curve = run
        .curve()
        .and_then(|it| curve(it, measurements.is_empty()));
    let parts = [rows, curve, background(&run.measurements)];
    parts.into_iter().flatten()
}

/// The trials that have rows of their own.
fn shown(run: &Run) -> &[Measurement] {
    match run.are_trials_summed_up() {
        true => &[],
        false => &run.measurements,
    }
}

/// How many results can be trusted how far.
fn counts(tables: &[Table]) -> [(Trust, usize); 3] {
    let trust = |row: &Row| row.trust;
    counted(&main_rows(tables).iter().map(trust).collect::<Vec<_>>())
}

fn counted(rows: &[Trust]) -> [(Trust, usize); 3] {
    [Trust::Reliable, Trust::Unstable, Trust::Invalid].map(|trust| {
        let count = rows.iter().filter(|it| **it == trust).count();
        (trust, count)
    })
}

/// How many results are reliable and how many are not, if any is not.
pub(crate) fn share(tables: &[Table]) -> Option<String> {
    let counts = counts(tables);
    let all: usize = counts.iter().map(|it| it.1).sum();
    of_counts(counts).filter(|_| counts[0].1 < all)
}

/// Whether there is an answer that can be quoted.
fn is_answered(run: &Run) -> bool {
    matches!(&run.verdict, Some(it) if it.trust == Trust::Reliable)
}

/// How many rows are reliable.
fn rows(run: &Run, measurements: &[Measurement]) -> Option<String> {
    if let [one] = measurements {
        let is_usable = Trust::of(&one.verdict, &[]).is_usable();
        return Some(match one.is_all_failed() {
            true => "every operation failed".to_owned(),
            false if is_usable && !one.has_interval() => {
                format!("{}, without a usable interval", one.verdict)
            }
            // An answer may quote none of its latencies, as that of a replay.
            false if !is_usable && is_answered(run) => {
                format!("but for its latencies: {}", one.verdict)
            }
            false => one.verdict.to_string(),
        });
    }
    of_counts(counted(&measurements.iter().map(trust).collect::<Vec<_>>()))
}

/// The same of rows that were counted: that all can be used, or how many can and cannot.
fn of_counts(counts: [(Trust, usize); 3]) -> Option<String> {
    let all: usize = counts.iter().map(|it| it.1).sum();
    let are_reliable = counts[0].1 == all;
    let found = counts.into_iter().filter(|(_, rows)| *rows > 0);
    // Several words fill a line of 80 columns.
    let noun = if found.clone().count() > 1 {
        ""
    } else {
        " results"
    };
    let found = found.enumerate().map(|(at, (trust, rows))| match at {
        0 => format!("{rows} of {all}{noun} {}", trust.name()),
        _ => format!("{rows} {}", trust.name()),
    });
    match all {
        0 => None,
        1 => are_reliable.then(|| "the result has a usable interval".to_owned()),
        _ if !are_reliable => Some(found.collect::<Vec<_>>().join(", ")),
        2 => Some("both results".to_owned()),
        _ => Some(format!("all {all} results")),
    }
}

/// That a load curve cannot be used, which rows do not tell, or, where it `is_alone`, for how long
/// each of its loads was measured.
fn curve(curve: &Curve, is_alone: bool) -> Option<String> {
    match Trust::unless_invalid(&curve.warnings) {
        Trust::Reliable if !is_alone => None,
        Trust::Reliable => {
            let cited = curve.points.iter().filter(|it| !it.is_scout).count();
            let shortest_ns = curve.resolution?.slowest_change_ns * RESOLVABLE;
            Some(format!(
                "{}, {} each at least",
                format_counted(cited as u64, "load"),
                format_duration_ns(shortest_ns as f64)
            ))
        }
        trust => Some(format!("load curve {}", trust.name())),
    }
}

/// What others did on the device while rows were measured, where it could be seen.
pub(crate) fn background(measurements: &[Measurement]) -> Option<String> {
    let seen = measurements.iter().filter_map(|it| {
        let foreign = it.counters.as_ref()?.foreign?;
        // Of a device with hardly anything to do a log is a large share.
        let is_negligible = foreign.is_negligible(it.duration_ns as f64 / 1e9);
        let disturbing = if is_negligible { 0.0 } else { foreign.share };
        Some((foreign.share, disturbing))
    });
    let highest = seen.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)));
    Some(match highest? {
        (share, _) if share < LEAST => "no background I/O".to_owned(),
        (_, share) if share >= LEAST => format!("up to {} background I/O", percent(share)),
        _ => "negligible background I/O".to_owned(),
    })
}

/// What is too slow or too rare for some of the rows.
fn missed(run: &Run) -> Option<String> {
    let rows = shown(run).iter().filter_map(|row| row.resolution);
    let points = run.curve().and_then(|curve| curve.resolution);
    let seen = rows.chain(points).reduce(Resolution::both)?;
    Some(format!(
        "Changes slower than {} and stalls rarer than one in {} may have been missed.",
        format_duration_ns(seen.slowest_change_ns as f64),
        format_duration_ns(seen.rarest_ns as f64)
    ))
}
