//! Charts of a page: what is drawn of which latency, and where no interval is.

use report::{comparison_html, html};
use results::Run;

use crate::html::{all, parsed, text};

/// Bug: one curve's p99 was drawn on the axis of another's mean latency.
#[test]
fn curves_of_unlike_latencies_are_compared_by_their_means() {
    let run = sample::run();
    let mut other = run.clone();
    other.id = Some(8);
    other.curves[0].percentile = Some(0.99);
    for point in &mut other.curves[0].points {
        point.at_percentile = Some(point.response.scale(7.0));
    }
    let drawn = |runs: &[Run]| {
        let document = parsed(&comparison_html(runs).expect("a comparison"));
        let axis = text(all(&document, "#load text.up")[0]);
        let lines = all(&document, "#load .line").into_iter();
        let lines: Vec<String> = lines
            .filter_map(|it| it.attr("d").map(str::to_owned))
            .collect();
        (axis, lines)
    };
    let (axis, lines) = drawn(&[run.clone(), other.clone()]);
    assert_eq!(axis, "mean latency (log)");
    assert_eq!(lines[0], lines[1]);
    assert_eq!(drawn(&[other.clone(), other]).0, "p99 latency (log)");
}

/// Bug: the band of a curve ran straight from result to result, past the estimates between them.
#[test]
fn no_band_crosses_an_estimate() {
    let mut run = sample::run();
    let bands = |run: &Run| all(&parsed(&html(run)), "#load .s0 .band").len();
    assert!(bands(&run) > 0);
    for point in run.curves[0].points.iter_mut().step_by(2) {
        point.is_scout = true;
    }
    assert_eq!(bands(&run), 0);
}
