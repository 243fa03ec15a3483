//! Latency over load, and latency by nines.

use std::collections::BTreeSet;

use results::{
    Arrivals, Curve, CurvePoint, Figure, KindTimes, Level, LevelOutcome, Measurement, Run, Study,
    StudyCell, StudyFigure, Times, Unit, Work, histogram_in, percentile_name,
};
use stats::{Channel, Estimate, Histogram};
use units::{format_count, format_counted, format_duration_ns};

use super::markup::{Printed, in_print};
use super::plot::{Dots, Extent, FLOOR, Guide, LEFT, Place, Plot, RIGHT, Series, Side, TOP};
use crate::axis::{Axis, ends, tick_label};
use crate::picture::cited_points;

/// Nanoseconds in a second.
pub(super) const SECOND: f64 = 1e9;
/// Levels further than this factor from everything measured would flatten the curve.
const LEVEL_REACH: f64 = 2.5;
/// Measurements whose percentiles are drawn.
pub(super) const MEASUREMENTS_MAX: usize = 6;
/// Steps of a distribution's line for each nine.
const STEPS_PER_NINE: u32 = 5;
/// The last nine that is drawn: 99.9999 %.
const NINES_MAX: f64 = 6.0;
/// The fastest tenth would stretch the axis and tells little.
const FIRST_SHARE: f64 = 0.1;
/// Loads and times that are nearer to each other than this factor look as near as they are.
const SPAN_MIN: f64 = 3.0;

fn printed(name: &str, estimate: Estimate) -> String {
    Printed::of(&Figure::time_ns(name, estimate)).in_line()
}

pub(super) fn time_side(values: impl Iterator<Item = f64>, name: &str) -> Side {
    let axis = spanning(values, FLOOR, TOP);
    Side::new(axis, name, |tick| tick_label(Unit::Seconds, tick))
}

/// A logarithmic axis that does not blow up small differences.
fn spanning(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
    let (low, high) = ends(values.filter(|value| *value > 0.0));
    let wider = (SPAN_MIN * low / high).max(1.0).sqrt();
    Axis::log(low / wider, high * wider, from, to)
}

/// Latency over load, with the levels and the highest load.
pub(super) fn curve(title: &str, curve: &Curve) -> Option<Plot> {
    let is_known = |it: &&CurvePoint| it.load.value.is_finite() && it.load.value > 0.0;
    let points: Vec<&CurvePoint> = cited_points(curve).filter(is_known).collect();
    if points.is_empty() {
        return None;
    }
    let series: Vec<Series> = times_of(curve)
        .into_iter()
        .map(|(name, of, is_hidden)| of_points(&points, curve.arrivals, (name, is_hidden), &of))
        .filter(|series| !series.places.is_empty())
        .collect();
    let (low, high) = ends(heights(&series).filter(|height| *height > 0.0));
    let near = (low / LEVEL_REACH)..=(high * LEVEL_REACH);
    let levels = curve.levels.iter();
    let levels = levels.filter(|it| near.contains(&(it.level_ns as f64 / SECOND)));
    let guides = curve.saturation.iter().map(saturation);
    let guides = guides.chain(levels.map(|it| level(curve, it)));
    let note = "Bands and bars are 95 % intervals; dashed lines are the latency levels.";
    Some(over_load((title, note), series, guides.collect()))
}

fn heights(series: &[Series]) -> impl Iterator<Item = f64> {
    let places = series.iter().flat_map(|it| &it.places);
    places.flat_map(|it| [it.at[1].low, it.at[1].value, it.at[1].high])
}

/// Times over loads, both logarithmic.
fn over_load((title, note): (&str, &str), series: Vec<Series>, guides: Vec<Guide>) -> Plot {
    let places = series.iter().flat_map(|it| &it.places);
    let mut loads: Vec<f64> = places
        .flat_map(|it| [it.at[0].low, it.at[0].value, it.at[0].high])
        .collect();
    let mut times: Vec<f64> = heights(&series).collect();
    for guide in &guides {
        match guide {
            Guide::Across { at, found, .. } => {
                times.push(*at);
                let found = found.iter().map(|it| it.at[0]);
                loads.extend(found.flat_map(|it| [it.low, it.high]));
            }
            Guide::Range { low, high, .. } => loads.extend([low, high]),
        }
    }
    let across = spanning(loads.into_iter(), LEFT, RIGHT);
    Plot {
        title: title.to_owned(),
        note: note.to_owned(),
        across: Side::new(across, "load, IOPS", |tick| {
            tick_label(Unit::PerSecond, tick)
        }),
        up: time_side(times.into_iter(), "latency"),
        series,
        guides,
    }
}

