//! Values with their intervals below each other on one axis: a strip in each row of a table, in
//! characters or as SVG, and a picture of ratios around 1.

use results::{Run, Unit};
use stats::Estimate;
use units::format_interval_count;

use super::Extent;
use super::axis::{Axis, ends, tick_label};
use super::svg::{file_head, pixel};
use crate::markup::escaped;

/// What of a row says in a word how it compares.
pub(crate) const SHOWN: &str = "shown";
/// Columns of a strip in characters.
const COLUMNS: usize = 17;
/// Of a strip on a page: its width, the height of a row, and the room at both ends.
const WIDTH: f64 = 150.0;
const HEIGHT: f64 = 16.0;
const INSET: f64 = 6.0;
/// Of a label, for each of its letters.
const LETTER: f64 = 6.4;
/// Where labels end and strips begin in a picture, where strips end, and the room around them.
const LEFT: f64 = 320.0;
const RIGHT: f64 = 600.0;
const TOP: f64 = 54.0;
const PICTURE: f64 = 820.0;
/// An interval of a ratio whose ends are this far from each other says nothing.
const SPREAD_MAX: f64 = 1000.0;

/// Whether a ratio has an interval that says something.
pub(crate) fn is_known(ratio: Estimate) -> bool {
    ratio.is_bounded() && ratio.low > 0.0 && ratio.high / ratio.low < SPREAD_MAX
}

/// The logarithmic axis of the ratios that are known.
pub(crate) fn strip_axis(ratios: impl Iterator<Item = Estimate>) -> Axis {
    Strip::around_one(ratios.filter(|it| is_known(*it))).axis
}

/// A ratio in characters on its axis; empty where nothing is known of it.
pub(crate) fn strip(ratio: Estimate, axis: &Axis, is_unicode: bool) -> String {
    if !is_known(ratio) {
        return String::new();
    }
    let [one, line, point] = match is_unicode {
        true => ['┊', '─', '●'],
        false => ['|', '-', 'o'],
    };
    let column = |value: f64| (axis.share(value) * (COLUMNS - 1) as f64).round() as usize;
    let mut cells = [' '; COLUMNS];
    cells[column(ratio.low)..=column(ratio.high)].fill(line);
    cells[column(1.0)] = one;
    cells[column(ratio.value)] = point;
    cells.iter().collect::<String>().trim_end().to_owned()
}

/// The axis of strips as SVG.
pub(crate) struct Strip {
    pub axis: Axis,
    ends: [f64; 2],
}

impl Strip {
    /// That of a column of a page's table.
    pub const fn new(axis: Axis) -> Self {
        Self {
            axis,
            ends: [INSET, WIDTH - INSET],
        }
    }

    /// A logarithmic axis of ratios that holds 1.
    pub fn around_one(ratios: impl Iterator<Item = Estimate>) -> Self {
        let values = ratios.flat_map(|it| match it.is_bounded() {
            true => [it.low, it.high, 1.0],
            false => [it.value, it.value, 1.0],
        });
        let (low, high) = ends(values.filter(|it| *it > 0.0));
        Self::new(Axis::log(low, high))
    }

    pub fn x(&self, value: f64) -> f64 {
        let [from, to] = self.ends;
        from + self.axis.share(value) * (to - from)
    }

    /// A row of the column with these elements.
    pub fn row(inside: &str) -> String {
        format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-hidden=\"true\">{inside}</svg>")
    }

    /// A value with its interval.
    pub fn mark(&self, at: Extent) -> String {
        let [low, at_value, high] = at.all().map(|it| self.x(it));
        let bar = format!(
            "<path class=\"bar\" d=\"M{} 8H{}\"/>",
            pixel(low),
            pixel(high.max(low + 0.5))
        );
        let bar = if at.is_wide() { bar } else { String::new() };
        format!("{bar}<circle cx=\"{}\" cy=\"8\" r=\"3\"/>", pixel(at_value))
    }

    /// Where 1 is, and a ratio.
    pub fn ratio(&self, ratio: Estimate) -> String {
        let one = format!(
            "<path class=\"one\" d=\"M{} 0v{HEIGHT}\"/>",
            pixel(self.x(1.0))
        );
        match ratio.value > 0.0 {
            true => one + &self.mark(Extent::of(ratio, 1.0)),
            false => one,
        }
    }

    /// What the axis says, at most so many labels, and its lines.
    pub fn scale(&self, most: usize, y: f64, label: impl Fn(f64) -> String) -> [String; 2] {
        let ticks = self.axis.ticks();
        let lines = ticks
            .iter()
            .map(|tick| format!("M{} 0v{HEIGHT}", pixel(self.x(*tick))));
        let every = ticks.len().div_ceil(most).max(1);
        let mut taken = f64::NEG_INFINITY;
        let labels = ticks.iter().step_by(every).filter_map(|tick| {
            let x = self.x(*tick);
            let width = label(*tick).chars().count() as f64 * LETTER;
            let (side, from) = match x {
                x if x < self.ends[0] + 14.0 => ("start", x),
                x if x > self.ends[1] - 14.0 => ("end", x - width),
                _ => ("middle", x - 0.5 * width),
            };
            if from < taken {
                return None;
            }
            taken = from + width;
            Some(format!(
                "<text x=\"{}\" y=\"{y}\" text-anchor=\"{side}\">{}</text>",
                pixel(x),
                escaped(&label(*tick))
            ))
        });
        [labels.collect(), lines.collect()]
    }
}

