//! Latency by nines.

use results::{
    Figure, KindTimes, Measurement, Row, Run, Table, Times, Unit, Work, histogram_in,
    percentile_name,
};
use stats::Histogram;

use super::over_time::{MEASUREMENTS_MAX, SECOND};
use crate::markup::Printed;
use crate::plot::axis::AxisScale;
use crate::plot::{Extent, Plot, PlotPoint, Series, SideOf};

/// Steps of a distribution's line for each nine.
const STEPS_PER_NINE: u32 = 5;
/// The last nine that is drawn: 99.9999 %.
const NINES_MAX: f64 = 6.0;
/// The fastest tenth would stretch the axis and tells little.
const FIRST_SHARE: f64 = 0.1;
/// The shares that the axis names.
const SHARES: [f64; 8] = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];

/// The latency by nines of measurements that several runs share, on equal axes.
pub(crate) fn overlaid_nines(runs: &[(String, &Run)]) -> Vec<Plot> {
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

/// The percentiles of all rows of a table, one chart for each time on equal axes.
pub(crate) fn rows_by_nines(table: &Table) -> Vec<Plot> {
    let percentile = |name: &'_ str| {
        let (time, p) = name.rsplit_once("-p")?;
        let p: f64 = p.parse().ok().filter(|p| *p < 100.0)?;
        Some((time.to_owned(), p / 100.0))
    };
    let metrics = table.metrics();
    let times = metrics.iter().filter_map(|it| percentile(&it.name));
    let mut times: Vec<String> = times.map(|(time, _)| time).collect();
    times.dedup();
    let series = |time: &str, row: &Row| {
        let places = row.figures.iter().filter_map(|figure| {
            let (_, p) = percentile(&figure.metric.name).filter(|(it, _)| it == time)?;
            let (found, printed) = (figure.value, Printed::of(figure).in_line());
            let is_known = found.value > 0.0 && found.value.is_finite();
            let at = [Extent::exact(nines(p)), Extent::of(found, 1.0)];
            is_known.then(|| PlotPoint::new(at, format!("{}: {printed}", percentile_name(p))))
        });
        Series::joined(&table.row_name(row), places)
    };
    let shown = times.into_iter().take(MEASUREMENTS_MAX).map(|time| {
        let all = table.rows.iter().map(|row| series(&time, row));
        let all: Vec<Series> = all.filter(|it| it.places.len() > 1).collect();
        (time, all)
    });
    let shown: Vec<_> = shown.filter(|(_, series)| !series.is_empty()).collect();
    on_equal_axes(&shown)
}

/// Latency and service time by nines, one chart for each measurement on equal axes; and how many
/// measurements there are that could be drawn.
pub(crate) fn by_nines(run: &Run) -> (Vec<Plot>, usize) {
    let known = run.measurements.iter();
    let known: Vec<(String, Vec<Series>)> = known
        .map(|it| (it.title.clone(), distributions(it)))
        .filter(|(_, series)| series.iter().any(|it| it.places.len() > 1))
        .collect();
    let count = known.len();
    (on_equal_axes(&known[..count.min(MEASUREMENTS_MAX)]), count)
}

fn on_equal_axes(shown: &[(String, Vec<Series>)]) -> Vec<Plot> {
    let sides = [
        ("share of operations", Unit::Share, AxisScale::FromZero),
        ("time", Unit::Seconds, AxisScale::Factors),
    ];
    let sides = sides.map(|(name, unit, scale)| SideOf { name, unit, scale });
    let all = shown.iter().flat_map(|(_, series)| series);
    let mut whole = Plot::new(sides, all.cloned().collect(), Vec::new());
    // Each nine is as long as the next.
    let ticks = SHARES.into_iter().map(|p| (nines(p), percentile_name(p)));
    let is_shown = |at: f64| whole.across.axis.share(at - 1e-9) < 1.0;
    whole.across.ticks = ticks.filter(|(at, _)| is_shown(*at)).collect();
    let plots = shown.iter().map(|(title, series)| Plot {
        title: title.clone(),
        series: series.clone(),
        ..whole.clone()
    });
    plots.collect()
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
        let printed = Printed::of(&figure).in_line();
        let at = [Extent::exact(nines(it.p)), Extent::of(estimate, SECOND)];
        let text = format!("{} {name}: {printed}", percentile_name(it.p));
        Some(PlotPoint::new(at, text))
    });
    let places = places.filter(|it| it.at[0].value <= NINES_MAX);
    let series = Series::joined(name, places);
    match histogram {
        Some(histogram) => Series {
            line: line_of(histogram),
            ..series
        },
        None => series,
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
