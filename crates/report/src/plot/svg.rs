//! A plot as SVG: on a page with a key that a script uses, and in a file of its own. Drawn whole,
//! so that it can be read and printed without a script.

use std::collections::BTreeMap;

use super::{Extent, Guide, Guided, LabelledAxis, PlaceLook, Plot, Series};
use crate::markup::escaped;

/// The drawing, in its own units; the page scales it.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
/// As wide as the page.
const WIDTH_ALONE: f64 = 780.0;
/// Of a label, for each of its letters.
const LETTER: f64 = 6.6;
/// Labels nearer than this stand on each other on a narrow page.
const LABEL_HEIGHT: f64 = 28.0;
/// A drawing as small as a line of words.
const SPARK: (f64, f64) = (220.0, 40.0);
/// Half the width of a label.
const AIR: f64 = 16.0;
/// Half the width of the caps of an interval.
const CAP: f64 = 3.0;
/// How much larger than on a page a file is drawn, and its lines of text.
const ENLARGED: f64 = 1.35;
const LINE: f64 = 18.0;
/// How a file looks: it has no page around it.
const FILE_STYLE: &str = include_str!("file.css");

/// A part of a drawing.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    floor: f64,
}

impl Area {
    /// Where the series of a drawing of this width are.
    const fn within(width: f64) -> Self {
        Self {
            left: if width > WIDTH { 88.0 } else { 66.0 },
            right: width - 14.0,
            top: 30.0,
            floor: HEIGHT - 46.0,
        }
    }
}

/// How a chart stands on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChartPlace {
    /// With others at its side.
    Beside,
    /// As wide as the page.
    Alone,
}

/// The charts of a page so far.
#[derive(Default)]
pub(crate) struct PageCharts {
    charts: usize,
    /// Axes, and the chart that has them: others repeat them by its number.
    axes: BTreeMap<String, usize>,
}

impl Plot {
    /// The chart with its title and key.
    pub fn html(&self, drawn: &mut PageCharts, place: ChartPlace) -> String {
        drawn.charts += 1;
        let number = drawn.charts;
        let (width, class) = match place {
            ChartPlace::Beside => (WIDTH, "plot"),
            ChartPlace::Alone => (WIDTH_ALONE, "plot alone"),
        };
        let mut text = format!(
            "<figure class=\"{class}\" id=\"chart-{number}\"><figcaption>{}",
            escaped(&self.title)
        );
        if !self.note.is_empty() {
            text += &format!("<small>{}</small>", escaped(&self.note));
        }
        text += "</figcaption>\n";
        if self.series.len() > 1 {
            text += &self.keys();
        }
        text += &format!(
            "<svg viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\" tabindex=\"0\" \
             aria-label=\"{}: {} over {}\">\n",
            escaped(&self.title),
            escaped(&self.up.name),
            escaped(&self.across.name)
        );
        let ink = Ink {
            plot: self,
            area: Area::within(width),
        };
        let axes = ink.axes();
        let first = *drawn.axes.entry(axes.clone()).or_insert(number);
        text += &match first == number {
            true => format!("<g id=\"axes-{number}\" class=\"axes\">{axes}</g>"),
            false => format!("<use href=\"#axes-{first}\"/>"),
        };
        text + &ink.inside() + "</svg></figure>\n"
    }

    /// The chart as a file. The same values give the same text to the last character, so that it
    /// can be kept beside the command that made it and compared.
    pub fn file(&self) -> String {
        let notes = [
            (0.0, 16.0, "title", &self.title),
            (0.0, 33.0, "", &self.note),
        ];
        let notes = notes.iter().filter(|it| !it.3.is_empty());
        let text = |(x, y, class, printed): &(f64, f64, &str, &String)| {
            format!(
                "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>\n",
                escaped(printed)
            )
        };
        let notes: String = notes.map(text).collect();
        let mut plot = self.clone();
        let series = plot.series.iter_mut();
        let on_demand = series.filter(|it| it.look == PlaceLook::OnDemand);
        on_demand.for_each(|it| it.places.clear());
        let ink = Ink {
            plot: &plot,
            area: Area::within(WIDTH),
        };
        let chart = 2.0 * LINE;
        let mut keys = String::new();
        for (place, series) in self.series.iter().enumerate() {
            let y = pixel(chart + HEIGHT + LINE * (place as f64 + 0.7));
            keys += &format!(
                "<g class=\"s{place}\"><path class=\"key\" d=\"M2 {y}h22\"/>\
                     <text class=\"key\" x=\"32\" y=\"{y}\">{}</text></g>\n",
                escaped(&series.name)
            );
        }
        let height = chart + HEIGHT + LINE * (self.series.len() as f64 + 0.7);
        format!(
            "{}{notes}<g transform=\"translate(0 {chart})\">{}{}</g>\n{keys}</svg>\n",
            file_head((WIDTH, height), &self.title),
            ink.axes(),
            ink.inside()
        )
    }

