//! Tables of transactions: response times of users, activity of the machine, the largest number of
//! users, and the document's standard tests.

use stats::Estimate;
use units::{format_counted, format_duration_ns};

use crate::measurement::Measurement;
use crate::metric::*;
use crate::reading::{Better, Unit};
use crate::saying::{Saying, known, with_unit};
use crate::show::Show;
use crate::table::{Figure, Role, Row, Table, Trust, percentile_name};
use crate::transactions::{
    StandardTable, TransactionLoad, Transactions, UserSearchResult, UserSearchStep, UserTimes,
};
use crate::warning::Warning;

/// Names of tables, and the levels that distinguish their rows.
const OF_USERS: &str = "transactions";
const FOUND: &str = "users-found";
const MACHINE: &str = "transactions-machine";
const WHOLE: &str = "whole run";
/// Minimum number of independent response times beyond a percentile for an interval, ...
const EVIDENCE_MIN: f64 = 10.0;
/// ... and for one that is more than indicative.
const EVIDENCE_FIRM: f64 = 20.0;
/// Columns on screen, for users and the machine.
const SHOWN: &str = "tps latency latency-p90 latency-p95 latency-p99 latency-max \
                     latency-from-start transactions";
const MACHINE_SHOWN: &str = "users tps latency cpu-busy device-busy reads writes queue-depth \
                             device-reads device-writes device-queue cpu-per-transaction cpu-asked \
                             page-cache-share minor-faults major-faults file-cache elapsed";
const TIMES: &str = "latency: from due, the end of the think time. Latency from start: from the \
                     issue of the first operation. Both, and TPS: while all users are at work.";
const PARTS: &str = "steady: what a transaction took over the whole run, times the steady rate. \
                     by law: users by X (R + Z), latency by N / X - Z. whole run: stragglers \
                     included.";

impl Transactions {
    /// Users and their times, activity of the machine, the search, and the standard test.
    pub fn tables(&self, trials: &[Measurement]) -> Vec<Table> {
        let is_detail = self.search.is_some() || self.standard.is_some();
        let seen = Show {
            is_detail,
            ..Show::default().with_trials().columns(SHOWN)
        };
        let machine = Show {
            is_detail,
            ..Show::default()
                .grouped_by("users")
                .by_metric()
                .columns(MACHINE_SHOWN)
        };
        let users = self.loads.iter().flat_map(|load| of_users(load, trials));
        let mut users: Vec<Row> = users.collect();
        if self.search.is_none() {
            self.say(&mut users);
        }
        let done = self.loads.iter();
        let done = done.flat_map(|load| of_machine(load, self.ramp_per_second));
        let mut tables: Vec<Table> = self.search.iter().map(of_search).collect();
        tables.extend([
            Table::new(OF_USERS, &["users", "profile"], users)
                .titled("Transactions")
                .shown(seen)
                .noted([TIMES.to_owned()])
                .of_trials(),
            Table::new(MACHINE, &["users", "part"], done.collect())
                .titled("Machine and laws")
                .shown(machine)
                .noted([PARTS.to_owned()]),
        ]);
        tables.extend(self.search.iter().map(of_steps));
        tables.extend(self.standard.iter().map(of_standard));
        tables.retain(|it| !it.rows.is_empty());
        tables
    }

