//! The course of many measurements over time: a row for each, with lines as small as words.

use results::{Measurement, Run};
use units::{format_count, format_duration_ns};

use crate::charts::intervals::{drawn, latency, rates};
use crate::charts::over_time::{CHARTS_MAX, SECOND, with_intervals};
use crate::markup::{escaped, in_print};
use crate::plot::axis::{Axis, AxisScale, ends};

/// More intervals than this are joined with their neighbours.
const DRAWN_MAX: usize = 16;

/// A table of all measurements that kept their intervals; empty where they are so few that each has
/// charts.
pub(super) fn all(run: &Run) -> String {
    let measurements = with_intervals(run);
    if measurements.len() <= CHARTS_MAX {
        return String::new();
    }
    let mut text = String::from(
        "<div class=\"wide\"><table class=\"spark\"><thead><tr><th scope=\"col\">measurement</th>\
         <th scope=\"col\">p50, p99, max (log)</th><th scope=\"col\" class=\"n\">p50</th>\
         <th scope=\"col\" class=\"n\">p99</th><th scope=\"col\">IOPS from 0</th>\
         <th scope=\"col\" class=\"n\">IOPS</th></tr></thead>\n<tbody>\n",
    );
    for measurement in measurements {
        text.push_str(&row(measurement));
    }
    text.push_str("</tbody></table></div>\n");
    text.push_str(
        "<p class=\"legend\">Each line is a whole measurement with warm-up. The ranges are those \
         of its intervals. Shaded: background I/O above 10 %.</p>\n",
    );
    text
}

fn row(measurement: &Measurement) -> String {
    let drawn = drawn(&measurement.intervals, DRAWN_MAX);
    let times = |p: f64| drawn.iter().filter_map(move |it| it.percentile(p));
    let per_second = || drawn.iter().map(|it| it.per_second);
    let (name, title) = (&measurement.name, &measurement.title);
    let latency = latency(&drawn);
    let latency = latency.map(|it| it.spark(&format!("{name}: p50, p99 and max over time")));
    let end = drawn.last().map_or(0.0, |it| it.to);
    let axis = format!(
        "<small class=\"span\"><span>0 s</span><span>{}</span></small>",
        escaped(&in_print(&format_duration_ns(end * SECOND)))
    );
    let rates = rates(&drawn, measurement.work, Vec::new()).map(|mut it| {
        it.up.axis = Axis::over(AxisScale::FromZero, per_second());
        it.spark(&format!("{name}: IOPS over time"))
    });
    let time = |seconds: f64| in_print(&format_duration_ns(seconds * SECOND));
    format!(
        "<tr><th scope=\"row\">{}<small>{}</small></th><td>{}{axis}</td>{}{}<td>{}</td>{}</tr>\n",
        escaped(title),
        escaped(name),
        latency.unwrap_or_default(),
        range("p50", times(0.5), &time),
        range("p99", times(0.99), &time),
        rates.unwrap_or_default(),
        range("IOPS", per_second(), &format_count),
    )
}

/// The least and the greatest value in words.
fn range(label: &str, values: impl Iterator<Item = f64>, shown: &dyn Fn(f64) -> String) -> String {
    let (low, high) = ends(values);
    let text = match (shown(low), shown(high)) {
        _ if !low.is_finite() => String::new(),
        (low, high) if low == high => low,
        (low, high) => format!("{low} – {high}"),
    };
    format!("<td class=\"n\" data-l=\"{label}\">{}</td>", escaped(&text))
}

#[cfg(test)]
mod tests {
    use results::{Interval, histogram_text};
    use stats::Histogram;

    use super::*;

    /// Numbers beside a line are those of the intervals, and a stall breaks the line.
    #[test]
    fn a_row_says_what_its_lines_show() {
        let interval = |end: u64, count: u64, time: u64| {
            let mut response = Histogram::new();
            response.record_n(time, count);
            Interval {
                end_ns: end * 1_000_000_000,
                length_ns: 1_000_000_000,
                foreign_share: (end == 2).then_some(0.5),
                response_histogram: match count {
                    0 => String::new(),
                    _ => histogram_text(&response),
                },
                ..Interval::default()
            }
        };
        let measurement = Measurement {
            name: "<read>".into(),
            intervals: vec![
                interval(1, 2_000, 100_000),
                interval(2, 0, 0),
                interval(3, 4_000, 300_000),
            ],
            ..Measurement::empty()
        };
        let row = row(&measurement);
        assert!(row.contains("&lt;read&gt;"), "{row}");
        assert!(row.contains("data-l=\"p99\">100 µs – 300 µs<"), "{row}");
        assert!(row.contains("data-l=\"IOPS\">0 – 4,000<"), "{row}");
        assert_eq!(row.matches("<rect").count(), 2, "{row}");
        let lines: Vec<usize> = row
            .split(" d=\"")
            .skip(1)
            .map(|it| it.split('"').next().expect("a line").matches('M').count())
            .collect();
        assert_eq!(lines, [2, 2, 2, 1], "p50, p99, max, IOPS: {row}");
    }
}
