//! Ratios with their intervals, one line each, around 1.

use stats::Estimate;
use units::format_interval_count;

use super::svg::{Anchor, Drawing};
use crate::axis::{Axis, ends};

const WIDTH: f64 = 900.0;
/// Where the labels end and the strip begins, and where it ends and the words begin.
const LEFT: f64 = 330.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 64.0;
const LINE: f64 = 24.0;
/// Below the last line: the axis.
const FOOT: f64 = 40.0;
const INK: &str = "#0072b2";
const WORSE: &str = "#b3192e";
const BETTER: &str = "#1b6e4b";
const RULE: &str = "#888888";

/// What a ratio means for who reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    Better,
    Worse,
    Neither,
}

/// One line of the picture.
#[derive(Clone, Debug)]
pub(crate) struct RatioLine {
    pub label: String,
    pub ratio: Estimate,
    pub sense: Sense,
    pub word: String,
}

/// Lines with a logarithmic axis beneath; those without an interval are a dot.
pub(crate) fn ratios_svg(title: &str, note: &str, lines: &[RatioLine]) -> String {
    let floor = TOP + LINE * lines.len() as f64;
    let mut drawing = Drawing::new(WIDTH, floor + FOOT, title);
    drawing.text((16.0, 26.0), Anchor::Start, 16, title);
    drawing.text((16.0, 46.0), Anchor::Start, 12, note);
    let values = lines.iter().flat_map(|it| match it.ratio.is_bounded() {
        true => [it.ratio.low, it.ratio.high, 1.0],
        false => [it.ratio.value, 1.0, 1.0],
    });
    let (low, high) = ends(values.filter(|it| *it > 0.0));
    let axis = Axis::log(low, high, LEFT, RIGHT);
    for tick in axis.ticks() {
        let x = axis.at(tick);
        drawing.line((x, TOP - 6.0), (x, floor), "#e3e7ec", 1.0, false);
        drawing.text((x, floor + 18.0), Anchor::Middle, 12, &axis.label(tick));
    }
    let one = axis.at(1.0);
    drawing.line((one, TOP - 6.0), (one, floor), RULE, 1.0, true);
    for (place, line) in lines.iter().enumerate() {
        let y = TOP + LINE * (place as f64 + 0.5);
        draw(&mut drawing, &axis, y, line);
    }
    let under = (RIGHT, floor + 34.0);
    drawing.text(
        under,
        Anchor::End,
        12,
        "ratio (log); the dashed line is no change",
    );
    drawing.finish()
}

fn draw(drawing: &mut Drawing, axis: &Axis, y: f64, line: &RatioLine) {
    let colour = match line.sense {
        Sense::Better => BETTER,
        Sense::Worse => WORSE,
        Sense::Neither => INK,
    };
    drawing.text((LEFT - 14.0, y + 4.0), Anchor::End, 12, &line.label);
    let Estimate {
        value, low, high, ..
    } = line.ratio;
    let said = match line.ratio.is_bounded() {
        true => {
            drawing.line((axis.at(low), y), (axis.at(high), y), colour, 3.0, false);
            let (value, interval) = format_interval_count(value, low, high);
            format!("{value} ({interval})")
        }
        false => format!("{value:.2}"),
    };
    if value > 0.0 {
        drawing.dot((axis.at(value), y), colour);
    }
    let said = format!("{said}  {}", line.word);
    drawing.text((RIGHT + 14.0, y + 4.0), Anchor::Start, 12, said.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ratio_is_a_line_around_one() {
        let ratio = |value: f64, low: f64, high: f64| Estimate {
            low,
            high,
            ..Estimate::exact(value, 10.0)
        };
        let line = |label: &str, ratio, sense, word: &str| RatioLine {
            label: label.into(),
            ratio,
            sense,
            word: word.into(),
        };
        let lines = [
            line("p99", ratio(1.5, 1.4, 1.6), Sense::Worse, "worse"),
            line("iops", ratio(1.0, 0.97, f64::INFINITY), Sense::Neither, ""),
            line(
                "none",
                ratio(f64::NAN, f64::NAN, f64::NAN),
                Sense::Neither,
                "<",
            ),
        ];
        let svg = ratios_svg("a & b", "note", &lines);
        assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
        assert_eq!(svg.matches("stroke-width=\"3\"").count(), 1, "{svg}");
        assert!(svg.contains(">1.50 (1.40 .. 1.60)  worse<"), "{svg}");
        assert!(svg.contains(">1.00<") && svg.contains("&lt;"), "{svg}");
        let dots: Vec<f64> = svg
            .split("<circle cx=\"")
            .skip(1)
            .map(|rest| {
                rest.split('"')
                    .next()
                    .expect("a place")
                    .parse()
                    .expect("a number")
            })
            .collect();
        assert!(dots[0] > dots[1] && dots[1] > LEFT, "{dots:?}");
    }
}