    /// The lines alone, as small as a word.
    pub fn spark(&self, label: &str) -> String {
        let (right, height) = SPARK;
        let ink = Ink {
            plot: self,
            area: Area {
                left: 0.0,
                right,
                top: 2.0,
                floor: height - 2.0,
            },
        };
        let mut text = format!(
            "<svg viewBox=\"0 0 {right} {height}\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"{}\">",
            escaped(label)
        );
        for guide in self.guides.iter().filter(|it| it.of == Guided::Across) {
            let [from, to] = [guide.at.low, guide.at.high].map(|end| ink.x(end));
            text += &rect([from, 0.0], [to, height]);
        }
        for (place, series) in self.series.iter().enumerate() {
            let line = ink.line(&series.line);
            text += &format!("<path class=\"s{place}\" d=\"{line}\"/>");
        }
        text + "</svg>"
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
}

/// The beginning of a file, on a white page.
pub(crate) fn file_head((width, height): (f64, f64), title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-12 -8 {:.0} {:.0}\" \
         width=\"{:.0}\" height=\"{:.0}\" role=\"img\">\n<title>{}</title>\n\
         <style>\n{FILE_STYLE}</style>\n\
         <rect x=\"-12\" y=\"-8\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        width + 24.0,
        height + 16.0,
        (width + 24.0) * ENLARGED,
        (height + 16.0) * ENLARGED,
        escaped(title)
    )
}

/// A plot on its area.
struct Ink<'a> {
    plot: &'a Plot,
    area: Area,
}