/// Whether a ratio is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    Better,
    Worse,
    Neither,
}

impl Sense {
    /// That of the word for what was shown.
    pub fn of(word: &str) -> Self {
        match word {
            "better" => Self::Better,
            "worse" => Self::Worse,
            _ => Self::Neither,
        }
    }

    /// The class of such a word on a page.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Better => "reliable",
            Self::Worse => "invalid",
            Self::Neither => "",
        }
    }
}

/// One line of the picture.
#[derive(Clone, Debug)]
pub(crate) struct RatioLine {
    pub label: String,
    pub ratio: Estimate,
    pub word: String,
}

/// The ratios of a run whose table asks for it, as a picture; `None` where it has none.
pub fn ratios_of_run_svg(run: &Run) -> Option<String> {
    let mut tables = run.tables.iter();
    let (table, metric) = tables.find_map(|it| Some((it, it.show.around_one.as_ref()?)))?;
    let lines = table.rows.iter().filter_map(|row| {
        Some(RatioLine {
            label: table.row_name(row),
            ratio: row.figure(metric)?.value,
            word: row.word(SHOWN).to_owned(),
        })
    });
    let lines: Vec<RatioLine> = lines.collect();
    let note = "Each with its 95 % interval.";
    (!lines.is_empty()).then(|| ratios_svg(&table.title, note, &lines))
}

/// A file with a line for each ratio and a logarithmic axis beneath; those without an interval are
/// a dot.
pub(crate) fn ratios_svg(title: &str, note: &str, lines: &[RatioLine]) -> String {
    let strip = Strip {
        ends: [LEFT, RIGHT],
        ..Strip::around_one(lines.iter().map(|it| it.ratio))
    };
    let floor = TOP + HEIGHT * lines.len() as f64;
    let [labels, grid] = strip.scale(usize::MAX, floor + 16.0, |it| tick_label(Unit::Ratio, it));
    let mut text = file_head((PICTURE, floor + 32.0), title);
    text += &format!(
        "<text class=\"title\" y=\"16\">{}</text>\n<text y=\"34\">{}</text>\n{labels}\n\
         <text x=\"{RIGHT}\" y=\"{}\" text-anchor=\"end\">ratio (log). The dashed line is no \
         change</text>\n<g class=\"strip\">\n",
        escaped(title),
        escaped(note),
        floor + 32.0,
    );
    for (place, line) in lines.iter().enumerate() {
        let Estimate {
            value, low, high, ..
        } = line.ratio;
        let printed = match line.ratio.is_bounded() {
            true => {
                let (value, interval) = format_interval_count(value, low, high);
                format!("{value} ({interval})")
            }
            false => format!("{value:.2}"),
        };
        let class = match Sense::of(&line.word) {
            Sense::Better => "better",
            Sense::Worse => "worse",
            Sense::Neither => "s0",
        };
        text += &format!(
            "<g class=\"{class}\" transform=\"translate(0 {})\"><path class=\"grid\" d=\"{grid}\"/>\
             <text x=\"{}\" y=\"12\" text-anchor=\"end\">{}</text>{}\
             <text x=\"{}\" y=\"12\">{}</text></g>\n",
            TOP + HEIGHT * place as f64,
            LEFT - 14.0,
            escaped(&line.label),
            strip.ratio(line.ratio),
            RIGHT + 14.0,
            escaped(format!("{printed}  {}", line.word).trim_end())
        );
    }
    text + "</g>\n</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strips(ratios: &[Option<Estimate>], is_unicode: bool) -> Vec<String> {
        let axis = strip_axis(ratios.iter().flatten().copied());
        let strip =
            |it: &Option<Estimate>| it.map_or_else(String::new, |it| strip(it, &axis, is_unicode));
        ratios.iter().map(strip).collect()
    }

    fn ratio(low: f64, value: f64, high: f64) -> Option<Estimate> {
        let exact = Estimate::exact(value, 8.0);
        Some(Estimate { low, high, ..exact })
    }

    #[test]
    fn equal_factors_stand_equally_far_from_one() {
        let found = strips(
            &[
                ratio(0.4, 0.5, 0.6),
                ratio(1.0, 1.0, 1.0),
                ratio(1.6, 2.0, 2.5),
                ratio(0.0, 3.0, 9.0),
                None,
            ],
            false,
        );
        assert_eq!(
            found,
            [" --o-   |", "        o", "        |   -o--", "", ""].map(str::to_owned)
        );
    }

    #[test]
    fn an_interval_around_one_shows_it() {
        let found = strips(&[ratio(0.8, 1.1, 1.3)], true);
        assert_eq!(found, [" ──────┊──●─────"]);
    }

    #[test]
    fn each_ratio_is_a_line_around_one() {
        let ratio = |value: f64, low: f64, high: f64| Estimate {
            low,
            high,
            ..Estimate::exact(value, 10.0)
        };
        let line = |label: &str, ratio, word: &str| RatioLine {
            label: label.into(),
            ratio,
            word: word.into(),
        };
        let lines = [
            line("p99", ratio(1.5, 1.4, 1.6), "worse"),
            line("iops", ratio(1.0, 0.97, f64::INFINITY), ""),
            line("none", ratio(f64::NAN, f64::NAN, f64::NAN), "<"),
        ];
        let svg = ratios_svg("a & b", "note", &lines);
        assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
        assert_eq!(svg.matches("class=\"bar\"").count(), 1, "{svg}");
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
