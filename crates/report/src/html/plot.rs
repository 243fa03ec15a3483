//! A chart as inline SVG with a key: drawn here whole, so that it can be read and printed without a
//! script. The script of the page only shows values and hides series.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::markup::escaped;
use crate::axis::Axis;

/// The drawing, in its own units; the page scales it.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
/// The inner area.
pub(super) const LEFT: f64 = 66.0;
pub(super) const RIGHT: f64 = WIDTH - 14.0;
pub(super) const TOP: f64 = 30.0;
pub(super) const FLOOR: f64 = HEIGHT - 46.0;
/// Half the width of a label.
const AIR: f64 = 16.0;
/// Half the width of the caps of an interval.
const CAP: f64 = 3.0;

/// A value with its interval; both ends are the value where nothing is known of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Extent {
    pub const fn exact(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
        }
    }

    /// That of an estimate in units of `unit`.
    pub fn of(estimate: stats::Estimate, unit: f64) -> Self {
        let value = estimate.value / unit;
        match estimate.is_bounded() {
            true => Self {
                value,
                low: estimate.low / unit,
                high: estimate.high / unit,
            },
            false => Self::exact(value),
        }
    }

    fn is_wide(self) -> bool {
        self.high > self.low
    }
}

/// A measured place, and what is said of it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub at: [Extent; 2],
    pub text: String,
}

/// How the places of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dots {
    /// Each with its intervals.
    Shown,
    /// Only when they are pointed at.
    OnDemand,
}

/// Values that belong together.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub name: String,
    /// Through these places.
    pub line: Vec<[f64; 2]>,
    pub places: Vec<Place>,
    pub dots: Dots,
    /// Whether an area joins the intervals of neighbours.
    pub has_band: bool,
    /// Whether it is hidden until somebody asks for it.
    pub is_hidden: bool,
}

impl Series {
    /// The same as that of something else, in its key and in what is said of its places.
    pub fn named(mut self, name: &str) -> Self {
        for place in &mut self.places {
            place.text = format!("{name}: {}", place.text);
        }
        self.name = name.to_owned();
        self
    }
}

/// What stands in a chart beside the series.
#[derive(Clone, Debug)]
pub(super) enum Guide {
    /// A height, and where on it something lies.
    Across {
        at: f64,
        label: String,
        found: Option<Place>,
    },
    /// A part of the axis across.
    Range {
        low: f64,
        high: f64,
        label: String,
        text: String,
    },
}

/// An axis with what it shows.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub axis: Axis,
    pub name: String,
    pub ticks: Vec<(f64, String)>,
}

impl Side {
    /// An axis whose ticks are labelled so.
    pub fn new(axis: Axis, name: &str, label: impl Fn(f64) -> String) -> Self {
        let ticks = axis.ticks().into_iter().map(|tick| (tick, label(tick)));
        Self {
            axis,
            name: name.to_owned(),
            ticks: ticks.collect(),
        }
    }
}

/// A chart before it is drawn.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    pub title: String,
    /// What must be known to read it.
    pub note: String,
    pub across: Side,
    pub up: Side,
    pub series: Vec<Series>,
    pub guides: Vec<Guide>,
}

/// The charts of a page so far.
#[derive(Default)]
pub(super) struct Drawn {
    charts: usize,
    /// Axes, and the chart that has them: others repeat them by its number.
    axes: BTreeMap<String, usize>,
}

