//! The verdict for applications: whether the storage is fast enough, for how much load, and what
//! limits it.

use results::metric::{IOPS, LATENCY, THROUGHPUT};
use results::{
    GoalVerdict, LimitVerdict, Measurement, Row, Run, Saying, Show, Table, Trust, Unit,
    WarningCode, spoken,
};
use units::{capitalised, format_count};

use super::{ApplicationProfile, ProfileStep};
use crate::requirement::{Requirement, split};

/// Name of the table.
pub const APPLICATIONS: &str = "applications";
/// From this operation size on, throughput is given in bytes per second.
const STREAMING_BYTES: u64 = 64 << 10;

/// A limit of a step with its result.
struct JudgedLimit<'a> {
    step: &'a ProfileStep,
    requirement: Requirement,
    outcome: GoalVerdict,
}

impl JudgedLimit<'_> {
    /// The share of the limit that is used. Above 1 it is missed.
    fn used(&self) -> f64 {
        let value = self.outcome.value.map_or(f64::NAN, |it| it.value);
        match self.requirement.is_upper() {
            true => value / self.requirement.bound(),
            false => self.requirement.bound() / value,
        }
    }

    /// `p99 of fsync`
    fn subject(&self) -> String {
        let (_, metric) = split(self.requirement.figure());
        format!("{} of {}", spoken(metric), self.step.part)
    }

    fn bound(&self) -> String {
        in_words(self.requirement.unit(), self.requirement.bound())
    }

    /// The figure, or its interval if that does not decide.
    fn found(&self) -> String {
        let unit = self.requirement.unit();
        match (self.outcome.value, self.outcome.verdict) {
            (Some(it), LimitVerdict::Undecided) if it.is_bounded() && it.low < it.high => {
                let [low, high] = [it.low.max(0.0), it.high].map(|end| in_words(unit, end));
                format!("{low} to {high}")
            }
            (Some(it), _) => in_words(unit, it.value),
            (None, _) => "unknown".to_owned(),
        }
    }

    /// `p99 of fsync is 3.1 ms, and the limit is 10 ms`
    fn against_bound(&self) -> String {
        let (subject, found, bound) = (self.subject(), self.found(), self.bound());
        format!("{subject} is {found}, and the limit is {bound}")
    }
}

fn in_words(unit: Unit, value: f64) -> String {
    match unit {
        Unit::PerSecond => format!("{}/s", format_count(value)),
        unit => unit.format(value),
    }
}

/// A row per application: the supported load, and the answer in words.
pub fn applications(profiles: &[ApplicationProfile], run: &Run) -> Table {
    let rows = profiles.iter().map(|it| application(it, run));
    let mut table = Table::new(APPLICATIONS, &["application"], rows.collect());
    table.title = "Applications".into();
    table.show = Show::detail().with_trials();
    table
}

fn application(profile: &ApplicationProfile, run: &Run) -> Row {
    let judged: Vec<JudgedLimit<'_>> = profile
        .steps
        .iter()
        .flat_map(|step| {
            let requirements = profile.requirements_of(step).into_iter();
            requirements.map(move |requirement| JudgedLimit {
                step,
                outcome: requirement.judge(run),
                requirement,
            })
        })
        .collect();
    let worst = judged.iter().map(|it| it.outcome.verdict).max();
    let supported = supported(profile, &judged, run);
    let decisive = judged
        .iter()
        .filter(|it| Some(it.outcome.verdict) == worst)
        .max_by(|one, other| one.used().total_cmp(&other.used()));
    let (Some(worst), Some(decisive)) = (worst, decisive) else {
        return Row::new(vec![profile.title.clone()], [], "", Trust::Invalid);
    };
    let quoted = run.measurement(&profile.measurement(decisive.step));
    let quoted: Vec<&Measurement> = quoted.into_iter().chain(supported).collect();
    let figures = supported.iter().flat_map(|it| {
        let figures = [IOPS.of(it.throughput), LATENCY.of_ns(it.response.mean)];
        figures
            .into_iter()
            .chain(it.bandwidth.map(|it| THROUGHPUT.of(it)))
    });
    let figures: Vec<_> = figures.collect();
    let trust = quoted.iter().map(|it| it.trust()).max();
    let lowering = quoted.iter().flat_map(|it| &it.warnings);
    let lowering = lowering.filter(|it| it.lowers_trust());
    let lowering: Vec<WarningCode> = lowering.map(|it| it.code.clone()).collect();
    let says = says(profile, (worst, decisive), supports(profile, supported));
    Row {
        says: Some(says),
        warnings: lowering,
        ..Row::new(
            vec![profile.title.clone()],
            figures,
            "iops",
            trust.unwrap_or(Trust::Invalid),
        )
    }
}

