//! Load curves and series of transfers as comma-separated values.

use results::{Curve, CurvePoint, LevelOutcome, Run, TransferKind, TransferSeries};
use stats::Estimate;

use crate::csv::{line, number, optional};
use crate::transfer::mean;

/// The title of each curve of a run, that of `run` and `curve` and those of the workloads of `rab`.
fn curves(run: &Run) -> impl Iterator<Item = (&str, &Curve)> {
    let workloads = run.rab.iter().flat_map(|rab| &rab.workloads);
    let of_rab = workloads.filter_map(|it| Some((it.name.as_str(), it.curve.as_ref()?)));
    let own = run.curve.iter().map(|curve| (curve.title.as_str(), curve));
    own.chain(of_rab)
}

/// A value and the ends of its interval; what is not known is an empty field.
fn cells(estimate: Option<Estimate>) -> [String; 3] {
    [
        optional(estimate.map(|it| it.value)),
        optional(estimate.map(|it| it.low)),
        optional(estimate.map(|it| it.high)),
    ]
}

fn header(columns: &[&str]) -> String {
    let mut text = String::new();
    line(&mut text, columns.iter().map(|name| (*name).to_owned()));
    text
}

/// A header, then one row for each point of each load curve, scouts included, which are marked;
/// `None` where the run has no curve.
#[must_use]
pub fn csv_points(run: &Run) -> Option<String> {
    let mut text = header(&[
        "curve",
        "clients",
        "load_per_s",
        "load_low_per_s",
        "load_high_per_s",
        "response_mean_ns",
        "response_mean_low_ns",
        "response_mean_high_ns",
        "service_mean_ns",
        "service_mean_low_ns",
        "service_mean_high_ns",
        "response_p99_ns",
        "response_p99_low_ns",
        "response_p99_high_ns",
        "lateness_mean_ns",
        "cores_busy",
        "scout",
        "converged",
    ]);
    let empty = text.len();
    for (title, curve) in curves(run) {
        for point in &curve.points {
            line(&mut text, point_row(title, point).into_iter());
        }
    }
    (text.len() > empty).then_some(text)
}

fn point_row(title: &str, point: &CurvePoint) -> Vec<String> {
    let mut row = vec![title.to_owned(), point.clients.to_string()];
    let estimates = [Some(point.load), Some(point.response), Some(point.service)];
    row.extend(estimates.into_iter().flat_map(cells));
    row.extend(cells(point.response_p99));
    row.extend([
        number(point.lateness_ns),
        optional(point.cores_busy),
        point.is_scout.to_string(),
        point.is_converged.to_string(),
    ]);
    row
}

/// A header, then one row for each level of each load curve, and one for its highest load, which
/// has no level; `None` where the run has no curve. Of a level that lies between two loads they are
/// the ends, and there is no value.
#[must_use]
pub fn csv_levels(run: &Run) -> Option<String> {
    let mut text = header(&[
        "curve",
        "level_ns",
        "outcome",
        "load_per_s",
        "load_low_per_s",
        "load_high_per_s",
        "clients",
        "precise",
    ]);
    let empty = text.len();
    for (title, curve) in curves(run) {
        for level in &curve.levels {
            let (outcome, load, clients, precise) = outcome(level.outcome);
            let mut row = vec![title.to_owned(), level.level_ns.to_string(), outcome.into()];
            row.extend(load);
            row.extend([clients, precise]);
            line(&mut text, row.into_iter());
        }
        if let Some(found) = curve.saturation {
            let outcome = match found.is_saturated {
                true => "saturation",
                false => "still-growing",
            };
            let mut row = vec![title.to_owned(), String::new(), outcome.into()];
            row.extend(cells(Some(found.load)));
            row.extend([found.clients.to_string(), found.is_converged.to_string()]);
            line(&mut text, row.into_iter());
        }
    }
    (text.len() > empty).then_some(text)
}

/// What was found for a level: its name, the load, the clients, and whether it is precise.
fn outcome(outcome: LevelOutcome) -> (&'static str, [String; 3], String, String) {
    let nothing = String::new;
    match outcome {
        LevelOutcome::Reached {
            load,
            clients,
            is_precise,
        } => (
            "reached",
            cells(Some(load)),
            number(clients),
            is_precise.to_string(),
        ),
        LevelOutcome::Between { low, high } => (
            "between",
            [nothing(), number(low), number(high)],
            nothing(),
            nothing(),
        ),
        LevelOutcome::Exceeded { .. } => ("exceeded", cells(None), nothing(), nothing()),
        LevelOutcome::NotReached { clients, load, .. } => (
            "not-reached",
            cells(Some(load)),
            clients.to_string(),
            nothing(),
        ),
    }
}

/// A header, then one row for each series of `transfer`, and one for each of its streams where
/// there are several; `None` where the run has none.
#[must_use]
pub fn csv_series(run: &Run) -> Option<String> {
    let mut text = header(&[
        "title",
        "kind",
        "mode",
        "block_bytes",
        "passes",
        "stream",
        "bytes_per_s",
        "bytes_low_per_s",
        "bytes_high_per_s",
        "precise",
        "page_cache_share",
        "device_bytes_per_s",
    ]);
    let empty = text.len();
    for series in run.transfer.iter().flat_map(|found| &found.series) {
        line(&mut text, series_row(series, None).into_iter());
        let rates = series.streams.iter().zip(&series.stream_rates);
        for stream in rates.filter(|_| series.stream_rates.len() > 1) {
            line(&mut text, series_row(series, Some(stream)).into_iter());
        }
    }
    (text.len() > empty).then_some(text)
}

/// A series, or one stream of it: what counts for all streams together is empty there.
fn series_row(series: &TransferSeries, stream: Option<(&u32, &Estimate)>) -> Vec<String> {
    let kind = match series.kind {
        TransferKind::Read => "read",
        TransferKind::Write => "write",
    };
    let share = mean(&series.passes, |it| it.bytes, |it| it.page_cache_share);
    let device = mean(&series.passes, |it| it.elapsed_ns, |it| it.device_rate);
    let of_all = |value: Option<f64>| optional(value.filter(|_| stream.is_none()));
    let mut row = vec![
        series.title.clone(),
        kind.into(),
        series.mode.name().into(),
        series.block_bytes.to_string(),
        series.passes.len().to_string(),
        stream.map_or_else(String::new, |(number, _)| number.to_string()),
    ];
    row.extend(cells(Some(stream.map_or(series.rate, |(_, rate)| *rate))));
    row.push(match stream {
        None => series.is_precise.to_string(),
        Some(_) => String::new(),
    });
    row.extend([of_all(share), of_all(device)]);
    row
}