/// The curves of several runs in one chart: the time that their levels are about.
pub(super) fn overlaid(curves: &[(String, &Curve)]) -> Option<Plot> {
    let series = curves.iter().map(|(name, curve)| {
        let points: Vec<&CurvePoint> = cited_points(curve).collect();
        let of = |point: &CurvePoint| Some(point.time(curve.channel));
        of_points(&points, curve.arrivals, (name.clone(), false), &of)
    });
    let series: Vec<Series> = series.filter(|it| !it.places.is_empty()).collect();
    let (_, first) = curves.first()?;
    let note = "Levels apply to this time; bands and bars are 95 % intervals.";
    (!series.is_empty()).then(|| over_load((&first.title, note), series, Vec::new()))
}

/// The latency by nines of measurements that several runs share, on equal axes.
pub(super) fn overlaid_nines(runs: &[(String, &Run)]) -> Vec<Plot> {
    let Some((_, base)) = runs.first() else {
        return Vec::new();
    };
    let shared = base.measurements.iter().map(|measured| {
        let series = runs.iter().filter_map(|(name, run)| {
            let it = run.measurement(&measured.name)?;
            let latency = distributions(it).into_iter().next()?;
            Some(latency.named(name))
        });
        let series: Vec<Series> = series.filter(|it| it.places.len() > 1).collect();
        (measured.title.clone(), series)
    });
    let shared: Vec<_> = shared.filter(|(_, series)| series.len() > 1).collect();
    on_equal_axes(&shared[..shared.len().min(MEASUREMENTS_MAX)])
}

/// What is drawn of each point: a name, the time, whether it is hidden at first.
type TimeOf = (String, Box<dyn Fn(&CurvePoint) -> Option<Estimate>>, bool);

fn times_of(curve: &Curve) -> Vec<TimeOf> {
    let mut found: Vec<TimeOf> = vec![(
        "mean latency".into(),
        Box::new(|it| Some(it.response)),
        false,
    )];
    match curve.percentile {
        Some(p) => {
            let name = format!("{} latency", percentile_name(p));
            found.push((name, Box::new(|it| it.at_percentile), false));
        }
        None => found.push(("p99 latency".into(), Box::new(|it| it.response_p99), false)),
    }
    let laws = curve.points.iter().filter_map(|it| it.law.as_ref());
    if let Some(law) = laws.clone().next() {
        let name = match laws.clone().all(|it| it.name == law.name) {
            true => format!("mean latency by {}", law.name),
            false => "mean latency by theory".into(),
        };
        found.push((name, Box::new(by_law), false));
    }
    let is_hidden = curve.channel == Channel::Response;
    // From issue to completion includes the wait in a simulated queue; its own terms do not.
    let is_queue = curve.points.iter().any(|it| it.server.is_some());
    if is_queue {
        let wait: fn(&CurvePoint) -> Option<Estimate> = |it| Some(it.server?.wait);
        let service: fn(&CurvePoint) -> Option<Estimate> = |it| Some(it.server?.service);
        found.push(("mean wait in the queue".into(), Box::new(wait), true));
        found.push(("mean time with a server".into(), Box::new(service), true));
    } else {
        let name = "mean service time".into();
        found.push((name, Box::new(|it| Some(it.service)), is_hidden));
    }
    found
}

fn by_law(point: &CurvePoint) -> Option<Estimate> {
    let law = point.law.as_ref()?;
    Some(Estimate::exact(law.response_mean_ns, f64::INFINITY))
}

fn of_points(
    points: &[&CurvePoint],
    arrivals: Arrivals,
    (name, is_hidden): (String, bool),
    of: &dyn Fn(&CurvePoint) -> Option<Estimate>,
) -> Series {
    let places = points.iter().filter_map(|point| {
        let time = of(point).filter(|time| time.value.is_finite() && time.value > 0.0)?;
        let source = match (arrivals, point.offered) {
            (Arrivals::Open, Some(offered)) => format!("{}/s offered", format_count(offered)),
            _ => format_counted(u64::from(point.clients), "client"),
        };
        let load = Printed::of(&Figure::iops(point.load)).in_line();
        Some(Place {
            at: [Extent::of(point.load, 1.0), Extent::of(time, SECOND)],
            text: format!("{source}: {load}, {name} {}", printed(&name, time)),
        })
    });
    let places: Vec<Place> = places.collect();
    Series {
        line: places.iter().map(|it| it.at.map(|at| at.value)).collect(),
        places,
        dots: Dots::Shown,
        has_band: true,
        name,
        is_hidden,
    }
}

