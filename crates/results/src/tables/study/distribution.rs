//! Distributions of individual times.

use crate::metric::VALUES;
use crate::reading::Unit;
use crate::show::Show;
use crate::study::{Study, StudyCell, StudyFigure};
use crate::table::{Row, Table, Trust};

/// Maximum number of bins.
const BINS_MAX: f64 = 12.0;
/// If the maximum exceeds the median by more than this factor, bins grow as 1, 2, 5, 10.
const DECADE: f64 = 10.0;
/// Minimum number of values for a distribution.
const VALUES_MIN: usize = 10;
/// Maximum number of distributions on screen.
const SHOWN_MAX: usize = 8;

impl Study {
    /// Histograms of the individual times, over all repeats of a combination.
    pub(super) fn distributions(&self) -> Option<Table> {
        let times = self.cells.iter().flat_map(|cell| {
            let figures = cell.figures.iter().filter(|it| it.unit == Unit::Seconds);
            figures.map(move |figure| (cell, figure, self.single_values(cell, figure)))
        });
        let times = times.filter(|(.., values)| values.len() >= VALUES_MIN);
        let each = times.map(|(cell, figure, values)| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let name = format!(
                "{} single values of {}{}, mean {}",
                values.len(),
                figure.reading.trim_start_matches("mean "),
                self.combination(cell),
                figure.unit.format(mean)
            );
            binned(&name, &values, figure.unit)
        });
        let each: Vec<Vec<Row>> = each.collect();
        let show = Show {
            is_detail: each.len() > SHOWN_MAX,
            ..Show::default().grouped_by("of").bar("values")
        };
        let table = Table::new("distributions", &["of", "within"], each.concat());
        let title = match each.as_slice() {
            [one] => one.first().map_or("", |row| &row.levels[0]),
            _ => "Distributions",
        };
        let table = table.titled(title).of_steps().shown(show);
        (!table.rows.is_empty()).then_some(table)
    }

    fn single_values(&self, cell: &StudyCell, figure: &StudyFigure) -> Vec<f64> {
        let readings = self.of_cell(cell).flat_map(|it| &it.readings);
        let parts = readings.filter(|it| it.name == figure.reading);
        let parts = parts.flat_map(|it| it.parts.iter().copied());
        parts.filter(|it| it.is_finite()).collect()
    }
}

/// A row per bin with its count.
fn binned(of: &str, values: &[f64], unit: Unit) -> Vec<Row> {
    let edges = edges(values);
    let mut counts = vec![0_usize; edges.len() - 1];
    for value in values {
        let above = edges.partition_point(|edge| edge <= value);
        counts[above.saturating_sub(1).min(edges.len() - 2)] += 1;
    }
    let bins = counts.into_iter().zip(edges.windows(2));
    let rows = bins.map(|(count, ends)| {
        let bin = format!("{} to {}", unit.format(ends[0]), unit.format(ends[1]));
        let count = VALUES.count(count as u64);
        Row::new(vec![of.to_owned(), bin], [count], "", Trust::Reliable)
    });
    rows.collect()
}

/// The edges of bins: of equal round width, or 1, 2, 5, 10 if most values are less than a tenth of
/// the maximum, when equal bins would put nearly all into the first.
fn edges(values: &[f64]) -> Vec<f64> {
    let highest = values.iter().copied().fold(f64::MIN, f64::max);
    let lowest = values.iter().copied().fold(f64::MAX, f64::min);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[sorted.len() / 2];
    if lowest > 0.0 && highest / middle > DECADE {
        let mut edges = vec![round_step_below(lowest)];
        while let Some(&last) = edges.last()
            && last <= highest
        {
            edges.push(round_step(last * 1.01));
        }
        return edges;
    }
    // Bins start at zero to show absolute times, unless all values are far from zero.
    let from = if lowest < highest / 2.0 { 0.0 } else { lowest };
    let step = round_step((highest - from) / BINS_MAX);
    let first = (from / step).floor();
    let count = ((highest / step).floor() - first) as usize + 1;
    (0..=count).map(|bin| (first + bin as f64) * step).collect()
}

/// The largest of 1, 2, 5, 10 ... not above `most`.
fn round_step_below(most: f64) -> f64 {
    let power = 10_f64.powf(most.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|digit| digit * power);
    let fitting = steps.into_iter().find(|step| *step <= most * 1.000_001);
    fitting.unwrap_or(power)
}

/// The smallest of 1, 2, 5, 10 ... not below `least`.
fn round_step(least: f64) -> f64 {
    if least <= 0.0 {
        return 1e-9;
    }
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    let fitting = steps.into_iter().find(|step| *step >= least * 0.999_999);
    fitting.unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: &[f64]) -> Vec<f64> {
        let rows = binned("times", values, Unit::Seconds);
        let counts = rows.iter().map(|it| it.figures[0].value.value);
        counts.collect()
    }

    #[test]
    fn bins_are_round_and_hold_every_value() {
        let values: Vec<f64> = (0..91).map(|it| f64::from(it) * 0.97).collect();
        let rows = binned("times", &values, Unit::Seconds);
        assert_eq!(rows.len(), 9);
        assert_eq!(rows[0].levels, ["times", "0 s to 10.0 s"]);
        assert_eq!(counts(&values)[0], 11.0);
        assert_eq!(counts(&values).iter().sum::<f64>(), 91.0);
        // All values equal, or one far from zero.
        assert_eq!(counts(&[3.0; 12]).len(), 1);
        assert!(counts(&[100.0, 101.0, 103.0]).len() <= 13);
    }

    /// 719 of 728 disk times were in the first of equal bins up to the maximum.
    #[test]
    fn values_over_decades_have_bins_that_grow() {
        let of_disk = (0..700).map(|it| 0.001 + f64::from(it % 7) * 0.001);
        let values: Vec<f64> = of_disk.chain([0.9, 0.03]).collect();
        let expected = [100.0, 300.0, 300.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        assert_eq!(counts(&values), expected);
    }

    /// Six of 728 positions of a tape were found in 5 ms, and nine of the growing bins were empty.
    /// The document of 1995 has bins of 10 s.
    #[test]
    fn a_few_short_values_do_not_make_the_bins_of_all_others_grow() {
        let of_tape = (0..91).map(|it| 1.0 + f64::from(it) * 0.9);
        let values: Vec<f64> = of_tape.chain([0.005, 0.006]).collect();
        let rows = binned("times", &values, Unit::Seconds);
        let bins: Vec<&str> = rows.iter().map(|it| it.levels[1].as_str()).collect();
        assert_eq!((bins.len(), bins[0]), (9, "0 s to 10.0 s"));
        assert_eq!(counts(&values)[0], 12.0);
    }
}
