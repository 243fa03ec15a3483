//! A plot in characters: for a page of text, and for the full screen, which colours them.

use super::axis::tick_label;
use super::{Extent, Guide, Guided, PlaceLook, Plot, Series};

/// Columns for the names on the left, with the axis.
const NAMES: usize = 10;
/// Rows below the series: the axis, its names, the key.
pub(crate) const ROWS_BELOW: usize = 3;
/// The places of a series, in order of the series.
const SIGNS: [char; 3] = ['●', '○', '◐'];
/// Where on a height something was found, and a range of the axis across.
const FOUND: &str = "◆";
const RANGE: &str = "┊";
/// Dots of a character of braille, upper left to lower right.
const BRAILLE: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// A text as it is typed, not as in print.
fn typed(text: &str) -> String {
    text.replace('µ', "u").replace('–', "..")
}

/// What a character is a part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GlyphPart {
    /// Nothing.
    #[default]
    Blank,
    /// An axis, its ticks and names, a range, the key.
    Axis,
    /// A height to look for.
    Height,
    /// A line through places.
    Line,
    /// An interval.
    Interval,
    /// What is said of a height.
    Text,
    /// What was found on a height.
    Found,
    /// A place of the series with this number.
    Series(usize),
}

/// A character of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyph {
    pub sign: char,
    pub part: GlyphPart,
}

const BLANK: Glyph = Glyph {
    sign: ' ',
    part: GlyphPart::Blank,
};

/// The nearest character of ASCII.
pub const fn ascii(sign: char) -> char {
    match sign {
        ' '..='~' => sign,
        '─' | '╌' | '·' | '–' => '-',
        '│' | '┊' => '|',
        '┌'..='╬' => '+',
        '●' => '*',
        '◆' | '█' | '▇' | '▆' => '#',
        '○' => 'o',
        '◐' => 'x',
        '░' | '▂' | '\u{2800}'..='\u{28ff}' => '.',
        '▁' => '_',
        '▃' | '▄' => ':',
        '▅' => '=',
        '…' => '~',
        'µ' => 'u',
        _ => '?',
    }
}

impl Plot {
    /// Rows of so many characters from the top: the series in `rows` of them, and what stands
    /// below, with as many rows of the key as it takes. Empty where that is no room.
    pub fn glyphs(&self, columns: usize, rows: usize) -> Vec<Vec<Glyph>> {
        if columns < NAMES + 2 || rows < 2 {
            return Vec::new();
        }
        let mut sheet = Sheet {
            plot: self,
            cells: vec![vec![BLANK; columns]; rows + ROWS_BELOW],
            rows,
        };
        sheet.axes();
        let heights = || self.guides.iter().filter(|it| it.of == Guided::Up);
        heights().for_each(|it| sheet.height(it));
        for series in &self.series {
            sheet.line(&series.line);
        }
        for guide in &self.guides {
            sheet.guide(guide);
        }
        // Nothing hides a place of the first series.
        for (number, series) in self.series.iter().enumerate().rev() {
            sheet.places(number, series);
        }
        heights().for_each(|it| sheet.label(it));
        sheet.key();
        sheet.cells
    }
}

/// A plot on its characters; rows and columns are counted from the upper left.
struct Sheet<'a> {
    plot: &'a Plot,
    cells: Vec<Vec<Glyph>>,
    rows: usize,
}

