//! What was completed in each interval of a trial, with a bar of its p99.

use results::{Interval, Measurement, Work, percentile_in};
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
/// Digits of a second of the time of day.
const DIGITS: usize = 1;

/// The intervals of a trial that was to be cut into them: all, or those with the highest p99. Of a
/// load that a law describes, all of them are shown, if need be neighbours in one.
pub(crate) fn over_time(page: &mut TextPage<'_>, m: &Measurement) {
    let Some(series) = &m.series else { return };
    if m.work == Work::Transaction {
        return machine_over_time(page, series);
    }
    let law = m.steady_law();
    let most = match law {
        Some(_) if !page.style.all => ROWS,
        _ => m.intervals.len(),
    };
    let intervals = Interval::condensed(&m.intervals, most);
    let rows: Vec<IntervalRow> = intervals.iter().map(IntervalRow::of).collect();
    let shown = match page.style.all {
        true => rows.iter().collect(),
        false => slowest(&rows),
    };
    let (drawn, drawn_of): (_, fn(&IntervalRow) -> f64) = match law {
        Some(_) => ("IOPS", |it| it.per_second),
        None => ("p99", |it| it.p99_ns.or(it.max_ns).unwrap_or(0.0)),
    };
    let by_law = law.map_or(0.0, |law| law.fresh_per_second);
    let highest = rows.iter().map(drawn_of).fold(by_law, f64::max);
    let ink = if page.style.unicode { "█" } else { "#" };
    let bar =
        |value: f64| ink.repeat((value / highest.max(f64::MIN_POSITIVE) * BAR).round() as usize);
    let clock = ClockTime::of(m);
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
        (drawn, Align::Left, 6),
    ]);
    let time = |time: Option<f64>| time.map(format_duration_ns).unwrap_or_default();
    for row in &shown {
        let begin = match &clock {
            Some(clock) => clock.at(row.begin_ns, DIGITS),
            None => format_duration_ns(row.begin_ns as f64),
        };
        let cells = [
            begin,
            format_count(row.per_second),
            time(row.p50_ns),
            time(row.p99_ns),
            time(row.max_ns),
            bar(drawn_of(row)),
        ];
        table.row(Tone::Plain, cells);
    }
    if let Some(law) = law {
        let of_law = [
            ("law: fresh", law.fresh_per_second),
            ("law: steady", law.steady_per_second),
        ];
        for (name, rate) in of_law {
            let mut cells: [String; 6] = Default::default();
            cells[0] = name.into();
            cells[1] = format_count(rate);
            cells[5] = bar(rate);
            table.row(Tone::Quiet, cells);
        }
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

    /// Nothing completed is slowest.
    fn slowness(&self) -> f64 {
        self.p99_ns.or(self.max_ns).unwrap_or(f64::INFINITY)
    }
}
