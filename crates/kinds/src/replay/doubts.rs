//! What a reader of a replay must know.

use results::{Replay, ReplayLag, ReplayPace, Warning, WarningCode};
use trace::Notes;
use units::{format_count, format_counted, format_duration_ns};

use super::client::ReplayCounts;

/// A replay that takes this share longer than its trace did not keep up.
const STRETCH_MAX: f64 = 0.001;
/// The same for one in so many requests that are late.
const LATE_SHARE_MAX: f64 = 0.01;

/// The answer in a sentence. `own_ns` is the program's own mean lateness.
pub(super) fn sentence(found: &Replay, own_ns: f64) -> String {
    let done = format!(
        "Replayed {} in {}",
        format_counted(found.requests, "request"),
        format_duration_ns(found.took_ns as f64)
    );
    let Some(behind) = &found.behind else {
        return match found.pace {
            ReplayPace::Fast { depth } => {
                format!("{done}, as fast as possible at QD{depth}.")
            }
            ReplayPace::Recorded { .. } => format!("{done}."),
        };
    };
    if behind.longest_ns == 0 {
        return format!("{done}. The target kept up: each request was issued when due.");
    }
    if keeps_up(found, behind) {
        let within = format_duration_ns(behind.p99_ns as f64);
        return format!(
            "{done}. The target kept up: 99 % were issued within {within} of their time."
        );
    }
    let who = match is_ours(behind, own_ns) {
        true => "this program",
        false => "the target",
    };
    format!(
        "{done}, but {who} did not keep up. The trace has {}, and {:.1} % of the requests were \
         more than {} late.",
        format_duration_ns(found.length_ns as f64),
        behind.late_share * 100.0,
        format_duration_ns(ReplayLag::LATE_NS as f64)
    )
}

/// Whether more of the delay is the program's own than the target's.
fn is_ours(behind: &ReplayLag, own_ns: f64) -> bool {
    own_ns > behind.mean_ns / 2.0
}

fn keeps_up(found: &Replay, behind: &ReplayLag) -> bool {
    let stretch = found.stretch().unwrap_or(0.0);
    stretch <= STRETCH_MAX && behind.late_share <= LATE_SHARE_MAX
}

/// Doubts about the run. `own_ns` is the program's own mean lateness.
pub(super) fn doubts(
    found: &Replay,
    seen: &ReplayCounts,
    notes: &Notes,
    own_ns: f64,
) -> Vec<Warning> {
    let own = [
        behind(found, own_ns),
        changed(found),
        starved(seen),
        whole_seconds(notes),
    ];
    let of_trace = [several_files(found), reordered(notes)];
    own.into_iter().chain(of_trace).flatten().collect()
}

fn behind(found: &Replay, own_ns: f64) -> Option<Warning> {
    let behind = found.behind.filter(|it| !keeps_up(found, it))?;
    let why = match is_ours(&behind, own_ns) {
        true => format!(
            "Seekstone sent requests {} late on average. It had no processor in time, or its \
             thread is at its limit. Stop other programs, or slow the trace down (--scale 0.5x)",
            format_duration_ns(own_ns)
        ),
        false => "the target is slower than what was recorded. Latency counts the wait from when \
                  each was due. Slow the trace down (--scale 0.5x), or raise --depth"
            .to_owned(),
    };
    Some(Warning::warn(
        WarningCode::ReplayBehind,
        format!(
            "The replay fell behind the trace, by {} at most ({:.1} % of the requests by more than \
             {}): {why}.",
            format_duration_ns(behind.longest_ns as f64),
            behind.late_share * 100.0,
            format_duration_ns(ReplayLag::LATE_NS as f64),
        ),
    ))
}

fn changed(found: &Replay) -> Option<Warning> {
    let changed = found.moved + found.left_out;
    (changed > 0).then(|| {
        Warning::warn(
            WarningCode::ReplayChanged,
            format!(
                "{:.1} % of the trace's requests were changed: {} moved to fit the target, {} left \
                 out. Trims and requests beyond the target's end are left out.",
                changed as f64 / found.recorded.max(1) as f64 * 100.0,
                format_count(found.moved as f64),
                format_count(found.left_out as f64),
            ),
        )
    })
}

fn starved(seen: &ReplayCounts) -> Option<Warning> {
    (seen.held > 0).then(|| {
        Warning::warn(
            WarningCode::ReplayStarved,
            format!(
                "{} came from the trace's file after they were due, by {} at most, and were issued \
                 when they came. The load was lower than recorded. Their latency does not count \
                 that.",
                format_counted(seen.held, "request"),
                format_duration_ns(seen.held_longest.as_nanos() as f64),
            ),
        )
        .advise("Put the trace on other storage.")
    })
}

fn whole_seconds(notes: &Notes) -> Option<Warning> {
    notes.has_whole_seconds.then(|| {
        Warning::warn(
            WarningCode::ReplayWholeSeconds,
            "The trace's stamps are whole seconds: requests of each second were spread evenly over \
             it. Bursts within a second are not replayed.",
        )
    })
}

fn several_files(found: &Replay) -> Option<Warning> {
    (found.files > 1).then(|| {
        Warning::info(
            WarningCode::ReplaySeveralFiles,
            format!(
                "The trace has {} files or devices. They lie side by side on the target, in the \
                 order in which the trace uses them.",
                found.files
            ),
        )
        .advise("Name one with --device to replay it alone.")
    })
}

fn reordered(notes: &Notes) -> Option<Warning> {
    (notes.reordered > 0).then(|| {
        Warning::info(
            WarningCode::ReplayReordered,
            format!(
                "{} had an earlier time than the one before and were taken as simultaneous with \
                 it.",
                format_counted(notes.reordered, "record")
            ),
        )
    })
}
