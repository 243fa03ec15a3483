//! Ratios with their intervals as a chart of text: a line for each, around 1, on one axis.

use stats::Estimate;

use crate::axis::{Axis, ends};

/// Columns of a strip.
const WIDTH: usize = 17;
/// An interval of a ratio whose ends are this far from each other says nothing.
pub(crate) const SPREAD_MAX: f64 = 1000.0;

/// Whether a ratio has an interval that says something.
pub(crate) fn is_known(ratio: Estimate) -> bool {
    ratio.is_bounded() && ratio.low > 0.0 && ratio.high / ratio.low < SPREAD_MAX
}

/// A strip for each ratio, on one logarithmic axis; empty for those of which nothing is known.
pub(crate) fn strips(ratios: &[Option<Estimate>], is_unicode: bool) -> Vec<String> {
    let known = || ratios.iter().flatten().filter(|it| is_known(**it));
    let (low, high) = ends(known().flat_map(|it| [it.low, it.high, 1.0]));
    let axis = Axis::log(low, high, 0.0, (WIDTH - 1) as f64);
    let strip = |ratio: &Option<Estimate>| match ratio.filter(|it| is_known(*it)) {
        Some(ratio) => strip(ratio, &axis, is_unicode),
        None => String::new(),
    };
    ratios.iter().map(strip).collect()
}

fn strip(ratio: Estimate, axis: &Axis, is_unicode: bool) -> String {
    let [one, line, point] = match is_unicode {
        true => ['┊', '─', '●'],
        false => ['|', '-', 'o'],
    };
    let column = |value: f64| axis.at(value).round().clamp(0.0, (WIDTH - 1) as f64) as usize;
    let mut cells = [' '; WIDTH];
    cells[column(ratio.low)..=column(ratio.high)].fill(line);
    cells[column(1.0)] = one;
    cells[column(ratio.value)] = point;
    cells.iter().collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
