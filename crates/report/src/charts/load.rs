//! Latency over load, with the levels and the highest load.

use results::{
    Arrivals, Curve, CurveLevel, CurvePoint, Figure, LevelOutcome, Saturation, Unit,
    percentile_name,
};
use stats::{Channel, Estimate};
use units::{format_count, format_counted, format_duration_ns};

use super::over_time::SECOND;
use crate::curve_points::judged_name;
use crate::markup::{Printed, in_print};
use crate::plot::axis::{AxisScale, ends};
use crate::plot::glyphs::{Glyph, ROWS_BELOW};
use crate::plot::{Extent, Guide, Guided, Plot, PlotPoint, Series, SideOf};

/// Levels further than this factor from everything measured would flatten the curve.
const LEVEL_REACH: f64 = 2.5;
const MEAN: &str = "mean latency";
/// How a curve is read.
const NOTE: &str = "Hollow points are estimates. Bands and bars are 95 % intervals.";

pub(super) fn printed(name: &str, estimate: Estimate) -> String {
    Printed::of(&Figure::time_ns(name, estimate)).in_line()
}

/// All times of a curve over its load, estimates included, with the latency of the fewest clients.
/// In order of clients: the load may fall as they are added.
pub(crate) fn curve(curve: &Curve) -> Option<Plot> {
    let points: Vec<&CurvePoint> = curve.points.iter().collect();
    let times = times_of(curve).into_iter();
    let series = times.map(|(name, of, is_hidden)| Series {
        is_hidden,
        ..of_points(&points, curve.arrivals, &name, &of)
    });
    let series = series.filter(|it| !it.places.is_empty());
    let mut plot = over_load(curve, "latency", series.collect())?;
    let fewest = points.first().filter(|_| points.len() > 1);
    let fewest = fewest.and_then(|first| points.iter().rfind(|it| it.clients == first.clients));
    plot.guides.extend(fewest.map(|it| idle(curve, it)));
    Some(plot.titled(&curve.title, NOTE))
}

/// The latency where nothing waits.
fn idle(curve: &Curve, fewest: &CurvePoint) -> Guide {
    let time = fewest.time(curve.channel).value;
    let printed = in_print(&format_duration_ns(time));
    let of = level_of(curve);
    Guide::height(Extent::exact(time / SECOND), format!("idle {printed} {of}"))
}

/// The time that the levels are about, estimates included: what a screen shows. Nothing hides a
/// point that counts.
pub(crate) fn judged(curve: &Curve) -> Option<Plot> {
    let of = |point: &CurvePoint| Some(point.time(curve.channel));
    let series = |name: &str, is: fn(&CurvePoint) -> bool| {
        let points: Vec<&CurvePoint> = curve.points.iter().filter(|it| is(it)).collect();
        of_points(&points, curve.arrivals, name, &of)
    };
    let all = series("", |_| true).line;
    let cited = series("", |it| !it.is_scout).line;
    let mut series = vec![
        series("measured", |it| !it.is_scout && it.is_converged),
        series("estimate", |it| it.is_scout),
        series("wide interval", |it| !it.is_scout && !it.is_converged),
    ];
    series.iter_mut().for_each(|it| it.line.clear());
    series[0].line = if cited.len() < 2 { all } else { cited };
    over_load(curve, &judged_name(curve), series)
}

/// A curve in characters, with what was found at its levels: so many columns and rows in all.
/// Empty where no point was measured, or where that is no room.
pub fn curve_glyphs(curve: &Curve, columns: usize, rows: usize) -> Vec<Vec<Glyph>> {
    let plot = judged(curve);
    plot.map_or_else(Vec::new, |it| {
        it.glyphs(columns, rows.saturating_sub(ROWS_BELOW))
    })
}

/// The curves of several runs in one chart: the time that their levels are about, or the mean
/// latency where that differs.
pub(crate) fn overlaid(curves: &[(String, &Curve)]) -> Option<Plot> {
    let (_, first) = curves.first()?;
    let (judged, mut names) = (
        judged_name(first),
        curves.iter().map(|it| judged_name(it.1)),
    );
    let is_one = names.all(|it| it == judged);
    let series = curves.iter().map(|(name, curve)| {
        let points: Vec<&CurvePoint> = cited_points(curve).collect();
        let of = |point: &CurvePoint| match is_one {
            true => Some(point.time(curve.channel)),
            false => Some(point.response),
        };
        of_points(&points, curve.arrivals, name, &of)
    });
    let series = series.filter(|it| !it.places.is_empty());
    let name = if is_one { judged.as_str() } else { MEAN };
    let mut plot = over_load(first, name, series.collect())?;
    if curves.len() > 1 {
        // What was found at a level differs from curve to curve.
        let is_kept = |it: &Guide| it.of == Guided::Up && is_one;
        plot.guides.retain(is_kept);
        plot.guides.iter_mut().for_each(|it| it.found = None);
    }
    Some(plot.titled(&first.title, NOTE))
}

