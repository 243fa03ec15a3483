//! What can be said of each kind of run, and of which rows.

use results::{FileTests, Row, Run, Saying, Table, Transactions, Unit, known, with_unit};
use units::{format_counted, format_duration_ns};

use super::{Candidates, Statement, rows_of, studies, trials};

/// Series, tests or groups that a sentence has space for.
const FEW: usize = 3;

/// What the run's kind allows to be said.
pub(super) fn answer<'a>(run: &Run, tables: &'a [Table]) -> Candidates<'a> {
    let rows = |name: &str| rows_of(tables, name);
    if let Some(found) = &run.transactions {
        return Candidates::of(users(found, rows("transactions")), 1);
    }
    if let Some(study) = &run.study {
        return studies::answer(run, study, rows(&study.measurement));
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
