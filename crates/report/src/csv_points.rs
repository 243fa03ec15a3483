//! The points of load curves as comma-separated values, estimates included.

use results::{CurvePoint, Run};
use stats::Estimate;

use crate::csv::{header, line, number, optional};

/// A value and the ends of its interval; what is not known is an empty field.
fn cells(estimate: Option<Estimate>) -> [String; 3] {
    [
        optional(estimate.map(|it| it.value)),
        optional(estimate.map(|it| it.low)),
        optional(estimate.map(|it| it.high)),
    ]
}

/// A header, then one row for each point of each load curve, estimates included, which are marked;
/// `None` where the run has no curve.
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
    for curve in &run.curves {
        for point in &curve.points {
            line(&mut text, point_row(&curve.title, point).into_iter());
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
