//! Measurements as comma-separated values (RFC 4180), for spreadsheets and plotting programs.

use results::{
    Measurement, RandomCell, Run, StreamPass, SystemSample, TransferKind, TransferPass,
    TransferSeries,
};
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
/// access one row for each cell. Names of columns end in their unit. `None` where the run has none
/// of them.
#[must_use]
pub fn csv_measurements(run: &Run) -> Option<String> {
    let mut text = String::new();
    if let Some(found) = &run.random {
        let names = CELL_COLUMNS.iter().map(|(name, _)| (*name).to_owned());
        line(&mut text, names);
        for found in &found.cells {
            line(&mut text, CELL_COLUMNS.iter().map(|(_, cell)| cell(found)));
        }
        return (!found.cells.is_empty()).then_some(text);
    }
    line(
        &mut text,
        COLUMNS.iter().map(|(name, _)| (*name).to_owned()),
    );
    let header = text.len();
    let workloads = run.rab.iter().flat_map(|rab| &rab.workloads);
    let of_workloads = workloads.filter_map(|workload| workload.measurement.as_ref());
    for measurement in run.measurements.iter().chain(of_workloads) {
        line(&mut text, COLUMNS.iter().map(|(_, cell)| cell(measurement)));
    }
    (text.len() > header).then_some(text)
}