fn level(curve: &Curve, level: &Level) -> Guide {
    let time = in_print(&format_duration_ns(level.level_ns as f64));
    let of = curve.percentile.map_or("mean".to_owned(), percentile_name);
    let found = match level.outcome {
        LevelOutcome::Reached { load, .. } => {
            let at = Extent::of(load, 1.0);
            let load = Printed::of(&Figure::iops(load)).in_line();
            Some((at, format!("{load} at {time} {of}")))
        }
        LevelOutcome::Between { low, high } => {
            let value = (low * high).sqrt();
            let at = Extent { value, low, high };
            let (low, high) = (format_count(low), format_count(high));
            Some((at, format!("between {low} and {high}/s at {time} {of}")))
        }
        LevelOutcome::NotReached { .. } | LevelOutcome::Exceeded { .. } => None,
    };
    let height = level.level_ns as f64 / SECOND;
    Guide::Across {
        at: height,
        label: format!("{time} {of}"),
        found: found.map(|(at, text)| Place {
            at: [at, Extent::exact(height)],
            text,
        }),
    }
}

fn saturation(found: &results::Saturation) -> Guide {
    let load = Extent::of(found.load, 1.0);
    let said = Printed::of(&Figure::iops(found.load)).in_line();
    let clients = format_counted(u64::from(found.clients), "client");
    Guide::Range {
        low: load.low,
        high: load.high,
        label: "highest load".into(),
        text: format!("highest load: {said} with {clients}"),
    }
}

/// The percentiles of targets that are compared, one chart for each row of figures on equal axes.
pub(super) fn targets_by_nines(study: &Study) -> Vec<Plot> {
    const BEFORE: &str = "latency-p";
    let row_of = |figure: &StudyFigure| {
        let (row, p) = figure.reading.rsplit_once(BEFORE)?;
        let p: f64 = p.parse().ok().filter(|p| *p < 100.0)?;
        Some((row.trim_end_matches('.').to_owned(), p / 100.0))
    };
    let figures = study.cells.iter().flat_map(|cell| &cell.figures);
    let mut rows: Vec<String> = figures.filter_map(|it| Some(row_of(it)?.0)).collect();
    let mut known = BTreeSet::new();
    rows.retain(|row| known.insert(row.clone()));
    let series = |row: &str, cell: &StudyCell| {
        let places = cell.figures.iter().filter_map(|figure| {
            let (of, p) = row_of(figure)?;
            let time = figure.value;
            (of == row && time.value > 0.0 && time.value.is_finite()).then(|| Place {
                at: [Extent::exact(nines(p)), Extent::of(time, 1.0)],
                text: format!(
                    "{}: {}",
                    percentile_name(p),
                    printed("latency", time.scale(SECOND))
                ),
            })
        });
        let places: Vec<Place> = places.collect();
        Series {
            name: cell.levels.join(", "),
            line: places.iter().map(|it| it.at.map(|at| at.value)).collect(),
            places,
            dots: Dots::Shown,
            has_band: false,
            is_hidden: false,
        }
    };
    let shown = rows.into_iter().take(MEASUREMENTS_MAX).map(|row| {
        let all = study.cells.iter().map(|cell| series(&row, cell));
        let all: Vec<Series> = all.filter(|it| it.places.len() > 1).collect();
        (row, all)
    });
    let shown: Vec<_> = shown.filter(|(_, series)| !series.is_empty()).collect();
    on_equal_axes(&shown)
}

/// Latency and service time by nines, one chart for each measurement on equal axes; and how many
/// measurements there are that could be drawn.
pub(super) fn by_nines(run: &Run) -> (Vec<Plot>, usize) {
    let known = run.measurements.iter();
    let known: Vec<(String, Vec<Series>)> = known
        .map(|it| (it.title.clone(), distributions(it)))
        .filter(|(_, series)| series.iter().any(|it| it.places.len() > 1))
        .collect();
    let count = known.len();
    (on_equal_axes(&known[..count.min(MEASUREMENTS_MAX)]), count)
}

