//! A small chart of response time against load in text, both axes logarithmic.

use results::{Curve, CurvePoint};
use units::format_count;

use crate::curve::level_name;
use crate::style::Style;

/// Columns for the names on the left, without the axis.
const NAMES: usize = 8;
/// The axes span at least this factor, so that there are always two ticks.
const SPAN_MIN: f64 = 5.0;
/// Free space at both ends of an axis, as a share of its span.
const MARGIN: f64 = 0.03;
/// Levels further away than this factor from every point are left out: they would flatten the rest.
const LEVEL_REACH: f64 = 4.0;

/// Characters of a chart: its whole width, and the height of its inner area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// The characters that a chart is made of.
struct Ink {
    point: char,
    scout: char,
    level: char,
    saturation: char,
    side: char,
    side_tick: char,
    corner: char,
    floor: char,
    floor_tick: char,
}

const ASCII: Ink = Ink {
    point: '*',
    scout: 'o',
    level: '.',
    saturation: ':',
    side: '|',
    side_tick: '+',
    corner: '+',
    floor: '-',
    floor_tick: '+',
};

const UNICODE: Ink = Ink {
    point: '●',
    scout: '○',
    level: '┈',
    saturation: '┊',
    side: '│',
    side_tick: '┤',
    corner: '└',
    floor: '─',
    floor_tick: '┬',
};

/// One axis: the logarithm of a range, cut into cells.
struct Scale {
    low: f64,
    high: f64,
    cells: usize,
}

impl Scale {
    /// The range of the positive finite values, if there are any.
    fn over(values: impl Iterator<Item = f64>, cells: usize) -> Option<Self> {
        let logs = values.filter(|value| is_drawable(*value)).map(f64::ln);
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        if low > high || cells < 2 {
            return None;
        }
        let missing = (SPAN_MIN.ln() - (high - low)).max(0.0) / 2.0;
        let margin = (high - low) * MARGIN;
        let spare = missing.max(margin);
        Some(Self {
            low: low - spare,
            high: high + spare,
            cells,
        })
    }

    /// The cell of a value, counted from the low end.
    fn cell(&self, value: f64) -> Option<usize> {
        if !is_drawable(value) {
            return None;
        }
        let share = (value.ln() - self.low) / (self.high - self.low);
        (0.0..=1.0)
            .contains(&share)
            .then(|| (share * (self.cells - 1) as f64).round() as usize)
    }

    /// Round values on the axis: powers of ten first, then five times as much, and so on.
    fn ticks(&self) -> Vec<f64> {
        let exponents =
            || (self.low / 10_f64.ln()).floor() as i32..=(self.high / 10_f64.ln()) as i32 + 1;
        [1.0, 5.0, 2.0, 3.0, 7.0]
            .into_iter()
            .flat_map(|digit| exponents().map(move |exponent| digit * 10_f64.powi(exponent)))
            .filter(|value| self.cell(*value).is_some())
            .collect()
    }
}

