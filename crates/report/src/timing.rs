//! Commands timed side by side.

use procedure::command_compared;
use results::{TimedCommand, TimedRun, Timing, TimingVerdict};
use stats::Estimate;
use units::{Bytes, format_counted, format_duration_ns};

use crate::figure::time;
use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};

/// Everything about the commands.
pub(crate) fn section(page: &mut Page<'_>, timing: &Timing) {
    page.paragraph(Tone::Plain, &how(timing));
    for command in &timing.commands {
        if command.name != command.command {
            page.fact(&command.name, &command.command);
        }
    }
    page.blank();
    page.table(&table(timing));
    if page.style.all {
        every_run(page, timing);
    }
    if !timing.comparisons.is_empty() {
        page.blank();
        page.heading("Comparison");
        for found in &timing.comparisons {
            let text = command_compared(found, timing.margin);
            page.item(tone(found.verdict), "-", &text);
        }
    }
    outliers(page, timing);
    hosts(page, timing);
    page.blank();
    page.paragraph(Tone::Quiet, &legend(timing));
}

/// What each rank took.
fn hosts(page: &mut Page<'_>, timing: &Timing) {
    if timing.hosts.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("command", Align::Left, 9),
        ("rank", Align::Right, 9),
        ("host", Align::Left, 8),
        ("real", Align::Right, 9),
        ("first in", Align::Right, 5),
        ("last in", Align::Right, 7),
    ]);
    for host in &timing.hosts {
        table.row(
            Tone::Plain,
            [
                host.command.clone(),
                host.rank.to_string(),
                host.host.clone(),
                format_duration_ns(host.real_s * 1e9),
                host.first_in.to_string(),
                host.last_in.to_string(),
            ],
        );
    }
    page.blank();
    page.table(&table);
    let text = "By rank: real is the mean time on that rank; first in, last in: runs in which it \
                was done first, or last. Above, real is from the first start to the last end, and \
                processor times are sums over ranks.";
    page.paragraph(Tone::Quiet, text);
}

fn how(timing: &Timing) -> String {
    let rounds = timing.commands.iter().map(|it| it.runs.len()).max();
    let caches = if timing.is_cold {
        "the system's caches dropped before each"
    } else {
        match timing.warm_ups {
            0 => "no warm-up run",
            _ => "warm caches",
        }
    };
    let ended = match timing.ended_by.as_str() {
        "precise" => "until precise",
        "budget" => "until time was up",
        "stopped" => "until stopped",
        _ => "as many as requested",
    };
    let order = if timing.commands.len() > 1 {
        ", in random order, every second one in reverse"
    } else {
        ""
    };
    let rounds = format_counted(rounds.unwrap_or_default() as u64, "round");
    format!("{rounds}, {ended}{order}; {caches}")
}

fn table(timing: &Timing) -> Table {
    let mut table = Table::new(&[
        ("command", Align::Left, 9),
        ("real", Align::Right, 9),
        ("95 % interval", Align::Left, 9),
        ("user", Align::Right, 7),
        ("system", Align::Right, 7),
        ("memory", Align::Right, 4),
        ("runs", Align::Right, 5),
    ]);
    for command in &timing.commands {
        let (value, interval) = seconds(command.real_s);
        let memory = command.runs.iter().filter_map(|run| run.memory_bytes).max();
        table.row(
            Tone::Plain,
            [
                command.name.clone(),
                value,
                interval,
                seconds(command.user_s).0,
                seconds(command.system_s).0,
                memory.map_or(String::new(), |bytes| Bytes(bytes).to_string()),
                command.runs.len().to_string(),
            ],
        );
    }
    table
}

fn every_run(page: &mut Page<'_>, timing: &Timing) {
    for command in &timing.commands {
        page.blank();
        page.heading(&command.name);
        let mut table = Table::new(&[
            ("round", Align::Right, 9),
            ("real", Align::Right, 9),
            ("user", Align::Right, 7),
            ("system", Align::Right, 7),
            ("read", Align::Right, 4),
            ("written", Align::Right, 4),
            ("exit", Align::Right, 5),
        ]);
        for run in &command.runs {
            let tone = if command.outliers.contains(&run.round) {
                Tone::Doubtful
            } else {
                Tone::Plain
            };
            table.row(
                tone,
                [
                    run.round.to_string(),
                    format_duration_ns(run.real_s * 1e9),
                    format_duration_ns(run.user_s * 1e9),
                    format_duration_ns(run.system_s * 1e9),
                    Bytes(run.read_bytes).to_string(),
                    Bytes(run.written_bytes).to_string(),
                    run.exit.to_string(),
                ],
            );
        }
        page.table(&table);
    }
}

const fn tone(verdict: TimingVerdict) -> Tone {
    match verdict {
        TimingVerdict::Slower | TimingVerdict::Faster => Tone::Strong,
        TimingVerdict::RunsFailed => Tone::Doubtful,
        TimingVerdict::Equivalent | TimingVerdict::NotShown | TimingVerdict::TooFew => Tone::Plain,
    }
}

/// Rounds far from the others that are named of each command.
const OUTLIERS_SHOWN: usize = 3;

fn outliers(page: &mut Page<'_>, timing: &Timing) {
    let named: Vec<String> = timing
        .commands
        .iter()
        .filter(|command| !command.outliers.is_empty())
        .map(|command| outliers_of(command, page.style.all))
        .collect();
    if !named.is_empty() {
        page.blank();
        page.item(
            Tone::Plain,
            "far from the others, but counted:",
            &named.join("; "),
        );
    }
}

/// The rounds that took longest among those far from the others; with `all`, all of these.
fn outliers_of(command: &TimedCommand, all: bool) -> String {
    let far = command.runs.iter();
    let mut far: Vec<&TimedRun> = far
        .filter(|run| command.outliers.contains(&run.round))
        .collect();
    far.sort_by(|a, b| b.real_s.total_cmp(&a.real_s));
    let left_out = match all {
        true => 0,
        false => far.len().saturating_sub(OUTLIERS_SHOWN),
    };
    let shown = far[..far.len() - left_out].iter().map(|run| {
        let time = format_duration_ns(run.real_s * 1e9);
        format!("round {} {time}", run.round)
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match left_out {
        0 => format!("{}: {shown}", command.name),
        more => format!("{}: {shown} and {more} more", command.name),
    }
}

fn legend(timing: &Timing) -> String {
    let shell = timing.shell_s.map_or(String::new(), |shell| {
        format!(
            " The shell that starts the commands takes {} of each.",
            format_duration_ns(shell * 1e9)
        )
    });
    let ratios = if timing.commands.len() > 1 {
        " Ratios: geometric mean over rounds, Student's t on the logarithms of pairs of one round; \
         claims are corrected for their number (Holm)."
    } else {
        ""
    };
    format!(
        "real: mean elapsed time, interval by Student's t over runs; user and system: mean \
         processor time of the command and all that it waited for; memory: the most that one \
         process held, where that is more than this program's own.{ratios}{shell}"
    )
}

fn seconds(estimate: Option<Estimate>) -> (String, String) {
    estimate.map_or((String::new(), String::new()), |it| time(it.scale(1e9)))
}

/// Mean elapsed times, for lists.
pub(crate) fn headline(timing: &Timing) -> Vec<String> {
    let shown = timing.commands.iter().take(2).filter_map(|command| {
        let real = command.real_s?;
        Some(format!(
            "{} {}",
            command.name,
            format_duration_ns(real.value * 1e9)
        ))
    });
    shown.collect()
}
