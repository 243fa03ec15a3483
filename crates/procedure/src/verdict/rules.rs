//! What can be said of each kind of run, and of which rows.

use results::{
    Figure, FileTests, Group, RandomAccess, RandomKind, Row, Run, Saying, Table, Transactions, Unit,
};
use units::{Bytes, format_counted, format_duration_ns};

use super::{Candidates, Statement, known, rows_of, studies, trials, with_unit};
use crate::checkup::KNOWN;

/// Series, tests or groups that a sentence has space for.
const FEW: usize = 3;

/// What the run's kind allows to be said.
pub(super) fn answer<'a>(run: &Run, tables: &'a [Table]) -> Candidates<'a> {
    let rows = |name: &str| rows_of(tables, name);
    if let Some(found) = &run.transactions {
        return Candidates::of(users(found, rows("transactions")), 1);
    }
    if run.rab.is_some() {
        return Candidates::of(rabmarks(tables), FEW);
    }
    if let Some(study) = &run.study {
        return studies::answer(run, study, rows(&study.measurement));
    }
    if let Some(found) = &run.random {
        return Candidates::of(random(found, rows("random")), 2);
    }
    let finding = run
        .findings
        .first()
        .map(|it| it.trim_end_matches('.').to_owned());
    if let Some(found) = &run.files {
        // What the tests say about each other; else what each took.
        let compared = Statement::quoting(rows("files").iter().collect(), finding);
        return match compared.can_be_said() {
            true => Candidates::of([compared], 1),
            false => Candidates::of(tests(found, rows("files")), FEW),
        };
    }
    let says = said(tables);
    if !says.is_empty() {
        let names = says.iter().all(|(_, saying)| saying.begins_with_name);
        let says = says.into_iter().map(|(row, saying)| Statement {
            rows: vec![row],
            text: Some(saying.text.clone()),
            is_quoting: !saying.holds_if_shaky,
        });
        let candidates = Candidates::of(says, FEW);
        return match names {
            true => candidates.beginning_with_name(),
            false => candidates,
        };
    }
    if let Some(table) = run.tables.first() {
        let rows = rows(&table.name).iter().collect();
        return Candidates::of([Statement::quoting(rows, finding)], 1);
    }
    trials::answer(run, tables)
}

/// How many users meet the limit; or the highest rate that was measured.
fn users<'a>(found: &Transactions, rows: &'a [Row]) -> Vec<Statement<'a>> {
    let row_of = |users: u32| rows.iter().find(|row| row.levels[0] == users.to_string());
    if let Some(search) = &found.search {
        let limit = format!(
            "{} % of the transactions within {}",
            (search.share * 1e5).round() / 1e3,
            format_duration_ns(search.limit_ns as f64)
        );
        let (text, row) = match (search.meets, search.misses) {
            (0, Some(1)) => (format!("not even 1 user has {limit}"), row_of(1)),
            (0, Some(users)) => {
                let text = format!("{users} users do not have {limit}; of fewer it is not known");
                (text, None)
            }
            (0, None) => (format!("no number of users is sure to have {limit}"), None),
            (users, _) => {
                let counted = format_counted(users.into(), "user");
                (format!("serves {counted} with {limit}"), row_of(users))
            }
        };
        let rows = row.map_or_else(|| rows.iter().collect(), |row| vec![row]);
        return vec![Statement::without_figures(rows, Some(text))];
    }
    let mut loads: Vec<_> = found.loads.iter().collect();
    let rate = |it: &results::TransactionLoad| it.per_second_steady.value;
    loads.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    let verb = if loads.len() > 1 { "did most:" } else { "did" };
    let said = loads.into_iter().map(|load| {
        let (steady, mean) = (load.per_second_steady, load.all.from_due.mean);
        let is_known = steady.is_bounded() && mean.is_bounded();
        let text = format!(
            "{} {verb} {}, mean response time {}",
            format_counted(load.users.into(), "user"),
            with_unit(Unit::PerSecond, steady, "transactions/s"),
            known(Unit::Seconds, mean.scale(1e-9)),
        );
        let rows = row_of(load.users).into_iter().collect();
        Statement::quoting(rows, is_known.then_some(text))
    });
    said.collect()
}