    /// A statement about the users with the highest rate among rows that can be quoted; if there
    /// are none, the highest of all.
    fn say(&self, rows: &mut [Row]) {
        let mut loads: Vec<&TransactionLoad> = self.loads.iter().collect();
        let rate = |it: &TransactionLoad| it.per_second_steady.value;
        loads.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        let verb = if loads.len() > 1 { "did most:" } else { "did" };
        let place = |rows: &[Row], load: &TransactionLoad| {
            let users = load.users.to_string();
            rows.iter().position(|row| row.levels[0] == users)
        };
        let quoted = loads.iter().find(|load| {
            let (steady, mean) = (load.per_second_steady, load.all.from_due.mean);
            let row = place(rows, load).map(|at| &rows[at]);
            steady.is_bounded() && mean.is_bounded() && row.is_some_and(|it| it.trust.is_usable())
        });
        let Some(load) = quoted.or(loads.first()) else {
            return;
        };
        let (steady, mean) = (load.per_second_steady, load.all.from_due.mean);
        let text = format!(
            "{} {verb} {}, mean response time {}",
            format_counted(load.users.into(), "user"),
            with_unit(Unit::PerSecond, steady, "transactions/s"),
            known(Unit::Seconds, mean.scale(1e-9)),
        );
        if let Some(at) = place(rows, load) {
            rows[at].says = Some(Saying::quoting(text));
        }
    }

    /// Moves the activity of the machine to each trial.
    pub fn move_series(&mut self, trials: &mut [Measurement]) {
        for load in &mut self.loads {
            let is_of = |it: &&mut Measurement| it.name == load.measurement && it.series.is_none();
            if let Some(trial) = trials.iter_mut().find(is_of) {
                trial.series = load.series.take();
            }
        }
    }
}

/// All users of a load, and each of several profiles.
fn of_users(load: &TransactionLoad, trials: &[Measurement]) -> Vec<Row> {
    let trial = trials.iter().find(|it| it.name == load.measurement);
    let trust = trial.map_or(Trust::Reliable, |it| it.trust());
    let warnings = trial.map_or(&[][..], |it| &it.warnings);
    let row = |it: &UserTimes, steady| row((load, trust, warnings), it, steady);
    let all = row(&load.all, Some(load.per_second_steady));
    let of_profiles = load.profiles.iter().map(|it| row(it, None));
    std::iter::once(all).chain(of_profiles).collect()
}

/// The rate of a single profile is known only over the whole trial and without an interval.
fn row(
    (load, trust, warnings): (&TransactionLoad, Trust, &[Warning]),
    it: &UserTimes,
    steady: Option<Estimate>,
) -> Row {
    let whole = || TPS.bare(it.per_second);
    let mut figures = vec![steady.map_or_else(whole, |value| TPS.of(value))];
    if it.transactions > 0 {
        figures.extend(LATENCY.of_times(&it.from_due));
        let from_start = LATENCY_FROM_START.of_times(&it.from_start);
        figures.extend(from_start.map(|figure| figure.as_role(Role::Detail)));
        figures.extend([
            LATENCY_MIN.bare_ns(it.from_due.min_ns as f64),
            LATENCY_MAX.bare_ns(it.from_due.max_ns as f64),
            LATENCY_FROM_START_MIN.bare_ns(it.from_start.min_ns as f64),
            LATENCY_FROM_START_MAX.bare_ns(it.from_start.max_ns as f64),
            SAMPLE_MEAN.bare_ns(it.sample_mean_ns),
            SAMPLE_P95.bare_ns(it.sample_95_ns),
        ]);
    }
    figures.extend([
        TRANSACTIONS.count(it.transactions),
        USERS.exact(it.users),
        TPS_WHOLE_RUN.bare(it.per_second),
    ]);
    let bytes = BYTES_PER_TRANSACTION.bare(it.bytes_each);
    figures.extend(Some(bytes).filter(|it| it.value.value.is_finite()));
    let levels = vec![load.users.to_string(), it.name.clone()];
    Row::new(levels, figures, "latency", trust).warned(warnings)
}

