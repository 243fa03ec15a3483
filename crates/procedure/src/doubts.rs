//! Warnings about a measurement.

use results::{Access, Measurement, Severity, Unit, Warning, WarningCode, percentile_name};
use stats::{Aim, EVIDENCE_FIRM, Finding, Verdict, moved};
use units::{exact_percent, format_duration_ns};
use workload::ClientSpec;

use crate::failures::short_operations;
use crate::own_limits::{is_unexplained, own_limit};
use crate::trial::Trial;
use crate::unfinished::{is_kept_back, kept_back};

/// A stall of this length (nanoseconds) is always reported ...
pub(crate) const STALL_NS: u64 = 100_000_000;
/// ... and a shorter one if it takes this share of the trial.
const STALL_SHARE: f64 = 0.05;
/// The mean including the warm-up must be this many times larger to be reported.
const WARM_UP_FACTOR: f64 = 1.25;
/// An effective depth below this share of the nominal depth is too low.
const DEPTH_SHARE: f64 = 0.95;
/// Share of the missing depth that must have waited here to be attributed to this program.
const WAITING_SHARE: f64 = 0.5;
/// Share of an open load's missing operations that must be waiting for the storage to call it too
/// slow. The others did not fall due, since arrivals are random.
const LACKING_SHARE: f64 = 0.5;
/// Minimum effective samples to call a few slow operations episodes ...
const SAMPLES_OF_EPISODES: f64 = 1_000.0;
/// ... unless they make up this share of the mean.
const WEIGHT_OF_EPISODES: f64 = 0.25;
/// If more than this share of random arrivals is slow, they queued.
const QUEUED_SHARE: f64 = 0.8;
/// Lateness below this is ignored, nanoseconds.
const LATE_LEAST_NS: f64 = 1_000.0;
/// A full cache makes writes slower by this factor at least.
const CLIFF: f64 = 1.5;

/// Warnings about the start of a trial.
const START: [WarningCode; 2] = [WarningCode::WarmUp, WarningCode::WarmUpDiffers];

/// The warnings about `measurement`, the result of `trial`; `mean_whole_ns` is its mean response
/// time with the warm-up.
pub fn doubts(
    trial: &Trial,
    measurement: &Measurement,
    mean_whole_ns: f64,
    findings: &[Finding],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let overload = offered_load(measurement);
    // The growing queue then explains the latency.
    let is_growing = overload.is_some();
    let is_unsettled = measurement.verdict == Verdict::NotStationary;
    // A trial that checks a limit ends once that is decided, precise or not.
    if trial.limit.is_none() && !(is_growing && is_unsettled) {
        warnings.extend(precision(trial, measurement));
        warnings.extend(unreached_percentile(trial, measurement));
    }
    if trial.warm_up.is_none() {
        warnings.extend(warm_up(measurement, mean_whole_ns));
    }
    match own_limit(trial, measurement, mean_whole_ns, findings) {
        Some(ours) if ours.severity == Severity::Invalid || is_unexplained(measurement) => {
            warnings.push(ours);
        }
        perhaps => warnings.extend(overload.or(perhaps)),
    }
    if is_kept_back(trial, measurement, mean_whole_ns) {
        warnings.extend(kept_back(trial, measurement, mean_whole_ns));
    } else {
        warnings.extend(depth(trial, measurement));
    }
    warnings.extend(short_operations(measurement));
    for finding in findings {
        let is_of_queue = matches!(finding, Finding::Drifting { .. } | Finding::Bimodal { .. });
        let is_reported = is_of_queue && is_growing;
        let warning = of_finding(trial, measurement, finding).filter(|_| !is_reported);
        // One warning about the start is enough.
        let is_same = |old: &Warning, new: &Warning| {
            let is_start = START.contains(&old.code) && START.contains(&new.code);
            old.code == new.code || is_start && old.severity >= new.severity
        };
        warnings.extend(warning.filter(|new| !warnings.iter().any(|old| is_same(old, new))));
    }
    warnings
}