/// Load curves as a file, each with its name: the time that the levels are about against load.
/// `None` where no point was measured.
pub fn curves_svg(title: &str, curves: &[(&str, &Curve)]) -> Option<String> {
    let named = curves.iter().map(|(name, curve)| {
        let top = curve.saturation.map_or_else(String::new, |top| {
            let printed = Printed::of(&Figure::iops(top.load)).in_line();
            format!(": highest load {printed}")
        });
        (format!("{name}{top}"), *curve)
    });
    let plot = overlaid(&named.collect::<Vec<_>>())?;
    Some(plot.titled(title, NOTE).file())
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

/// Series over loads, with what was found for the levels near them; `None` without a point.
fn over_load(curve: &Curve, name: &str, series: Vec<Series>) -> Option<Plot> {
    let places = series.iter().flat_map(|it| &it.places);
    let heights = places.flat_map(|it| it.at[1].all()).filter(|it| *it > 0.0);
    let (low, high) = ends(heights);
    let near = (low / LEVEL_REACH)..=(high * LEVEL_REACH);
    let levels = curve.levels.iter();
    let levels = levels.filter(|it| near.contains(&(it.level_ns as f64 / SECOND)));
    let guides = curve.saturation.iter().map(highest);
    let guides = guides.chain(levels.map(|it| level(curve, it)));
    let sides = [("IOPS", Unit::PerSecond), (name, Unit::Seconds)];
    let sides = sides.map(|(name, unit)| SideOf {
        name,
        unit,
        scale: AxisScale::Factors,
    });
    (low <= high).then(|| Plot::new(sides, series, guides.collect()))
}

/// What is drawn of each point: a name, the time, whether it is hidden at first.
type TimeOf = (String, Box<dyn Fn(&CurvePoint) -> Option<Estimate>>, bool);

fn times_of(curve: &Curve) -> Vec<TimeOf> {
    let mut found: Vec<TimeOf> = vec![(MEAN.into(), Box::new(|it| Some(it.response)), false)];
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
    name: &str,
    of: &dyn Fn(&CurvePoint) -> Option<Estimate>,
) -> Series {
    let is_drawable = |value: f64| value.is_finite() && value > 0.0;
    let places = points.iter().filter_map(|point| {
        let time = of(point).filter(|time| is_drawable(time.value))?;
        let source = match (arrivals, point.offered) {
            (Arrivals::Open, Some(offered)) => format!("{}/s offered", format_count(offered)),
            _ => format_counted(u64::from(point.clients), "client"),
        };
        let load = Printed::of(&Figure::iops(point.load)).in_line();
        let estimate = if point.is_scout { ", an estimate" } else { "" };
        is_drawable(point.load.value).then(|| PlotPoint {
            at: [Extent::of(point.load, 1.0), Extent::of(time, SECOND)],
            text: format!("{source}: {load}, {name} {}{estimate}", printed(name, time)),
            is_estimate: point.is_scout,
        })
    });
    Series {
        has_band: true,
        ..Series::joined(name, places)
    }
}

/// What the levels are of.
fn level_of(curve: &Curve) -> String {
    curve.percentile.map_or("mean".to_owned(), percentile_name)
}

fn level(curve: &Curve, level: &CurveLevel) -> Guide {
    let time = in_print(&format_duration_ns(level.level_ns as f64));
    let of = level_of(curve);
    let (found, text) = match level.outcome {
        LevelOutcome::Reached { load, .. } => {
            let printed = Printed::of(&Figure::iops(load)).in_line();
            (
                Some(Extent::of(load, 1.0)),
                format!("{printed} at {time} {of}"),
            )
        }
        LevelOutcome::Between { low, high } => {
            let value = (low * high).sqrt();
            let ends = format!("between {} and {}/s", format_count(low), format_count(high));
            let at = Extent { value, low, high };
            (Some(at), format!("{ends} at {time} {of}"))
        }
        LevelOutcome::NotReached { clients, .. } => {
            let clients = format_counted(u64::from(clients), "client");
            (None, format!("not reached with {clients}"))
        }
        LevelOutcome::Exceeded { response } => {
            let least = format_duration_ns(response.value);
            (
                None,
                format!("exceeded: one client waits {}", in_print(&least)),
            )
        }
    };
    Guide {
        text,
        found,
        ..Guide::height(
            Extent::exact(level.level_ns as f64 / SECOND),
            format!("{time} {of}"),
        )
    }
}

fn highest(found: &Saturation) -> Guide {
    let printed = Printed::of(&Figure::iops(found.load)).in_line();
    let clients = format_counted(u64::from(found.clients), "client");
    let label = match found.is_saturated {
        true => "highest",
        false => "highest so far",
    };
    let load = format_count(found.load.value);
    Guide {
        of: Guided::Across,
        at: Extent::of(found.load, 1.0),
        label: format!("{label} {load}/s, {clients}"),
        text: format!("highest load: {printed} with {clients}"),
        found: None,
    }
}
