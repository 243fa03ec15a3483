//! Pictures of tables: metrics over another one, where a table asks for that.

use results::{Figure, PlotOf, Role, Row, Run, Table};

use crate::markup::{Printed, in_print};
use crate::names::words;
use crate::plot::axis::AxisScale;
use crate::plot::{Extent, PlaceLook, Plot, PlotPoint, Series, SideOf};

/// Rows up to which each has a dot.
const DOTS_MAX: usize = 20;

/// How much of what a bar stands for the bars beside each other take.
const BAR_SHARE: f64 = 0.8;

/// The first picture of a table, as a file.
pub fn tables_svg(run: &Run) -> Option<String> {
    let plot = all(run).into_iter().next()?;
    let title = format!("{}: {}", run.target.given, plot.title);
    Some(plot.titled(title, "").file())
}

/// The pictures of all tables.
pub(crate) fn all(run: &Run) -> Vec<Plot> {
    let tables = run.tables.iter();
    let asked = tables.filter_map(|table| Some((table, table.show.plot.as_ref()?)));
    asked.flat_map(|(table, of)| of_table(table, of)).collect()
}

/// A picture for each level of the factor that it has one for.
fn of_table(table: &Table, of: &PlotOf) -> Vec<Plot> {
    let by = of.by.as_ref();
    let place = by.and_then(|by| table.factors.iter().position(|it| it == by));
    let Some(place) = place else {
        let rows: Vec<&Row> = table.rows.iter().collect();
        return one(of, of.title.clone(), &rows).into_iter().collect();
    };
    let mut levels: Vec<&String> = table.rows.iter().map(|row| &row.levels[place]).collect();
    levels.dedup();
    let each = levels.into_iter().filter_map(|level| {
        let rows = table.rows.iter().filter(|row| row.levels[place] == *level);
        let title = format!("{level}: {}", of.title);
        one(of, title, &rows.collect::<Vec<_>>())
    });
    each.collect()
}

/// None where fewer than two rows have both metrics.
fn one(of: &PlotOf, title: String, rows: &[&Row]) -> Option<Plot> {
    let series = of.y.iter().map(|name| line(of, name, rows));
    let mut series: Vec<Series> = series.filter(|it| it.line.len() > 1).collect();
    stand_beside(&mut series);
    let first = |name: &String| rows.iter().find_map(|row| row.figure(name));
    let across = first(&of.x)?;
    let up = of.y.iter().find_map(first)?;
    let scale = match series.iter().any(|it| it.look == PlaceLook::Bars) {
        true => AxisScale::FromZero,
        false => AxisScale::Fitting,
    };
    let sides = [(across, AxisScale::FromZero), (up, scale)];
    let names = sides.map(|(figure, _)| words(&figure.metric.name));
    let [across, up] = [0, 1].map(|side| SideOf {
        name: &names[side],
        unit: sides[side].0.metric.unit,
        scale: sides[side].1,
    });
    (!series.is_empty()).then(|| Plot::new([across, up], series, Vec::new()).titled(title, ""))
}

/// A metric over the rows; what is no detail with its intervals.
fn line(of: &PlotOf, name: &str, rows: &[&Row]) -> Series {
    let found = rows.iter().filter_map(|row| {
        let (at, figure) = (row.figure(&of.x)?, row.figure(name)?);
        figure.value.value.is_finite().then_some((*row, at, figure))
    });
    let found: Vec<(&Row, &Figure, &Figure)> = found.collect();
    let roles = found.iter().map(|(_, _, it)| it.metric.role);
    let is_main = roles.into_iter().any(|role| role != Role::Detail);
    let places = found.iter().map(|(row, at, figure)| {
        let printed: Vec<&str> = row.words.iter().map(|(_, it)| it.as_str()).collect();
        let level = row.levels.last().map_or("", String::as_str);
        let text = format!(
            "{level}: {} {}",
            Printed::of(figure).in_line(),
            printed.join(" ")
        );
        let at = [Extent::of(at.value, 1.0), Extent::of(figure.value, 1.0)];
        PlotPoint::new(at, in_print(&text))
    });
    let mut series = Series::joined(&words(name), places);
    if series.places.iter().all(|place| place.at[0].is_wide()) {
        series.look = PlaceLook::Bars;
        return series;
    }
    series.has_band = is_main;
    if rows.len() > DOTS_MAX {
        series.look = PlaceLook::OnDemand;
    }
    if !is_main {
        series.places.clear();
    }
    series
}

/// Bars over the same parts of the axis share its width.
fn stand_beside(series: &mut [Series]) {
    let bars = series.iter_mut();
    let mut bars: Vec<&mut Series> = bars.filter(|it| it.look == PlaceLook::Bars).collect();
    let count = bars.len() as f64;
    for (at, series) in bars.iter_mut().enumerate() {
        for place in &mut series.places {
            let Extent { low, high, .. } = place.at[0];
            let width = BAR_SHARE * (high - low) / count;
            let low = f64::midpoint(low, high) + (at as f64 - 0.5 * count) * width;
            let (value, high) = (low + 0.5 * width, low + width);
            place.at[0] = Extent { value, low, high };
        }
    }
}