impl Plot {
    /// The chart with its title and key.
    pub fn html(&self, drawn: &mut Drawn) -> String {
        drawn.charts += 1;
        let number = drawn.charts;
        let mut text = format!(
            "<figure class=\"plot\" id=\"chart-{number}\"><figcaption>{}",
            escaped(&self.title)
        );
        if !self.note.is_empty() {
            text.push_str(&format!("<small>{}</small>", escaped(&self.note)));
        }
        text.push_str("</figcaption>\n");
        if self.series.len() > 1 {
            text.push_str(&self.keys());
        }
        text.push_str(&format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" tabindex=\"0\" \
             aria-label=\"{}: {} over {}\">\n",
            escaped(&self.title),
            escaped(&self.up.name),
            escaped(&self.across.name)
        ));
        let mut axes = String::new();
        self.axes(&mut axes);
        let first = *drawn.axes.entry(axes.clone()).or_insert(number);
        text.push_str(&match first == number {
            true => format!("<g id=\"axes-{number}\" class=\"axes\">{axes}</g>"),
            false => format!("<use href=\"#axes-{first}\"/>"),
        });
        for guide in &self.guides {
            self.guide(&mut text, guide);
        }
        for (place, series) in self.series.iter().enumerate() {
            self.series(&mut text, place, series);
        }
        text.push_str("</svg></figure>\n");
        text
    }

    /// What the colours mean; each button hides or shows its series.
    fn keys(&self) -> String {
        let keys = self.series.iter().enumerate().map(|(place, series)| {
            format!(
                "<button type=\"button\" class=\"s{place}\" data-k=\"{place}\" \
                 aria-pressed=\"{}\">{}</button>",
                !series.is_hidden,
                escaped(&series.name)
            )
        });
        let keys: Vec<String> = keys.collect();
        format!("<div class=\"keys\">{}</div>\n", keys.concat())
    }

    fn axes(&self, text: &mut String) {
        let (mut grid, mut labels) = (String::new(), String::new());
        for (tick, label) in &self.up.ticks {
            let y = self.up.axis.at(*tick);
            let (from, to) = (pixel(LEFT), pixel(RIGHT));
            put(&mut grid, format_args!("M{from} {}H{to}", pixel(y)));
            let (x, y) = (pixel(LEFT - 8.0), pixel(y + 4.0));
            put(
                &mut labels,
                format_args!(
                    "<text class=\"y\" x=\"{x}\" y=\"{y}\">{}</text>",
                    escaped(label)
                ),
            );
        }
        for (tick, label) in &self.across.ticks {
            let at = self.across.axis.at(*tick);
            // A label in the middle of the last tick would not fit.
            let class = if at > RIGHT - AIR { "y" } else { "x" };
            let x = pixel(at);
            let (top, floor) = (pixel(TOP), pixel(FLOOR));
            put(&mut grid, format_args!("M{x} {top}V{floor}"));
            let y = pixel(FLOOR + 18.0);
            put(
                &mut labels,
                format_args!(
                    "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>",
                    escaped(label)
                ),
            );
        }
        text.push_str(&format!(
            "<path class=\"grid\" d=\"{grid}\"/>\n{labels}\n\
             <text class=\"up\" x=\"2\" y=\"15\">{}</text>\
             <text class=\"across\" x=\"{}\" y=\"{}\">{}</text>\n",
            escaped(&self.axis_name(&self.up)),
            pixel(RIGHT),
            pixel(HEIGHT - 6.0),
            escaped(&self.axis_name(&self.across)),
        ));
    }

    fn axis_name(&self, side: &Side) -> String {
        match side.axis.is_log() {
            true => format!("{} (log)", side.name),
            false => side.name.clone(),
        }
    }

    fn guide(&self, text: &mut String, guide: &Guide) {
        match guide {
            Guide::Across { at, label, found } => {
                let y = self.up.axis.at(*at);
                let (left, right) = (pixel(LEFT), pixel(RIGHT));
                put(
                    text,
                    format_args!(
                        "<g class=\"guide\"><path d=\"M{left} {}H{right}\"/>\
                         <text x=\"{}\" y=\"{}\">{}</text>",
                        pixel(y),
                        pixel(LEFT + 5.0),
                        pixel(y - 4.0),
                        escaped(label)
                    ),
                );
                if let Some(found) = found {
                    let [x, _] = found.at;
                    let ends = [x.low, x.high].map(|end| pixel(self.across.axis.at(end)));
                    let middle = self.across.axis.at(x.value);
                    put(
                        text,
                        format_args!(
                            "<path class=\"found\" d=\"M{} {}H{}\"/>{}",
                            ends[0],
                            pixel(y),
                            ends[1],
                            dot(middle, y, &found.text)
                        ),
                    );
                }
                text.push_str("</g>\n");
            }
            Guide::Range {
                low,
                high,
                label,
                text: said,
            } => {
                let [from, to] = [low, high].map(|end| self.across.axis.at(*end));
                put(
                    text,
                    format_args!(
                        "<g class=\"range\"><rect x=\"{}\" y=\"{TOP}\" width=\"{}\" \
                         height=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\
                         <g class=\"h\">{}</g></g>\n",
                        pixel(from),
                        pixel((to - from).max(1.0)),
                        pixel(FLOOR - TOP),
                        pixel(to - 5.0),
                        pixel(TOP + 13.0),
                        escaped(label),
                        dot(0.5 * (from + to), TOP + 8.0, said)
                    ),
                );
            }
        }
    }

    fn series(&self, text: &mut String, place: usize, series: &Series) {
        let off = if series.is_hidden { " off" } else { "" };
        put(
            text,
            format_args!("<g class=\"s s{place}{off}\" data-k=\"{place}\">"),
        );
        let (across, up) = (&self.across.axis, &self.up.axis);
        if series.has_band && series.places.len() > 1 {
            text.push_str(&self.band(series));
        }
        if series.line.len() > 1 {
            let places = series.line.iter().map(|[x, y]| (across.at(*x), up.at(*y)));
            put(
                text,
                format_args!("<path class=\"line\" d=\"{}\"/>", through(places)),
            );
        }
        let mut whiskers = String::new();
        let mut dots = String::new();
        for found in &series.places {
            let [x, y] = found.at;
            let (at_x, at_y) = (across.at(x.value), up.at(y.value));
            dots.push_str(&dot(at_x, at_y, &found.text));
            if series.dots == Dots::Shown && y.is_wide() {
                let [low, high] = [y.low, y.high].map(|end| up.at(end));
                whisker(&mut whiskers, at_x, [low, high]);
            }
            if series.dots == Dots::Shown && x.is_wide() {
                let [low, high] = [x.low, x.high].map(|end| pixel(across.at(end)));
                put(&mut whiskers, format_args!("M{low} {}H{high}", pixel(at_y)));
            }
        }
        if !whiskers.is_empty() {
            put(
                text,
                format_args!("<path class=\"whisker\" d=\"{whiskers}\"/>"),
            );
        }
        let class = match series.dots {
            Dots::Shown => "p",
            Dots::OnDemand => "h",
        };
        put(text, format_args!("<g class=\"{class}\">{dots}</g></g>\n"));
    }

    /// The area between the lower and the upper ends of the intervals.
    fn band(&self, series: &Series) -> String {
        let (across, up) = (&self.across.axis, &self.up.axis);
        let places = || series.places.iter();
        if !places().any(|it| it.at[1].is_wide()) {
            return String::new();
        }
        let upper = places().map(|it| (across.at(it.at[0].value), up.at(it.at[1].high)));
        let lower = places()
            .rev()
            .map(|it| (across.at(it.at[0].value), up.at(it.at[1].low)));
        format!(
            "<path class=\"band\" d=\"{}Z\"/>",
            through(upper.chain(lower))
        )
    }
}

fn whisker(text: &mut String, x: f64, [low, high]: [f64; 2]) {
    put(
        text,
        format_args!("M{} {}V{}", pixel(x), pixel(low), pixel(high)),
    );
    for end in [low, high] {
        let (from, to) = (pixel(x - CAP), pixel(x + CAP));
        put(text, format_args!("M{from} {}H{to}", pixel(end)));
    }
}

fn dot(x: f64, y: f64, said: &str) -> String {
    format!(
        "<circle cx=\"{}\" cy=\"{}\" r=\"3\"><title>{}</title></circle>",
        pixel(x),
        pixel(y),
        escaped(said)
    )
}

/// A line through places, broken where one is no number.
fn through(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    let mut sign = 'M';
    for (x, y) in places {
        if x.is_nan() || y.is_nan() {
            sign = 'M';
            continue;
        }
        put(&mut path, format_args!("{sign}{} {}", pixel(x), pixel(y)));
        sign = 'L';
    }
    path
}

/// A length to a tenth of a unit.
pub(super) fn pixel(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn put(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part).expect("writing to a string");
}
