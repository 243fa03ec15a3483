//! Users of transactions.

use stats::Estimate;

use crate::measurement::Measurement;
use crate::reading::{Better, Unit};
use crate::table::{Figure, Role, Row, Table, Trust};
use crate::transactions::{TransactionLoad, Transactions, UserTimes};
use crate::warning::Warning;

/// Each number of users, and of several profiles each of them.
pub(super) fn table(found: &Transactions, measurements: &[Measurement]) -> Table {
    let rows = found.loads.iter().flat_map(|load| {
        let trial = measurements.iter().find(|it| it.name == load.measurement);
        let trust = trial.map_or(Trust::Sound, |it| it.trust());
        let warnings = trial.map_or(&[][..], |it| &it.warnings);
        let row = move |it: &UserTimes, steady| row((load, trust, warnings), it, steady);
        let of_profiles = load.profiles.iter().map(move |it| row(it, None));
        let all = row(&load.all, Some(load.per_second_steady));
        std::iter::once(all).chain(of_profiles)
    });
    Table::new("transactions", &["users", "profile"], rows.collect()).of_trials()
}

/// The rate of a single profile is known over the whole trial only, and without an interval.
fn row(
    (load, trust, warnings): (&TransactionLoad, Trust, &[Warning]),
    it: &UserTimes,
    steady: Option<Estimate>,
) -> Row {
    let rate = |value| Figure::new("tps", Unit::PerSecond, Better::Higher, value);
    let whole = || Figure::bare("tps", Unit::PerSecond, Better::Higher, it.per_second);
    let mut figures = vec![steady.map_or_else(whole, rate)];
    if it.transactions > 0 {
        figures.extend(Figure::of_times("latency", &it.from_due));
        let from_start = Figure::of_times("latency-from-start", &it.from_start);
        figures.extend(from_start.map(|figure| figure.as_role(Role::Detail)));
    }
    let count = it.transactions as f64;
    figures.push(Figure::exact("transactions", Unit::Count, count));
    let levels = vec![load.users.to_string(), it.name.clone()];
    Row::new(levels, figures, "latency", trust, warnings)
}
