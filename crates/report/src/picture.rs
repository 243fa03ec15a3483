//! Pictures: axes with units, marks with their intervals, and a key, as SVG.
//!
//! The same values give the same text to the last character, so that a picture can be kept beside
//! the command that made it and compared.

pub(crate) mod ratios;
pub(crate) mod scale;
mod scenes;
mod svg;

pub(crate) use scenes::cited_points;
pub use scenes::{curves_svg, latency_svg, positioning_svg, series_svg};

use crate::axis::Axis;
use svg::{Anchor, Drawing};

/// The whole picture, in pixels.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
/// Around the inner area; beneath stands the key as well.
const LEFT: f64 = 92.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 44.0;
const BELOW_AXIS: f64 = 56.0;
const KEY_LINE: f64 = 20.0;
/// Half the width of the caps of an interval.
const CAP: f64 = 4.0;

/// Colours that are told apart without seeing red or green.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ink {
    Blue,
    Orange,
    Grey,
    Black,
}

impl Ink {
    const fn hex(self) -> &'static str {
        match self {
            Self::Blue => "#0072b2",
            Self::Orange => "#d55e00",
            Self::Grey => "#999999",
            Self::Black => "#222222",
        }
    }
}

/// A value with the interval around it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    value: f64,
    low: f64,
    high: f64,
}

impl Spread {
    const fn exact(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
        }
    }

    fn is_wide(self) -> bool {
        self.low.is_finite() && self.high.is_finite() && self.high > self.low
    }
}

/// What is drawn.
#[derive(Clone, Debug)]
enum Mark {
    /// Points with intervals of both values, joined by a line.
    Points { ink: Ink, at: Vec<[Spread; 2]> },
    /// A rate over neighbouring intervals: ends, and the value until there.
    Steps { ink: Ink, until: Vec<[f64; 2]> },
    /// Bars from one value to another.
    Bars {
        ink: Ink,
        bars: Vec<([f64; 2], Spread)>,
    },
    /// A line across at a height.
    Across { ink: Ink, at: f64 },
    /// A band across.
    Band { ink: Ink, from: f64, to: f64 },
}

impl Mark {
    const fn ink(&self) -> Ink {
        match self {
            Self::Points { ink, .. }
            | Self::Steps { ink, .. }
            | Self::Bars { ink, .. }
            | Self::Across { ink, .. }
            | Self::Band { ink, .. } => *ink,
        }
    }
}

/// A picture before it is drawn.
#[derive(Clone, Debug)]
struct Picture {
    title: String,
    /// What the axes say, with units.
    across: String,
    up: String,
    /// Where the axes end.
    ends: [f64; 2],
    /// The lowest values, where axes may be logarithmic; else both begin at zero.
    lowest: Option<[f64; 2]>,
    /// Marks with what the key says of them; those without words are not in the key.
    marks: Vec<(Mark, String)>,
}

impl Picture {
    fn svg(&self) -> String {
        let keys = self.marks.iter().filter(|(_, words)| !words.is_empty());
        let beneath = BELOW_AXIS + KEY_LINE * keys.count() as f64;
        let floor = HEIGHT - beneath;
        let axis = |index: usize, from: f64, to: f64| {
            let end = self.ends[index];
            match self.lowest {
                None => Axis::linear(end, from, to),
                Some(lowest) => Axis::fitting([lowest[index], end].into_iter(), from, to),
            }
        };
        let across = axis(0, LEFT, WIDTH - RIGHT);
        let up = axis(1, floor, TOP);
        let mut drawing = Drawing::new(WIDTH, HEIGHT, &self.title);
        drawing.text((LEFT, TOP - 18.0), Anchor::Start, 16, &self.title);
        self.axes(&mut drawing, &across, &up);
        for (mark, _) in &self.marks {
            draw(&mut drawing, mark, &across, &up);
        }
        self.key(&mut drawing, floor);
        drawing.finish()
    }

    fn axes(&self, drawing: &mut Drawing, across: &Axis, up: &Axis) {
        let (left, right) = (across.at(0.0), across.at(f64::INFINITY));
        let (floor, top) = (up.at(0.0), up.at(f64::INFINITY));
        for tick in up.ticks() {
            let y = up.at(tick);
            drawing.line((left, y), (right, y), "#dddddd", 1.0, false);
            drawing.text((left - 8.0, y + 4.0), Anchor::End, 12, &up.label(tick));
        }
        for tick in across.ticks() {
            let x = across.at(tick);
            drawing.line((x, floor), (x, floor + 5.0), Ink::Black.hex(), 1.0, false);
            drawing.text((x, floor + 19.0), Anchor::Middle, 12, &across.label(tick));
        }
        drawing.line((left, floor), (right, floor), Ink::Black.hex(), 1.0, false);
        drawing.line((left, floor), (left, top), Ink::Black.hex(), 1.0, false);
        let middle = 0.5 * (left + right);
        let named = |name: &str, axis: &Axis| match axis.is_log() {
            true => format!("{name} (logarithmic)"),
            false => name.to_owned(),
        };
        let below = named(&self.across, across);
        drawing.text((middle, floor + 39.0), Anchor::Middle, 13, &below);
        drawing.upright((20.0, 0.5 * (floor + top)), 13, &named(&self.up, up));
    }

