//! Reads and writes of a mix, separately.

use crate::measurement::{KindTimes, Measurement};
use crate::metric::*;
use crate::table::{Row, Table};

/// Name of the table.
pub(crate) const NAME: &str = "operations";

/// Operation kinds of each mixed trial, if their times are known. With one trial they have their
/// own names, for a goal with its rate appended, else with the trial's name as a prefix.
pub(super) fn table(measurements: &[Measurement]) -> Table {
    let mut own = measurements.iter().filter(|it| !it.is_for_goal);
    let own = own.next().filter(|_| own.next().is_none());
    let rows = measurements.iter().flat_map(|it| {
        let kinds = it.kinds.iter().filter(|kind| kind.response.is_some());
        kinds.map(move |kind| row(level(own, it, kind), it, kind))
    });
    Table::new(NAME, &["operation"], rows.collect())
}

fn level(own: Option<&Measurement>, it: &Measurement, kind: &KindTimes) -> String {
    let rest = own.and_then(|own| it.name.strip_prefix(&own.name));
    match rest {
        Some(rest) => format!("{}{rest}", kind.kind),
        None => format!("{}-{}", it.name, kind.kind),
    }
}

fn row(level: String, it: &Measurement, kind: &KindTimes) -> Row {
    let share = kind.count as f64 / it.completions_all.max(1) as f64;
    let iops = IOPS.of(it.throughput.scale(share));
    let times = kind.response.iter();
    let times = times.flat_map(|times| LATENCY.of_times(times));
    let trust = it.trust();
    let figures = std::iter::once(iops).chain(times);
    Row::new(vec![level], figures, "latency", trust)
}
