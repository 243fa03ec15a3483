//! What was completed in each interval of a trial, with a bar of its p99.

use results::{Interval, Measurement, SteadyLaw, Work, percentile_in};
use units::{format_count, format_duration_ns};

use crate::clock_time::ClockTime;
use crate::machine_over_time::machine_over_time;
use crate::page::TextPage;
use crate::style::Tone;
use crate::table::{Align, TextTable};

/// Rows where not all are asked for.
const ROWS: usize = 20;
/// Columns of the longest bar.
const BAR: f64 = 20.0;

/// The intervals of a trial that was to be cut into them: all, or those with the highest p99. Of a
/// load that a law describes, all of them are shown, if need be neighbours in one.
pub(crate) fn over_time(page: &mut TextPage<'_>, m: &Measurement) {
    let Some(series) = &m.series else { return };
    if m.work == Work::Transaction {
        return machine_over_time(page, series);
    }
    let law = m.steady_law();
    let intervals = match law {
        Some(_) if !page.style.all => Interval::condensed(&m.intervals, ROWS),
        _ => m.intervals.clone(),
    };
    let rows: Vec<IntervalRow> = intervals.iter().map(IntervalRow::of).collect();
    let shown = match page.style.all {
        true => rows.iter().collect(),
        false => slowest(&rows),
    };
    let bars = Bars::of(&rows, law, page.style.unicode);
    let clock = ClockTime::of(m);
    let digits = digits(intervals.first().map_or(0, |it| it.length_ns));
    let mut table = TextTable::new(&[
        (
            if clock.is_some() { "time" } else { "from" },
            Align::Right,
            9,
        ),
        ("IOPS", Align::Right, 9),
        ("p50", Align::Right, 7),
        ("p99", Align::Right, 9),
        ("max", Align::Right, 8),
        (bars.name, Align::Left, 6),
    ]);
    for row in &shown {
        let begin = match &clock {
            Some(clock) => clock.at(row.begin_ns, digits),
            None => format_duration_ns(row.begin_ns as f64),
        };
        table.row(Tone::Plain, row.cells(begin, &bars));
    }
    for (name, rate) in law.into_iter().flat_map(of_law) {
        let mut cells: [String; 6] = Default::default();
        (cells[0], cells[1]) = (name.into(), format_count(rate));
        cells[5] = bars.bar(rate);
        table.row(Tone::Quiet, cells);
    }
    page.blank();
    page.table(&table);
    if let Some(law) = law {
        page.paragraph(Tone::Quiet, &format!("law: {}", law.name));
    }
    if shown.len() < rows.len() {
        let left_out = format!(
            "{} of {} intervals, those with the highest p99: --all shows all",
            shown.len(),
            rows.len()
        );
        page.paragraph(Tone::Quiet, &left_out);
    }
}

/// Digits of a second by which the beginnings of neighbours differ.
fn digits(length_ns: u64) -> usize {
    match length_ns {
        0..10_000_000 => 3,
        10_000_000..100_000_000 => 2,
        _ => 1,
    }
}

fn of_law(law: &SteadyLaw) -> [(&'static str, f64); 2] {
    [
        ("law: fresh", law.fresh_per_second),
        ("law: steady", law.steady_per_second),
    ]
}

/// What bars draw.
struct Bars {
    name: &'static str,
    of: fn(&IntervalRow) -> f64,
    highest: f64,
    ink: &'static str,
}

impl Bars {
    /// Of p99; of a load that a law describes, the load.
    fn of(rows: &[IntervalRow], law: Option<&SteadyLaw>, unicode: bool) -> Self {
        let (name, of): (_, fn(&IntervalRow) -> f64) = match law {
            Some(_) => ("IOPS", |it| it.per_second),
            None => ("p99", |it| it.p99_ns.or(it.max_ns).unwrap_or(0.0)),
        };
        let by_law = law.map_or(f64::MIN_POSITIVE, |law| law.fresh_per_second);
        Self {
            name,
            of,
            highest: rows.iter().map(of).fold(by_law, f64::max),
            ink: if unicode { "█" } else { "#" },
        }
    }

    fn bar(&self, value: f64) -> String {
        self.ink
            .repeat((value / self.highest * BAR).round() as usize)
    }
}

/// Those with the highest p99, in the order of their time.
fn slowest(rows: &[IntervalRow]) -> Vec<&IntervalRow> {
    let mut slowest: Vec<&IntervalRow> = rows.iter().collect();
    slowest.sort_by(|one, other| other.slowness().total_cmp(&one.slowness()));
    slowest.truncate(ROWS);
    slowest.sort_by_key(|it| it.begin_ns);
    slowest
}

/// What is said of an interval.
struct IntervalRow {
    begin_ns: u64,
    per_second: f64,
    p50_ns: Option<f64>,
    p99_ns: Option<f64>,
    max_ns: Option<f64>,
}

impl IntervalRow {
    fn of(interval: &Interval) -> Self {
        let response = interval.response();
        let percentile = |p| percentile_in(&response, p).map(|it| it as f64);
        Self {
            begin_ns: interval.begin_ns(),
            per_second: interval.per_second(&response),
            p50_ns: percentile(0.5),
            p99_ns: percentile(0.99),
            max_ns: (!response.is_empty()).then(|| response.max() as f64),
        }
    }

    fn cells(&self, begin: String, bars: &Bars) -> [String; 6] {
        let time = |time: Option<f64>| time.map(format_duration_ns).unwrap_or_default();
        [
            begin,
            format_count(self.per_second),
            time(self.p50_ns),
            time(self.p99_ns),
            time(self.max_ns),
            bars.bar((bars.of)(self)),
        ]
    }

    /// Nothing completed is slowest.
    fn slowness(&self) -> f64 {
        self.p99_ns.or(self.max_ns).unwrap_or(f64::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: intervals of 50 ms had the same time in pairs.
    #[test]
    fn neighbours_begin_at_times_of_their_own() {
        let check = |ms: u64, expected: usize| assert_eq!(digits(ms * 1_000_000), expected);
        check(1_000, 1);
        check(100, 1);
        check(50, 2);
        check(5, 3);
    }
}
