//! Transfer rates: series of passes, the passes themselves, and streams alone against together.

use results::environment::TargetKind;
use results::{AloneTogether, Transfer, TransferKind, TransferMode, TransferPass, TransferSeries};
use stats::Estimate;
use units::{Bytes, format_count, format_duration_ns, format_rate};

use crate::figure::{percent, rate};
use crate::files::digits;
use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};
use crate::target;

/// Passes of a series that are shown unless all are wanted.
const PASSES_SHOWN: usize = 5;

/// Everything about the passes.
pub(crate) fn section(page: &mut Page<'_>, transfer: &Transfer, target: TargetKind) {
    settings(page, transfer, target);
    page.blank();
    series_table(page, transfer);
    hosts(page, transfer);
    let is_growing = transfer
        .series
        .iter()
        .any(|series| series.mode == TransferMode::SmallFile);
    if !is_growing || page.style.all {
        for series in &transfer.series {
            passes(page, series);
        }
    }
    comparisons(page, &transfer.comparisons);
    page.where_room_is_left(|page| cost_table(page, transfer));
    page.where_room_is_left(|page| {
        page.blank();
        legend(page, transfer);
    });
}

fn settings(page: &mut Page<'_>, transfer: &Transfer, target: TargetKind) {
    let until = match (transfer.passes, transfer.precision) {
        (Some(passes), _) => format!("{passes} read passes"),
        (None, Some(precision)) => format!("read passes until {:.1} % precise", precision * 100.0),
        (None, None) => String::new(),
    };
    let check = match transfer.check.as_str() {
        "last" => "the end of each block is checked",
        "block" => "every byte is checked",
        _ => "data are not checked",
    };
    let host = target::host(target, &transfer.host_name);
    let mode = transfer.series.first().map_or("", |one| one.mode.name());
    let text = format!("{mode}; {until}; {check}{host}");
    page.paragraph(Tone::Plain, &text);
    if transfer.streams.len() > 1 {
        for stream in &transfer.streams {
            let device = stream.device.as_ref();
            let device = device.map_or_else(String::new, |name| format!(" ({name})"));
            let host = stream.host.as_ref();
            let host = host.map_or_else(String::new, |name| format!(", {name}"));
            let text = format!("stream {}: {}{device}{host}", stream.number, stream.target);
            page.paragraph(Tone::Quiet, &text);
        }
    }
}

/// One row for each series, and one for each of its streams.
fn series_table(page: &mut Page<'_>, transfer: &Transfer) {
    let mut table = Table::new(&[
        ("series", Align::Left, 9),
        ("passes", Align::Right, 5),
        ("rate", Align::Right, 9),
        ("95 % CI", Align::Left, 8),
        ("IOPS", Align::Right, 6),
        ("mean", Align::Right, 6),
        ("p99", Align::Right, 7),
        ("page cache", Align::Right, 7),
        ("device", Align::Right, 4),
    ]);
    for series in &transfer.series {
        let (value, interval) = shown(series.rate);
        // The same kind of mean as the rate: shares by bytes, rates by time.
        let share = mean(
            &series.passes,
            |pass| pass.bytes,
            |pass| pass.page_cache_share,
        );
        let device = mean(
            &series.passes,
            |pass| pass.elapsed_ns,
            |pass| pass.device_rate,
        );
        table.row(
            Tone::Plain,
            [
                series.title.clone(),
                series.passes.len().to_string(),
                value,
                interval,
                format_count(series.iops().value),
                brief(series.block_mean()),
                brief(series.block_p99()),
                share.map_or_else(String::new, percent),
                device.map_or_else(String::new, format_rate),
            ],
        );
        if series.stream_rates.len() > 1 {
            for (number, found) in series.streams.iter().zip(&series.stream_rates) {
                stream_row(&mut table, *number, *found);
            }
        }
    }
    page.table(&table);
}

