//! Studies.

use crate::study::{Study, StudyCell};
use crate::table::{Figure, Replicate, Row, Table, Trust};

/// Each combination of levels. A study's readings keep the names that its kind gives them.
pub(super) fn table(found: &Study) -> Table {
    let rows = found.cells.iter().map(|cell| row(found, cell));
    Table {
        name: found.measurement.clone().into(),
        factors: found.factors.iter().map(|it| it.name.clone()).collect(),
        ..Table::new("", &[], rows.collect())
    }
}

fn row(study: &Study, cell: &StudyCell) -> Row {
    let figures = cell.figures.iter();
    let figures = figures.map(|it| Figure::new(&it.reading, it.unit, it.better, it.value));
    let headline = cell.figures.first().map_or("", |it| it.reading.as_str());
    let of_cell = study.replicates.iter();
    let of_cell = of_cell.filter(|replicate| replicate.levels == cell.levels);
    let replicates = of_cell.map(|it| Replicate {
        number: it.round,
        counts: true,
        readings: it
            .readings
            .iter()
            .map(|reading| (reading.name.clone(), reading.unit, reading.value))
            .collect(),
    });
    // Without a single figure every replicate failed, or was void.
    let is_known = cell.figures.iter().any(|it| it.value.value.is_finite());
    let trust = if is_known { Trust::Sound } else { Trust::Void };
    Row::new(cell.levels.clone(), figures, headline, trust, &[])
        .with_replicates(replicates.collect())
}