fn of_finding(trial: &Trial, measurement: &Measurement, finding: &Finding) -> Option<Warning> {
    let (severity, code) = match finding {
        Finding::Rare { share, .. } => {
            // In a short trial, a few slow operations may be chance.
            let is_short = measurement.response.mean.samples < SAMPLES_OF_EPISODES;
            if is_short && *share < WEIGHT_OF_EPISODES {
                return None;
            }
            (Severity::Info, WarningCode::RareEpisodes)
        }
        Finding::Bimodal { weight, .. } => {
            // Arrivals that find the storage idle form their own mode, which is not a cache.
            if trial.offered().is_some() && weight.value > QUEUED_SHARE {
                return None;
            }
            (Severity::Info, WarningCode::TwoModes)
        }
        Finding::Oscillation { .. } => (Severity::Info, WarningCode::Oscillation),
        Finding::Outlier { .. } | Finding::HeavyTail { .. } | Finding::HeavyServices => {
            (Severity::Warning, WarningCode::HeavyTail)
        }
        Finding::Drifting { .. } => (Severity::Warning, WarningCode::Drift),
        Finding::Swinging { .. } => (Severity::Warning, WarningCode::Swing),
        Finding::Shifted {
            before_ns,
            after_ns,
            at_ns,
        } => {
            let factor = after_ns / before_ns;
            return Some(shifted(measurement, finding, *at_ns, factor));
        }
        Finding::CutDiffers {
            before_ns,
            after_ns,
            ..
        } => return Some(cut_differs(measurement, finding, after_ns > before_ns)),
        Finding::Stalled(stalls) => {
            let longest_ns = stalls.longest_ns;
            let is_long = longest_ns as f64 >= STALL_SHARE * measurement.duration_ns as f64;
            if longest_ns < STALL_NS && !is_long {
                return None;
            }
            (Severity::Warning, WarningCode::Stall)
        }
        Finding::Late { .. } => {
            // Without a schedule, only the issue itself can be late, which shows in the effective
            // depth.
            if trial.is_saturating() {
                return None;
            }
            // An operation costs this much anyway.
            if measurement.lateness.mean_ns < LATE_LEAST_NS {
                return None;
            }
            (Severity::Warning, WarningCode::LateGenerator)
        }
        Finding::Unaccounted { .. } => {
            let has_rates = matches!(&trial.spec, ClientSpec::Jobs(own) if own.has_rates());
            if trial.offered().is_some() || has_rates || !measurement.is_converged() {
                return None;
            }
            (Severity::Warning, WarningCode::TimeUnaccounted)
        }
    };
    let cause = format!("{}: {finding}", measurement.title);
    Some(Warning::new(severity, code, fitting(cause, finding, trial)))
}

/// The text for `finding`, without advice that does not fit `trial`.
fn fitting(cause: String, finding: &Finding, trial: &Trial) -> String {
    match finding {
        // A model has no log and no other users.
        Finding::Stalled(_) if trial.access == Access::Simulated => {
            cause.replace(" Check dmesg and other processes.", "")
        }
        // At a fixed rate, fewer clients do not reduce the load.
        Finding::Late { .. } if trial.offered().is_some() => {
            cause.replace("fewer clients", "a lower rate")
        }
        _ => cause,
    }
}

/// Names a change of level, by a factor, by its usual cause.
fn shifted(measurement: &Measurement, finding: &Finding, at_ns: u64, factor: f64) -> Warning {
    let Measurement {
        title,
        warmup_ns,
        duration_ns,
        ..
    } = measurement;
    let is_early = at_ns <= (warmup_ns + duration_ns) / 2;
    let writes = measurement.kinds.iter().any(|kind| kind.kind == "write");
    if factor <= 1.0 && is_early {
        let is_cut = measurement.verdict != Verdict::NotStationary && at_ns <= *warmup_ns;
        let (severity, advice) = if is_cut {
            (Severity::Info, "The start was discarded.")
        } else {
            (
                Severity::Warning,
                "Run longer, so that the start counts less.",
            )
        };
        return Warning::new(
            severity,
            WarningCode::WarmUp,
            format!("{title}: warm-up, {finding}. {advice}"),
        );
    }
    if factor >= CLIFF && writes {
        return Warning::warn(
            WarningCode::WriteCliff,
            format!("{title}: write cliff, {finding}. A cache or spare area may be full."),
        )
        .advise("Precondition the target with writes until latency is stable.");
    }
    Warning::warn(
        WarningCode::Step,
        format!(
            "{title}: {finding}. Find out what happened then, and measure each level separately."
        ),
    )
}

/// A device that slows down during the measurement is not warming up.
fn cut_differs(measurement: &Measurement, finding: &Finding, is_slower: bool) -> Warning {
    let title = &measurement.title;
    if is_slower {
        return Warning::warn(
            WarningCode::WarmUpDiffers,
            format!(
                "{title}: slowed down, {finding}. The result is the later level. Precondition the \
                 target, or run longer."
            ),
        );
    }
    Warning::info(WarningCode::WarmUpDiffers, format!("{title}: {finding}"))
}

fn precision(trial: &Trial, measurement: &Measurement) -> Option<Warning> {
    let title = &measurement.title;
    let has_goal = trial.goal.is_some();
    match measurement.verdict {
        Verdict::Converged => None,
        // Without a goal no precision was requested, but there must be a usable mean.
        Verdict::Timed { .. } => None,
        _ if !has_goal && measurement.verdict != Verdict::NotStationary => None,
        // The verdict states how far it came.
        Verdict::Budget { is_citable: true } if wanted_percentile(trial).is_some() => None,
        Verdict::Budget { is_citable: true } => Some(
            Warning::info(
                WarningCode::NotConverged,
                format!("{title}: stopped before it reached the requested precision."),
            )
            .advise("Allow more time with --budget."),
        ),
        Verdict::Short { is_citable: true } => Some(
            Warning::info(
                WarningCode::TooShort,
                format!("{title}: too short to test for autocorrelation."),
            )
            .advise("Allow more time with --budget."),
        ),
        Verdict::Budget { .. } | Verdict::Short { .. } => {
            let samples = measurement.response.mean.samples;
            Some(
                Warning::warn(
                    WarningCode::TooFewSamples,
                    format!("{title}: only {samples:.0} independent samples, too few to quote."),
                )
                .advise("Allow more time with --budget."),
            )
        }
        Verdict::NotStationary => Some(
            Warning::warn(
                WarningCode::NotStationary,
                format!(
                    "{title}: never reached steady state ({}).",
                    moved(measurement.drift.total)
                ),
            )
            .advise("Run longer."),
        ),
        Verdict::Correlated => Some(
            Warning::info(
                WarningCode::Correlated,
                format!(
                    "{title}: latency drifted slowly, and the confidence interval accounts for it."
                ),
            )
            .advise("Allow more time with --budget to narrow it."),
        ),
    }
}