/// The averages of groups, over runs where there were several; then the workloads.
fn rabmarks(tables: &[Table]) -> Vec<Statement<'_>> {
    let mark = |row: &Row| {
        let is_known = |it: &&Figure| it.value.relative_half_width() <= KNOWN;
        let mark = row.figure("rabmark-r").filter(is_known)?.value;
        Some(format!("RABmark[r] {}", known(Unit::Ratio, mark)))
    };
    let groups = [Group::Transaction, Group::Batch].map(Group::name);
    let is_group = |row: &&Row| groups.contains(&row.levels[0].as_str());
    let mut averages: Vec<&Row> = rows_of(tables, "rab-over-runs")
        .iter()
        .filter(is_group)
        .collect();
    if averages.is_empty() {
        averages.extend(rows_of(tables, "rab-averages"));
    }
    let averages = averages.into_iter().map(|row| {
        let text = mark(row).map(|it| format!("{} workloads average {it}", row.levels[0]));
        Statement::quoting(vec![row], text)
    });
    let averages: Vec<Statement<'_>> = averages.collect();
    if averages.iter().any(Statement::can_be_said) {
        return averages;
    }
    let workloads = rows_of(tables, "rab-workloads");
    let said = workloads.iter().map(|row| {
        let [name, mode, run] = [0, 1, 2].map(|place| row.levels[place].as_str());
        let is_alone = workloads.iter().filter(|it| it.levels[0] == name).count() == 1;
        let which = match is_alone {
            true => String::new(),
            false => format!(" ({mode}, run {run})"),
        };
        let text = mark(row).map(|it| format!("workload {name}{which} has {it}"));
        Statement::quoting(vec![row], text)
    });
    averages.into_iter().chain(said).collect()
}

/// Reads and writes within the largest span whose time is known.
fn random<'a>(found: &RandomAccess, rows: &'a [Row]) -> Vec<Statement<'a>> {
    let of_kind = |kind: RandomKind| {
        let spans = found.over_spans(kind).into_iter().rev();
        let spans = spans.filter_map(|cell| {
            let at = found.cells.iter().position(|it| std::ptr::eq(it, cell))?;
            let mean = cell.service.mean;
            let is_known = mean.relative_half_width() <= KNOWN && cell.errors == 0;
            let text = format!(
                "random {} {}s within {}: mean service time {}",
                Bytes(cell.block_bytes),
                kind.name(),
                Bytes(cell.span_bytes),
                known(Unit::Seconds, mean.scale(1e-9))
            );
            Some(Statement::quoting(
                vec![rows.get(at)?],
                is_known.then_some(text),
            ))
        });
        let mut spans: Vec<Statement<'_>> = spans.collect();
        // Without one, the largest is what would have been said.
        let at = spans.iter().position(Statement::can_be_said).unwrap_or(0);
        (at < spans.len()).then(|| spans.swap_remove(at))
    };
    [RandomKind::Read, RandomKind::Write]
        .into_iter()
        .filter_map(of_kind)
        .collect()
}

/// The document's programs by their time, others by what they did in a second.
fn tests<'a>(found: &FileTests, rows: &'a [Row]) -> impl Iterator<Item = Statement<'a>> {
    found.tests.iter().zip(rows).map(|(test, row)| {
        let is_numbered = test.test.starts_with(|it: char| it.is_ascii_digit());
        let (verb, unit, value) = match test.bytes_per_second {
            _ if is_numbered => (" takes", Unit::Seconds, test.elapsed_seconds),
            Some(rate) => ("", Unit::BytesPerSecond, rate),
            None => ("", Unit::PerSecond, test.items_per_second),
        };
        let text = value.is_bounded().then(|| known(unit, value));
        Statement::quoting(
            vec![row],
            text.map(|it| format!("{}{verb} {it}", test.name())),
        )
    })
}

/// What kinds say of rows, the most important first.
fn said(tables: &[Table]) -> Vec<(&Row, &Saying)> {
    let rows = tables.iter().flat_map(|table| &table.rows);
    rows.filter_map(|row| Some((row, row.says.as_ref()?)))
        .collect()
}
