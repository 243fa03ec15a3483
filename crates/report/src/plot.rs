//! A plot before it is drawn: two axes, series with their intervals, and what guides the eye.
//!
//! What is drawn fills one; an ink draws it: [`svg`] on pages and in files, [`glyphs`] on screens.

pub(crate) mod axis;
pub(crate) mod glyphs;
pub(crate) mod strip;
pub(crate) mod svg;

use results::Unit;

use axis::{Axis, AxisScale, tick_label};

/// An interval stretches an axis up to this factor beyond the values.
const REACH: f64 = 1.6;

/// A value with its interval; both ends are the value where nothing is known of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
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

    pub fn is_wide(self) -> bool {
        self.high > self.low
    }

    pub const fn all(self) -> [f64; 3] {
        [self.low, self.value, self.high]
    }
}

/// A measured place, and what is said of it.
#[derive(Clone, Debug)]
pub(crate) struct PlotPoint {
    pub at: [Extent; 2],
    pub text: String,
    /// Whether it is hollow: an estimate, not a result.
    pub is_estimate: bool,
}

impl PlotPoint {
    pub const fn new(at: [Extent; 2], text: String) -> Self {
        Self {
            at,
            text,
            is_estimate: false,
        }
    }
}

/// How the places of a series are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PlaceLook {
    /// Each with its intervals.
    #[default]
    Dots,
    /// Only when they are pointed at.
    OnDemand,
    /// Bars from zero, as wide as the interval across.
    Bars,
}

/// Values that belong together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub name: String,
    /// Through these places; broken where one is no number.
    pub line: Vec<[f64; 2]>,
    pub places: Vec<PlotPoint>,
    pub look: PlaceLook,
    /// Whether an area joins the intervals of neighbours.
    pub has_band: bool,
    /// Whether it is hidden until a reader selects it.
    pub is_hidden: bool,
}

/// A part of the time that something went on for.
pub(crate) struct TimeStep {
    /// Seconds since the start.
    pub from: f64,
    pub to: f64,
    pub value: Option<f64>,
    pub text: String,
}

impl Series {
    /// Places that a line joins.
    pub fn joined(name: &str, places: impl Iterator<Item = PlotPoint>) -> Self {
        let places: Vec<PlotPoint> = places.collect();
        Self {
            name: name.to_owned(),
            line: places.iter().map(|it| it.at.map(|at| at.value)).collect(),
            places,
            ..Self::default()
        }
    }

    /// A line that is level over each step, and broken where there is nothing.
    pub fn steps(name: &str, steps: impl Iterator<Item = TimeStep>) -> Self {
        let (mut line, mut places) = (Vec::new(), Vec::new());
        for it in steps {
            let Some(value) = it.value.filter(|value| value.is_finite()) else {
                line.push([f64::NAN; 2]);
                continue;
            };
            line.extend([[it.from, value], [it.to, value]]);
            let at = [0.5 * (it.from + it.to), value].map(Extent::exact);
            places.push(PlotPoint::new(at, it.text));
        }
        Self {
            name: name.to_owned(),
            line,
            places,
            look: PlaceLook::OnDemand,
            ..Self::default()
        }
    }

    /// The same as that of something else, in its key and in what is said of its places.
    pub fn named(mut self, name: &str) -> Self {
        for place in &mut self.places {
            place.text = format!("{name}: {}", place.text);
        }
        self.name = name.to_owned();
        self
    }
}

/// What a guide is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guided {
    /// The axis across: a range of it.
    Across,
    /// The axis up: a height, or a band.
    Up,
}

/// What stands in a plot beside the series.
#[derive(Clone, Debug)]
pub(crate) struct Guide {
    pub of: Guided,
    pub at: Extent,
    pub label: String,
    /// What is said of it, or of what was found on it.
    pub text: String,
    /// Where on a height something lies.
    pub found: Option<Extent>,
}

impl Guide {
    /// A height at which nothing is looked for.
    pub const fn height(at: Extent, label: String) -> Self {
        Self {
            of: Guided::Up,
            at,
            label,
            text: String::new(),
            found: None,
        }
    }
}

/// An axis with what it shows.
#[derive(Clone, Debug)]
pub(crate) struct LabelledAxis {
    pub axis: Axis,
    pub name: String,
    pub unit: Unit,
    pub ticks: Vec<(f64, String)>,
}

impl LabelledAxis {
    fn over(of: &SideOf<'_>, values: impl Iterator<Item = f64>) -> Self {
        let axis = Axis::over(of.scale, values);
        let ticks = axis.ticks().into_iter();
        Self {
            axis,
            name: of.name.to_owned(),
            unit: of.unit,
            ticks: ticks.map(|it| (it, tick_label(of.unit, it))).collect(),
        }
    }
}

/// What an axis is about, before its values are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SideOf<'a> {
    pub name: &'a str,
    pub unit: Unit,
    pub scale: AxisScale,
}

/// The axis of what goes on over time.
pub(crate) const TIME: SideOf<'static> = SideOf {
    name: "time, s",
    unit: Unit::Count,
    scale: AxisScale::FromZero,
};

/// A plot before it is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub title: String,
    /// What must be known to read it.
    pub note: String,
    pub across: LabelledAxis,
    pub up: LabelledAxis,
    pub series: Vec<Series>,
    pub guides: Vec<Guide>,
}

impl Plot {
    /// A plot whose axes hold all that is in it; intervals that are much longer are cut off.
    pub fn new(sides: [SideOf<'_>; 2], series: Vec<Series>, guides: Vec<Guide>) -> Self {
        let values = |side: usize| {
            let places = series.iter().flat_map(|it| &it.places);
            let lines = series.iter().flat_map(|it| &it.line);
            let of = [Guided::Across, Guided::Up][side];
            let guiding = guides.iter().filter(move |it| it.of == of);
            let found = guides
                .iter()
                .filter_map(move |it| it.found.filter(|_| side == 0));
            let extents: Vec<Extent> = places.map(|it| it.at[side]).collect();
            let exact = extents.iter().map(|it| it.value);
            let lines = lines.map(|it| it[side]);
            let (low, high) = axis::ends(exact.chain(lines.clone()));
            let near = move |end: f64| end.clamp(low.min(low / REACH), high.max(high * REACH));
            let intervals = extents.into_iter().flat_map(Extent::all);
            let intervals = intervals.map(move |it| if low <= high { near(it) } else { it });
            let guiding = guiding.map(|it| it.at).chain(found);
            let all = intervals.chain(guiding.flat_map(Extent::all)).chain(lines);
            all.collect::<Vec<f64>>()
        };
        let [across, up] =
            [0, 1].map(|side| LabelledAxis::over(&sides[side], values(side).into_iter()));
        Self {
            title: String::new(),
            note: String::new(),
            across,
            up,
            series,
            guides,
        }
    }

    /// The same with what is said above it.
    pub fn titled(self, title: impl Into<String>, note: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            note: note.into(),
            ..self
        }
    }
}
