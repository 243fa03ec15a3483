//! Measurements as comma-separated values (RFC 4180), for spreadsheets and plotting programs.

use results::{Measurement, RandomCell, Run};
use stats::Estimate;

use crate::figure::bytes_per_operation;

/// A column's name and what it holds. An absent value is an empty field.
type Column = (&'static str, fn(&Measurement) -> String);

const COLUMNS: [Column; 32] = [
    ("name", |m| m.name.clone()),
    ("title", |m| m.title.clone()),
    ("clients", |m| m.clients.to_string()),
    ("workers", |m| m.workers.to_string()),
    ("access", |m| m.access.name().to_owned()),
    ("driver", |m| m.driver.clone()),
    ("seed", |m| m.seed.to_string()),
    ("response_mean_ns", |m| number(m.response.mean.value)),
    ("response_mean_low_ns", |m| number(m.response.mean.low)),
    ("response_mean_high_ns", |m| number(m.response.mean.high)),
    ("response_p50_ns", |m| value(m.response.percentile(0.5))),
    ("response_p99_ns", |m| value(m.response.percentile(0.99))),
    ("response_max_ns", |m| m.response.max_ns.to_string()),
    ("service_mean_ns", |m| number(m.service.mean.value)),
    ("service_mean_low_ns", |m| number(m.service.mean.low)),
    ("service_mean_high_ns", |m| number(m.service.mean.high)),
    ("throughput_per_s", |m| number(m.throughput.value)),
    ("throughput_low_per_s", |m| number(m.throughput.low)),
    ("throughput_high_per_s", |m| number(m.throughput.high)),
    ("bandwidth_bytes_per_s", |m| value(m.bandwidth)),
    ("bandwidth_low_bytes_per_s", |m| {
        optional(m.bandwidth.map(|estimate| estimate.low))
    }),
    ("bandwidth_high_bytes_per_s", |m| {
        optional(m.bandwidth.map(|estimate| estimate.high))
    }),
    ("offered_per_s", |m| optional(m.offered)),
    ("bytes_per_operation", |m| number(bytes_per_operation(m))),
    ("cpu_per_operation_ns", |m| {
        optional(m.cpu.map(|cost| cost.per_operation_ns))
    }),
    ("page_cache_share", |m| optional(m.page_cache_share)),
    ("effective_depth", |m| number(m.effective_depth)),
    ("completions", |m| m.completions.to_string()),
    ("duration_ns", |m| m.duration_ns.to_string()),
    ("errors", |m| m.errors_total().to_string()),
    ("converged", |m| m.is_converged().to_string()),
    ("warnings", |m| {
        m.warnings
            .iter()
            .map(|warning| warning.code.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }),
];

/// The same of a cell of random access.
type CellColumn = (&'static str, fn(&RandomCell) -> String);

const CELL_COLUMNS: [CellColumn; 27] = [
    ("kind", |cell| cell.kind.name().to_owned()),
    ("span_bytes", |cell| cell.span_bytes.to_string()),
    ("block_bytes", |cell| cell.block_bytes.to_string()),
    ("depth", |cell| cell.depth.to_string()),
    ("service_mean_ns", |cell| number(cell.service.mean.value)),
    ("service_mean_low_ns", |cell| number(cell.service.mean.low)),
    ("service_mean_high_ns", |cell| {
        number(cell.service.mean.high)
    }),
    ("service_p50_ns", |cell| value(cell.service.percentile(0.5))),
    ("service_p50_low_ns", |cell| {
        low(cell.service.percentile(0.5))
    }),
    ("service_p50_high_ns", |cell| {
        high(cell.service.percentile(0.5))
    }),
    ("service_p95_ns", |cell| {
        value(cell.service.percentile(0.95))
    }),
    ("service_p95_low_ns", |cell| {
        low(cell.service.percentile(0.95))
    }),
    ("service_p95_high_ns", |cell| {
        high(cell.service.percentile(0.95))
    }),
    ("service_p99_ns", |cell| {
        value(cell.service.percentile(0.99))
    }),
    ("service_p99_low_ns", |cell| {
        low(cell.service.percentile(0.99))
    }),
    ("service_p99_high_ns", |cell| {
        high(cell.service.percentile(0.99))
    }),
    ("throughput_per_s", |cell| number(cell.throughput.value)),
    ("throughput_low_per_s", |cell| number(cell.throughput.low)),
    ("throughput_high_per_s", |cell| number(cell.throughput.high)),
    ("cpu_per_operation_ns", |cell| {
        optional(cell.cpu_per_operation_ns)
    }),
    ("page_cache_share", |cell| optional(cell.page_cache_share)),
    ("operations", |cell| cell.operations.to_string()),
    ("errors", |cell| cell.errors.to_string()),
    ("rounds", |cell| cell.rounds.len().to_string()),
    ("rounds_agree", |cell| cell.rounds_agree.to_string()),
    ("precise", |cell| cell.is_precise.to_string()),
    ("warnings", |cell| {
        let codes = cell.warnings.iter().map(|warning| warning.code.as_str());
        codes.collect::<Vec<_>>().join(" ")
    }),
];

/// A header, then one row for each measurement, those of batch workloads among them; of random
/// access one row for each cell. Names of columns end in their unit.
#[must_use]
pub fn csv_measurements(run: &Run) -> String {
    let mut text = String::new();
    if let Some(found) = &run.random {
        let names = CELL_COLUMNS.iter().map(|(name, _)| (*name).to_owned());
        line(&mut text, names);
        for found in &found.cells {
            line(&mut text, CELL_COLUMNS.iter().map(|(_, cell)| cell(found)));
        }
        return text;
    }
    line(
        &mut text,
        COLUMNS.iter().map(|(name, _)| (*name).to_owned()),
    );
    let workloads = run.rab.iter().flat_map(|rab| &rab.workloads);
    let of_workloads = workloads.filter_map(|workload| workload.measurement.as_ref());
    for measurement in run.measurements.iter().chain(of_workloads) {
        line(&mut text, COLUMNS.iter().map(|(_, cell)| cell(measurement)));
    }
    text
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.map(|cell| quoted(&cell)).collect();
    text.push_str(&cells.join(","));
    text.push_str("\r\n");
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

fn value(estimate: Option<Estimate>) -> String {
    optional(estimate.map(|estimate| estimate.value))
}

fn low(estimate: Option<Estimate>) -> String {
    optional(estimate.map(|estimate| estimate.low))
}

fn high(estimate: Option<Estimate>) -> String {
    optional(estimate.map(|estimate| estimate.high))
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, number)
}

/// A number without loss; what is not finite is an empty field, which every reader understands.
fn number(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_separators_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("read, 4 KiB"), "\"read, 4 KiB\"");
        assert_eq!(quoted("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
    }

    #[test]
    fn numbers_that_are_none_are_empty() {
        assert_eq!(number(f64::INFINITY), "");
        assert_eq!(number(f64::NAN), "");
        assert_eq!(number(0.1), "0.1");
    }
}