fn on_equal_axes(shown: &[(String, Vec<Series>)]) -> Vec<Plot> {
    let places = || {
        let series = shown.iter().flat_map(|(_, series)| series);
        series.flat_map(|it| {
            let ends = |it: &Place| {
                let [nines, time] = it.at;
                [time.low, time.value, time.high].map(|time| [nines.value, time])
            };
            it.line
                .iter()
                .copied()
                .chain(it.places.iter().flat_map(ends))
        })
    };
    let (_, last) = ends(places().map(|[nines, _]| nines));
    let up = time_side(places().map(|[_, time]| time), "time");
    let across = nines_side(last.clamp(2.0, NINES_MAX));
    let plots = shown.iter().map(|(title, series)| Plot {
        title: title.clone(),
        note: String::new(),
        across: across.clone(),
        up: up.clone(),
        series: series.clone(),
        guides: Vec::new(),
    });
    plots.collect()
}

/// The axis of shares: each nine is as long as the next.
fn nines_side(last: f64) -> Side {
    let axis = Axis::Linear(crate::picture::scale::Scale::exactly(last, LEFT, RIGHT));
    let shares = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];
    let ticks = shares.into_iter().map(|p| (nines(p), percentile_name(p)));
    Side {
        axis,
        name: "share of operations".into(),
        ticks: ticks.filter(|(at, _)| *at <= last + 1e-9).collect(),
    }
}

/// How many nines a share has: 1 for 90 %, 2 for 99 %.
fn nines(p: f64) -> f64 {
    -(1.0 - p).log10()
}

/// Both times of a measurement: a line through the whole distribution where it was kept, dots with
/// intervals for the steady part.
fn distributions(it: &Measurement) -> Vec<Series> {
    let histogram = |of: fn(&KindTimes) -> &str| match it.work {
        Work::Operation => merged(it.kinds.iter().map(of)),
        // The kinds are parts of a file's or a transaction's work, whose times these are not.
        Work::File | Work::Transaction => None,
    };
    let both = [
        (
            "latency",
            &it.response,
            histogram(|kind| &kind.response_histogram),
        ),
        (
            "service time",
            &it.service,
            histogram(|kind| &kind.service_histogram),
        ),
    ];
    both.into_iter()
        .map(|(name, times, histogram)| distribution(name, times, histogram.as_ref()))
        .collect()
}

fn merged<'a>(encoded: impl Iterator<Item = &'a str>) -> Option<Histogram> {
    let mut whole: Option<Histogram> = None;
    for text in encoded {
        let part = histogram_in(text)?;
        match &mut whole {
            Some(whole) => whole.merge(&part),
            None => whole = Some(part),
        }
    }
    whole.filter(|whole| !whole.is_empty())
}

fn distribution(name: &str, times: &Times, histogram: Option<&Histogram>) -> Series {
    let places = times.percentiles.iter().filter_map(|it| {
        let estimate = it
            .estimate
            .filter(|it| it.value.is_finite() && it.value > 0.0)?;
        let figure = Figure {
            is_indicative: it.is_indicative,
            ..Figure::time_ns(name, estimate)
        };
        let said = Printed::of(&figure).in_line();
        Some(Place {
            at: [Extent::exact(nines(it.p)), Extent::of(estimate, SECOND)],
            text: format!("{} {name}: {said}", percentile_name(it.p)),
        })
    });
    let places: Vec<Place> = places.filter(|it| it.at[0].value <= NINES_MAX).collect();
    let line = match histogram {
        Some(histogram) => line_of(histogram),
        None => places.iter().map(|it| it.at.map(|at| at.value)).collect(),
    };
    Series {
        name: name.to_owned(),
        line,
        places,
        dots: Dots::Shown,
        has_band: false,
        is_hidden: false,
    }
}

/// A distribution to the last share that it bears, in equal steps of nines.
fn line_of(histogram: &Histogram) -> Vec<[f64; 2]> {
    let steps = 0..=(NINES_MAX as u32 * STEPS_PER_NINE);
    let shares = steps.map(|step| f64::from(step) / f64::from(STEPS_PER_NINE));
    let shares = shares.filter(|at| *at >= nines(FIRST_SHARE));
    let places = shares.map_while(|at| {
        let time = histogram.quantile(1.0 - 10_f64.powf(-at))?;
        Some([at, (time as f64).max(1.0) / SECOND])
    });
    places.collect()
}