impl Sheet<'_> {
    fn columns(&self) -> usize {
        self.cells[0].len()
    }

    /// Where in the grid of so many cells for each character a place is.
    fn at(&self, [x, y]: [f64; 2], fine: [usize; 2]) -> [usize; 2] {
        let place = |share: f64, cells: usize| (share * (cells - 1) as f64).round() as usize;
        let column = place(
            self.plot.across.axis.share(x),
            (self.columns() - NAMES) * fine[0],
        );
        let row = place(1.0 - self.plot.up.axis.share(y), self.rows * fine[1]);
        [column + NAMES * fine[0], row]
    }

    fn column(&self, x: f64) -> usize {
        self.at([x, 0.0], [1, 1])[0]
    }

    fn row(&self, y: f64) -> usize {
        self.at([0.0, y], [1, 1])[1]
    }

    /// Writes from a place, as far as there is room.
    fn put(&mut self, row: usize, column: usize, part: GlyphPart, text: &str) {
        for (cell, sign) in self.cells[row][column..].iter_mut().zip(text.chars()) {
            *cell = Glyph { sign, part };
        }
    }

    fn is_free(&self, row: usize, mut columns: std::ops::Range<usize>, is: &[GlyphPart]) -> bool {
        columns.end <= self.columns() && columns.all(|it| is.contains(&self.cells[row][it].part))
    }

    /// Both axes with names where there is room: of heights first, then of ticks.
    fn axes(&mut self) {
        let (plot, floor) = (self.plot, self.rows);
        for row in 0..floor {
            self.put(row, NAMES - 1, GlyphPart::Axis, "│");
        }
        let mut is_named = vec![false; floor];
        let heights = plot.guides.iter().filter(|it| it.of == Guided::Up);
        let heights = heights.map(|it| {
            let tick = tick_label(plot.up.unit, it.at.value);
            (it.at.value, tick, 0)
        });
        let ticks = plot
            .up
            .ticks
            .iter()
            .map(|(at, name)| (*at, name.clone(), 1));
        for (at, name, apart) in heights.chain(ticks) {
            let row = self.row(at);
            let around = row.saturating_sub(apart)..=(row + apart).min(floor - 1);
            if is_named[around].contains(&true) {
                continue;
            }
            is_named[row] = true;
            let name: String = typed(&name).chars().take(NAMES - 2).collect();
            self.put(row, 0, GlyphPart::Axis, &format!("{name:>0$} ┤", NAMES - 2));
        }
        let line = "─".repeat(self.columns() - NAMES);
        self.put(floor, NAMES - 1, GlyphPart::Axis, &format!("└{line}"));
        for (at, name) in &plot.across.ticks {
            let (column, length) = (self.column(*at), name.chars().count());
            let first = column
                .saturating_sub(length / 2)
                .min(self.columns().saturating_sub(length));
            let around = first.saturating_sub(2)..(first + length + 2).min(self.columns());
            if self.is_free(floor + 1, around, &[GlyphPart::Blank]) {
                self.put(floor, column, GlyphPart::Axis, "┬");
                self.put(floor + 1, first, GlyphPart::Axis, name);
            }
        }
    }

    /// A height across, behind everything else.
    fn height(&mut self, guide: &Guide) {
        let row = self.row(guide.at.value);
        for column in (NAMES..self.columns()).step_by(2) {
            self.put(row, column, GlyphPart::Height, "·");
        }
    }

    /// A line through places, in dots of braille.
    fn line(&mut self, places: &[[f64; 2]]) {
        const FINE: [usize; 2] = [2, 4];
        let known: Vec<&[f64; 2]> = places.iter().filter(|it| !it[0].is_nan()).collect();
        for pair in known.windows(2) {
            let [from, to] = [pair[0], pair[1]].map(|it| self.at(*it, FINE));
            let steps = from[0].abs_diff(to[0]).max(from[1].abs_diff(to[1])).max(1);
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                let between = |side: usize| {
                    let [from, to] = [from[side] as f64, to[side] as f64];
                    (from + share * (to - from)).round() as usize
                };
                let [x, y] = [between(0), between(1)];
                let cell = &mut self.cells[y / FINE[1]][x / FINE[0]];
                let known = match cell.part {
                    GlyphPart::Line => u32::from(cell.sign),
                    _ => 0x2800,
                };
                let sign = char::from_u32(known | BRAILLE[y % FINE[1]][x % FINE[0]]);
                *cell = Glyph {
                    sign: sign.expect("a character of braille"),
                    part: GlyphPart::Line,
                };
            }
        }
    }

    /// A range as a line upwards, or what was found on a height.
    fn guide(&mut self, guide: &Guide) {
        if guide.of == Guided::Across {
            let column = self.column(guide.at.value);
            for row in 0..self.rows {
                self.put(row, column, GlyphPart::Axis, RANGE);
            }
        } else if let Some(found) = guide.found {
            let row = self.row(guide.at.value);
            self.interval(row, found);
            self.put(row, self.column(found.value), GlyphPart::Found, FOUND);
        }
    }

    /// An interval across that is wide enough to be seen.
    fn interval(&mut self, row: usize, of: Extent) {
        let [first, last] = [of.low, of.high].map(|it| self.column(it));
        if last >= first + 2 {
            let line = "─".repeat(last - first - 1);
            self.put(row, first, GlyphPart::Interval, &format!("├{line}┤"));
        }
    }

    fn places(&mut self, number: usize, series: &Series) {
        let sign = SIGNS[number % SIGNS.len()].to_string();
        for [x, y] in series.places.iter().map(|it| it.at) {
            if number != 1 && series.look == PlaceLook::Dots {
                self.interval(self.row(y.value), x);
            }
        }
        for [x, y] in series.places.iter().map(|it| it.at) {
            let [column, row] = self.at([x.value, y.value], [1, 1]);
            self.put(row, column, GlyphPart::Series(number), &sign);
        }
    }

    /// What is said of a height, on its line where nothing else is.
    fn label(&mut self, guide: &Guide) {
        let text = format!(" {} ", typed(&guide.text));
        let (row, length) = (self.row(guide.at.value), text.chars().count());
        let places = [NAMES + 2, self.columns().saturating_sub(length + 2)];
        // One character more at both ends keeps the text apart from the curve.
        let is_free = |first: &usize| {
            let around = first.saturating_sub(1)..first + length + 1;
            self.is_free(row, around, &[GlyphPart::Blank, GlyphPart::Height])
        };
        if let Some(first) = places.into_iter().find(is_free).filter(|_| length > 2) {
            self.put(row, first, GlyphPart::Text, &text);
        }
    }

    /// What the signs mean.
    fn key(&mut self) {
        let (plot, room) = (self.plot, self.columns() - NAMES);
        let series = plot.series.iter().zip(SIGNS);
        let series = series.filter(|(it, _)| !it.places.is_empty());
        let series = series.map(|(it, sign)| format!("{sign} {}", it.name));
        let found = plot.guides.iter().any(|it| it.found.is_some());
        let ranges = plot.guides.iter().filter(|it| it.of == Guided::Across);
        let ranges = ranges.map(|it| format!("{RANGE} {}", it.label));
        let parts = [plot.across.name.clone()].into_iter().chain(series);
        let parts = parts
            .chain(found.then(|| format!("{FOUND} level")))
            .chain(ranges);
        let (mut row, mut column) = (self.rows + 2, 0);
        for part in parts {
            let length = part.chars().count();
            if column > 0 && column + length > room {
                self.cells.push(vec![BLANK; room + NAMES]);
                (row, column) = (row + 1, 0);
            }
            self.put(row, NAMES + column, GlyphPart::Axis, &part);
            column += length + 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use results::Unit;

    use super::*;
    use crate::plot::axis::AxisScale;
    use crate::plot::{PlotPoint, SideOf};

    /// A line through two places, the interval of the first, a height with what was found on it and
    /// what is said of that.
    #[test]
    fn a_plot_in_characters_says_all_that_it_holds() {
        let place = |[value, y]: [f64; 2], [low, high]: [f64; 2]| {
            let at = [Extent { value, low, high }, Extent::exact(y)];
            PlotPoint::new(at, String::new())
        };
        let places = [
            place([4.0, 1.0], [2.0, 6.0]),
            place([10.0, 5.0], [10.0, 10.0]),
        ];
        let series = Series::joined("measured", places.into_iter());
        let height = Guide {
            text: "9 µs – 10 µs".into(),
            found: Some(Extent::exact(7.0)),
            ..Guide::height(Extent::exact(3.0), String::new())
        };
        let sides = [("load", Unit::Count), ("time", Unit::Count)];
        let sides = sides.map(|(name, unit)| SideOf {
            name,
            unit,
            scale: AxisScale::FromZero,
        });
        let plot = Plot::new(sides, vec![series], vec![height]);
        let lines = plot.glyphs(60, 6).into_iter();
        let lines = lines.map(|line| line.iter().map(|it| it.sign).collect::<String>());
        let lines: Vec<String> = lines.map(|it| it.trim_end().to_owned()).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        5 ┤                                            ⣀⡠⠤⠔⠒●
          │                                     ⢀⣀⠤⠔⠒⠊⠉
        3 ┤·  9 us .. 10 us  · · · · · · ·⣀⡠⠤◆⠒⠉⠁· · · · · ·
          │                        ⢀⣀⠤⠔⠒⠊⠉
          │          ├─────────●────────┤
        0 ┤
          └┬─────────┬─────────┬────────┬─────────┬─────────┬
           0         2         4        6         8        10
           load  ● measured  ◆ level
        ");
        assert!(plot.glyphs(11, 6).is_empty() && plot.glyphs(38, 1).is_empty());
    }
}
