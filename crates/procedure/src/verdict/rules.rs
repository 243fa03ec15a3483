//! Possible statements for each kind of run, with their rows.

use results::{Row, Run, Saying, Table};

use super::{Candidates, Statement, rows_of, trials};

/// Maximum number of statements in a sentence.
const FEW: usize = 3;

/// Statements for the kind of the run.
pub(super) fn answer<'a>(run: &Run, tables: &'a [Table]) -> Candidates<'a> {
    let of_tables = tables.iter().filter_map(|table| {
        let all = table.rows.iter().collect();
        Some((all, table.says.as_ref()?))
    });
    let together: Vec<(Vec<&Row>, &Saying)> = of_tables.collect();
    let together = candidates(together, 1);
    if together.statements.iter().any(Statement::is_quotable) {
        return together;
    }
    let says = sayings(tables);
    if !says.is_empty() {
        return candidates(says, FEW);
    }
    if let Some(table) = run.tables.first() {
        let finding = run.findings.first();
        let finding = finding.map(|it| it.trim_end_matches('.').to_owned());
        let rows = rows_of(tables, &table.name).iter().collect();
        return Candidates::of([Statement::quoting(rows, finding)], 1);
    }
    trials::answer(run, tables)
}

fn candidates<'a>(says: Vec<(Vec<&'a Row>, &Saying)>, count: usize) -> Candidates<'a> {
    let begins_with_name = says.iter().all(|(_, saying)| saying.begins_with_name);
    let statements = says.into_iter().map(|(rows, says)| statement(rows, says));
    Candidates {
        begins_with_name,
        ..Candidates::of(statements, count)
    }
}

fn statement<'a>(rows: Vec<&'a Row>, says: &Saying) -> Statement<'a> {
    Statement {
        rows,
        text: Some(says.text.clone()),
        is_quoting: !says.holds_if_unstable,
        brief: None,
    }
}

/// Statements of kinds about rows, the most important first.
fn sayings(tables: &[Table]) -> Vec<(Vec<&Row>, &Saying)> {
    let rows = tables.iter().flat_map(|table| &table.rows);
    rows.filter_map(|row| Some((vec![row], row.says.as_ref()?)))
        .collect()
}
