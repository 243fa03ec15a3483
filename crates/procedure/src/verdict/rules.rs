//! What can be said of each kind of run, and of which rows.

use results::{Row, Run, Saying, Table};

use super::{Candidates, Statement, rows_of, studies, trials};

/// Statements that a sentence has space for.
const FEW: usize = 3;

/// What the run's kind allows to be said.
pub(super) fn answer<'a>(run: &Run, tables: &'a [Table]) -> Candidates<'a> {
    if let Some(study) = &run.study {
        return studies::answer(run, study, rows_of(tables, &study.measurement));
    }
    let of_tables = tables.iter().filter_map(|table| {
        let all = table.rows.iter().collect();
        Some((all, table.says.as_ref()?))
    });
    let together: Vec<_> = of_tables
        .map(|(rows, says)| statement(rows, says))
        .collect();
    if together.iter().any(Statement::can_be_said) {
        return Candidates::of(together, 1);
    }
    let says = said(tables);
    if !says.is_empty() {
        let names = says.iter().all(|(_, saying)| saying.begins_with_name);
        let says = says
            .into_iter()
            .map(|(row, says)| statement(vec![row], says));
        let candidates = Candidates::of(says, FEW);
        return match names {
            true => candidates.beginning_with_name(),
            false => candidates,
        };
    }
    if let Some(table) = run.tables.first() {
        let finding = run.findings.first();
        let finding = finding.map(|it| it.trim_end_matches('.').to_owned());
        let rows = rows_of(tables, &table.name).iter().collect();
        return Candidates::of([Statement::quoting(rows, finding)], 1);
    }
    trials::answer(run, tables)
}

fn statement<'a>(rows: Vec<&'a Row>, says: &Saying) -> Statement<'a> {
    Statement {
        rows,
        text: Some(says.text.clone()),
        is_quoting: !says.holds_if_shaky,
    }
}

/// What kinds say of rows, the most important first.
fn said(tables: &[Table]) -> Vec<(&Row, &Saying)> {
    let rows = tables.iter().flat_map(|table| &table.rows);
    rows.filter_map(|row| Some((row, row.says.as_ref()?)))
        .collect()
}