/// What each rank did.
fn hosts(page: &mut Page<'_>, transfer: &Transfer) {
    if transfer.hosts.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("rank", Align::Right, 9),
        ("host", Align::Left, 8),
        ("read", Align::Right, 6),
        ("rate", Align::Right, 9),
        ("first in", Align::Right, 5),
        ("last in", Align::Right, 7),
        ("CPUs", Align::Right, 5),
    ]);
    for host in &transfer.hosts {
        table.row(
            Tone::Plain,
            [
                host.rank.to_string(),
                host.host.clone(),
                Bytes(host.bytes).to_string(),
                format_rate(host.rate),
                host.first_in.to_string(),
                host.last_in.to_string(),
                host.processors_used.map_or_else(String::new, digits),
            ],
        );
    }
    page.blank();
    page.table(&table);
    let text = "Passes that read all streams; rate: while this rank was at work; first in, last \
                in: passes in which it was done first, or last; CPUs: processors that it used \
                meanwhile.";
    page.paragraph(Tone::Quiet, text);
}

/// CPU seconds for each MiB, as the document states them.
fn cost_table(page: &mut Page<'_>, transfer: &Transfer) {
    let mut table = Table::new(&[
        ("CPU seconds per MiB", Align::Left, 9),
        ("all", Align::Right, 9),
        ("user", Align::Right, 7),
        ("system", Align::Right, 7),
    ]);
    for series in &transfer.series {
        let cost = Cost::of(&series.passes);
        if !cost.all.is_empty() {
            let title = series.title.clone();
            table.row(Tone::Plain, [title, cost.all, cost.user, cost.system]);
        }
    }
    if !table.is_empty() {
        page.blank();
        page.table(&table);
    }
}

fn stream_row(table: &mut Table, number: u32, found: Estimate) {
    let (value, interval) = shown(found);
    let mut cells = vec![String::new(); 9];
    cells[0] = format!("  stream {number}");
    cells[2] = value;
    cells[3] = interval;
    table.row(Tone::Quiet, cells);
}

fn brief(time: Option<Estimate>) -> String {
    time.map_or_else(String::new, |it| format_duration_ns(it.value))
}

/// A rate and its interval; a pass that is alone and too short has none.
fn shown(found: Estimate) -> (String, String) {
    if found.is_bounded() {
        rate(found)
    } else {
        // Few passes that differ much bound the rate from one side only.
        let least = (found.low > 0.0).then(|| format!("> {}", format_rate(found.low)));
        (format_rate(found.value), least.unwrap_or_default())
    }
}

/// CPU seconds for each MiB.
#[derive(Default)]
struct Cost {
    all: String,
    user: String,
    system: String,
}

impl Cost {
    fn of(passes: &[TransferPass]) -> Self {
        let bytes: u64 = passes.iter().map(|pass| pass.bytes).sum();
        let mib = bytes as f64 / f64::from(1 << 20);
        let each = |of: fn(&TransferPass) -> Option<u64>| -> Option<f64> {
            let ns: Option<u64> = passes.iter().map(of).sum();
            ns.filter(|_| mib > 0.0).map(|ns| ns as f64 / 1e9 / mib)
        };
        let digits = |value: f64| format!("{value:.6}");
        let all = each(|pass| pass.cpu_ns);
        // Ticks tell the parts apart; the whole is known more exactly than their sum.
        let parts = each(|pass| pass.cpu_user_ns).zip(each(|pass| pass.cpu_system_ns));
        let share = parts
            .filter(|(user, system)| user + system > 0.0)
            .map(|(user, system)| user / (user + system));
        let part = |share: Option<f64>| {
            let found = all.zip(share).map(|(all, share)| digits(all * share));
            found.unwrap_or_default()
        };
        Self {
            all: all.map(digits).unwrap_or_default(),
            user: part(share),
            system: part(share.map(|share| 1.0 - share)),
        }
    }
}

/// The mean over the passes that know it, each with its weight.
pub(crate) fn mean(
    passes: &[TransferPass],
    weight: fn(&TransferPass) -> u64,
    of: fn(&TransferPass) -> Option<f64>,
) -> Option<f64> {
    let known = passes
        .iter()
        .filter_map(|pass| Some((weight(pass) as f64, of(pass)?)));
    let (all, sum) = known.fold((0.0, 0.0), |(all, sum), (weight, value)| {
        (all + weight, sum + weight * value)
    });
    (all > 0.0).then(|| sum / all)
}