/// The percentile that ends a trial, and its requested precision.
fn wanted_percentile(trial: &Trial) -> Option<(f64, f64)> {
    let goal = trial.goal?;
    match goal.aim {
        Aim::Percentile(share) => Some((share, goal.precision)),
        _ => None,
    }
}

/// Warns that the percentile that was to end the trial is less precise than requested.
fn unreached_percentile(trial: &Trial, measurement: &Measurement) -> Option<Warning> {
    let (share, precision) = wanted_percentile(trial).filter(|_| !measurement.is_converged())?;
    let mut percentiles = measurement.response.percentiles.iter();
    let found = percentiles.find(|it| it.p == share)?;
    let width = found.estimate.map(|it| it.relative_half_width());
    let requested = exact_percent(precision);
    let why = match width.filter(|it| it.is_finite()) {
        Some(width) if width > precision => {
            let width = width * 100.0;
            format!("is precise to {width:.0} % only, and {requested} was requested")
        }
        Some(_) => format!(
            "needs {EVIDENCE_FIRM:.0} independent slower operations and has {:.0}",
            found.evidence
        ),
        None => format!("has no interval yet, and {requested} was requested"),
    };
    let cause = format!("{}: {} {why}.", measurement.title, percentile_name(share));
    let warning = Warning::info(WarningCode::PercentileNotReached, cause);
    Some(warning.advise("Allow more time with --budget."))
}

/// A stall at the beginning looks like a warm-up. Only the user can tell.
fn warm_up(measurement: &Measurement, mean_whole_ns: f64) -> Option<Warning> {
    let mean = measurement.response.mean;
    let is_outside = mean_whole_ns > mean.high && mean_whole_ns > WARM_UP_FACTOR * mean.value;
    (measurement.warmup_ns > 0 && is_outside).then(|| {
        Warning::warn(
            WarningCode::WarmUpDiffers,
            format!(
                "{}: the first {} were discarded as warm-up. With them, mean latency would be {} \
                 instead of {}. If that was a stall, run longer.",
                measurement.title,
                format_duration_ns(measurement.warmup_ns as f64),
                format_duration_ns(mean_whole_ns),
                format_duration_ns(mean.value),
            ),
        )
    })
}

fn offered_load(measurement: &Measurement) -> Option<Warning> {
    let offered = measurement.offered?;
    let achieved = measurement.throughput;
    if achieved.high >= offered * 0.999 {
        return None;
    }
    let whole = offered * (measurement.warmup_ns + measurement.duration_ns) as f64 / 1e9;
    let lacking = whole - measurement.completions_all as f64;
    let waiting = measurement.unfinished.map_or(0, |some| some.count) as f64;
    if waiting < LACKING_SHARE * lacking {
        return None;
    }
    Some(Warning::warn(
        WarningCode::LoadNotSustained,
        format!(
            "{}: {} were offered and only {} completed. The storage is saturated, and latency \
             keeps growing.",
            measurement.title,
            Unit::PerSecond.format(offered),
            Unit::PerSecond.format(achieved.value)
        ),
    ))
}

fn depth(trial: &Trial, measurement: &Measurement) -> Option<Warning> {
    let nominal = f64::from(measurement.clients.min(measurement.nominal_depth));
    if !trial.is_saturating() || nominal < 2.0 || measurement.kinds.len() > 1 {
        return None;
    }
    let depth = measurement.effective_depth;
    if depth >= DEPTH_SHARE * nominal {
        return None;
    }
    // Little's law. What does not wait here, or is under way when a short trial ends.
    let waiting = measurement.throughput.value * measurement.lateness.mean_ns / 1e9;
    let (why, advice) = match waiting > WAITING_SHARE * (nominal - depth) {
        true => (
            "The other requests waited in Seekstone",
            "More workers may help.",
        ),
        false => (
            "Operations took too long for so short a trial",
            "Run longer.",
        ),
    };
    let title = &measurement.title;
    let cause = format!("{title}: effective queue depth was {depth:.1}, not {nominal:.0}. {why}.");
    Some(Warning::warn(WarningCode::DepthNotReached, cause).advise(advice))
}