/// A column of what the machine did in an interval.
type SampleColumn = (&'static str, fn(&SystemSample) -> Option<f64>);

const SAMPLE_COLUMNS: [SampleColumn; 16] = [
    ("end_ns", |it| Some(it.end_ns as f64)),
    ("length_ns", |it| Some(it.length_ns as f64)),
    ("transactions", |it| Some(it.transactions as f64)),
    ("transactions_per_s", |it| Some(it.per_second)),
    ("response_mean_ns", |it| it.response_mean_ns),
    ("cpu_share", |it| it.cpu_share),
    ("cpu_own_share", |it| it.cpu_own_share),
    ("device_busy_share", |it| it.device_busy_share),
    ("device_queue", |it| it.device_queue),
    ("device_transfer_ns", |it| it.device_transfer_ns),
    ("device_reads_per_s", |it| it.device_reads_per_second),
    ("device_writes_per_s", |it| it.device_writes_per_second),
    ("device_bytes_per_s", |it| it.device_bytes_per_second),
    ("page_cache_misses_per_s", |it| {
        it.page_cache_misses_per_second
    }),
    ("minor_faults_per_s", |it| it.minor_faults_per_second),
    ("major_faults_per_s", |it| it.major_faults_per_second),
];

/// A header, then one row for each interval of each load of users, or of each trial, whose
/// transactions are its operations and whose users are its clients; `None` where the run has none.
#[must_use]
pub fn csv_intervals(run: &Run) -> Option<String> {
    let loads = run.transactions.iter().flat_map(|found| &found.loads);
    let of_loads =
        loads.filter_map(|load| Some((&load.measurement, load.users, load.series.as_ref()?)));
    let trials = run.measurements.iter();
    let of_trials = trials.filter_map(|it| Some((&it.name, it.clients, it.series.as_ref()?)));
    let rows: Vec<(&String, u32, &SystemSample)> = of_loads
        .chain(of_trials)
        .flat_map(|(name, users, series)| series.samples.iter().map(move |it| (name, users, it)))
        .collect();
    let mut text = String::new();
    let names = SAMPLE_COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    line(
        &mut text,
        ["measurement", "users"]
            .map(String::from)
            .into_iter()
            .chain(names),
    );
    for (name, users, sample) in &rows {
        let cells = SAMPLE_COLUMNS
            .iter()
            .map(|(_, cell)| optional(cell(sample)));
        let place = [(*name).clone(), users.to_string()];
        line(&mut text, place.into_iter().chain(cells));
    }
    (!rows.is_empty()).then_some(text)
}

const PASS_COLUMNS: [&str; 19] = [
    "title",
    "kind",
    "mode",
    "block_bytes",
    "pass",
    "stream",
    "bytes",
    "elapsed_ns",
    "bytes_per_s",
    "bytes_low_per_s",
    "bytes_high_per_s",
    "overlap_share",
    "cpu_ns",
    "cpu_user_ns",
    "cpu_system_ns",
    "page_cache_share",
    "device_bytes_per_s",
    "ended_at",
    "ended_monotonic_ns",
];

/// A header, then for each pass of each transfer one row, whose stream is empty, and one for each
/// stream where there are several; `None` where the run has none.
#[must_use]
pub fn csv_passes(run: &Run) -> Option<String> {
    let mut text = String::new();
    line(&mut text, PASS_COLUMNS.map(String::from).into_iter());
    let header = text.len();
    let series = run.transfer.iter().flat_map(|found| &found.series);
    for (series, pass) in series.flat_map(|it| it.passes.iter().map(move |pass| (it, pass))) {
        line(&mut text, pass_row(series, pass, None).into_iter());
        let streams = pass.streams.iter().filter(|_| pass.streams.len() > 1);
        for stream in streams {
            line(&mut text, pass_row(series, pass, Some(stream)).into_iter());
        }
    }
    (text.len() > header).then_some(text)
}

/// A pass, or one stream of it: what counts for all streams together is empty there.
fn pass_row(
    series: &TransferSeries,
    pass: &TransferPass,
    stream: Option<&StreamPass>,
) -> [String; 19] {
    let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
    let of_all = |value: Option<f64>| optional(value.filter(|_| stream.is_none()));
    let ns_of_all = |value: Option<u64>| count(value.filter(|_| stream.is_none()));
    let within = match stream {
        Some(stream) => stream.within,
        None => pass
            .streams
            .first()
            .filter(|_| pass.streams.len() == 1)
            .and_then(|it| it.within),
    };
    let kind = match series.kind {
        TransferKind::Read => "read",
        TransferKind::Write => "write",
    };
    [
        series.title.clone(),
        kind.into(),
        series.mode.name().into(),
        series.block_bytes.to_string(),
        pass.number.to_string(),
        stream.map_or_else(String::new, |it| it.stream.to_string()),
        stream.map_or(pass.bytes, |it| it.bytes).to_string(),
        stream
            .map_or(pass.elapsed_ns, |it| it.elapsed_ns)
            .to_string(),
        number(stream.map_or(pass.rate, |it| it.rate)),
        optional(within.map(|it| it.low)),
        optional(within.map(|it| it.high)),
        of_all(Some(pass.overlap_share)),
        ns_of_all(pass.cpu_ns),
        ns_of_all(pass.cpu_user_ns),
        ns_of_all(pass.cpu_system_ns),
        of_all(pass.page_cache_share),
        of_all(pass.device_rate),
        pass.ended_at.clone().unwrap_or_default(),
        pass.ended_monotonic_ns.to_string(),
    ]
}

pub(crate) fn line(text: &mut String, cells: impl Iterator<Item = String>) {
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

pub(crate) fn value(estimate: Option<Estimate>) -> String {
    optional(estimate.map(|estimate| estimate.value))
}

fn low(estimate: Option<Estimate>) -> String {
    optional(estimate.map(|estimate| estimate.low))
}

fn high(estimate: Option<Estimate>) -> String {
    optional(estimate.map(|estimate| estimate.high))
}

pub(crate) fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, number)
}

/// A number without loss; what is not finite is an empty field, which every reader understands.
pub(crate) fn number(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        String::new()
    }
}

/// Every run of commands that were timed, one line each; `None` when there are none.
#[must_use]
pub fn csv_timed_runs(run: &Run) -> Option<String> {
    const COLUMNS: [&str; 9] = [
        "command",
        "round",
        "real_s",
        "user_s",
        "system_s",
        "read_bytes",
        "written_bytes",
        "memory_bytes",
        "exit",
    ];
    let mut text = String::new();
    line(&mut text, COLUMNS.map(String::from).into_iter());
    let header = text.len();
    let commands = run.timing.iter().flat_map(|found| &found.commands);
    for (command, run) in commands.flat_map(|it| it.runs.iter().map(move |run| (it, run))) {
        let row = [
            command.name.clone(),
            run.round.to_string(),
            number(run.real_s),
            number(run.user_s),
            number(run.system_s),
            run.read_bytes.to_string(),
            run.written_bytes.to_string(),
            run.memory_bytes
                .map_or_else(String::new, |most| most.to_string()),
            run.exit.to_string(),
        ];
        line(&mut text, row.into_iter());
    }
    (text.len() > header).then_some(text)
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
