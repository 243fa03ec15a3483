//! What pictures there are: load curves, times to a first record, load over time.

use results::{Curve, CurvePoint, Measurement, Positioning};
use stats::{Channel, Estimate, mean_interval};
use units::{Bytes, format_count, format_duration_ns};

use super::{Ink, Mark, Picture, Spread};

/// Nanoseconds in a millisecond and in a second.
const MS: f64 = 1e6;
const SECOND: f64 = 1e9;
/// Times up to so many times the highest level are shown.
const BEYOND_LEVELS: f64 = 2.0;
/// Room above the highest mark.
const HEADROOM: f64 = 1.08;
/// How much of a bin the two bars in it take together.
const BAR_SHARE: f64 = 0.8;
/// The part of a series at its end that is taken as steady.
const STEADY_PART: usize = 2;

impl Spread {
    const fn of(estimate: Estimate, unit: f64) -> Self {
        Self {
            value: estimate.value / unit,
            low: estimate.low / unit,
            high: estimate.high / unit,
        }
    }
}

/// Load curves in one picture, each with its name: mean time against load, with intervals.
#[must_use]
pub fn curves_svg(title: &str, curves: &[(&str, &Curve)]) -> String {
    let inks = [Ink::Blue, Ink::Orange, Ink::Black, Ink::Grey];
    let levels = curves.iter().flat_map(|(_, curve)| &curve.levels);
    let highest = levels
        .map(|level| level.level_ns as f64 / MS)
        .fold(0.0, f64::max);
    let mut marks = Vec::new();
    let (mut load_max, mut time_max) = (0.0_f64, 0.0_f64);
    let mut lowest = [f64::INFINITY; 2];
    for ((name, curve), ink) in curves.iter().zip(inks.into_iter().cycle()) {
        let at = cited_points(curve).map(|point| {
            let time = Spread::of(point.time(curve.channel), MS);
            [Spread::of(point.load, 1.0), time]
        });
        let mut at: Vec<[Spread; 2]> = at
            .filter(|[load, time]| load.value.is_finite() && time.value.is_finite())
            .filter(|[_, time]| highest == 0.0 || time.value <= BEYOND_LEVELS * highest)
            .collect();
        at.sort_by(|a, b| a[1].value.total_cmp(&b[1].value));
        for [load, time] in &at {
            load_max = load_max.max(load.value);
            time_max = time_max.max(time.value);
            lowest = [lowest[0].min(load.value), lowest[1].min(time.value)];
        }
        if let Some(top) = curve.saturation {
            load_max = load_max.max(top.load.value);
        }
        marks.push((
            Mark::Points { ink, at },
            format!("{name}{}", saturation(curve)),
        ));
    }
    let first = curves.first().map(|(_, curve)| curve);
    for level in first.into_iter().flat_map(|curve| &curve.levels) {
        let at = level.level_ns as f64 / MS;
        if at < lowest[1] {
            continue;
        }
        marks.push((Mark::Across { ink: Ink::Grey, at }, String::new()));
    }
    if highest > 0.0 {
        let words = "levels at which the load is wanted; bars are intervals of 95 %";
        if let Some(last) = marks.last_mut() {
            last.1 = words.into();
        }
    }
    let channel = first.map_or(Channel::Response, |curve| curve.channel);
    let up = match channel {
        Channel::Response => "mean latency, ms",
        Channel::Service => "mean service time, ms",
    };
    Picture {
        title: title.into(),
        across: "IOPS".into(),
        up: up.into(),
        ends: [load_max * HEADROOM, time_max.max(highest) * HEADROOM],
        lowest: Some(lowest),
        marks,
    }
    .svg()
}

/// The points that are results. Of several with as many clients, the last is the one that answers.
pub(crate) fn cited_points(curve: &Curve) -> impl Iterator<Item = &CurvePoint> {
    let later = curve.points.iter().skip(1).map(Some).chain([None]);
    let cited = curve.points.iter().zip(later).filter(|(point, later)| {
        let is_followed =
            later.is_some_and(|later| later.clients == point.clients && !later.is_scout);
        !point.is_scout && !is_followed
    });
    cited.map(|(point, _)| point)
}

fn saturation(curve: &Curve) -> String {
    curve.saturation.map_or_else(String::new, |top| {
        format!(
            ": highest load {}/s ({} .. {})",
            format_count(top.load.value),
            format_count(top.load.low),
            format_count(top.load.high)
        )
    })
}