impl Ink<'_> {
    fn x(&self, value: f64) -> f64 {
        let Area { left, right, .. } = self.area;
        left + self.plot.across.axis.share(value) * (right - left)
    }

    fn y(&self, value: f64) -> f64 {
        let Area { top, floor, .. } = self.area;
        floor - self.plot.up.axis.share(value) * (floor - top)
    }

    /// Grid, ticks and names.
    fn axes(&self) -> String {
        let Area {
            left,
            right,
            top,
            floor,
        } = self.area;
        let (mut grid, mut labels) = (String::new(), String::new());
        let mut label = |class: &str, [x, y]: [f64; 2], printed: &str| {
            let (x, y) = (pixel(x), pixel(y));
            labels += &format!(
                "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>",
                escaped(printed)
            );
        };
        for (tick, printed) in &self.plot.up.ticks {
            let y = self.y(*tick);
            grid += &format!("M{left} {}H{right}", pixel(y));
            label("y", [left - 8.0, y + 4.0], printed);
        }
        for (tick, printed) in &self.plot.across.ticks {
            let x = self.x(*tick);
            grid += &format!("M{} {top}V{floor}", pixel(x));
            // A label in the middle of the last tick would not fit.
            let class = if x > right - AIR { "y" } else { "x" };
            label(class, [x, floor + 18.0], printed);
        }
        label("up", [2.0, 15.0], &name(&self.plot.up));
        label("across", [right, floor + 40.0], &name(&self.plot.across));
        format!("<path class=\"grid\" d=\"{grid}\"/>\n{labels}\n")
    }

    /// Guides, series, and the labels of the guides above both.
    fn inside(&self) -> String {
        let guides = self.plot.guides.iter().map(|guide| match guide.of {
            Guided::Up => self.height(guide),
            Guided::Across => self.range(guide),
        });
        let series = self.plot.series.iter().enumerate();
        let series = series.map(|(place, series)| self.series(place, series));
        let drawn: String = guides.chain(series).collect();
        format!("{drawn}<g class=\"labels\">{}</g>\n", self.labels())
    }

    /// The labels of the guides: where no dot is, if there is such a place, and never on another
    /// label; one for which there is no space is left out.
    fn labels(&self) -> String {
        let series = self.plot.series.iter();
        let series = series.filter(|it| it.look == PlaceLook::Dots && !it.is_hidden);
        let dots = series.flat_map(|it| &it.places).map(|it| {
            let [x, y] = [self.x(it.at[0].value), self.y(it.at[1].value)];
            [x - CAP, x + CAP, y + CAP]
        });
        let dots: Vec<[f64; 3]> = dots.collect();
        let mut labels: Vec<[f64; 3]> = Vec::new();
        let mut text = String::new();
        for guide in self.plot.guides.iter().filter(|it| !it.label.is_empty()) {
            let width = guide.label.chars().count() as f64 * LETTER;
            let is_free = |[x, y]: &[f64; 2], taken: &[[f64; 3]]| {
                let meets = |[from, to, at]: &[f64; 3]| {
                    *x < *to && *from < x + width && (at - y).abs() < LABEL_HEIGHT
                };
                !taken.iter().any(meets)
            };
            let mut places = self.places_of_label(guide, width);
            places.retain(|it| is_free(it, &labels));
            let best = places.iter().find(|it| is_free(it, &dots));
            let Some(&[x, y]) = best.or(places.first()) else {
                continue;
            };
            labels.push([x, x + width, y]);
            // Letters are wider on small screens: labels grow towards the middle.
            let is_right = x + 0.5 * width > 0.5 * (self.area.left + self.area.right);
            let (class, x) = match is_right {
                true => (" class=\"y\"", x + width),
                false => ("", x),
            };
            let (x, y, label) = (pixel(x), pixel(y), escaped(&guide.label));
            text += &format!("<text{class} x=\"{x}\" y=\"{y}\">{label}</text>");
        }
        text
    }

    /// Where the label of a guide may begin, the best place first.
    fn places_of_label(&self, guide: &Guide, width: f64) -> Vec<[f64; 2]> {
        let Area {
            left, right, top, ..
        } = self.area;
        match guide.of {
            Guided::Up => {
                let y = self.y(guide.at.value);
                let sides = [
                    left + 5.0,
                    right - width - 5.0,
                    0.5 * (left + right - width),
                ];
                let rows = [y - 4.0, y + LABEL_HEIGHT - 2.0].into_iter();
                rows.flat_map(|y| sides.map(|x| [x, y])).collect()
            }
            Guided::Across => {
                let [from, to] = [guide.at.low, guide.at.high].map(|end| self.x(end));
                let sides = [to - width - 5.0, from + 5.0].into_iter();
                let sides = sides.filter(|x| *x > left && x + width < right);
                let rows =
                    |x| (0..6).map(move |row| [x, top + 13.0 + LABEL_HEIGHT * f64::from(row)]);
                sides.flat_map(rows).collect()
            }
        }
    }

    fn height(&self, guide: &Guide) -> String {
        let Area { left, right, .. } = self.area;
        let y = self.y(guide.at.value);
        let mut text = String::from("<g class=\"guide\">");
        if guide.at.is_wide() {
            let [low, high] = [guide.at.low, guide.at.high].map(|end| self.y(end));
            text += &rect([left, high], [right, low]);
        }
        text += &format!("<path d=\"M{left} {}H{right}\"/>", pixel(y));
        if let Some(found) = guide.found {
            let [low, at, high] = found.all().map(|it| self.x(it));
            text += &format!(
                "<path class=\"found\" d=\"M{} {}H{}\"/>{}",
                pixel(low),
                pixel(y),
                pixel(high),
                dot([at, y], &guide.text, "")
            );
        }
        text + "</g>\n"
    }

    fn range(&self, guide: &Guide) -> String {
        let Area { top, floor, .. } = self.area;
        let [from, to] = [guide.at.low, guide.at.high].map(|end| self.x(end));
        format!(
            "<g class=\"range\">{}<g class=\"h\">{}</g></g>\n",
            rect([from, top], [to.max(from + 1.0), floor]),
            dot([0.5 * (from + to), top + 8.0], &guide.text, "")
        )
    }

    fn series(&self, place: usize, series: &Series) -> String {
        let off = if series.is_hidden { " off" } else { "" };
        let mut text = format!("<g class=\"s s{place}{off}\" data-k=\"{place}\">");
        if series.has_band && series.places.len() > 1 {
            text += &self.band(series);
        }
        if series.line.len() > 1 && series.look != PlaceLook::Bars {
            let line = self.line(&series.line);
            text += &format!("<path class=\"line\" d=\"{line}\"/>");
        }
        let (mut bars, mut whiskers, mut dots) = (String::new(), String::new(), String::new());
        for found in &series.places {
            let [x, y] = found.at;
            let (at_x, at_y) = (self.x(x.value), self.y(y.value));
            let class = if found.is_estimate {
                " class=\"e\""
            } else {
                ""
            };
            dots += &dot([at_x, at_y], &found.text, class);
            if series.look == PlaceLook::Bars {
                bars += &rect([self.x(x.low), at_y], [self.x(x.high), self.area.floor]);
            }
            if found.is_estimate {
                continue;
            }
            if series.look != PlaceLook::OnDemand && y.is_wide() {
                whisker(&mut whiskers, at_x, [y.low, y.high].map(|end| self.y(end)));
            }
            if series.look == PlaceLook::Dots && x.is_wide() {
                let [low, high] = [x.low, x.high].map(|end| pixel(self.x(end)));
                whiskers += &format!("M{low} {}H{high}", pixel(at_y));
            }
        }
        text += &bars;
        if !whiskers.is_empty() {
            text += &format!("<path class=\"whisker\" d=\"{whiskers}\"/>");
        }
        let class = match series.look {
            PlaceLook::Dots => "p",
            PlaceLook::OnDemand | PlaceLook::Bars => "h",
        };
        text + &format!("<g class=\"{class}\">{dots}</g></g>\n")
    }

    /// The areas between the lower and the upper ends of the intervals, broken where the line leads
    /// to an estimate, which has none.
    fn band(&self, series: &Series) -> String {
        let parts = series
            .places
            .chunk_by(|one, next| one.is_estimate == next.is_estimate);
        let areas = parts.filter(|part| {
            part.len() > 1 && !part[0].is_estimate && part.iter().any(|it| it.at[1].is_wide())
        });
        let areas = areas.map(|part| {
            let end =
                |of: fn(Extent) -> f64| part.iter().map(move |it| [it.at[0].value, of(it.at[1])]);
            let around: Vec<[f64; 2]> = end(|it| it.high).chain(end(|it| it.low).rev()).collect();
            format!("<path class=\"band\" d=\"{}Z\"/>", self.line(&around))
        });
        areas.collect()
    }

    /// A line through places, broken where one is no number.
    fn line(&self, places: &[[f64; 2]]) -> String {
        let mut path = String::new();
        let mut last: Option<[String; 2]> = None;
        for [x, y] in places.iter().map(|[x, y]| [self.x(*x), self.y(*y)]) {
            if x.is_nan() || y.is_nan() {
                last = None;
                continue;
            }
            let at = [x, y].map(pixel);
            path += &match &last {
                None => format!("M{} {}", at[0], at[1]),
                Some(last) if last[1] == at[1] => format!("H{}", at[0]),
                Some(last) if last[0] == at[0] => format!("V{}", at[1]),
                Some(_) => format!("L{} {}", at[0], at[1]),
            };
            last = Some(at);
        }
        path
    }
}

fn name(side: &LabelledAxis) -> String {
    match side.axis.is_log() {
        true => format!("{} (log)", side.name),
        false => side.name.clone(),
    }
}

fn whisker(text: &mut String, x: f64, [low, high]: [f64; 2]) {
    *text += &format!("M{} {}V{}", pixel(x), pixel(low), pixel(high));
    for end in [low, high] {
        let (from, to) = (pixel(x - CAP), pixel(x + CAP));
        *text += &format!("M{from} {}H{to}", pixel(end));
    }
}

fn dot([x, y]: [f64; 2], printed: &str, class: &str) -> String {
    format!(
        "<circle{class} cx=\"{}\" cy=\"{}\" r=\"3\"><title>{}</title></circle>",
        pixel(x),
        pixel(y),
        escaped(printed)
    )
}

/// A rectangle between its upper left and its lower right corner.
pub(crate) fn rect([left, top]: [f64; 2], [right, floor]: [f64; 2]) -> String {
    format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        pixel(left),
        pixel(top),
        pixel(right - left),
        pixel(floor - top)
    )
}

/// A length to a tenth of a unit.
pub(crate) fn pixel(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