/// The step with the highest throughput that meets its limits, in the order of the profile.
fn supported<'r>(
    profile: &ApplicationProfile,
    judged: &[JudgedLimit<'_>],
    run: &'r Run,
) -> Option<&'r Measurement> {
    let steps = profile
        .steps
        .iter()
        .rev()
        .filter(|it| it.supports.is_some());
    let mut measured = steps.filter_map(|step| {
        let mut times = judged
            .iter()
            .filter(|it| it.step.name == step.name && it.requirement.unit() == Unit::Seconds);
        let is_kept = times.all(|it| it.outcome.verdict == LimitVerdict::Kept);
        let measured = run.measurement(&profile.measurement(step))?;
        (is_kept && measured.trust() == Trust::Reliable).then_some(measured)
    });
    measured.next()
}

/// `supports about 4,200 commits/s at p99 3.1 ms`
fn supports(profile: &ApplicationProfile, measured: Option<&Measurement>) -> Option<String> {
    let measured = measured?;
    let mut steps = profile.steps.iter();
    let step = steps.find(|it| profile.measurement(it) == measured.name)?;
    let what = step.supports.as_deref()?;
    if let Some(bytes) = measured
        .bandwidth
        .filter(|_| step.load.io.0 >= STREAMING_BYTES)
    {
        let bytes = Unit::BytesPerSecond.format(two_digits(bytes.value));
        return Some(format!("supports about {bytes} of {what}"));
    }
    let rate = format_count(two_digits(measured.throughput.value));
    let mut percentiles = measured.response.percentiles.iter();
    let p99 = percentiles
        .find(|it| it.p == 0.99)
        .and_then(|it| it.estimate);
    let p99 = p99.map(|it| format!(" at p99 {}", Unit::Seconds.format(it.value / 1e9)));
    Some(format!(
        "supports about {rate} {what}/s{}",
        p99.unwrap_or_default()
    ))
}

fn two_digits(value: f64) -> f64 {
    let unit = 10f64.powf(value.abs().max(1e-9).log10().floor() - 1.0);
    (value / unit).round() * unit
}

fn says(
    profile: &ApplicationProfile,
    (worst, decisive): (LimitVerdict, &JudgedLimit<'_>),
    supported: Option<String>,
) -> Saying {
    let title = &profile.title;
    let supports = |it: String| format!(". The storage {it}");
    match worst {
        LimitVerdict::Kept => {
            let (subject, found) = (decisive.subject(), decisive.found());
            let closest = format!("{subject}, {found} against {}", decisive.bound());
            Saying::quoting(match supported {
                Some(supported) => {
                    format!("fast enough for {title}: {supported}. Closest limit is {closest}")
                }
                None => format!("fast enough for {title}: {}", decisive.against_bound()),
            })
        }
        LimitVerdict::Exceeded => {
            let supported = supported.map_or_else(String::new, supports);
            match decisive.outcome.value {
                Some(_) if decisive.outcome.why.is_none() => {
                    let against = decisive.against_bound();
                    Saying::quoting(format!("too slow for {title}: {against}{supported}"))
                }
                // The outcome is known although its figure is not.
                _ => {
                    let (subject, bound) = (decisive.subject(), decisive.bound());
                    let text = format!("{subject} misses its limit of {bound}{supported}");
                    Saying::quoting(format!("too slow for {title}: {text}")).if_unstable()
                }
            }
        }
        LimitVerdict::Undecided => {
            let why = match &decisive.outcome.why {
                _ if decisive.outcome.value.is_none() => {
                    format!("{} has too few samples. Run longer", decisive.subject())
                }
                Some(why) => format!("{} is uncertain. {}", decisive.subject(), capitalised(why)),
                None => format!("{}. Run longer", decisive.against_bound()),
            };
            Saying::quoting(format!("cannot tell for {title}: {why}")).if_unstable()
        }
    }
}