/// The histogram of times to a first record, with what a document found beside it.
#[must_use]
pub fn positioning_svg(found: &Positioning) -> String {
    let width = found.bin_ns as f64 / SECOND;
    let bars = |counts: Vec<Spread>, place: f64, parts: f64| {
        let bar = |(bin, height): (usize, Spread)| {
            let each = width * BAR_SHARE / parts;
            let from = bin as f64 * width + 0.5 * width * (1.0 - BAR_SHARE) + place * each;
            ([from, from + each], height)
        };
        counts.into_iter().enumerate().map(bar).collect::<Vec<_>>()
    };
    let ours: Vec<Spread> = found.bins.iter().map(|&bin| Spread::of(bin, 1.0)).collect();
    let mut highest = ours.iter().map(|bin| bin.value).fold(0.0, f64::max);
    let bounded = ours
        .iter()
        .map(|bin| bin.high)
        .filter(|high| high.is_finite());
    highest = bounded.fold(highest, f64::max);
    let mut bins = ours.len();
    let parts = if found.published.is_some() { 2.0 } else { 1.0 };
    let (low, high) = (found.mean.low, found.mean.high);
    let words = format!(
        "simulated: mean {} ({} .. {}); bars: 95 % of {} rounds",
        format_duration_ns(found.mean.value),
        format_duration_ns(low),
        format_duration_ns(high),
        format_count(f64::from(found.rounds))
    );
    let mut marks = vec![(
        Mark::Bars {
            ink: Ink::Blue,
            bars: bars(ours, 0.0, parts),
        },
        words,
    )];
    if let Some(published) = &found.published {
        let counts = published
            .bins
            .iter()
            .map(|&count| Spread::exact(f64::from(count)));
        let counts: Vec<Spread> = counts.collect();
        highest = counts.iter().map(|bin| bin.value).fold(highest, f64::max);
        bins = bins.max(counts.len());
        let words = format!(
            "published: mean {}, one round",
            format_duration_ns(published.mean_ns as f64)
        );
        let bars = bars(counts, 1.0, parts);
        let ink = Ink::Orange;
        marks.push((Mark::Bars { ink, bars }, words));
    }
    Picture {
        title: format!(
            "{}: time to the first record of {} files of {}",
            found.target,
            found.files,
            Bytes(found.file_bytes).decimal()
        ),
        across: "time to the first record, s".into(),
        up: "files of one round".into(),
        ends: [bins as f64 * width, highest * HEADROOM],
        lowest: None,
        marks,
    }
    .svg()
}

/// Mean latency over time, interval by interval, of one or several measurements, each with its
/// name; nothing where one of them has no intervals.
#[must_use]
pub fn latency_svg(title: &str, named: &[(&str, &Measurement)]) -> Option<String> {
    let inks = [Ink::Blue, Ink::Orange, Ink::Black, Ink::Grey];
    let mut marks = Vec::new();
    let (mut last, mut highest, mut lowest) = (0.0_f64, 0.0_f64, f64::INFINITY);
    for ((name, measurement), ink) in named.iter().zip(inks.into_iter().cycle()) {
        let samples = &measurement.series.as_ref()?.samples;
        let each = format_duration_ns(samples.first()?.length_ns as f64);
        let of = samples.iter().map(|it| {
            let mean = it.response_mean_ns.unwrap_or(f64::NAN);
            [it.end_ns as f64 / SECOND, mean / MS]
        });
        let until: Vec<[f64; 2]> = of.collect();
        for [end, mean] in until.iter().filter(|[_, mean]| mean.is_finite()) {
            last = last.max(*end);
            highest = highest.max(*mean);
            lowest = lowest.min(*mean);
        }
        marks.push((Mark::Steps { ink, until }, format!("{name}, {each} each")));
    }
    let picture = Picture {
        title: title.into(),
        across: "time, s".into(),
        up: "mean latency, ms".into(),
        ends: [last, highest * HEADROOM],
        // Time begins at zero.
        lowest: Some([0.0, lowest]),
        marks,
    };
    Some(picture.svg())
}

/// Load over time, interval by interval, with the law of the model where there is one; nothing
/// where a measurement has no intervals.
#[must_use]
pub fn series_svg(target: &str, measurement: &Measurement) -> Option<String> {
    let samples = &measurement.series.as_ref()?.samples;
    let last = samples.last()?;
    let until = samples
        .iter()
        .map(|sample| [sample.end_ns as f64 / SECOND, sample.per_second]);
    let mut highest = samples
        .iter()
        .map(|sample| sample.per_second)
        .fold(0.0, f64::max);
    let each = format_duration_ns(samples[0].length_ns as f64);
    let mut marks = vec![(
        Mark::Steps {
            ink: Ink::Blue,
            until: until.collect(),
        },
        format!("measured, {each} each"),
    )];
    let tail: Vec<f64> = samples[samples.len() / STEADY_PART..]
        .iter()
        .map(|sample| sample.per_second)
        .collect();
    let steady = mean_interval(&tail);
    if steady.low.is_finite() && steady.high.is_finite() {
        let words = format!(
            "mean of the second half: {}/s ({} .. {}, 95 % interval)",
            format_count(steady.value),
            format_count(steady.low),
            format_count(steady.high)
        );
        let (from, to) = (steady.low, steady.high);
        let ink = Ink::Blue;
        marks.push((Mark::Band { ink, from, to }, words));
    }
    if let Some(law) = measurement.steady_law() {
        for (ink, at, name) in [
            (Ink::Grey, law.fresh_per_second, "before cleaning"),
            (Ink::Orange, law.steady_per_second, "steady"),
        ] {
            let words = format!("{}, {name}: {}/s", law.name, format_count(at));
            highest = highest.max(at);
            marks.push((Mark::Across { ink, at }, words));
        }
    }
    let picture = Picture {
        title: format!("{target}: {}", measurement.title),
        across: "time, s".into(),
        up: "operations per second".into(),
        ends: [last.end_ns as f64 / SECOND, highest * HEADROOM],
        lowest: None,
        marks,
    };
    Some(picture.svg())
}