    fn key(&self, drawing: &mut Drawing, floor: f64) {
        let mut y = floor + BELOW_AXIS + 8.0;
        for (mark, words) in self.marks.iter().filter(|(_, words)| !words.is_empty()) {
            let colour = mark.ink().hex();
            let (from, to) = (LEFT, LEFT + 26.0);
            match mark {
                Mark::Bars { .. } => drawing.area((from, y - 9.0), (to, y + 1.0), colour, 1.0),
                Mark::Band { .. } => drawing.area((from, y - 9.0), (to, y + 1.0), colour, 0.25),
                Mark::Across { .. } => {
                    drawing.line((from, y - 4.0), (to, y - 4.0), colour, 2.0, true);
                }
                Mark::Points { .. } => {
                    drawing.line((from, y - 4.0), (to, y - 4.0), colour, 2.0, false);
                    drawing.dot((0.5 * (from + to), y - 4.0), colour);
                }
                Mark::Steps { .. } => {
                    drawing.line((from, y - 4.0), (to, y - 4.0), colour, 2.0, false);
                }
            }
            drawing.text((to + 8.0, y), Anchor::Start, 13, words);
            y += KEY_LINE;
        }
    }
}

fn draw(drawing: &mut Drawing, mark: &Mark, across: &Axis, up: &Axis) {
    let colour = mark.ink().hex();
    match mark {
        Mark::Points { at, .. } => {
            let inside = |[x, y]: &&[Spread; 2]| across.holds(x.value) && up.holds(y.value);
            let shown: Vec<&[Spread; 2]> = at.iter().filter(inside).collect();
            let places = shown
                .iter()
                .map(|[x, y]| (across.at(x.value), up.at(y.value)));
            let places: Vec<(f64, f64)> = places.collect();
            drawing.path(&places, colour, 1.5);
            for ([x, y], place) in shown.into_iter().zip(&places) {
                intervals(drawing, [x, y], *place, [across, up], colour);
                drawing.dot(*place, colour);
            }
        }
        Mark::Steps { until, .. } => {
            let mut places = Vec::new();
            let mut from = 0.0;
            for &[to, value] in until {
                // Where nothing was completed, the line has a gap.
                if value.is_nan() {
                    drawing.path(&std::mem::take(&mut places), colour, 2.0);
                } else {
                    places.push((across.at(from), up.at(value)));
                    places.push((across.at(to), up.at(value)));
                }
                from = to;
            }
            drawing.path(&places, colour, 2.0);
        }
        Mark::Bars { bars, .. } => {
            for &([from, to], height) in bars {
                let (left, right) = (across.at(from), across.at(to));
                drawing.area(
                    (left, up.at(height.value)),
                    (right, up.at(0.0)),
                    colour,
                    1.0,
                );
                let x = Spread::exact(0.5 * (from + to));
                let place = (across.at(x.value), up.at(height.value));
                intervals(
                    drawing,
                    [&x, &height],
                    place,
                    [across, up],
                    Ink::Black.hex(),
                );
            }
        }
        Mark::Across { at, .. } => {
            let y = up.at(*at);
            drawing.line(
                (across.at(0.0), y),
                (across.at(f64::INFINITY), y),
                colour,
                1.5,
                true,
            );
        }
        Mark::Band { from, to, .. } => {
            let corner = (across.at(f64::INFINITY), up.at(*from));
            drawing.area((across.at(0.0), up.at(*to)), corner, colour, 0.25);
        }
    }
}

/// The intervals around a place, with caps at their ends.
fn intervals(
    drawing: &mut Drawing,
    [x, y]: [&Spread; 2],
    place: (f64, f64),
    [across, up]: [&Axis; 2],
    colour: &str,
) {
    if y.is_wide() {
        let (low, high) = (up.at(y.low.max(0.0)), up.at(y.high));
        drawing.line((place.0, low), (place.0, high), colour, 1.0, false);
        for end in [low, high] {
            drawing.line(
                (place.0 - CAP, end),
                (place.0 + CAP, end),
                colour,
                1.0,
                false,
            );
        }
    }
    if x.is_wide() {
        let (low, high) = (across.at(x.low.max(0.0)), across.at(x.high));
        drawing.line((low, place.1), (high, place.1), colour, 1.0, false);
        for end in [low, high] {
            drawing.line(
                (end, place.1 - CAP),
                (end, place.1 + CAP),
                colour,
                1.0,
                false,
            );
        }
    }
}
