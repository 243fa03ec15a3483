//! A trace that was replayed.

use results::{Behind, Replay, ReplayDeal, ReplayPace};
use units::{Bytes, format_count, format_counted, format_duration_ns};

use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};

/// What the trace is, and how far the replay was from it.
pub(crate) fn section(page: &mut Page<'_>, found: &Replay) {
    page.heading("Replay");
    page.fact("trace", &trace(found));
    page.fact("replayed", &replayed(found));
    if let Some(behind) = &found.behind {
        page.fact("behind", &behind_schedule(behind));
        page.paragraph(
            Tone::Quiet,
            "behind: from when a request was due to when it was issued, over all requests",
        );
    }
    hosts(page, found);
}

/// What each rank did.
fn hosts(page: &mut Page<'_>, found: &Replay) {
    let Some(dealt) = found.dealt else { return };
    let mut table = Table::new(&[
        ("rank", Align::Right, 9),
        ("host", Align::Left, 8),
        ("requests", Align::Right, 6),
        ("bytes", Align::Right, 5),
        ("behind: mean", Align::Right, 8),
        ("p99", Align::Right, 8),
        ("longest", Align::Right, 7),
        ("late", Align::Right, 8),
    ]);
    for host in &found.hosts {
        let behind = |of: fn(&Behind) -> f64| {
            let behind = host.behind.as_ref().map(of);
            behind.map_or_else(String::new, format_duration_ns)
        };
        let late = host
            .behind
            .map(|it| format!("{:.2} %", it.late_share * 100.0));
        table.row(
            Tone::Plain,
            [
                host.rank.to_string(),
                host.host.clone(),
                format_count(host.requests as f64),
                Bytes(host.bytes).to_string(),
                behind(|it| it.mean_ns),
                behind(|it| it.p99_ns as f64),
                behind(|it| it.longest_ns as f64),
                late.unwrap_or_default(),
            ],
        );
    }
    page.blank();
    page.table(&table);
    let dealt = match dealt {
        ReplayDeal::Files => "Files of the trace were dealt to ranks in turn",
        ReplayDeal::Requests => "Requests of the trace were dealt to ranks in turn",
    };
    let late = format_duration_ns(Behind::LATE_NS as f64);
    let text = format!("{dealt}; late: more than {late} behind.");
    page.paragraph(Tone::Quiet, &text);
}

fn trace(found: &Replay) -> String {
    let files = match found.files {
        1 => String::new(),
        files => format!(" of {files} files or devices"),
    };
    let length = match found.behind {
        Some(_) => format!(", {}", format_duration_ns(found.length_ns as f64)),
        None => String::new(),
    };
    format!(
        "{}, {}{length}, {}{files}",
        found.format,
        format_counted(found.recorded, "request"),
        Bytes(found.extent_bytes),
    )
}

fn replayed(found: &Replay) -> String {
    let pace = match found.pace {
        ReplayPace::Recorded { scale: 1.0 } => "as recorded".to_owned(),
        ReplayPace::Recorded { scale } => format!("{scale} times as fast as recorded"),
        ReplayPace::Fast { depth } => format!("as fast as possible, QD{depth}"),
    };
    let stretch = match found.stretch() {
        Some(stretch) => format!(" ({})", signed_percent(stretch)),
        None => String::new(),
    };
    let changed = [(found.moved, "moved"), (found.left_out, "left out")];
    let changed = changed.into_iter().filter(|(count, _)| *count > 0);
    let changed: String = changed
        .map(|(count, what)| format!(", {} {what}", format_count(count as f64)))
        .collect();
    format!(
        "{} in {}{stretch}, {pace}{changed}",
        format_counted(found.requests, "request"),
        format_duration_ns(found.took_ns as f64),
    )
}

/// A share in percent with its sign, and none where it rounds to nothing.
fn signed_percent(share: f64) -> String {
    let text = format!("{:+.3} %", share * 100.0);
    match text.trim_start_matches(['+', '-']) {
        zero @ "0.000 %" => zero.to_owned(),
        _ => text,
    }
}

fn behind_schedule(behind: &Behind) -> String {
    format!(
        "mean {}, p50 {}, p99 {}, longest {}; {:.2} % more than {}",
        format_duration_ns(behind.mean_ns),
        format_duration_ns(behind.p50_ns as f64),
        format_duration_ns(behind.p99_ns as f64),
        format_duration_ns(behind.longest_ns as f64),
        behind.late_share * 100.0,
        format_duration_ns(Behind::LATE_NS as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_rounds_to_nothing_has_no_sign() {
        let check = |share, expected: &str| assert_eq!(signed_percent(share), expected);
        check(0.0, "0.000 %");
        check(-0.000_000_1, "0.000 %");
        check(0.001, "+0.100 %");
        check(-0.25, "-25.000 %");
    }
}
