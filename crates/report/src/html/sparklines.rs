//! The course of many measurements over time: a row for each, with lines as small as words.

use results::Measurement;
use units::{format_count, format_duration_ns};

use super::charts::SECOND;
use super::intervals::{Drawn, drawn};
use super::markup::{escaped, in_print};
use super::plot::pixel;
use crate::axis::{Axis, ends};

/// The drawing of a row, in its own units.
const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 40.0;
const AIR: f64 = 2.0;
/// More intervals than this are joined with their neighbours.
const DRAWN_MAX: u64 = 16;

/// A table of all measurements that kept their intervals.
pub(super) fn table(measurements: &[&Measurement]) -> String {
    let mut text = String::from(
        "<div class=\"wide\"><table class=\"spark\"><thead><tr><th scope=\"col\">measurement</th>\
         <th scope=\"col\">p50 and p99 (log)</th><th scope=\"col\" class=\"n\">p50</th>\
         <th scope=\"col\" class=\"n\">p99</th><th scope=\"col\">IOPS from 0</th>\
         <th scope=\"col\" class=\"n\">IOPS</th></tr></thead>\n<tbody>\n",
    );
    for measurement in measurements {
        text.push_str(&row(measurement));
    }
    text.push_str("</tbody></table></div>\n");
    text.push_str(
        "<p class=\"legend\">From the start to the end of each measurement, warm-up included; \
         least to greatest of its intervals next to each line. Shaded: more than a tenth of the \
         device's I/O was foreign.</p>\n",
    );
    text
}

fn row(measurement: &Measurement) -> String {
    let drawn = drawn(&measurement.intervals, DRAWN_MAX);
    let times = |p: f64| drawn.iter().map(move |it| it.percentile(p));
    let (low, high) = ends([0.5, 0.99].into_iter().flat_map(times).flatten());
    let up = Axis::log(low, high, HEIGHT - AIR, AIR);
    let latency = format!(
        "{}{}{}",
        shades(&drawn),
        line(&drawn, "s0", &up, times(0.5)),
        line(&drawn, "s1", &up, times(0.99))
    );
    let rates = || drawn.iter().map(|it| Some(it.per_second));
    let (_, most) = ends(rates().flatten());
    let up = Axis::linear(most, HEIGHT - AIR, AIR);
    let rate = format!("{}{}", shades(&drawn), line(&drawn, "s2", &up, rates()));
    let time = |seconds: f64| in_print(&format_duration_ns(seconds * SECOND));
    let (name, title) = (&measurement.name, &measurement.title);
    format!(
        "<tr><th scope=\"row\">{}<small>{}</small></th><td>{}</td>{}{}<td>{}</td>{}</tr>\n",
        escaped(name),
        escaped(title),
        drawing(&latency, &format!("{name}: p50 and p99 over time")),
        range("p50", times(0.5).flatten(), &time),
        range("p99", times(0.99).flatten(), &time),
        drawing(&rate, &format!("{name}: IOPS over time")),
        range("IOPS", rates().flatten(), &format_count),
    )
}

fn drawing(inner: &str, label: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{}\">{inner}</svg>",
        escaped(label)
    )
}

/// The least and the greatest value in words.
fn range(label: &str, values: impl Iterator<Item = f64>, said: &dyn Fn(f64) -> String) -> String {
    let (low, high) = ends(values);
    let text = match (said(low), said(high)) {
        _ if !low.is_finite() => String::new(),
        (low, high) if low == high => low,
        (low, high) => format!("{low} – {high}"),
    };
    format!("<td class=\"n\" data-l=\"{label}\">{}</td>", escaped(&text))
}

fn across(drawn: &[Drawn], at: f64) -> f64 {
    let end = drawn.last().map_or(1.0, |it| it.to);
    at / end.max(1.0 / SECOND) * WIDTH
}

/// Level over each interval, broken where there is nothing.
fn line(
    drawn: &[Drawn],
    class: &str,
    up: &Axis,
    values: impl Iterator<Item = Option<f64>>,
) -> String {
    let mut path = String::new();
    let mut is_joined = false;
    for (it, value) in drawn.iter().zip(values) {
        let Some(value) = value else {
            is_joined = false;
            continue;
        };
        let y = pixel(up.at(value));
        match is_joined {
            true => path.push_str(&format!("V{y}")),
            false => path.push_str(&format!("M{} {y}", pixel(across(drawn, it.from)))),
        }
        path.push_str(&format!("H{}", pixel(across(drawn, it.to))));
        is_joined = true;
    }
    format!("<path class=\"{class}\" d=\"{path}\"/>")
}

fn shades(drawn: &[Drawn]) -> String {
    let disturbed = drawn.iter().filter(|it| it.is_disturbed());
    let shades = disturbed.map(|it| {
        let (from, to) = (across(drawn, it.from), across(drawn, it.to));
        format!(
            "<rect x=\"{}\" y=\"0\" width=\"{}\" height=\"{HEIGHT}\"/>",
            pixel(from),
            pixel(to - from)
        )
    });
    shades.collect()
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
        let path = |class: &str| {
            let rest = row.split_once(&format!("class=\"{class}\" d=\""));
            rest.and_then(|(_, rest)| rest.split_once('"'))
                .expect("a line")
                .0
        };
        assert_eq!(path("s1").matches('M').count(), 2, "{row}");
        assert_eq!(path("s2").matches('M').count(), 1, "{row}");
    }
}
