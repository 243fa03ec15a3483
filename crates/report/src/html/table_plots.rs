//! Pictures of tables: metrics over another one, where a table asks for that.

use results::{Figure, PlotOf, Role, Row, Run, Table};

use super::markup::{Printed, in_print};
use super::plot::{Dots, Extent, FLOOR, LEFT, Place, Plot, RIGHT, Series, Side, TOP};
use crate::axis::{Axis, tick_label};
use crate::names::words;
use crate::picture::scale::Scale;

/// Rows up to which each has a dot.
const DOTS_MAX: usize = 20;

/// The pictures of all tables.
pub(super) fn all(run: &Run) -> Vec<Plot> {
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
    let x = |row: &Row| row.figure(&of.x).map(|it| it.value.value);
    let until = rows
        .iter()
        .filter_map(|row| x(row))
        .fold(f64::MIN, f64::max);
    let across = rows.iter().find_map(|row| row.figure(&of.x))?;
    let series = of.y.iter().map(|name| line(of, name, rows));
    let series: Vec<Series> = series.filter(|it| it.line.len() > 1).collect();
    let main = rows
        .iter()
        .find_map(|row| of.y.iter().find_map(|it| row.figure(it)))?;
    let unit = main.metric.unit;
    let places = series.iter().flat_map(|it| &it.places);
    let values = places.flat_map(|it| [it.at[1].low, it.at[1].high]);
    let drawn = series.iter().flat_map(|it| &it.line).map(|[_, y]| *y);
    let up = Axis::fitting(
        values.chain(drawn).collect::<Vec<_>>().into_iter(),
        FLOOR,
        TOP,
    );
    let x_unit = across.metric.unit;
    let x_axis = Axis::Linear(Scale::exactly(until, LEFT, RIGHT));
    (!series.is_empty()).then(|| Plot {
        title,
        note: String::new(),
        across: Side::new(x_axis, &words(&of.x), |tick| tick_label(x_unit, tick)),
        up: Side::new(up, &words(&main.metric.name), |tick| tick_label(unit, tick)),
        series,
        guides: Vec::new(),
    })
}

/// A metric over the rows; what is no detail with its intervals.
fn line(of: &PlotOf, name: &str, rows: &[&Row]) -> Series {
    let found = rows.iter().filter_map(|row| {
        let (at, figure) = (row.figure(&of.x)?, row.figure(name)?);
        figure.value.value.is_finite().then_some((*row, at, figure))
    });
    let found: Vec<(&Row, &Figure, &Figure)> = found.collect();
    let is_main = found
        .iter()
        .any(|(_, _, it)| it.metric.role != Role::Detail);
    let places = found.iter().filter(|_| is_main).map(|(row, at, figure)| {
        let said: Vec<&str> = row.words.iter().map(|(_, it)| it.as_str()).collect();
        let level = row.levels.last().map_or("", String::as_str);
        Place {
            at: [Extent::exact(at.value.value), Extent::of(figure.value, 1.0)],
            text: in_print(&format!(
                "{level}: {} {}",
                Printed::of(figure).in_line(),
                said.join(" ")
            )),
        }
    });
    let line = found
        .iter()
        .map(|(_, at, it)| [at.value.value, it.value.value]);
    Series {
        name: words(name),
        line: line.collect(),
        places: places.collect(),
        dots: if rows.len() > DOTS_MAX {
            Dots::OnDemand
        } else {
            Dots::Shown
        },
        has_band: is_main,
        is_hidden: false,
    }
}