/// Activity of the machine at the steady rate, the two operational laws, and totals over the whole
/// run.
fn of_machine(load: &TransactionLoad, ramp: Option<f64>) -> Vec<Row> {
    let row = |part: &str, figures: Vec<Figure>| {
        let figures = figures.into_iter().map(|it| it.as_role(Role::Detail));
        let figures = figures.filter(|it| it.value.value.is_finite());
        let levels = vec![load.users.to_string(), part.to_owned()];
        Row::new(levels, figures, "", Trust::Reliable)
    };
    let users = USERS.exact(load.users);
    let whole = Estimate::exact(load.per_second_whole, 1.0);
    let mut rows = Vec::new();
    let steady = load.per_second_steady;
    let is_known = steady.high.is_finite() && load.all.transactions > 0;
    if is_known {
        let times = steady.value / load.per_second_whole;
        let mean = LATENCY.of_ns(load.all.from_due.mean);
        let mut figures = vec![users, TPS.of(steady), mean];
        figures.extend(of_work(load, times));
        rows.push(row("steady", figures));
    }
    if load.all.transactions > 0 {
        let by_law = Estimate {
            low: load.users_by_law.low.max(0.0),
            ..load.users_by_law
        };
        let by_law = USERS.of(by_law);
        let response = LATENCY.of_ns(load.response_by_law);
        rows.push(row("by law", vec![by_law, response]));
    }
    let mut figures = vec![TPS.of(whole)];
    figures.extend(of_work(load, 1.0));
    figures.extend(of_whole_run(load));
    figures.extend(ramp.map(|it| RAMP.bare(it)));
    rows.push(row(WHOLE, figures));
    rows
}

/// Utilisation of the machine at a multiple of the whole run's rate, by the utilisation law.
fn of_work(load: &TransactionLoad, times: f64) -> impl Iterator<Item = Figure> {
    let busy = [
        (CPU_BUSY, load.cpu_share),
        (DEVICE_BUSY, load.device_busy_share),
    ];
    let busy = busy
        .into_iter()
        .filter_map(move |(metric, share)| Some(metric.bare((times * share?).min(1.0))));
    let rates = [
        READS.bare(times * load.reads_per_second),
        WRITES.bare(times * load.writes_per_second),
    ];
    busy.chain(rates)
}

fn of_whole_run(load: &TransactionLoad) -> impl Iterator<Item = Figure> {
    let seconds = |ns: f64| ns / 1e9;
    let known = [
        (QUEUE_DEPTH, Some(load.storage_queue)),
        (DEVICE_READ_RATE, load.device_reads_per_second),
        (DEVICE_WRITE_RATE, load.device_writes_per_second),
        (DEVICE_QUEUE, load.device_queue),
        (CPU_PER_TRANSACTION, load.cpu_each_ns.map(seconds)),
        (CPU_ASKED, Some(seconds(load.cpu_work_each_ns))),
        (PAGE_CACHE_SHARE, load.page_cache_share),
        (MINOR_FAULTS, load.minor_faults_per_second),
        (MAJOR_FAULTS, load.major_faults_per_second),
        (FILE_CACHE, load.file_cache_bytes),
        (THINK_TIME, Some(seconds(load.think_ns))),
    ];
    let elapsed = Estimate::exact(seconds(load.elapsed_ns as f64), 1.0).without_interval();
    let elapsed = Figure::new(ELAPSED.name, Unit::Seconds, Better::Neither, elapsed);
    let known = known.into_iter();
    known
        .filter_map(|(metric, value)| Some(metric.bare(value?)))
        .chain([elapsed])
}

/// How many users meet the limit: from a reliable lower bound to an upper bound.
fn of_search(search: &UserSearchResult) -> Table {
    let share = (search.share * 1e5).round() / 1e3;
    let limit = format_duration_ns(search.limit_ns as f64);
    let meets = f64::from(search.meets);
    let most = search.misses.map(|it| f64::from(it) - 1.0);
    let users = Estimate {
        high: most.unwrap_or(f64::INFINITY).max(meets),
        ..Estimate::exact(meets, search.steps.len() as f64)
    };
    let mut figures = vec![
        USERS_FOUND.of(users),
        SHARE.exact(search.share),
        LIMIT.exact(search.limit_ns as f64 / 1e9),
        MEETS.exact(meets),
    ];
    let misses = search.misses.map(f64::from);
    figures.extend(misses.map(|it| MISSES.exact(it)));
    let is_open = most.is_none_or(|most| meets == 0.0 && most > 0.0);
    let trust = Trust::reliable_if(!is_open);
    let levels = vec![format!("{share} % within {limit}")];
    let counted = |users: u32| format_counted(users.into(), "user");
    let surely = match search.meets {
        0 => "No number of users is sure to meet the limit".to_owned(),
        1 => "1 user is sure to meet the limit".to_owned(),
        users => format!("{} are sure to meet the limit", counted(users)),
    };
    let not = match search.misses {
        None => "none is sure to miss it.".to_owned(),
        Some(users) => format!("{} sure to miss it.", plural(&counted(users), users)),
    };
    let says = Saying::quoting(in_words(
        search,
        &format!("{share} % of the transactions within {limit}"),
    ));
    let row = Row::new(levels, figures, "users", trust).saying(Some(says.if_unstable()));
    Table::new(FOUND, &["limit"], vec![row])
        .titled("How many users?")
        .noted([format!("{surely}, {not}")])
}

