//! Random access.

use units::Bytes;

use crate::random_access::{RandomAccess, RandomCell};
use crate::reading::{Better, Unit};
use crate::table::{Figure, Replicate, Row, Table, Trust};

/// Each cell.
pub(super) fn table(found: &RandomAccess) -> Table {
    let factors = ["operation", "span", "block", "depth"];
    Table::new("random", &factors, found.cells.iter().map(row).collect())
}

fn row(cell: &RandomCell) -> Row {
    let levels = vec![
        cell.kind.name().to_owned(),
        Bytes(cell.span_bytes).to_string(),
        Bytes(cell.block_bytes).to_string(),
        cell.depth.to_string(),
    ];
    let mut figures: Vec<Figure> = Vec::new();
    if !cell.is_all_failed() {
        figures.extend(Figure::of_times("service-time", &cell.service));
    }
    figures.push(Figure::iops(cell.throughput));
    figures.push(Figure::exact(
        "operations",
        Unit::Count,
        cell.operations as f64,
    ));
    figures.push(Figure::exact("errors", Unit::Count, cell.errors as f64));
    let cpu = cell.cpu_per_operation_ns.map(|ns| ns / 1e9);
    figures.extend(cpu.map(|it| Figure::bare("cpu-per-io", Unit::Seconds, Better::Lower, it)));
    figures.extend(
        cell.page_cache_share
            .map(|it| Figure::bare("page-cache-share", Unit::Share, Better::Neither, it)),
    );
    let settled = if cell.is_citable {
        Trust::Sound
    } else {
        Trust::Shaky
    };
    let trust = settled.max(Trust::unless_void(&cell.warnings));
    let rounds = cell.rounds.iter().zip(1..).map(|(mean, number)| Replicate {
        number,
        counts: true,
        readings: vec![("service-time".to_owned(), Unit::Seconds, mean.value / 1e9)],
    });
    let headline = match cell.is_all_failed() {
        true => "iops",
        false => "service-time",
    };
    Row::new(levels, figures, headline, trust, &cell.warnings).with_replicates(rounds.collect())
}