fn is_drawable(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// The chart, one line a string, none wider than `size.columns`; a sentence where nothing can be
/// drawn.
pub(crate) fn chart(curve: &Curve, size: Size, style: &Style) -> Vec<String> {
    let ink = if style.unicode { &UNICODE } else { &ASCII };
    let columns = size.columns.saturating_sub(NAMES + 2);
    let time_of = |point: &CurvePoint| point.time(curve.channel).value;
    let drawable: Vec<&CurvePoint> = curve
        .points
        .iter()
        .filter(|point| is_drawable(point.load.value) && is_drawable(time_of(point)))
        .collect();
    let loads = drawable.iter().map(|point| point.load.value);
    let highest = curve.saturation.map(|saturation| saturation.load.value);
    let responses: Vec<f64> = drawable.iter().map(|&point| time_of(point)).collect();
    let levels = levels_in_reach(curve, &responses);
    let across = Scale::over(loads.chain(highest), columns);
    let up = Scale::over(
        responses
            .iter()
            .copied()
            .chain(levels.iter().map(|&l| l as f64)),
        size.rows,
    );
    let (Some(across), Some(up), false) = (across, up, drawable.is_empty()) else {
        return vec!["no point of the curve was measured".to_owned()];
    };

    let mut cells = vec![vec![' '; columns]; size.rows];
    for row in levels.iter().filter_map(|&level| up.cell(level as f64)) {
        for cell in cells[row].iter_mut().step_by(2) {
            *cell = ink.level;
        }
    }
    if let Some(column) = highest.and_then(|load| across.cell(load)) {
        for row in &mut cells {
            row[column] = ink.saturation;
        }
    }
    // Scouts first: a point that counts is never hidden by one that does not.
    let (scouts, results): (Vec<&CurvePoint>, Vec<_>) =
        drawable.iter().copied().partition(|point| point.is_scout);
    for point in scouts.iter().chain(&results) {
        if let (Some(column), Some(row)) = (across.cell(point.load.value), up.cell(time_of(point)))
        {
            cells[row][column] = if point.is_scout { ink.scout } else { ink.point };
        }
    }
    let mut lines = with_side_axis(&cells, &up, &levels, ink);
    lines.extend(floor_axis(&across, ink));
    lines.extend(key(!scouts.is_empty(), highest.is_some(), columns, ink));
    lines
}

/// Levels near enough to the points to be worth a line.
fn levels_in_reach(curve: &Curve, responses: &[f64]) -> Vec<u64> {
    let low = responses.iter().copied().fold(f64::INFINITY, f64::min) / LEVEL_REACH;
    let high = responses.iter().copied().fold(0.0, f64::max) * LEVEL_REACH;
    let in_reach = |level: &u64| (low..=high).contains(&(*level as f64));
    curve
        .levels
        .iter()
        .map(|level| level.level_ns)
        .filter(in_reach)
        .collect()
}

/// The inner area from the top down, with levels and round times named on the left.
fn with_side_axis(cells: &[Vec<char>], up: &Scale, levels: &[u64], ink: &Ink) -> Vec<String> {
    let mut names: Vec<Option<String>> = vec![None; cells.len()];
    for &level in levels {
        if let Some(row) = up.cell(level as f64) {
            names[row].get_or_insert_with(|| level_name(level));
        }
    }
    for tick in up.ticks() {
        let Some(row) = up.cell(tick) else { continue };
        let around = row.saturating_sub(1)..=(row + 1).min(names.len() - 1);
        if names[around].iter().all(Option::is_none) {
            names[row] = Some(round_time(tick));
        }
    }
    let rows = cells.iter().zip(&names).rev();
    rows.map(|(row, name)| {
        let side = if name.is_some() {
            ink.side_tick
        } else {
            ink.side
        };
        let name = name.as_deref().unwrap_or_default();
        let inner: String = row.iter().collect();
        format!("{name:>NAMES$} {side}{}", inner.trim_end())
    })
    .collect()
}

/// A round time without empty decimals. Times that no device takes are still told apart.
fn round_time(nanos: f64) -> String {
    if (1.0..1e18).contains(&nanos) {
        level_name(nanos as u64)
    } else {
        format!("{nanos:.0e} ns")
    }
}

/// The axis of loads and the names of its ticks.
fn floor_axis(across: &Scale, ink: &Ink) -> [String; 2] {
    let mut floor = vec![ink.floor; across.cells];
    // One more column than the axis, for the corner, under which a name may begin.
    let mut names = vec![' '; across.cells + 1];
    for tick in across.ticks() {
        let Some(column) = across.cell(tick) else {
            continue;
        };
        let name: Vec<char> = format_count(tick).chars().collect();
        let centred = (column + 1).saturating_sub(name.len() / 2);
        let start = centred.min(names.len().saturating_sub(name.len()));
        let end = start + name.len();
        let free = start.saturating_sub(2)..(end + 2).min(names.len());
        if end > names.len() || names[free].iter().any(|&c| c != ' ') {
            continue;
        }
        names[start..end].copy_from_slice(&name);
        floor[column] = ink.floor_tick;
    }
    let names: String = names.into_iter().collect();
    [
        format!(
            "{:NAMES$} {}{}",
            "",
            ink.corner,
            floor.into_iter().collect::<String>()
        ),
        format!("{:NAMES$} {}", "", names.trim_end()),
    ]
}

/// What the characters mean, in as many lines as it takes.
fn key(has_scouts: bool, has_highest: bool, columns: usize, ink: &Ink) -> Vec<String> {
    let parts = [
        Some("IOPS".to_owned()),
        Some(format!("{} measured", ink.point)),
        has_scouts.then(|| format!("{} scout", ink.scout)),
        has_highest.then(|| format!("{} highest", ink.saturation)),
    ];
    let mut lines = vec![String::new()];
    for part in parts.into_iter().flatten() {
        let line = lines.last_mut().expect("never empty");
        if line.is_empty() {
            line.push_str(&part);
        } else if line.chars().count() + 3 + part.chars().count() <= columns {
            line.push_str("   ");
            line.push_str(&part);
        } else {
            lines.push(part);
        }
    }
    lines
        .into_iter()
        .map(|line| format!("{:NAMES$}  {line}", ""))
        .collect()
}