/// The number of users that meets the requirement, in words.
fn in_words(search: &UserSearchResult, wanted: &str) -> String {
    match (search.meets, search.misses) {
        (0, Some(1)) => format!("not even 1 user has {wanted}"),
        (0, Some(users)) => {
            let fewer = match search.steps.iter().any(|step| step.users < users) {
                true => "Fewer were tried without a clear answer",
                false => "Fewer were not tried",
            };
            format!("{users} users do not have {wanted}. {fewer}")
        }
        (0, None) => format!("no number of users is sure to have {wanted}"),
        (users, _) => {
            let users = format_counted(users.into(), "user");
            format!("serves {users} with {wanted}")
        }
    }
}

fn plural(counted: &str, count: u32) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{counted} {verb}")
}

/// Trials of the search, in order.
fn of_steps(search: &UserSearchResult) -> Table {
    let steps = search.steps.iter().zip(1..);
    let rows = steps.map(|(step, number): (_, u32)| of_step(search, step, number));
    Table::new("users-search", &["trial", "users"], rows.collect())
        .titled("Trials of the search")
        .of_steps()
}

fn of_step(search: &UserSearchResult, step: &UserSearchStep, number: u32) -> Row {
    // An unknown percentile makes no claim.
    let evidence = step.percentile.samples * (1.0 - search.share);
    let is_known = step.percentile.value.is_finite();
    let value = match evidence >= EVIDENCE_MIN {
        true => step.percentile,
        false => step.percentile.without_interval(),
    };
    let name = format!("latency-{}", percentile_name(search.share));
    let within = step.within.map(|it| WITHIN_LIMIT.of(it));
    let percentile = Figure {
        is_indicative: is_known && evidence < EVIDENCE_FIRM,
        ..LATENCY.named(name, value.scale(1e-9))
    };
    let figures = std::iter::once(percentile).chain(within);
    let levels = vec![number.to_string(), step.users.to_string()];
    let length = if step.is_final { "full" } else { "short" };
    Row::new(levels, figures, "within-limit", Trust::Reliable)
        .with_word("length", length)
        .with_word("limit", step.outcome.name())
}

/// A table of the document with our results below, and errors in its rows.
fn of_standard(standard: &StandardTable) -> Table {
    let rows = standard.rows.iter().map(|row| {
        let levels = vec![row.machine.clone(), row.tasks.clone()];
        let cells = standard.columns.iter().skip(2).zip(&row.cells);
        let empty = Row::new(levels, [], "", Trust::Reliable);
        cells.fold(empty, |row, (column, cell)| row.with_word(column, cell))
    });
    let faulty = standard.rows.iter().filter(|row| !row.fault.is_empty());
    let faults = faulty.map(|row| format!("{} {}: {}", row.machine, row.tasks, row.fault));
    let factors = standard.columns.iter().take(2);
    let factors: Vec<&str> = factors.map(String::as_str).collect();
    Table::new("standard-test", &factors, rows.collect())
        .titled(format!("{} {}", standard.section, standard.title))
        .noted(faults)
}
