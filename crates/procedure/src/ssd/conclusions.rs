//! Conclusions from the rounds of a test, and warnings.

use results::{Saying, SsdPhase, SsdTests, Tracked, Warning, WarningCode};
use stats::{DriftVerdict, Estimate};
use units::{
    Bytes, format_count, format_counted, format_duration_ns, format_interval_count,
    format_interval_ns, format_interval_rate, format_rate,
};

use super::LAPS_MIN;

/// Introduces how a steady test was judged, after its figure.
const OVER_ROUNDS: &str = ". Over rounds";

/// Statement for each measured test: whether it is steady and, if so, its figure.
pub fn ssd_sayings(found: &SsdTests) -> Vec<Option<Saying>> {
    let measured = found.phases.iter().filter(|it| !it.rounds.is_empty());
    let sayings = measured.map(|phase| {
        let text = finding(phase, found)?;
        let text = text.trim_end_matches('.');
        // How steady state was judged follows.
        let (steady, _) = text.split_once(OVER_ROUNDS).unwrap_or((text, ""));
        match phase.verdict() {
            DriftVerdict::Steady => Some(Saying::quoting(steady).of_name()),
            DriftVerdict::Undecided => Some(Saying::quoting(text).if_unstable().of_name()),
            // It quotes a mean, which does not exist here.
            DriftVerdict::Drifting => None,
        }
    });
    sayings.collect()
}

pub fn ssd_findings(found: &SsdTests) -> Vec<String> {
    let all = found.phases.iter();
    let all = all.flat_map(|it| [finding(it, found), segments_finding(it)]);
    all.flatten().collect()
}

/// Results of the segments of all tests.
pub fn ssd_segments_saying(found: &SsdTests) -> Option<Saying> {
    let all = found.phases.iter().filter_map(segments_finding);
    let all: Vec<String> = all.collect();
    let text = all.join(" ");
    (!all.is_empty()).then(|| Saying::quoting(text.trim_end_matches('.')).of_name())
}

/// Results of a test's segments, also relative to its steady state.
fn segments_finding(phase: &SsdPhase) -> Option<String> {
    let steady = phase.steady_iops();
    let each = phase.segments.iter().filter_map(|segment| {
        let iops = segment.iops()?.value;
        let over = steady.map(|it| iops / it.value);
        let value = match (phase.tracked, over) {
            (Tracked::Throughput, _) => format_rate(iops * segment.load.mean_bytes()),
            (_, Some(over)) => format!("{}/s ({over:.2})", format_count(iops)),
            (_, None) => format!("{}/s", format_count(iops)),
        };
        Some(format!("{} {value}", segment.name))
    });
    let each: Vec<String> = each.collect();
    let of_steady = match steady {
        Some(_) => ". In brackets: over the steady state",
        None => "",
    };
    let name = &phase.name;
    (!each.is_empty()).then(|| format!("{name}: {}{of_steady}.", each.join(", ")))
}

fn finding(phase: &SsdPhase, found: &SsdTests) -> Option<String> {
    let last = phase.rounds.last()?;
    let (name, what) = (&phase.name, phase.tracked.name());
    let Some(trend) = phase.trend() else {
        let rounds = format_counted(u64::from(last.number), "round");
        return Some(format!(
            "{name}: {rounds}, too few to tell whether it is steady (8 at least)."
        ));
    };
    let (value, interval) = printed(phase.tracked, trend.mean);
    let change = format!("{:+.1} %", trend.total * 100.0);
    let limit = found.trend_limit * 100.0;
    Some(match phase.verdict() {
        DriftVerdict::Steady => format!(
            "{name}: steady, {what} {value} ({interval}){OVER_ROUNDS} {} to {} it moved by \
             {change}, and a change above {limit:.0} % is ruled out.",
            trend.first_round, last.number
        ),
        DriftVerdict::Drifting => format!(
            "{name}: not steady, {what} moved by {change} over rounds {} to {}. It was {value} on \
             average.",
            trend.first_round, last.number
        ),
        DriftVerdict::Undecided => format!(
            "{name}: {} cannot tell whether it is steady ({}).",
            format_counted(u64::from(last.number), "round"),
            undecided(phase, found)
        ),
    })
}

/// Why there is no verdict.
fn undecided(phase: &SsdPhase, found: &SsdTests) -> String {
    let written = phase.rounds.last().map_or(0, |round| round.written_bytes);
    let size = found.size_bytes;
    if is_plateau(phase, found) {
        return format!(
            "{} of {} were written, and nothing is called steady before {LAPS_MIN} times all was",
            Bytes(written),
            Bytes(size)
        );
    }
    match phase.trend() {
        Some(trend) if trend.bound.is_finite() => format!(
            "a change of up to {:.0} % cannot be ruled out, and the limit is {:.0} %",
            trend.bound * 100.0,
            found.trend_limit * 100.0
        ),
        _ => "the rounds are too few".into(),
    }
}

