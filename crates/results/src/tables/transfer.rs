//! Transfer rates.

use stats::is_indicative;
use units::Bytes;

use crate::reading::Unit;
use crate::table::{Figure, Replicate, Row, Table, Trust};
use crate::transfer::{Transfer, TransferKind, TransferPass, TransferSeries};

/// Each series of passes.
pub(super) fn table(found: &Transfer) -> Table {
    let rows = found.series.iter().map(row);
    let factors = ["operation", "access", "block", "size", "streams"];
    Table::new("transfer", &factors, rows.collect()).briefly_named()
}

fn row(series: &TransferSeries) -> Row {
    let operation = match series.kind {
        TransferKind::Write => "write",
        TransferKind::Read => "read",
    };
    let streams: Vec<String> = series.streams.iter().map(ToString::to_string).collect();
    let levels = vec![
        operation.to_owned(),
        series.mode.name().to_owned(),
        Bytes(series.block_bytes).to_string(),
        Bytes(series.size_bytes).to_string(),
        match streams.as_slice() {
            [one] => format!("stream {one}"),
            _ => format!("streams {}", streams.join("+")),
        },
    ];
    let passes = Figure::exact("passes", Unit::Count, series.passes.len() as f64);
    let mut figures = vec![Figure::throughput(series.rate), Figure::iops(series.iops())];
    let mean = series.block_mean();
    figures.extend(mean.map(|it| Figure::time_ns("latency", it)));
    figures.extend(series.block_p99().map(|it| Figure {
        is_indicative: is_indicative(0.99, series.blocks().unwrap_or(0) as f64),
        ..Figure::time_ns("latency-p99", it)
    }));
    figures.push(passes);
    let trust = Trust::unless_void(&series.warnings);
    Row::new(levels, figures, "throughput", trust, &series.warnings)
        .with_replicates(series.passes.iter().map(replicate).collect())
}

fn replicate(pass: &TransferPass) -> Replicate {
    let mut readings = vec![
        ("throughput".to_owned(), Unit::BytesPerSecond, pass.rate),
        (
            "elapsed".to_owned(),
            Unit::Seconds,
            pass.elapsed_ns as f64 / 1e9,
        ),
        ("bytes".to_owned(), Unit::Bytes, pass.bytes as f64),
    ];
    let cpu = pass.cpu_ns.map(|ns| ns as f64 / 1e9);
    readings.extend(cpu.map(|it| ("cpu".to_owned(), Unit::Seconds, it)));
    let share = pass.page_cache_share;
    readings.extend(share.map(|it| ("page-cache-share".to_owned(), Unit::Share, it)));
    let overlap = pass.overlap_share;
    readings.push(("overlap-share".to_owned(), Unit::Share, overlap));
    let device = pass.device_rate;
    readings.extend(device.map(|it| ("device-throughput".to_owned(), Unit::BytesPerSecond, it)));
    let streams = pass.streams.iter().filter(|_| pass.streams.len() > 1);
    readings.extend(streams.map(|it| {
        let name = format!("throughput-stream-{}", it.stream);
        (name, Unit::BytesPerSecond, it.rate)
    }));
    Replicate {
        number: pass.number,
        counts: true,
        readings,
    }
}