/// Each pass: its rate with the interval within, and when it ended.
fn passes(page: &mut Page<'_>, series: &TransferSeries) {
    let mut table = Table::new(&[
        ("", Align::Left, 9),
        ("seconds", Align::Right, 6),
        ("rate", Align::Right, 9),
        ("95 % within", Align::Left, 7),
        ("CPU", Align::Right, 5),
        ("cache", Align::Right, 6),
        ("device", Align::Right, 5),
        ("ended (UTC)", Align::Left, 8),
        ("monotonic s", Align::Right, 4),
    ]);
    let shown_count = if page.style.all {
        series.passes.len()
    } else {
        PASSES_SHOWN
    };
    for pass in series.passes.iter().take(shown_count) {
        let within = match pass.streams.as_slice() {
            [one] => one.within,
            _ => None,
        };
        let what = match series.kind {
            TransferKind::Write => "write",
            TransferKind::Read => "read",
        };
        let ended = pass.ended_at.as_deref().unwrap_or_default();
        table.row(
            Tone::Plain,
            [
                format!("{what} {}", pass.number),
                format!("{:.4}", pass.elapsed_ns as f64 / 1e9),
                format_rate(pass.rate),
                within.map_or_else(String::new, |within| rate(within).1),
                pass.cpu_ns
                    .map_or_else(String::new, |ns| format_duration_ns(ns as f64)),
                pass.page_cache_share.map_or_else(String::new, percent),
                pass.device_rate.map_or_else(String::new, format_rate),
                ended
                    .split('T')
                    .nth(1)
                    .unwrap_or_default()
                    .trim_end_matches('Z')
                    .to_owned(),
                format!("{:.3}", pass.ended_monotonic_ns as f64 / 1e9),
            ],
        );
    }
    page.blank();
    page.heading(&series.title);
    page.table(&table);
    let hidden = series.passes.len().saturating_sub(shown_count);
    if hidden > 0 {
        page.paragraph(
            Tone::Quiet,
            &match hidden {
                1 => "1 more pass: --all shows it".to_owned(),
                _ => format!("{hidden} more passes: --all shows them"),
            },
        );
    }
}

fn comparisons(page: &mut Page<'_>, comparisons: &[AloneTogether]) {
    if comparisons.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("alone against together", Align::Left, 9),
        ("alone", Align::Right, 9),
        ("95 % interval", Align::Left, 6),
        ("together", Align::Right, 9),
        ("95 % interval", Align::Left, 6),
        ("ratio", Align::Right, 8),
        ("95 % interval", Align::Left, 7),
    ]);
    for found in comparisons {
        let who = match found.stream {
            Some(number) => format!("stream {number}"),
            None => "all".into(),
        };
        let (alone, alone_interval) = shown(found.alone);
        let (together, together_interval) = shown(found.together);
        let ratio = found.ratio;
        table.row(
            Tone::Plain,
            [
                format!("{who}, {} blocks", Bytes(found.block_bytes)),
                alone,
                alone_interval,
                together,
                together_interval,
                format!("{:.3}", ratio.value),
                if ratio.is_bounded() {
                    format!("{:.3} .. {:.3}", ratio.low, ratio.high)
                } else {
                    String::new()
                },
            ],
        );
    }
    page.blank();
    page.table(&table);
}

fn legend(page: &mut Page<'_>, transfer: &Transfer) {
    let is_model = |series: &TransferSeries| series.mode == TransferMode::Simulated;
    let cost = if transfer.series.iter().any(is_model) {
        "CPU is that of the simulated host, if the model has one."
    } else {
        "CPU is this process's; its parts in the program (user) and the kernel (system) are split \
         in clock ticks."
    };
    let mut passes = transfer.series.iter().flat_map(|series| &series.passes);
    let device = match passes.any(|pass| pass.device_rate.is_some()) {
        true => " Device: what the device moved meanwhile, whoever asked.",
        false => "",
    };
    let text = format!(
        "Intervals of a series come from the variation between its passes, those of one pass from \
         the variation within it. {cost}{device}"
    );
    page.paragraph(Tone::Quiet, &text);
    let is_together = transfer
        .series
        .iter()
        .any(|series| series.streams.len() > 1);
    let overlap = transfer
        .series
        .iter()
        .filter(|series| series.streams.len() > 1)
        .flat_map(|series| &series.passes)
        .map(|pass| pass.overlap_share)
        .fold(1.0, f64::min);
    if is_together {
        let text = format!(
            "A pass of several streams lasts until the last one ends; in the worst pass all of \
             them were under way {} of the time.",
            percent(overlap)
        );
        page.paragraph(Tone::Quiet, &text);
    }
}