/// Whether too little was written for steady state.
fn is_plateau(phase: &SsdPhase, found: &SsdTests) -> bool {
    let last = phase.rounds.last();
    last.is_none_or(|round| round.written_bytes < LAPS_MIN * found.size_bytes)
}

/// A tracked figure with its interval.
fn printed(tracked: Tracked, estimate: Estimate) -> (String, String) {
    let Estimate {
        value, low, high, ..
    } = estimate;
    if !estimate.is_bounded() {
        let value = match tracked {
            Tracked::Iops => format!("{}/s", format_count(value)),
            Tracked::Latency => format_duration_ns(value),
            Tracked::Throughput => format_rate(value),
        };
        return (value, "no interval".into());
    }
    match tracked {
        Tracked::Iops => {
            let (value, interval) = format_interval_count(value, low, high);
            (format!("{value}/s"), interval)
        }
        Tracked::Latency => format_interval_ns(value, low, high),
        Tracked::Throughput => format_interval_rate(value, low, high),
    }
}

/// Warnings of a test.
pub fn ssd_warnings(phase: &SsdPhase, found: &SsdTests) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let name = &phase.name;
    if let Some(share) = phase.share_of_standard() {
        let share = format_count(share * 100.0);
        let text = format!(
            "{name}: not a conforming run. Its segments have {share} % of the time of SSS PTS."
        );
        let advice = "Leave --budget, --quick and --round out.";
        warnings.push(Warning::info(WarningCode::SsdScaledDown, text).advise(advice));
    }
    match phase.verdict() {
        _ if phase.rounds.is_empty() => {}
        DriftVerdict::Steady => {}
        DriftVerdict::Drifting => warnings.push(
            Warning::warn(
                WarningCode::SsdDrifting,
                format!("{name}: the rounds are still changing. Their results hold only for now."),
            )
            .advise("Allow more rounds (--repeat, --budget)."),
        ),
        DriftVerdict::Undecided => warnings.push(
            Warning::warn(
                WarningCode::SsdUndecided,
                format!(
                    "{name}: not known to be steady ({}).",
                    undecided(phase, found)
                ),
            )
            .advise("Allow more rounds (--repeat, --budget)."),
        ),
    }
    warnings.extend(misled(phase, found));
    let of_bursts = phase.segments.iter().flat_map(|it| &it.bursts);
    let errors = phase.cells.iter().map(|cell| cell.errors);
    let errors: u64 = errors.chain(of_bursts.map(|it| it.errors)).sum();
    if errors > 0 {
        let errors = format_counted(errors, "operation");
        let text = format!("{name}: {errors} failed. No figure includes them.");
        warnings.push(Warning::invalid(WarningCode::SsdFailedOperations, text));
    }
    warnings
}

/// Where the two rules disagree.
fn misled(phase: &SsdPhase, found: &SsdTests) -> Option<Warning> {
    let name = &phase.name;
    let window = phase.pts_window()?;
    if let (Some(round), Some(trend)) = (phase.pts_round, phase.trend()) {
        let off = window.mean / trend.mean.value - 1.0;
        let is_outside = !trend.mean.contains(window.mean) && off.abs() > OFF_MIN;
        let why = match phase.verdict() {
            DriftVerdict::Steady if is_outside => "quote the steady figure",
            DriftVerdict::Drifting => "the rounds are still changing",
            DriftVerdict::Undecided if is_plateau(phase, found) => {
                "spare blocks may not be used up yet"
            }
            _ => return None,
        };
        let text = format!(
            "{name}: the letter of SSS PTS is met at round {round}, {:.0} % {} the mean of the \
             last rounds ({why}).",
            off.abs() * 100.0,
            if off < 0.0 { "below" } else { "above" }
        );
        return Some(Warning::warn(WarningCode::PtsTooEarly, text));
    }
    (phase.verdict() == DriftVerdict::Steady).then(|| {
        let text = format!(
            "{name}: steady, though not by the letter of SSS PTS. Rounds differ by {:.0} % (20 % \
             allowed), and their trend line moves by {:.0} % (10 %). They are noisy, but do not \
             drift.",
            window.range * 100.0,
            window.excursion.abs() * 100.0
        );
        Warning::info(WarningCode::PtsNotMet, text)
    })
}

/// Below this relative difference, the standard's figure and the steady one count as equal.
const OFF_MIN: f64 = 0.03;
